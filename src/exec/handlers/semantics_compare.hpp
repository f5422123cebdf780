// The comparisons of set and setp on one lane: pure functions. PTX ISA 9.0, chapter 9.7.6 and table of float
// comparisons: the ordered ones are false, the unordered ones (…u) true when an operand is a NaN.
#pragma once

namespace lanescope::exec::LANESCOPE_ISA {

struct Eq {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct BothNumbers {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
struct NeOrdered {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
/// True where the opposite ordered comparison is false.
template <class Opposite>
struct Unless {
  template <class T>
  constexpr bool operator()(T a, T b) const {
    return !Opposite()(a, b);
  }
};

}  // namespace lanescope::exec::LANESCOPE_ISA
