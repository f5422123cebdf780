// See exit.hpp. A thread waits for the signals that end the process. The handler of a signal that something
// outside sent only wakes it and returns: the thread lets a running kernel finish for a moment, writes, and
// sends the signal again with its default action. The handler of a crash, or of a signal that the process
// sends itself, waits for the thread, because the code there cannot go on; it must not write itself, since it
// may have been called anywhere, with any lock held.
#include "cuda/runtime/exit.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "base/threads.hpp"
#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/printed.hpp"
#include "cuda/runtime/recorder.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

using namespace std::chrono_literals;
constexpr auto exit_patience = 2s;   ///< with a kernel that runs when a signal comes
constexpr auto one_request = 500ms;  ///< for signals within it: `timeout` sends one, and one to the group
constexpr int crash_seconds = 20;    ///< that a thread which cannot go on waits for the report

constexpr int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2, SIGPIPE};
constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP};

std::atomic<bool> written{false};
std::atomic<int> signal_number{0};
std::atomic<std::chrono::steady_clock::rep> asked_at{0};
std::atomic<bool> writer_runs{false};
sem_t wake, done;

void write_file(const std::string& path, const std::string& content) {
  const std::string unfinished = path + ".part";
  const int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return;
  size_t at = 0;
  while (at < content.size()) {
    const ssize_t wrote = write(file, content.data() + at, content.size() - at);
    if (wrote <= 0) break;
    at += static_cast<size_t>(wrote);
  }
  close(file);
  if (at == content.size()) rename(unfinished.c_str(), path.c_str());
}

/// What this process's report is called: by its number. If the process has become another program, its
/// earlier one's report is there already.
std::string report_name;

void name_report(const std::string& folder) {
  const std::string process = std::to_string(getpid());
  const auto is_there = [&](const char* mark) {
    return access((folder + "/" + report_name + mark).c_str(), F_OK) == 0;
  };
  report_name = process;
  for (int n = 2; is_there("") || is_there(".refused"); ++n) report_name = process + "-" + std::to_string(n);
}

/// Writes this process's report, once.
void write_report() {
  Runtime& runtime = Runtime::get();
  if (written.exchange(true)) return;
  std::unique_lock lock(runtime.launches, std::defer_lock);
  (void)lock.try_lock_for(exit_patience);
  if (!runtime.recorder->enabled()) return;
  try {
    const std::string path = runtime.options.report + "/" + report_name;
    if (runtime.has_refused) write_file(path + ".refused", "\n");
    if (runtime.recorder->empty()) return;
    write_file(path, runtime.recorder->render());
    if (runtime.recorder->has_errors()) write_file(path + ".failed", "\n");
  } catch (const std::exception& error) {
    say(std::string("error: no report: ") + error.what());
  }
}

void end_by(int number) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), number);
}

void writer() {
  while (sem_wait(&wake) != 0) {
  }
  write_report();
  sem_post(&done);
  const int number = signal_number;
  for (const int one : asked)
    if (one == number) end_by(number);
}

void start_writer() {
  sem_init(&wake, 0, 0);
  sem_init(&done, 0, 0);
  writer_runs = start_thread(writer);
}

void wait_for_writer() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += crash_seconds;
  while (sem_timedwait(&done, &until) != 0 && errno == EINTR) {
  }
}

void on_asked(int number, siginfo_t* info, void*) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::chrono::steady_clock::rep first = 0;
  if (!asked_at.compare_exchange_strong(first, now.count()) &&
      now - std::chrono::steady_clock::duration(first) < one_request)
    return;
  int none = 0;
  if (signal_number.compare_exchange_strong(none, number) && writer_runs) {
    sem_post(&wake);
    const bool is_own = info->si_code <= 0 && info->si_pid == getpid();  // raise(), or a pipe nobody reads
    if (!is_own) return;
    wait_for_writer();
  }
  end_by(number);  // its own, or the second one, which is meant
}

void on_crash(int number, siginfo_t*, void*) {
  int none = 0;
  if (writer_runs && signal_number.compare_exchange_strong(none, number)) {
    sem_post(&wake);
    wait_for_writer();
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  raise(number);
}

pid_t watched = 0;  ///< this process, and no child of vfork(), which shares its memory

/// The process ends by _exit: it may be called anywhere, with any lock held, as a crash may happen.
void before_exit() {
  int none = 0;
  if (getpid() != watched || written || !writer_runs || !signal_number.compare_exchange_strong(none, -1))
    return;
  sem_post(&wake);
  wait_for_writer();
}

/// The process becomes another program; where that fails, it goes on, and reports again at its end.
void around_exec(bool has_failed) {
  constexpr int by_exec = -2;
  int none = 0;
  if (getpid() != watched || !writer_runs) return;
  if (!has_failed && !written && signal_number.compare_exchange_strong(none, by_exec)) {
    sem_post(&wake);
    wait_for_writer();
  } else if (has_failed && signal_number == by_exec) {
    written = false;
    signal_number = 0;
    start_writer();
  }
}

void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;  // the program has its own
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

/// Stack for the handler of a crash by stack overflow.
void give_stack() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  constexpr size_t size = 64 * 1024;
  stack_t stack{};
  stack.ss_sp = std::malloc(size);
  stack.ss_size = size;
  if (stack.ss_sp != nullptr) sigaltstack(&stack, nullptr);
}

bool watching = false;

/// What the thread that calls fork() had blocked: a signal must not come to a child that has not said yet
/// that it has no writer.
thread_local sigset_t blocked_before_fork;

void before_fork() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : asked) sigaddset(&set, one);
  pthread_sigmask(SIG_BLOCK, &set, &blocked_before_fork);
}
void after_fork() { pthread_sigmask(SIG_SETMASK, &blocked_before_fork, nullptr); }

/// A child made by fork() reports of its own kernels only.
void in_child() {
  printed().forget();
  Runtime& runtime = Runtime::get();
  runtime.recorder->forget();
  runtime.has_refused = false;
  runtime.backlogs = new Backlogs;  // the threads of the old one are not there, nor is the writer
  writer_runs = false;
  if (!runtime.options.follow_children) {
    runtime.recorder->disable();
    return;
  }
  written = false;
  signal_number = 0;
  asked_at = 0;
  watched = getpid();
  name_report(runtime.options.report);
  start_writer();
}

__attribute__((destructor)) void at_end() {
  if (watching) Runtime::get().backlogs->end();
  printed().flush_at_end();
  if (watching) write_report();
}

}  // namespace

void watch_for_exit(const Options& options) {
  if (options.report.empty()) return;
  watching = true;
  watched = getpid();
  name_report(options.report);
  start_writer();
  if (auto* slot = static_cast<void (**)()>(dlsym(RTLD_DEFAULT, "lanescope_before_exit")))
    *slot = before_exit;
  if (auto* slot = static_cast<void (**)(bool)>(dlsym(RTLD_DEFAULT, "lanescope_around_exec")))
    *slot = around_exec;
  give_stack();
  for (const int number : asked) handle(number, on_asked);
  for (const int number : crashes) handle(number, on_crash);
  pthread_atfork(before_fork, after_fork, [] {
    in_child();
    after_fork();
  });
  at_quick_exit([] {
    Runtime::get().backlogs->end();
    write_report();
  });
}

const std::string& program_path() {
  // Never destroyed: the report is written at exit, when other variables no longer are.
  static const auto* path = new std::string([] {
    std::string text(4096, '\0');
    const ssize_t size = readlink("/proc/self/exe", text.data(), text.size());
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text.empty() ? std::string("program") : text;
  }());
  return *path;
}

}  // namespace lanescope::cuda
