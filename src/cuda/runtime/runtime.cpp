// See runtime.hpp.
#include "cuda/runtime/runtime.hpp"

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/exit.hpp"
#include "cuda/runtime/recorder.hpp"

namespace lanescope::cuda {

Context& primary_context() {
  static auto* context = new Context;
  return *context;
}

Runtime& Runtime::get() {
  static auto* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime()
    : options(read_options()),
      device(options.arch),
      recorder(std::make_unique<Recorder>(options)),
      backlogs(new Backlogs) {
  for (Pool* pool : {&default_pool, &managed_pool, &host_pool}) {
    pool->properties.allocation_type = 1;
    pool->properties.location = {1, 0};
    pool->is_default = true;
    pools.insert(pool);
  }
  host_pool.properties.location.type = 2;
  legacy_stream.id = 1;
  memory.follows_writes = options.checks.init;
  pthread_atfork(nullptr, nullptr, [] {
    driver_is_lost = driver_is_up.load();
    runtime_is_lost = driver_is_lost && !runtime_is_up;
  });
  watch_for_exit(options);
}

void Runtime::refuse(const std::string& why, For purpose) {
  if (purpose == For::question) return say_once(why);
  say_once("error: " + why);
  has_refused = true;
}

}  // namespace lanescope::cuda
