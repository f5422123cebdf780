// Numbers of the four types of linear algebra, in memory that host and device share, and how they are held to
// what is expected of them.
#pragma once

#include <complex>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "library_calls.hpp"

extern "C" {
int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaGetLastError();
int cudaStreamCreate(void**);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
int cudaGraphInstantiate(void**, void*, unsigned long long);
int cudaGraphGetNodes(void*, void**, size_t*);
int cudaGraphNodeGetType(void*, int*);
int cudaGraphKernelNodeGetAttribute(void*, int, void*);
int cudaGraphKernelNodeSetAttribute(void*, int, const void*);
int cudaGraphLaunch(void*, void*);
int cudaGraphExecDestroy(void*);
int cudaGraphDestroy(void*);
int cudaStreamDestroy(void*);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaFree(void*);
int cudaDeviceSynchronize();
}

using Wide = std::complex<double>;
using Int = int64_t;

inline double fraction() { return static_cast<double>(between(-1000, 1000)) / 500; }

template <typename T>
struct Of {
  using Real = T;
  static constexpr bool is_complex = false;
  static T random() { return static_cast<T>(fraction()); }
};
template <typename T>
struct Of<std::complex<T>> {
  using Real = T;
  static constexpr bool is_complex = true;
  static std::complex<T> random() { return {static_cast<T>(fraction()), static_cast<T>(fraction())}; }
};
template <typename T>
using Real = typename Of<T>::Real;

/// Memory that host and device share.
template <typename T>
class Shared {
 public:
  explicit Shared(Int count) : count_(count) {
    cudaMallocManaged(reinterpret_cast<void**>(&data_), static_cast<size_t>(count + 1) * sizeof(T), 1);
    for (Int i = 0; i < count; ++i) data_[i] = Of<T>::random();
    before_.assign(data_, data_ + count);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { cudaFree(data_); }
  T* data() { return data_; }
  T& operator[](Int i) { return data_[i]; }
  /// As it was made, or last kept.
  [[nodiscard]] Wide before(Int i) const { return Wide(before_[static_cast<size_t>(i)]); }
  [[nodiscard]] Int count() const { return count_; }
  void keep() { before_.assign(data_, data_ + count_); }

 private:
  T* data_ = nullptr;
  Int count_;
  std::vector<T> before_;
};

inline int wrong = 0, right = 0;
inline std::string doing;  ///< the function that is tested
inline std::string given;  ///< what it is given, for messages

template <typename T>
bool is_close(T found, Wide expected, double size) {
  const double tolerance = (std::is_same_v<Real<T>, float> ? 2e-5 : 1e-12) * (size + std::abs(expected) + 1);
  return std::abs(Wide(found) - expected) <= tolerance;
}

/// Holds all of an array to what is expected of each element: most are as before.
template <typename T>
void expect(Shared<T>& found, const std::function<Wide(Int)>& expected, double size) {
  for (Int i = 0; i < found.count(); ++i) {
    const Wide should = expected(i);
    if (is_close(found[i], should, size)) continue;
    if (++wrong <= 20)
      std::printf("%s%s: element %ld is %g %g, expected %g %g\n", doing.c_str(), given.c_str(),
                  static_cast<long>(i), Wide(found[i]).real(), Wide(found[i]).imag(), should.real(),
                  should.imag());
    return;
  }
  ++right;
}
template <typename T>
void expect_number(T found, Wide expected, double size) {
  if (is_close(found, expected, size)) {
    ++right;
  } else if (++wrong <= 20) {
    std::printf("%s%s: %g %g, expected %g %g\n", doing.c_str(), given.c_str(), Wide(found).real(),
                Wide(found).imag(), expected.real(), expected.imag());
  }
}

inline void succeed(int status) {
  if (status == 0) return;
  ++wrong;
  std::printf("%s%s: status %d\n", doing.c_str(), given.c_str(), status);
}

/// Its cudaDataType_t.
template <typename T>
constexpr int type_of = std::is_same_v<T, float>                 ? 0
                        : std::is_same_v<T, double>              ? 1
                        : std::is_same_v<T, std::complex<float>> ? 4
                                                                 : 5;
template <typename T>
const char* letter_of() {
  constexpr int type = type_of<T>;
  return type == 0 ? "S" : type == 1 ? "D" : type == 4 ? "C" : "Z";
}

template <typename T>
T narrow(Wide value) {
  if constexpr (Of<T>::is_complex)
    return T(value);
  else
    return static_cast<T>(value.real());
}

inline Wide conj_if(Wide value, bool conjugated) { return conjugated ? std::conj(value) : value; }
