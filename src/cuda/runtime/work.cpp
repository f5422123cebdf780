// Work given to streams: done at once; on a stream that is being captured, put into its graph; or put behind
// what is unfinished there.
#include <fmt/format.h>

#include <atomic>

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/runtime/printed.hpp"
#include "cuda/runtime/recorder.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

bool& in_host_function() {
  thread_local bool is_in = false;
  return is_in;
}

namespace {

uint64_t load(const Word& word) {
  if (word.bytes == 8) return std::atomic_ref(*reinterpret_cast<uint64_t*>(word.address)).load();
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(word.address)).load();
}

void store(const Word& word) {
  if (word.bytes == 8)
    std::atomic_ref(*reinterpret_cast<uint64_t*>(word.address)).store(word.value);
  else
    std::atomic_ref(*reinterpret_cast<uint32_t*>(word.address)).store(static_cast<uint32_t>(word.value));
}

bool has_come(const WaitWordWork& wait) {
  const uint64_t now = load(wait.word), value = wait.word.value;
  const uint64_t all = wait.word.bytes == 8 ? ~uint64_t{0} : 0xffffffff, sign = all ^ (all >> 1);
  switch (wait.until) {
    case WaitWordWork::Until::at_least: return ((now - value) & sign) == 0;  // cyclic
    case WaitWordWork::Until::equal: return now == (value & all);
    case WaitWordWork::Until::any_of: return (now & value) != 0;
    case WaitWordWork::Until::none_of: return (~(now | value) & all) != 0;
  }
  return true;
}

/// A stream that waits for a word, as a kernel would that looks at it.
class WordWait final : public UnfinishedLaunch {
 public:
  WordWait(Runtime& runtime, const WaitWordWork& wait) : runtime_(runtime), wait_(wait) {}
  State run(std::chrono::steady_clock::time_point) override {
    return given_up_ || runtime_.failure != Status::success || has_come(wait_) ? State::finished
                                                                               : State::stalled;
  }
  void give_up() override {
    given_up_ = true;
    say(fmt::format("error: deadlock: a stream waits for the word at {:#x} ({}), which nothing can change",
                    wait_.word.address, name()));
    runtime_.failure = Status::launch_timeout;
  }
  [[nodiscard]] uint64_t writes() const override { return 0; }
  [[nodiscard]] std::string name() const override {
    return wait_.word.bytes == 8 ? "cuStreamWaitValue64" : "cuStreamWaitValue32";
  }

 private:
  Runtime& runtime_;
  WaitWordWork wait_;
  bool given_up_ = false;
};

}  // namespace

Status Runtime::submit(Stream* handle, Work work) {
  Stream* stream = nullptr;
  const Status found = find_stream(*this, handle, OnCaptured::is_recorded, stream);
  if (found != Status::success) return found;
  if (stream->capture != nullptr) return capture(*stream, std::move(work));
  if (const auto* child = std::get_if<ChildWork>(&work))
    return run_graph(*this, handle, *child->graph, child->graph->ordered());
  if (const auto* condition = std::get_if<ConditionWork>(&work))
    return run_condition(*this, handle, *condition);
  return backlogs->any() ? defer(*stream, std::move(work)) : execute(work, *stream);
}

Status Runtime::defer(const Stream& stream, Work work) {
  Backlogs::Tickets before = backlogs->before(stream);
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    const std::shared_lock lock(mutex);
    if (wait->event->ticket != nullptr && !wait->event->ticket->done) before.push_back(wait->event->ticket);
  }
  if (before.empty()) return execute(work, stream);
  Status status = Status::success;
  if (const auto* copy = std::get_if<CopyWork>(&work)) status = check(*copy);
  if (const auto* set = std::get_if<SetWork>(&work)) status = check(*set);
  if (status != Status::success) return status;
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    backlogs->defer(stream, std::move(before), make_launch(*this, std::move(*kernel)));
  } else if (const auto* wait = std::get_if<WaitWordWork>(&work)) {
    backlogs->defer(stream, std::move(before), std::make_unique<WordWait>(*this, *wait));
  } else if (const auto* record = std::get_if<RecordWork>(&work)) {
    auto ticket =
        backlogs->defer(stream, std::move(before), [time = record->event->recorded_ns] { *time = now_ns(); });
    const std::unique_lock lock(mutex);
    record->event->ticket = std::move(ticket);
    if (record->event->of_processes)
      say_once(
          "an event that other processes know is recorded behind a kernel that still waits: they take it for "
          "done");
  } else {
    // Work other than kernels does not look at the stream.
    backlogs->defer(stream, std::move(before), [this, work = std::move(work)] {
      const Status done = execute(work, legacy_stream);
      if (done != Status::success && failure == Status::success) failure = done;
    });
  }
  return Status::success;
}

