// The functions that make plans, set and tell what they remember, and tell versions.
#include "cuda/libraries/fft/plan.hpp"

#include <map>
#include <mutex>

namespace lanescope::cuda::fft {
namespace {

std::mutex mutex;
std::map<int, std::shared_ptr<Plan>>& plans() {
  static auto* all = new std::map<int, std::shared_ptr<Plan>>;  // never destroyed: programs end in any order
  return *all;
}

/// What cufftGetVersion says: of the newest release whose interface this is.
constexpr int version = 12000;

Status no_plan(const char* name, int handle) {
  return refuse(name, Status::invalid_plan, "{} is no plan, or one that was destroyed", handle);
}
Status null(const char* name, const char* what) {
  return refuse(name, Status::invalid_value, "{} is null", what);
}

/// The lowest number that is free, from 1 on, as the real library counts.
int add(std::shared_ptr<Plan> plan) {
  const std::lock_guard lock(mutex);
  int handle = 1;
  for (const auto& [used, other] : plans()) {
    if (used != handle) break;
    ++handle;
  }
  plans()[handle] = std::move(plan);
  return handle;
}

Status make(const char* name, int* handle, const Arguments& arguments) {
  if (handle == nullptr) return null(name, "plan");
  *handle = 0;
  Shape shape;
  const Status status = shape_of(name, arguments, shape);
  if (status != Status::success) return status;
  *handle = add(std::make_shared<Plan>(Plan{.transform = std::make_shared<Transform>(shape)}));
  return Status::success;
}

/// Nothing here needs room for intermediate results. Of none at all programs make null pointers, which BART
/// takes into its list of what lies on the device.
constexpr size_t work_size = 256;

Status estimate(const char* name, const Arguments& arguments, size_t* work) {
  if (work == nullptr) return null(name, "workSize");
  Shape shape;
  const Status status = shape_of(name, arguments, shape);
  if (status == Status::success) *work = work_size;
  return status;
}

Status get_size(const char* name, int handle, const Arguments& arguments, size_t* work) {
  return find_plan(handle) == nullptr ? no_plan(name, handle) : estimate(name, arguments, work);
}

Status make(const char* name, int handle, const Arguments& arguments, size_t* work) {
  const auto plan = find_plan(handle);
  if (plan == nullptr) return no_plan(name, handle);
  if (plan->transform != nullptr)
    return refuse(name, Status::invalid_plan, "plan {} is already made", handle);
  if (work == nullptr) return null(name, "workSize");
  Shape shape;
  const Status status = shape_of(name, arguments, shape);
  if (status != Status::success) return status;
  plan->transform = std::make_shared<Transform>(shape);
  *work = work_size;
  return Status::success;
}

/// Does body(plan).
template <typename Body>
Status with(const char* name, int handle, const Body& body) {
  const auto plan = find_plan(handle);
  return plan == nullptr ? no_plan(name, handle) : body(*plan);
}

enum class Property : int { patient_compilation = 1, host_threads = 2 };  // cufftProperty

/// Of the properties the real library has the first one; the second one its header names alone.
Status check(const char* name, Property property) {
  switch (property) {
    case Property::patient_compilation: return Status::success;
    case Property::host_threads:
      return refuse(name, Status::not_supported, "there is no number of host threads here");
  }
  return refuse(name, Status::invalid_value, "{} is no cufftProperty", static_cast<int>(property));
}

Status set_property(const char* name, int handle, Property property, long long value) {
  return with(name, handle, [&](Plan& plan) {
    if (const Status status = check(name, property); status != Status::success) return status;
    if (plan.transform != nullptr)
      return refuse(name, Status::not_supported, "plan {} is already made", handle);
    plan.patient = value != 0 ? 1 : 0;
    return Status::success;
  });
}

}  // namespace

std::shared_ptr<Plan> find_plan(int handle) {
  const std::lock_guard lock(mutex);
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : found->second;
}

LANESCOPE_CUDA_API Status cufftCreate(int* handle) {
  if (handle == nullptr) return null("cufftCreate", "handle");
  *handle = add(std::make_shared<Plan>());
  return Status::success;
}
LANESCOPE_CUDA_API Status cufftDestroy(int handle) {
  if (handle == -1) return Status::success;  // CUFFT_PLAN_NULL
  const std::lock_guard lock(mutex);
  return plans().erase(handle) != 0 ? Status::success : no_plan("cufftDestroy", handle);
}

LANESCOPE_CUDA_API Status cufftPlan1d(int* plan, int nx, Type type, int batch) {
  return make("cufftPlan1d", plan, Arguments(kind_of(type), batch, {nx}));
}
LANESCOPE_CUDA_API Status cufftPlan2d(int* plan, int nx, int ny, Type type) {
  return make("cufftPlan2d", plan, Arguments(kind_of(type), 1, {nx, ny}));
}
LANESCOPE_CUDA_API Status cufftPlan3d(int* plan, int nx, int ny, int nz, Type type) {
  return make("cufftPlan3d", plan, Arguments(kind_of(type), 1, {nx, ny, nz}));
}
LANESCOPE_CUDA_API Status cufftPlanMany(int* plan, int rank, const int* n, const int* inembed, int istride,
                                        int idist, const int* onembed, int ostride, int odist, Type type,
                                        int batch) {
  return make("cufftPlanMany", plan,
              Arguments(kind_of(type), batch, rank, n, inembed, istride, idist, onembed, ostride, odist));
}

/// A function of a plan, and what is to be done with the sizes it is given.
#define LANESCOPE_SIZES(function, action)                                                                  \
  LANESCOPE_CUDA_API Status function##1d(int plan, int nx, Type type, int batch, size_t* work) {           \
    return action(#function "1d", plan, Arguments(kind_of(type), batch, {nx}), work);                      \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status function##2d(int plan, int nx, int ny, Type type, size_t* work) {              \
    return action(#function "2d", plan, Arguments(kind_of(type), 1, {nx, ny}), work);                      \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status function##3d(int plan, int nx, int ny, int nz, Type type, size_t* work) {      \
    return action(#function "3d", plan, Arguments(kind_of(type), 1, {nx, ny, nz}), work);                  \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status function##Many(int plan, int rank, const int* n, const int* inembed,           \
                                           int istride, int idist, const int* onembed, int ostride,        \
                                           int odist, Type type, int batch, size_t* work) {                \
    return action(                                                                                         \
        #function "Many", plan,                                                                            \
        Arguments(kind_of(type), batch, rank, n, inembed, istride, idist, onembed, ostride, odist), work); \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status function##Many64(int plan, int rank, const long long* n,                       \
                                             const long long* inembed, long long istride, long long idist, \
                                             const long long* onembed, long long ostride, long long odist, \
                                             Type type, long long batch, size_t* work) {                   \
    return action(                                                                                         \
        #function "Many64", plan,                                                                          \
        Arguments(kind_of(type), batch, rank, n, inembed, istride, idist, onembed, ostride, odist), work); \
  }
LANESCOPE_SIZES(cufftMakePlan, make)
LANESCOPE_SIZES(cufftGetSize, get_size)

/// The same with types of the elements.
#define LANESCOPE_TYPED_SIZES(function, action)                                                            \
  LANESCOPE_CUDA_API Status function(int plan, int rank, const long long* n, const long long* inembed,     \
                                     long long istride, long long idist, DataType input,                   \
                                     const long long* onembed, long long ostride, long long odist,         \
                                     DataType output, long long batch, size_t* work, DataType execution) { \
    return action(#function, plan,                                                                         \
                  Arguments(kind_of(input, output, execution), batch, rank, n, inembed, istride, idist,    \
                            onembed, ostride, odist),                                                      \
                  work);                                                                                   \
  }
LANESCOPE_TYPED_SIZES(cufftXtMakePlanMany, make)
LANESCOPE_TYPED_SIZES(cufftXtGetSizeMany, get_size)

LANESCOPE_CUDA_API Status cufftEstimate1d(int nx, Type type, int batch, size_t* work) {
  return estimate("cufftEstimate1d", Arguments(kind_of(type), batch, {nx}), work);
}
LANESCOPE_CUDA_API Status cufftEstimate2d(int nx, int ny, Type type, size_t* work) {
  return estimate("cufftEstimate2d", Arguments(kind_of(type), 1, {nx, ny}), work);
}
LANESCOPE_CUDA_API Status cufftEstimate3d(int nx, int ny, int nz, Type type, size_t* work) {
  return estimate("cufftEstimate3d", Arguments(kind_of(type), 1, {nx, ny, nz}), work);
}
LANESCOPE_CUDA_API Status cufftEstimateMany(int rank, const int* n, const int* inembed, int istride,
                                            int idist, const int* onembed, int ostride, int odist, Type type,
                                            int batch, size_t* work) {
  return estimate("cufftEstimateMany",
                  Arguments(kind_of(type), batch, rank, n, inembed, istride, idist, onembed, ostride, odist),
                  work);
}

LANESCOPE_CUDA_API Status cufftGetSize(int handle, size_t* work) {
  constexpr const char* name = "cufftGetSize";
  return with(name, handle, [&](const Plan& plan) {
    if (work == nullptr) return null(name, "workSize");
    if (plan.transform == nullptr)
      return refuse(name, Status::invalid_plan, "plan {} is not made yet", handle);
    *work = work_size;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cufftSetStream(int handle, Stream* stream) {
  return with("cufftSetStream", handle, [&](Plan& plan) {
    plan.stream = stream;
    return Status::success;
  });
}

// Where intermediate results would be kept.
LANESCOPE_CUDA_API Status cufftSetAutoAllocation(int handle, int) {
  return with("cufftSetAutoAllocation", handle, [](const Plan&) { return Status::success; });
}
LANESCOPE_CUDA_API Status cufftSetWorkArea(int handle, void*) {
  return with("cufftSetWorkArea", handle, [](const Plan&) { return Status::success; });
}
LANESCOPE_CUDA_API Status cufftXtSetWorkArea(int handle, void**) {
  return with("cufftXtSetWorkArea", handle, [](const Plan&) { return Status::success; });
}
LANESCOPE_CUDA_API Status cufftXtSetWorkAreaPolicy(int handle, int, size_t* work) {
  constexpr const char* name = "cufftXtSetWorkAreaPolicy";
  return with(name, handle, [&](const Plan& plan) {
    if (plan.transform == nullptr)
      return refuse(name, Status::invalid_plan, "plan {} is not made yet", handle);
    if (work != nullptr) *work = work_size;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cufftSetPlanPropertyInt64(int handle, Property property, long long value) {
  return set_property("cufftSetPlanPropertyInt64", handle, property, value);
}
LANESCOPE_CUDA_API Status cufftResetPlanProperty(int handle, Property property) {
  return set_property("cufftResetPlanProperty", handle, property, 0);
}
LANESCOPE_CUDA_API Status cufftGetPlanPropertyInt64(int handle, Property property, long long* value) {
  constexpr const char* name = "cufftGetPlanPropertyInt64";
  return with(name, handle, [&](const Plan& plan) {
    if (value == nullptr) return null(name, "the value's place");
    if (const Status status = check(name, property); status != Status::success) return status;
    *value = plan.patient;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cufftGetVersion(int* out) {
  if (out != nullptr) *out = version;
  return Status::success;
}
/// libraryPropertyType: major, minor, patch.
LANESCOPE_CUDA_API Status cufftGetProperty(int which, int* out) {
  if (out == nullptr) return null("cufftGetProperty", "the value's place");
  if (which < 0 || which > 2)
    return refuse("cufftGetProperty", Status::invalid_type, "{} is no property", which);
  *out = libraries::part_of_version(version, which);
  return Status::success;
}

}  // namespace lanescope::cuda::fft
