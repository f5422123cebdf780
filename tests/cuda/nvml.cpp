// Asks the management library what frameworks ask of it, found by its name as they find it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "require.hpp"

namespace {

enum : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  too_small = 7
};

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  static void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  void* const function = library != nullptr ? dlsym(library, name) : nullptr;
  require(function != nullptr, name);
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

}  // namespace

int main() {
  unsigned number = 0;
  void *device = nullptr, *same = nullptr;
  require(call("nvmlDeviceGetCount_v2", &number) == uninitialized, "before it is initialised");
  require(call("nvmlInit_v2") == success && call("nvmlDeviceGetCount_v2", &number) == success && number == 1,
          "one device");

  char text[96];
  require(call("nvmlSystemGetDriverVersion", &text[0], 96u) == success && std::atoi(text) >= 580, "driver");
  require(call("nvmlSystemGetDriverVersion", &text[0], 4u) == too_small, "no room");
  int version = 0;
  require(call("nvmlSystemGetCudaDriverVersion_v2", &version) == success && version / 1000 == 13, "CUDA");

  require(call("nvmlDeviceGetHandleByIndex_v2", 1u, &device) == invalid_argument, "no second device");
  require(call("nvmlDeviceGetHandleByIndex_v2", 0u, &device) == success, "handle");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", "0000:EE:1F.0", &same) == success && same == device,
          "bus");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", "00000000:ee:1f.0", &same) == success, "long domain");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", "0000:00:00.0", &same) == not_found, "the host's bridge");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", "slot 1", &same) == invalid_argument, "no bus");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", "0000:17:00.0", &same) == not_found, "other bus");
  require(call("nvmlDeviceGetName", device, &text[0], 96u) == success, "name");
  std::printf("%s\n", text);
  require(call("nvmlDeviceGetUUID", device, &text[0], 96u) == success, "UUID");
  require(call("nvmlDeviceGetHandleByUUID", &text[0], &same) == success && same == device, "by UUID");
  struct {
    char legacy[16];
    unsigned domain, bus, device, model, card;
    char bus_id[32];
  } pci{};
  require(call("nvmlDeviceGetPciInfo_v3", device, &pci) == success, "place");
  require(call("nvmlDeviceGetHandleByPciBusId_v2", &pci.bus_id[0], &same) == success && same == device,
          "by place");
  require(std::strcmp(pci.legacy, "0000:EE:1F.0") == 0 && (pci.model & 0xffff) == 0x10de, "maker");
  std::memset(&pci, 1, sizeof pci);
  require(call("nvmlDeviceGetPciInfo", device, &pci) == success && pci.bus_id[15] == 0 && pci.bus_id[16] == 1,
          "place as it was told before");
  int major = 0, minor = 0;
  require(call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor) == success, "capability");
  std::printf("%s %d.%d\n", text, major, minor);
  unsigned long long memory[3] = {};
  require(call("nvmlDeviceGetMemoryInfo", device, &memory[0]) == success &&
              memory[0] == memory[1] + memory[2] && memory[1] > 0,
          "memory");
  require(call("nvmlDeviceGetCurrPcieLinkGeneration", device, &number) == success && number == 5, "link");
  require(call("nvmlDeviceGetCurrPcieLinkWidth", device, &number) == success && number == 16, "lanes");
  require(call("nvmlDeviceGetCurrPcieLinkWidth", &memory[0], &number) == invalid_argument, "no handle");
  int peer = -1;
  require(call("nvmlDeviceGetP2PStatus", device, device, 0, &peer) == success && peer == 5,
          "no peer of its own");
  require(call("nvmlDeviceGetP2PStatus", device, (void*)&memory[0], 0, &peer) == invalid_argument, "no peer");
  require(call("nvmlDeviceGetTemperature", device, 0, &number) == not_supported, "what there is not");

  require(call("nvmlShutdown") == success && call("nvmlShutdown") == uninitialized, "shut down once");
  std::printf("answered\n");
}