Status Runtime::wait_for_all() {
  if (backlogs->any()) backlogs->wait(backlogs->all());
  recorder->waited_for_all();
  printed().flush();
  return failure;
}

Status Runtime::wait_for(const Stream& stream) {
  if (backlogs->any())
    backlogs->wait(&stream == &legacy_stream ? backlogs->before(stream) : backlogs->in(stream));
  recorder->waited_for(stream);
  printed().flush();
  return failure;
}

Status Runtime::wait_for(const Event& event) {
  std::shared_ptr<const Ticket> ticket;
  {
    const std::shared_lock lock(mutex);
    ticket = event.ticket;
  }
  if (ticket != nullptr) backlogs->wait({ticket});
  recorder->waited_for_all();  // whose it is, is not known: rather too few copies are said to have waited
  printed().flush();
  return failure;
}

bool Runtime::is_done(const Stream& stream) const {
  return !backlogs->any() ||
         (&stream == &legacy_stream ? backlogs->before(stream) : backlogs->in(stream)).empty();
}

bool Runtime::is_done(const Event& event) const {
  const std::shared_lock lock(mutex);
  return event.ticket == nullptr || event.ticket->done;
}

Status Runtime::execute(const Work& work, const Stream& stream) {
  struct Run {
    Runtime& runtime;
    const Stream& stream;
    Status operator()(const std::monostate&) const { return Status::success; }
    Status operator()(const KernelWork& work) const { return runtime.run(work, stream); }
    Status operator()(const CopyWork& work) const { return runtime.run(work, stream); }
    Status operator()(const SetWork& work) const { return runtime.run(work); }
    Status operator()(const HostWork& work) const {
      // On a GPU the driver's own thread calls it: what goes wrong in it is no error of this thread.
      const Status before = last_error();
      in_host_function() = true;
      printed().flush();
      if (work.callback != nullptr)
        work.callback(work.stream, Status::success, work.data);
      else
        work.function(work.data);
      in_host_function() = false;
      last_error() = before;
      return Status::success;
    }
    Status operator()(const RecordWork& work) const {
      record(*work.event);
      return Status::success;
    }
    Status operator()(const WaitWork&) const { return Status::success; }  // what was recorded is done already
    Status operator()(const WriteWordWork& work) const {
      store(work.word);
      runtime.memory.wrote(work.word.address, work.word.bytes);
      return Status::success;
    }
    Status operator()(const WaitWordWork& work) const {
      if (!has_come(work)) runtime.backlogs->defer(stream, {}, std::make_unique<WordWait>(runtime, work));
      return Status::success;
    }
    Status operator()(const LibraryWork& work) const { return runtime.run(work); }
    Status operator()(const FreeWork& work) const {
      return runtime.release(work.pointer, {MemoryType::device, MemoryType::managed, MemoryType::host});
    }
    Status operator()(const AllocationWork& work) const {
      runtime.set_of_graph(work.pointer, Block::OfGraph::taken);
      return Status::success;
    }
    // The nodes of these are submitted one by one.
    Status operator()(const ChildWork&) const { return Status::success; }
    Status operator()(const ConditionWork&) const { return Status::success; }
  };
  return std::visit(Run{*this, stream}, work);
}

}  // namespace lanescope::cuda
