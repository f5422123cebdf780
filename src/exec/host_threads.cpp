// See host_threads.hpp.
#include "exec/host_threads.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "base/threads.hpp"

namespace lanescope::exec {
namespace {

class HostThreads {
 public:
  HostThreads() = default;
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  /// Never destroyed, for its threads never end. A process that forks has none of them in the child.
  static HostThreads& get() {
    static HostThreads* threads = nullptr;
    static const int is_set = [] {
      const auto fresh = [] { threads = new HostThreads; };
      fresh();
      return pthread_atfork(nullptr, nullptr, fresh);
    }();
    (void)is_set;
    return *threads;
  }

  void run(uint32_t count, const std::function<void(uint32_t)>& work) {
    Job job{&work, count};
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
      // Where the host has no more, those that there are do the work.
      while (threads_ + 1 < count && start_thread([this] { help(); })) ++threads_;
    }
    wanted_.notify_all();
    call(job, 0);
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    ended_.wait(lock, [&] { return job.running == 0; });
    if (job.error) std::rethrow_exception(job.error);
  }

 private:
  struct Job {
    const std::function<void(uint32_t)>* work;
    uint32_t count, next = 1, running = 0;
    std::exception_ptr error{};
  };
  std::mutex mutex_;  ///< of all that follows
  std::condition_variable wanted_, ended_;
  std::deque<Job*> jobs_;  ///< with calls that are left
  uint32_t threads_ = 0;

  void call(Job& job, uint32_t index) {
    try {
      (*job.work)(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!job.error) job.error = std::current_exception();
    }
  }

  void help() {
    for (std::unique_lock lock(mutex_);;) {
      wanted_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      const uint32_t index = job.next++;
      if (job.next == job.count) jobs_.pop_front();
      ++job.running;
      lock.unlock();
      call(job, index);
      lock.lock();
      if (--job.running == 0) ended_.notify_all();
    }
  }
};

}  // namespace

void on_host_threads(uint32_t count, const std::function<void(uint32_t)>& work) {
  if (count == 1)
    work(0);
  else
    HostThreads::get().run(count, work);
}

}  // namespace lanescope::exec
