// Every function of cuSOLVER that Lanescope does, with random arguments: what it finds is multiplied again,
// and held to what it was given. And what calls return that make no sense. It needs neither nvcc nor headers:
// functions are looked up by name, in the libcusolver that the program finds. The statuses in solver.txt
// follow the documentation; no GPU's were compared.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "library_numbers.hpp"

namespace {

void *handle = nullptr, *sparse_handle = nullptr, *params = nullptr, *syevj = nullptr, *gesvdj = nullptr;
int* info = nullptr;

enum { lower = 0, upper = 1 };
enum { left = 0, right_side = 1 };
enum { none = 0, transposed = 1, adjoint = 2 };

/// Calls a function that must succeed, and waits for what it has given to the stream.
template <typename... Arguments>
void act(const std::string& name, Arguments... arguments) {
  doing = name;
  succeed(call(name, arguments...));
  succeed(cudaDeviceSynchronize());
}

/// A matrix of the host, to compute with.
struct Host {
  Int rows, columns;
  std::vector<Wide> elements;
  Host(Int m, Int n) : rows(m), columns(n), elements(static_cast<size_t>(m * n)) {}
  Wide& operator()(Int i, Int j) { return elements[static_cast<size_t>(i + j * rows)]; }
  const Wide& operator()(Int i, Int j) const { return elements[static_cast<size_t>(i + j * rows)]; }
};
Host made(Int m, Int n, const std::function<Wide(Int, Int)>& of) {
  Host out(m, n);
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i < m; ++i) out(i, j) = of(i, j);
  return out;
}
Host identity(Int n) {
  return made(n, n, [](Int i, Int j) { return i == j ? 1.0 : 0.0; });
}
Host turned(const Host& a, int operation = adjoint) {
  if (operation == none) return a;
  return made(a.columns, a.rows, [&](Int i, Int j) { return conj_if(a(j, i), operation == adjoint); });
}
Host operator*(const Host& a, const Host& b) {
  return made(a.rows, b.columns, [&](Int i, Int j) {
    Wide sum = 0;
    for (Int k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
    return sum;
  });
}
Host part(const Host& a, Int m, Int n) {
  return made(m, n, [&](Int i, Int j) { return a(i, j); });
}
/// The triangle, or the Hermitian matrix that it stands for.
Host triangle(const Host& a, int fill, bool has_ones = false) {
  return made(a.rows, a.columns, [&](Int i, Int j) -> Wide {
    if (i == j && has_ones) return 1;
    return (fill == lower ? i >= j : i <= j) ? a(i, j) : 0;
  });
}
Host hermitian(const Host& a, int fill) {
  return made(a.rows, a.columns, [&](Int i, Int j) {
    if (i == j) return Wide(a(i, i).real());
    return (fill == lower ? i > j : i < j) ? a(i, j) : std::conj(a(j, i));
  });
}
template <typename T>
Host diagonal(Shared<T>& values, Int m, Int n, Int first = 0) {
  return made(m, n, [&](Int i, Int j) { return i == j ? Wide(values[first + i]) : Wide(0); });
}

/// A matrix of the device, whose columns may lie farther apart than they are long.
template <typename T>
class Device {
 public:
  Device(Int m, Int n)
      : rows(m), columns(n), leading(std::max<Int>(1, m) + between(0, 3)), memory(leading * n) {}
  explicit Device(const Host& from) : Device(from.rows, from.columns) { set(from); }
  void set(const Host& from) {
    for (Int j = 0; j < columns; ++j)
      for (Int i = 0; i < rows; ++i) memory[i + j * leading] = narrow<T>(from(i, j));
    memory.keep();
  }
  Host now() {
    return made(rows, columns, [&](Int i, Int j) { return Wide(memory[i + j * leading]); });
  }
  [[nodiscard]] Host before() const {
    return made(rows, columns, [&](Int i, Int j) { return memory.before(i + j * leading); });
  }
  T* data() { return memory.data(); }
  [[nodiscard]] int ld() const { return static_cast<int>(leading); }
  /// That nothing but what `may(i, j)` was written.
  void expect_others_kept(const std::function<bool(Int, Int)>& may = [](Int, Int) { return true; }) {
    for (Int k = 0; k < memory.count(); ++k) {
      if (k % leading < rows && may(k % leading, k / leading)) continue;
      if (Wide(memory[k]) == memory.before(k)) continue;
      ++wrong;
      std::printf("%s: element %ld was written\n", doing.c_str(), static_cast<long>(k));
      return;
    }
    ++right;
  }

  Int rows, columns, leading;

 private:
  Shared<T> memory;
};

template <typename T>
void same(const Host& found, const Host& expected, double size) {
  for (size_t k = 0; k < expected.elements.size(); ++k) {
    const double tolerance = (std::is_same_v<Real<T>, float> ? 5e-5 : 1e-11) * (size + 1);
    if (std::abs(found.elements[k] - expected.elements[k]) <= tolerance) continue;
    if (++wrong <= 20)
      std::printf("%s: element %zu of %ld x %ld is %g %g, expected %g %g\n", doing.c_str(), k,
                  static_cast<long>(expected.rows), static_cast<long>(expected.columns),
                  found.elements[k].real(), found.elements[k].imag(), expected.elements[k].real(),
                  expected.elements[k].imag());
    return;
  }
  ++right;
}
void equal(long found, long expected) {
  if (found == expected)
    ++right;
  else if (++wrong <= 20)
    std::printf("%s: %ld, expected %ld\n", doing.c_str(), found, expected);
}

template <typename T>
std::string named(const std::string& rest) {
  return std::string("cusolverDn") + letter_of<T>() + rest;
}
/// What is called symmetric of real numbers and Hermitian of complex ones, orthogonal and unitary.
template <typename T>
std::string symmetric(const std::string& rest) {
  return named<T>((Of<T>::is_complex ? "he" : "sy") + rest);
}
template <typename T>
std::string orthogonal(const std::string& rest) {
  return named<T>((Of<T>::is_complex ? "un" : "or") + rest);
}
/// Calls the function that tells how much room another wants.
template <typename... Arguments>
void ask(const std::string& name, Arguments... arguments) {
  int size = -1;
  act(name + "_bufferSize", handle, arguments..., &size);
  equal(size > 0 && size < 65536 ? 1 : 0, 1);
}
template <typename... Arguments>
void ask_x(const std::string& name, Arguments... arguments) {
  size_t on_device = 0, on_host = 0;
  act(name + "_bufferSize", handle, arguments..., &on_device, &on_host);
  equal(on_device > 0 && on_host > 0 ? 1 : 0, 1);
}
template <typename T>
T* work() {
  static T* memory = nullptr;
  if (memory == nullptr) cudaMalloc(reinterpret_cast<void**>(&memory), 65536 * sizeof(T));
  return memory;
}

template <typename T>
Host random_host(Int m, Int n) {
  return made(m, n, [](Int, Int) { return Wide(Of<T>::random()); });
}
/// Positive definite.
template <typename T>
Host positive(Int n) {
  const Host a = random_host<T>(n, n);
  Host out = a * turned(a);
  for (Int i = 0; i < n; ++i) out(i, i) += static_cast<double>(n);
  return out;
}
/// Sizes: mostly small.
Int some_size() { return between(0, 9) == 0 ? between(40, 70) : between(1, 12); }

/// P^T L U of what getrf has made.
template <typename Pivots>
Host multiplied(const Host& lu, Pivots& pivots, bool exchanged) {
  const Int least = std::min(lu.rows, lu.columns);
  Host product =
      triangle(part(lu, lu.rows, least), lower, true) * triangle(part(lu, least, lu.columns), upper);
  for (Int k = least; exchanged && k-- > 0;)
    for (Int j = 0; j < lu.columns; ++j)
      std::swap(product(k, j), product(static_cast<Int>(pivots[k]) - 1, j));
  return product;
}

/// Integers that host and device share.
template <typename I>
class Integers {
 public:
  explicit Integers(Int count) {
    cudaMallocManaged(reinterpret_cast<void**>(&data_), static_cast<size_t>(count + 1) * sizeof(I), 1);
  }
  Integers(const Integers&) = delete;
  Integers& operator=(const Integers&) = delete;
  ~Integers() { cudaFree(data_); }
  I* data() { return data_; }
  I& operator[](Int i) { return data_[i]; }

 private:
  I* data_ = nullptr;
};

template <typename T>
void lu() {
  const Int m = some_size(), n = some_size(), columns = between(1, 4);
  const int im = static_cast<int>(m), in = static_cast<int>(n), nrhs = static_cast<int>(columns);
  const double size = static_cast<double>(m + n) * 10;
  Integers<int> pivots(std::max(m, n));
  Integers<Int> wide_pivots(std::max(m, n));
  Device<T> a(m, n);
  ask(named<T>("getrf"), im, in, a.data(), a.ld());
  act(named<T>("getrf"), handle, im, in, a.data(), a.ld(), work<T>(), pivots.data(), info);
  equal(*info, 0);
  same<T>(multiplied(a.now(), pivots, true), a.before(), size);
  a.expect_others_kept();
  Device<T> wide(a.before());
  ask_x("cusolverDnXgetrf", params, m, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
        type_of<T>);
  act("cusolverDnXgetrf", handle, params, m, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
      wide_pivots.data(), type_of<T>, static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr),
      size_t{0}, info);
  same<T>(wide.now(), a.now(), size);

  // Well conditioned, so that solutions can be compared; and needing no exchange.
  Host matrix = random_host<T>(n, n);
  for (Int i = 0; i < n; ++i) matrix(i, i) += static_cast<double>(n) * 4;
  const bool exchanged = between(0, 1) == 1;
  Device<T> square(matrix), x(n, columns), wide_x(x.before());
  act(named<T>("getrf"), handle, in, in, square.data(), square.ld(), work<T>(),
      exchanged ? pivots.data() : nullptr, info);
  same<T>(multiplied(square.now(), pivots, exchanged), square.before(), size * 4);
  const int operation = static_cast<int>(between(0, 2));
  act(named<T>("getrs"), handle, operation, in, nrhs, square.data(), square.ld(),
      exchanged ? pivots.data() : nullptr, x.data(), x.ld(), info);
  equal(*info, 0);
  same<T>(turned(square.before(), operation) * x.now(), x.before(), size);
  x.expect_others_kept();
  for (Int k = 0; k < n; ++k) wide_pivots[k] = pivots[k];
  act("cusolverDnXgetrs", handle, params, operation, n, columns, type_of<T>,
      static_cast<void*>(square.data()), square.leading, exchanged ? wide_pivots.data() : nullptr, type_of<T>,
      static_cast<void*>(wide_x.data()), wide_x.leading, info);
  same<T>(wide_x.now(), x.now(), 1);

  // Two columns that are the same.
  if (n > 1) {
    Host singular = random_host<T>(n, n);
    for (Int i = 0; i < n; ++i) singular(i, n - 1) = singular(i, n - 2) = 0;
    square.set(singular);
    act(named<T>("getrf"), handle, in, in, square.data(), square.ld(), work<T>(), pivots.data(), info);
    equal(*info, n - 1);
  }

  // Rows exchanged, forth and back.
  Device<T> rows(m, n);
  for (Int k = 0; k < m; ++k) pivots[k] = static_cast<int>(between(k, m - 1)) + 1;
  Host expected = rows.before();
  for (Int k = 0; k < m; ++k)
    for (Int j = 0; j < n; ++j) {
      const Int other = pivots[k] - 1;
      if (other != k) std::swap(expected(k, j), expected(other, j));
    }
  act(named<T>("laswp"), handle, in, rows.data(), rows.ld(), 1, im, pivots.data(), 1);
  same<T>(rows.now(), expected, 0);
  // In two parts, of which the second one comes first; and every other element of the pivots.
  const Int middle = between(1, m);
  Integers<int> apart(2 * m);
  for (Int k = middle; k < m; ++k) apart[middle + 2 * (k - middle)] = pivots[k];
  if (middle < m)
    act(named<T>("laswp"), handle, in, rows.data(), rows.ld(), static_cast<int>(middle) + 1, im, apart.data(),
        -2);
  act(named<T>("laswp"), handle, in, rows.data(), rows.ld(), 1, static_cast<int>(middle), pivots.data(), -1);
  same<T>(rows.now(), rows.before(), 0);
}

template <typename T>
void cholesky() {
  const Int n = some_size(), columns = between(1, 4);
  const int in = static_cast<int>(n), nrhs = static_cast<int>(columns),
            fill = static_cast<int>(between(0, 1));
  const double size = static_cast<double>(n) * 40;
  const auto is_inside = [&](Int i, Int j) { return fill == lower ? i >= j : i <= j; };
  const auto factor_of = [&](Device<T>& a) {
    const Host half = triangle(a.now(), fill);
    return fill == lower ? half * turned(half) : turned(half) * half;
  };
  Device<T> a(positive<T>(n)), x(n, columns), wide(a.before()), wide_x(x.before());
  ask(named<T>("potrf"), fill, in, a.data(), a.ld());
  act(named<T>("potrf"), handle, fill, in, a.data(), a.ld(), work<T>(), 0, info);
  equal(*info, 0);
  same<T>(factor_of(a), a.before(), size);
  a.expect_others_kept(is_inside);
  act(named<T>("potrs"), handle, fill, in, nrhs, a.data(), a.ld(), x.data(), x.ld(), info);
  same<T>(a.before() * x.now(), x.before(), size);
  x.expect_others_kept();
  ask_x("cusolverDnXpotrf", params, fill, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
        type_of<T>);
  act("cusolverDnXpotrf", handle, params, fill, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
      type_of<T>, static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr), size_t{0}, info);
  same<T>(wide.now(), a.now(), 1);
  act("cusolverDnXpotrs", handle, params, fill, n, columns, type_of<T>, static_cast<void*>(wide.data()),
      wide.leading, type_of<T>, static_cast<void*>(wide_x.data()), wide_x.leading, info);
  same<T>(wide_x.now(), x.now(), 1);
  ask(named<T>("potri"), fill, in, a.data(), a.ld());
  act(named<T>("potri"), handle, fill, in, a.data(), a.ld(), work<T>(), 0, info);
  equal(*info, 0);
  same<T>(hermitian(a.now(), fill) * a.before(), identity(n), size);
  a.expect_others_kept(is_inside);

  const Int bad = between(0, n - 1);
  Host indefinite = positive<T>(n);
  indefinite(bad, bad) = -1;
  a.set(indefinite);
  act(named<T>("potrf"), handle, fill, in, a.data(), a.ld(), work<T>(), 0, info);
  equal(*info, bad + 1);

  // Inverses of triangles.
  for (const bool has_ones : {false, true}) {
    Host half = triangle(random_host<T>(n, n), fill);
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < n; ++i)
        half(i, j) = i == j ? Wide(2 + std::abs(half(i, i))) : half(i, j) / Wide(size);
    Device<T> t(half);
    ask_x("cusolverDnXtrtri", fill, has_ones ? 1 : 0, n, type_of<T>, static_cast<void*>(t.data()), t.leading);
    act("cusolverDnXtrtri", handle, fill, has_ones ? 1 : 0, n, type_of<T>, static_cast<void*>(t.data()),
        t.leading, static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr), size_t{0}, info);
    equal(*info, 0);
    same<T>(triangle(t.before(), fill, has_ones) * triangle(t.now(), fill, has_ones), identity(n), 1);
    t.expect_others_kept([&](Int i, Int j) { return is_inside(i, j) && (i != j || !has_ones); });
  }

  // A batch, by pointers.
  const Int count = between(1, 3), step = n * n;
  Shared<T> matrices(step * count), sides(n * count);
  Integers<T*> of_a(count), of_b(count);
  Integers<int> each(count);
  for (Int k = 0; k < count; ++k) {
    const Host one = positive<T>(n);
    for (Int e = 0; e < step; ++e) matrices[k * step + e] = narrow<T>(one.elements[static_cast<size_t>(e)]);
    of_a[k] = matrices.data() + k * step;
    of_b[k] = sides.data() + k * n;
  }
  matrices.keep();
  act(named<T>("potrfBatched"), handle, fill, in, of_a.data(), in, each.data(), static_cast<int>(count));
  act(named<T>("potrsBatched"), handle, fill, in, 1, of_a.data(), in, of_b.data(), in, info,
      static_cast<int>(count));
  for (Int k = 0; k < count; ++k) {
    equal(each[k], 0);
    const Host one = made(n, n, [&](Int i, Int j) { return matrices.before(k * step + i + j * n); });
    const Host found = made(n, 1, [&](Int i, Int) { return Wide(sides[k * n + i]); });
    same<T>(one * found, made(n, 1, [&](Int i, Int) { return sides.before(k * n + i); }), size);
  }
}

template <typename T>
void qr() {
  const Int m = some_size(), n = some_size(), least = std::min(m, n);
  const int im = static_cast<int>(m), in = static_cast<int>(n), k = static_cast<int>(least);
  const double size = static_cast<double>(m + n) * 4;
  Device<T> a(m, n);
  Shared<T> tau(least);
  ask(named<T>("geqrf"), im, in, a.data(), a.ld());
  act(named<T>("geqrf"), handle, im, in, a.data(), a.ld(), tau.data(), work<T>(), 0, info);
  equal(*info, 0);
  a.expect_others_kept();
  Device<T> wide(a.before());
  Shared<T> wide_tau(least);
  ask_x("cusolverDnXgeqrf", params, m, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
        type_of<T>, static_cast<void*>(wide_tau.data()), type_of<T>);
  act("cusolverDnXgeqrf", handle, params, m, n, type_of<T>, static_cast<void*>(wide.data()), wide.leading,
      type_of<T>, static_cast<void*>(wide_tau.data()), type_of<T>, static_cast<void*>(nullptr), size_t{0},
      static_cast<void*>(nullptr), size_t{0}, info);
  same<T>(wide.now(), a.now(), 1);

  // All of Q, and its first columns.
  const Host r = triangle(part(a.now(), least, n), upper);
  Device<T> q(part(a.now(), m, least)),
      all(made(m, m, [&](Int i, Int j) { return j < least ? a.now()(i, j) : 0; }));
  ask(orthogonal<T>("gqr"), im, k, k, q.data(), q.ld(), tau.data());
  act(orthogonal<T>("gqr"), handle, im, k, k, q.data(), q.ld(), tau.data(), work<T>(), 0, info);
  equal(*info, 0);
  same<T>(q.now() * r, a.before(), size);
  q.expect_others_kept();
  act(orthogonal<T>("gqr"), handle, im, im, k, all.data(), all.ld(), tau.data(), work<T>(), 0, info);
  same<T>(turned(all.now()) * all.now(), identity(m), 1);
  same<T>(part(all.now(), m, least), q.now(), 1);

  for (const int side : {left, right_side})
    for (const int operation : {none, Of<T>::is_complex ? adjoint : transposed}) {
      const Int other = some_size();
      Device<T> c(side == left ? m : other, side == left ? other : m);
      const int rows = static_cast<int>(c.rows), columns = static_cast<int>(c.columns);
      ask(orthogonal<T>("mqr"), side, operation, rows, columns, k, a.data(), a.ld(), tau.data(), c.data(),
          c.ld());
      act(orthogonal<T>("mqr"), handle, side, operation, rows, columns, k, a.data(), a.ld(), tau.data(),
          c.data(), c.ld(), work<T>(), 0, info);
      equal(*info, 0);
      const Host by = turned(all.now(), operation);
      same<T>(c.now(), side == left ? by * c.before() : c.before() * by, size);
      c.expect_others_kept();
    }
}

/// Values in rising order and, if there are vectors, A V = V W with orthogonal V.
template <typename T>
void look_at_eigen(const Host& a, const Host& vectors, Shared<Real<T>>& values, Int first,
                   bool with_vectors) {
  const Int n = a.rows, count = vectors.columns;
  const double size = static_cast<double>(n) * 10;
  equal(std::is_sorted(values.data() + first, values.data() + first + count) ? 1 : 0, 1);
  if (with_vectors) {
    same<T>(turned(vectors) * vectors, identity(count), 1);
    same<T>(a * vectors, vectors * diagonal(values, count, count, first), size);
  } else if (count == n) {  // the sums of them and of their squares
    Wide sum = 0, squares = 0, trace = 0, norm = 0;
    for (Int i = 0; i < n; ++i) {
      sum += values[first + i];
      squares += static_cast<double>(values[first + i]) * static_cast<double>(values[first + i]);
      trace += a(i, i);
      for (Int j = 0; j < n; ++j) norm += std::norm(a(i, j));
    }
    const auto one = [](Wide value) { return made(1, 1, [=](Int, Int) { return value; }); };
    same<T>(one(sum), one(trace), size * 10);
    same<T>(one(squares), one(norm), norm.real() * 10);
  }
}

template <typename T>
void eigenvalues() {
  using R = Real<T>;
  const Int n = some_size();
  const int in = static_cast<int>(n), fill = static_cast<int>(between(0, 1)),
            job = static_cast<int>(between(0, 1));
  const auto part_kept = [&](Int, Int) { return job == 1; };
  Device<T> a(n, n);
  if (between(0, 3) == 0) a.set(identity(n));  // all the same
  Shared<R> w(n);
  const Host matrix = hermitian(a.before(), fill);
  ask(symmetric<T>("evd"), job, fill, in, a.data(), a.ld(), w.data());
  act(symmetric<T>("evd"), handle, job, fill, in, a.data(), a.ld(), w.data(), work<T>(), 0, info);
  equal(*info, 0);
  look_at_eigen<T>(matrix, a.now(), w, 0, job == 1);
  a.expect_others_kept(part_kept);

  Device<T> b(a.before());
  int size = 0;
  act(symmetric<T>("evj_bufferSize"), handle, job, fill, in, b.data(), b.ld(), w.data(), &size, syevj);
  act(symmetric<T>("evj"), handle, job, fill, in, b.data(), b.ld(), w.data(), work<T>(), size, info, syevj);
  look_at_eigen<T>(matrix, b.now(), w, 0, job == 1);

  b.set(a.before());
  ask_x("cusolverDnXsyevd", params, job, fill, n, type_of<T>, static_cast<void*>(b.data()), b.leading,
        type_of<R>, static_cast<void*>(w.data()), type_of<T>);
  act("cusolverDnXsyevd", handle, params, job, fill, n, type_of<T>, static_cast<void*>(b.data()), b.leading,
      type_of<R>, static_cast<void*>(w.data()), type_of<T>, static_cast<void*>(nullptr), size_t{0},
      static_cast<void*>(nullptr), size_t{0}, info);
  look_at_eigen<T>(matrix, b.now(), w, 0, job == 1);

  // Some of them.
  Shared<R> some(n);
  const Int first = between(1, n), last = between(first, n);
  int found = 0;
  b.set(a.before());
  act(symmetric<T>("evdx"), handle, job, 1002, fill, in, b.data(), b.ld(), R{0}, R{0},
      static_cast<int>(first), static_cast<int>(last), &found, some.data(), work<T>(), 0, info);
  equal(found, last - first + 1);
  look_at_eigen<T>(matrix, part(b.now(), n, found), some, 0, job == 1);
  for (Int k = 0; k < found; ++k) expect_number(some[k], w[first - 1 + k], static_cast<double>(n) * 10);
  Int found_too = 0;
  b.set(a.before());
  R above = some[0] - 1, to = some[found - 1];
  act("cusolverDnXsyevdx", handle, params, job, 1003, fill, n, type_of<T>, static_cast<void*>(b.data()),
      b.leading, static_cast<void*>(&above), static_cast<void*>(&to), Int{0}, Int{0}, &found_too, type_of<R>,
      static_cast<void*>(some.data()), type_of<T>, static_cast<void*>(nullptr), size_t{0},
      static_cast<void*>(nullptr), size_t{0}, info);
  look_at_eigen<T>(matrix, part(b.now(), n, found_too), some, 0, job == 1);
  equal(found_too > 0 && some[0] > above && some[found_too - 1] <= to ? 1 : 0, 1);
  if (n > 1 && w[0] < w[n - 1]) {
    b.set(a.before());
    const R middle = (w[0] + w[n - 1]) / 2;
    act(symmetric<T>("evdx"), handle, job, 1003, fill, in, b.data(), b.ld(), w[0] - 1, middle, 0, 0, &found,
        some.data(), work<T>(), 0, info);
    equal(found, std::upper_bound(w.data(), w.data() + n, middle) - w.data());
  }

  // Batches.
  const Int count = between(1, 3), small = between(1, 8);
  const int ismall = static_cast<int>(small), icount = static_cast<int>(count);
  Shared<T> batch(small * small * count);
  Shared<R> values(small * count);
  Integers<int> infos(count);
  for (const bool wide : {false, true}) {
    if (wide)
      act("cusolverDnXsyevBatched", handle, params, job, fill, small, type_of<T>,
          static_cast<void*>(batch.data()), small, type_of<R>, static_cast<void*>(values.data()), type_of<T>,
          static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr), size_t{0}, infos.data(),
          count);
    else
      act(symmetric<T>("evjBatched"), handle, job, fill, ismall, batch.data(), ismall, values.data(),
          work<T>(), 0, infos.data(), syevj, icount);
    for (Int k = 0; k < count; ++k) {
      const auto at = [&](Int i, Int j) { return k * small * small + i + j * small; };
      equal(infos[k], 0);
      look_at_eigen<T>(
          hermitian(made(small, small, [&](Int i, Int j) { return batch.before(at(i, j)); }), fill),
          made(small, small, [&](Int i, Int j) { return Wide(batch[at(i, j)]); }), values, k * small,
          job == 1);
    }
    batch.keep();
  }

  // Of two matrices.
  const int problem = static_cast<int>(between(1, 3));
  Device<T> c(a.before()), d(positive<T>(n));
  act(symmetric<T>("gvd"), handle, problem, 1, fill, in, c.data(), c.ld(), d.data(), d.ld(), w.data(),
      work<T>(), 0, info);
  equal(*info, 0);
  const Host x = c.now(), by_values = x * diagonal(w, n, n), one = matrix, other = d.before();
  const double scale = static_cast<double>(n) * 100;
  if (problem == 1) same<T>(one * x, other * by_values, scale);
  if (problem == 2) same<T>(one * (other * x), by_values, scale * static_cast<double>(n));
  if (problem == 3) same<T>(other * (one * x), by_values, scale * static_cast<double>(n * n));
  Device<T> e(a.before()), again(other);
  act(symmetric<T>("gvj"), handle, problem, 1, fill, in, e.data(), e.ld(), again.data(), again.ld(), w.data(),
      work<T>(), 0, info, syevj);
  same<T>(e.now(), x, 0);
  d.set(made(n, n, [](Int i, Int j) { return i == j ? -1.0 : 0.0; }));
  act(symmetric<T>("gvd"), handle, 1, 1, fill, in, c.data(), c.ld(), d.data(), d.ld(), w.data(), work<T>(), 0,
      info);
  equal(*info, n + 1);
}

/// A = U S V^H, as many columns as there are.
template <typename T>
void look_at_singular(const Host& a, const Host& u, Shared<Real<T>>& s, Int first, const Host& v) {
  const Int least = std::min(a.rows, a.columns);
  equal(
      std::is_sorted(s.data() + first, s.data() + first + least, std::greater()) && s[first + least - 1] >= 0,
      1);
  same<T>(turned(u) * u, identity(u.columns), 1);
  same<T>(turned(v) * v, identity(v.columns), 1);
  same<T>(part(u, a.rows, least) * diagonal(s, least, least, first) * turned(part(v, a.columns, least)), a,
          static_cast<double>(a.rows + a.columns) * 4);
}

template <typename T>
void singular_values() {
  using R = Real<T>;
  const Int m = some_size(), n = some_size(), least = std::min(m, n);
  const int im = static_cast<int>(m), in = static_cast<int>(n), job = static_cast<int>(between(0, 1)),
            economy = static_cast<int>(between(0, 1));
  const auto as = [](auto* data) { return static_cast<void*>(data); };
  Host matrix = random_host<T>(m, n);
  const Int kind = between(0, 3);
  if (kind == 0) matrix = random_host<T>(m, 1) * random_host<T>(1, n);  // of rank 1
  if (kind == 1 && between(0, 3) == 0) matrix = made(m, n, [](Int, Int) { return 0.0; });
  Device<T> a(matrix), u(m, economy ? least : m), v(n, economy ? least : n);
  Shared<R> s(least);
  int size = 0;
  act(named<T>("gesvdj_bufferSize"), handle, job, economy, im, in, a.data(), a.ld(), s.data(), u.data(),
      u.ld(), v.data(), v.ld(), &size, gesvdj);
  act(named<T>("gesvdj"), handle, job, economy, im, in, a.data(), a.ld(), s.data(), u.data(), u.ld(),
      v.data(), v.ld(), work<T>(), size, info, gesvdj);
  equal(*info, 0);
  if (job == 1) look_at_singular<T>(a.before(), u.now(), s, 0, v.now());
  u.expect_others_kept([&](Int, Int) { return job == 1; });
  v.expect_others_kept([&](Int, Int) { return job == 1; });
  double residual = 1;
  ask_x("cusolverDnXgesvdp", params, 1, economy, m, n, type_of<T>, as(a.data()), a.leading, type_of<R>,
        as(s.data()), type_of<T>, as(u.data()), u.leading, type_of<T>, as(v.data()), v.leading, type_of<T>);
  act("cusolverDnXgesvdp", handle, params, 1, economy, m, n, type_of<T>, as(a.data()), a.leading, type_of<R>,
      as(s.data()), type_of<T>, as(u.data()), u.leading, type_of<T>, as(v.data()), v.leading, type_of<T>,
      static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr), size_t{0}, info, &residual);
  look_at_singular<T>(a.before(), u.now(), s, 0, v.now());
  expect_number(residual, 0, 0);

  // No fewer rows than columns from here on.
  const Int rows = std::max(m, n), columns = least;
  const int irows = static_cast<int>(rows), icolumns = static_cast<int>(columns);
  const Host tall = m < n ? turned(a.before()) : a.before();
  const char jobs[] = {'A', 'S', 'O', 'N'};
  const char job_u = jobs[between(0, 3)], job_vt = jobs[between(0, job_u == 'O' ? 1 : 3)];
  Device<T> b(tall), left_side(rows, job_u == 'A' ? rows : columns), right_turned(columns, columns);
  ask(named<T>("gesvd"), irows, icolumns);
  for (const bool wide : {false, true}) {
    b.set(tall);
    if (wide)
      act("cusolverDnXgesvd", handle, params, static_cast<signed char>(job_u),
          static_cast<signed char>(job_vt), rows, columns, type_of<T>, as(b.data()), b.leading, type_of<R>,
          as(s.data()), type_of<T>, as(left_side.data()), left_side.leading, type_of<T>,
          as(right_turned.data()), right_turned.leading, type_of<T>, static_cast<void*>(nullptr), size_t{0},
          static_cast<void*>(nullptr), size_t{0}, info);
    else
      act(named<T>("gesvd"), handle, static_cast<signed char>(job_u), static_cast<signed char>(job_vt), irows,
          icolumns, b.data(), b.ld(), s.data(), left_side.data(), left_side.ld(), right_turned.data(),
          right_turned.ld(), work<T>(), 0, static_cast<R*>(nullptr), info);
    equal(*info, 0);
    b.expect_others_kept();
    if (job_u != 'N' && job_vt != 'N')
      look_at_singular<T>(tall, job_u == 'O' ? b.now() : left_side.now(), s, 0,
                          turned(job_vt == 'O' ? part(b.now(), columns, columns) : right_turned.now()));
  }

  // Batches.
  const Int count = between(1, 3), sm = between(1, 6), sn = between(1, 6), small = std::min(sm, sn);
  const int ism = static_cast<int>(sm), isn = static_cast<int>(sn), icount = static_cast<int>(count);
  Shared<T> all(sm * sn * count), us(sm * sm * count), vs(sn * sn * count);
  Shared<R> ss(small * count);
  Integers<int> infos(count);
  const auto look_at_batch = [&](Int of_u, Int of_v) {
    for (Int k = 0; k < count; ++k) {
      equal(infos[k], 0);
      look_at_singular<T>(made(sm, sn, [&](Int i, Int j) { return all.before((k * sn + j) * sm + i); }),
                          made(sm, of_u, [&](Int i, Int j) { return Wide(us[(k * of_u + j) * sm + i]); }), ss,
                          k * small,
                          made(sn, of_v, [&](Int i, Int j) { return Wide(vs[(k * of_v + j) * sn + i]); }));
    }
  };
  act(named<T>("gesvdjBatched"), handle, 1, ism, isn, all.data(), ism, ss.data(), us.data(), ism, vs.data(),
      isn, work<T>(), 0, infos.data(), gesvdj, icount);
  look_at_batch(sm, sn);
  std::vector<double> residuals(static_cast<size_t>(count), 1);
  using Stride = long long;
  act(named<T>("gesvdaStridedBatched"), handle, 1, static_cast<int>(small), ism, isn, all.data(), ism,
      static_cast<Stride>(sm * sn), ss.data(), static_cast<Stride>(small), us.data(), ism,
      static_cast<Stride>(sm * small), vs.data(), isn, static_cast<Stride>(sn * small), work<T>(), 0,
      infos.data(), residuals.data(), icount);
  look_at_batch(small, small);
  expect_number(residuals[0], 0, 0);
}

/// The functions that refine what they find.
template <typename T>
void refined() {
  const Int n = some_size(), m = n + between(0, 5), columns = between(1, 3);
  const int in = static_cast<int>(n), im = static_cast<int>(m), nrhs = static_cast<int>(columns);
  const double size = static_cast<double>(n) * 20;
  const std::string own = letter_of<T>(), second = own == "S"   ? "SHBX"
                                                   : own == "D" ? "DSHBX"
                                                   : own == "C" ? "CKEY"
                                                                : "ZCKEY";
  const std::string name =
      "cusolverDn" + own + second[static_cast<size_t>(between(size_t{0}, second.size() - 1))];
  Integers<int> pivots(n);
  Host matrix = random_host<T>(m, n);
  for (Int i = 0; i < n; ++i) matrix(i, i) += static_cast<double>(n) * 4;
  Device<T> a(part(matrix, n, n)), b(n, columns), x(n, columns);
  size_t bytes = 0;
  int iterations = -1;
  act(name + "gesv_bufferSize", handle, in, nrhs, a.data(), a.ld(), pivots.data(), b.data(), b.ld(), x.data(),
      x.ld(), static_cast<void*>(nullptr), &bytes);
  act(name + "gesv", handle, in, nrhs, a.data(), a.ld(), pivots.data(), b.data(), b.ld(), x.data(), x.ld(),
      static_cast<void*>(work<T>()), bytes, &iterations, info);
  equal(*info, 0);
  equal(iterations, 0);
  same<T>(a.before() * x.now(), b.before(), size);
  x.expect_others_kept();
  Device<T> tall(matrix), sides(m, columns);
  act(name + "gels_bufferSize", handle, im, in, nrhs, tall.data(), tall.ld(), sides.data(), sides.ld(),
      x.data(), x.ld(), static_cast<void*>(nullptr), &bytes);
  act(name + "gels", handle, im, in, nrhs, tall.data(), tall.ld(), sides.data(), sides.ld(), x.data(), x.ld(),
      static_cast<void*>(work<T>()), bytes, &iterations, info);
  equal(*info, 0);
  // What is left over is orthogonal to all columns.
  const Host product = turned(matrix) * (tall.before() * x.now());
  same<T>(product, turned(matrix) * sides.before(), size * size);
}

/// A matrix in CSR, with indices from 0 or 1 on, in memory that host and device share.
template <typename T>
struct Sparse {
  Integers<int> rows, columns;
  Shared<T> values;
  int count;
  explicit Sparse(const Host& a)
      : rows(a.rows + 1), columns(a.rows * a.columns), values(a.rows * a.columns), count(0) {
    const int base = between(0, 1);
    for (Int i = 0; i < a.rows; ++i) {
      rows[i] = count + base;
      for (Int j = 0; j < a.columns; ++j) {
        if (a(i, j) == Wide(0)) continue;
        columns[count] = static_cast<int>(j) + base;
        values[count++] = narrow<T>(a(i, j));
      }
    }
    rows[a.rows] = count + base;
  }
};

template <typename T>
Host sparse_matrix(Int m, Int n) {
  return made(m, n, [](Int, Int) { return between(0, 2) == 0 ? Wide(Of<T>::random()) : Wide(0); });
}

/// Calls one of cusolverSp's functions for A x = b; what it tells of A, and x.
template <typename T>
std::pair<int, Host> solve_sparse(const std::string& name, const Host& a, const Host& b) {
  Sparse<T> of(a);
  Device<T> right(b), x(b);
  const int n = static_cast<int>(a.rows), descriptor = 0;
  int singularity = -7;
  act("cusolverSp" + std::string(letter_of<T>()) + name, sparse_handle, n, of.count,
      static_cast<const void*>(&descriptor), of.values.data(), of.rows.data(), of.columns.data(),
      right.data(), Real<T>(1e-6), 1, x.data(), &singularity);
  return {singularity, x.now()};
}

template <typename T>
void sparse() {
  const Int n = between(1, 12);
  const Host b = made(n, 1, [](Int, Int) { return Wide(Of<T>::random()); });
  const Host general = sparse_matrix<T>(n, n);
  const Host a = made(n, n, [&](Int i, Int j) { return general(i, j) + (i == j ? Wide(12) : Wide(0)); });
  for (const char* name : {"csrlsvqr", "csrlsvqrHost", "csrlsvluHost"}) {
    const auto [singularity, x] = solve_sparse<T>(name, a, b);
    equal(singularity, -1);
    same<T>(a * x, b, 40);
    const Int empty = between(0, static_cast<int>(n) - 1);
    const Host singular = made(n, n, [&](Int i, Int j) { return j == empty ? Wide(0) : a(i, j); });
    equal(solve_sparse<T>(name, singular, b).first, n - 1);  // wherever, it comes last
  }

  const Host square = general * turned(general);
  const Host positive = made(n, n, [&](Int i, Int j) { return square(i, j) + (i == j ? Wide(1) : Wide(0)); });
  for (const char* name : {"csrlsvchol", "csrlsvcholHost"}) {
    const auto [singularity, x] = solve_sparse<T>(name, positive, b);
    equal(singularity, -1);
    same<T>(positive * x, b, 400);
    const Int negative = between(0, static_cast<int>(n) - 1);
    const Host indefinite =
        made(n, n, [&](Int i, Int j) { return i == negative && j == i ? Wide(-1) : positive(i, j); });
    equal(solve_sparse<T>(name, indefinite, b).first, negative);
  }

  const Int m = n + between(0, 5);
  const Host some = sparse_matrix<T>(m, n);
  const Host tall = made(m, n, [&](Int i, Int j) { return some(i, j) + (i == j ? Wide(12) : Wide(0)); });
  const Host wanted = made(m, 1, [](Int, Int) { return Wide(Of<T>::random()); });
  Sparse<T> of(tall);
  Device<T> right(wanted), x(b);
  std::vector<int> order(static_cast<size_t>(n));
  int rank = -7;
  Real<T> residual = -7;
  act("cusolverSp" + std::string(letter_of<T>()) + "csrlsqvqrHost", sparse_handle, static_cast<int>(m),
      static_cast<int>(n), of.count, static_cast<const void*>(&rank), of.values.data(), of.rows.data(),
      of.columns.data(), right.data(), Real<T>(1e-6), &rank, x.data(), order.data(), &residual);
  equal(rank, n);
  const Host product = tall * x.now();
  const Host left_over = made(m, 1, [&](Int i, Int j) { return wanted(i, j) - product(i, j); });
  same<T>(turned(tall) * left_over, made(n, 1, [](Int, Int) { return Wide(0); }), 400);
  expect_number(residual, std::sqrt((turned(left_over) * left_over)(0, 0).real()), 40);
  std::sort(order.begin(), order.end());
  for (Int i = 0; i < n; ++i) equal(order[static_cast<size_t>(i)], i);
}

/// What cusolverSpCreateCsr…Info makes, and what is done with it.
template <typename T>
struct KeptFactors {
  std::string kind, on;  ///< "qr", "Host"
  void* info = nullptr;
  KeptFactors(std::string kind, std::string on) : kind(std::move(kind)), on(std::move(on)) {
    act("cusolverSpCreateCsr" + this->kind + "Info" + this->on, &info);
  }
  KeptFactors(const KeptFactors&) = delete;
  KeptFactors& operator=(const KeptFactors&) = delete;
  ~KeptFactors() { act("cusolverSpDestroyCsr" + kind + "Info" + on, info); }
  [[nodiscard]] std::string name(const char* what) const {
    return "cusolverSp" + std::string(letter_of<T>()) + "csr" + kind + what + on;
  }
  /// Factors a square matrix; QR less `mu` on its diagonal.
  void factor(const Host& a, double mu) {
    Sparse<T> of(a);
    const int n = static_cast<int>(a.rows);
    const void* descriptor = &n;
    T* const none = nullptr;
    size_t inside = 0, bytes = 0;
    const std::string analysis = "cusolverSpXcsr" + kind + "Analysis" + on;
    if (kind == "qr") {
      act(analysis, sparse_handle, n, n, of.count, descriptor, of.rows.data(), of.columns.data(), info);
      act(name("BufferInfo"), sparse_handle, n, n, of.count, descriptor, of.values.data(), of.rows.data(),
          of.columns.data(), info, &inside, &bytes);
    } else {
      act(analysis, sparse_handle, n, of.count, descriptor, of.rows.data(), of.columns.data(), info);
      act(name("BufferInfo"), sparse_handle, n, of.count, descriptor, of.values.data(), of.rows.data(),
          of.columns.data(), info, &inside, &bytes);
    }
    Integers<char> buffer(static_cast<Int>(bytes));
    void* room = buffer.data();
    if (kind == "qr") {
      act(name("Setup"), sparse_handle, n, n, of.count, descriptor, of.values.data(), of.rows.data(),
          of.columns.data(), T(static_cast<Real<T>>(mu)), info);
      act(name("Factor"), sparse_handle, n, n, of.count, none, none, info, room);
    } else if (kind == "lu") {
      act(name("Factor"), sparse_handle, n, of.count, descriptor, of.values.data(), of.rows.data(),
          of.columns.data(), info, Real<T>(1), room);
    } else {
      act(name("Factor"), sparse_handle, n, of.count, descriptor, of.values.data(), of.rows.data(),
          of.columns.data(), info, room);
    }
    cudaDeviceSynchronize();
  }
  int pivot() {
    int found = -7;
    act(name("ZeroPivot"), sparse_handle, info, Real<T>(1e-6), &found);
    return found;
  }
  Host solve(const Host& b) {
    Device<T> right(b), x(b);
    Integers<char> buffer(1 << 16);
    const int n = static_cast<int>(b.rows);
    void* room = buffer.data();
    if (kind == "qr")
      act(name("Solve"), sparse_handle, n, n, right.data(), x.data(), info, room);
    else
      act(name("Solve"), sparse_handle, n, right.data(), x.data(), info, room);
    cudaDeviceSynchronize();
    return x.now();
  }
};

template <typename T>
void kept_factors() {
  const Int n = between(1, 12);
  const auto vector = [&] { return made(n, 1, [](Int, Int) { return Wide(Of<T>::random()); }); };
  const Host general = sparse_matrix<T>(n, n);
  const Host a = made(n, n, [&](Int i, Int j) { return general(i, j) + (i == j ? Wide(12) : Wide(0)); });
  const Host square = general * turned(general);
  const Host positive = made(n, n, [&](Int i, Int j) { return square(i, j) + (i == j ? Wide(1) : Wide(0)); });
  for (const auto& [kind, on] :
       {std::pair{"lu", "Host"}, {"qr", "Host"}, {"qr", ""}, {"chol", "Host"}, {"chol", ""}}) {
    KeptFactors<T> factors(kind, on);
    const bool is_positive = factors.kind == "chol";
    const double mu = factors.kind == "qr" ? 2 : 0;
    const Host& given = is_positive ? positive : a;
    const Host shifted = made(n, n, [&](Int i, Int j) { return given(i, j) - (i == j ? mu : 0); });
    factors.factor(given, mu);
    equal(factors.pivot(), -1);
    for (int times = 0; times < 2; ++times) {
      const Host b = vector();
      same<T>(shifted * factors.solve(b), b, 400);
    }
    // One without an inverse.
    const Int at = between(0, static_cast<int>(n) - 1);
    const Host other = made(n, n, [&](Int i, Int j) {
      return is_positive ? (i == at && j == at ? Wide(-1) : positive(i, j))
             : j == at   ? Wide(i == at ? mu : 0)
                         : a(i, j);
    });
    KeptFactors<T> singular(kind, on);
    singular.factor(other, mu);
    equal(singular.pivot(), is_positive ? at : n - 1);
  }
  // A batch: other elements at the same places.
  Sparse<T> first(a);
  const Int count = 3;
  Shared<T> values(count * first.count), b(count * n), x(count * n);
  for (Int batch = 0; batch < count; ++batch)
    for (Int i = 0; i < first.count; ++i)
      values[batch * first.count + i] = first.values[i] * static_cast<Real<T>>(batch + 1);
  KeptFactors<T> factors("qr", "");
  const int size = static_cast<int>(n), times = static_cast<int>(count);
  const void* descriptor = &size;
  size_t inside = 0, bytes = 0;
  const std::string start = "cusolverSp" + std::string(letter_of<T>());
  act("cusolverSpXcsrqrAnalysisBatched", sparse_handle, size, size, first.count, descriptor,
      first.rows.data(), first.columns.data(), factors.info);
  act(start + "csrqrBufferInfoBatched", sparse_handle, size, size, first.count, descriptor, values.data(),
      first.rows.data(), first.columns.data(), times, factors.info, &inside, &bytes);
  Integers<char> buffer(static_cast<Int>(bytes));
  act(start + "csrqrsvBatched", sparse_handle, size, size, first.count, descriptor, values.data(),
      first.rows.data(), first.columns.data(), b.data(), x.data(), times, factors.info,
      static_cast<void*>(buffer.data()));
  cudaDeviceSynchronize();
  for (Int batch = 0; batch < count; ++batch)
    same<T>(
        a * made(n, 1, [&](Int i, Int) { return Wide(x[batch * n + i]) * static_cast<double>(batch + 1); }),
        made(n, 1, [&](Int i, Int) { return b.before(batch * n + i); }), 400);
}

/// Orders of the unknowns, each of which there is once; and the matrix in such an order.
void orders() {
  const Int n = between(1, 12);
  const Host some = sparse_matrix<double>(n, n);
  const Host a = made(n, n, [&](Int i, Int j) { return some(i, j) + some(j, i); });
  Sparse<double> of(a);
  const int size = static_cast<int>(n);
  const void* descriptor = &size;
  int is_symmetric = -7;
  act("cusolverSpXcsrissymHost", sparse_handle, size, of.count, descriptor, of.rows.data(),
      of.rows.data() + 1, of.columns.data(), &is_symmetric);
  equal(is_symmetric, 1);
  std::vector<int> p(static_cast<size_t>(n)), q(p), map(static_cast<size_t>(of.count));
  const int64_t* const usual = nullptr;
  act("cusolverSpXcsrsymrcmHost", sparse_handle, size, of.count, descriptor, of.rows.data(),
      of.columns.data(), p.data());
  if (between(0, 1) == 0)
    act("cusolverSpXcsrmetisndHost", sparse_handle, size, of.count, descriptor, of.rows.data(),
        of.columns.data(), usual, q.data());
  else
    act(between(0, 1) == 0 ? "cusolverSpXcsrsymmdqHost" : "cusolverSpXcsrsymamdHost", sparse_handle, size,
        of.count, descriptor, of.rows.data(), of.columns.data(), q.data());
  for (const auto& order : {p, q}) {
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (Int i = 0; i < n; ++i) equal(sorted[static_cast<size_t>(i)], i);
  }
  size_t bytes = 0;
  act("cusolverSpXcsrperm_bufferSizeHost", sparse_handle, size, size, of.count, descriptor, of.rows.data(),
      of.columns.data(), p.data(), q.data(), &bytes);
  for (int k = 0; k < of.count; ++k) map[static_cast<size_t>(k)] = k;
  Integers<char> buffer(static_cast<Int>(bytes));
  act("cusolverSpXcsrpermHost", sparse_handle, size, size, of.count, descriptor, of.rows.data(),
      of.columns.data(), p.data(), q.data(), map.data(), static_cast<void*>(buffer.data()));
  const int base = of.rows[0];
  int at = 0;
  for (Int i = 0; i < n; ++i) {
    equal(of.rows[i] - base, at);
    for (Int j = 0; j < n; ++j) {  // the columns of a row are sorted
      const Wide element = a(p[static_cast<size_t>(i)], q[static_cast<size_t>(j)]);
      if (element == Wide(0)) continue;
      equal(of.columns[at] - base, j);
      expect_number(of.values[map[static_cast<size_t>(at++)]], element, 0);
    }
  }
  equal(of.rows[n] - base, at);
  if (n > 1) {  // an element whose counterpart is not there
    Sparse<double> lonely(made(n, n, [&](Int i, Int j) { return i == n - 1 && j == 0 ? Wide(1) : Wide(0); }));
    act("cusolverSpXcsrissymHost", sparse_handle, size, lonely.count, descriptor, lonely.rows.data(),
        lonely.rows.data() + 1, lonely.columns.data(), &is_symmetric);
    equal(is_symmetric, 0);
  }
}

/// Matrices as they are met in earnest: several threads, recursion, many sweeps.
void large() {
  const Int n = 200;
  const int in = 200;
  using T = std::complex<double>;
  Device<T> a(n, n), u(n, n), v(n, n), b(a.before());
  Shared<double> s(n), w(n);
  const Host matrix = a.before();
  act(named<T>("gesvdj"), handle, 1, 0, in, in, a.data(), a.ld(), s.data(), u.data(), u.ld(), v.data(),
      v.ld(), work<T>(), 0, info, gesvdj);
  look_at_singular<T>(matrix, u.now(), s, 0, v.now());
  act(symmetric<T>("evd"), handle, 1, lower, in, b.data(), b.ld(), w.data(), work<T>(), 0, info);
  look_at_eigen<T>(hermitian(matrix, lower), b.now(), w, 0, true);
  Integers<int> pivots(n);
  b.set(matrix);
  act(named<T>("getrf"), handle, in, in, b.data(), b.ld(), work<T>(), pivots.data(), info);
  same<T>(multiplied(b.now(), pivots, true), matrix, 1000);
}

/// Of matrices that need not be symmetric.
template <typename T>
void general_eigenvalues() {
  using R = Real<T>;
  const Int n = some_size();
  const int job = static_cast<int>(between(0, 1));
  const bool has_parts = !Of<T>::is_complex && between(0, 1) == 0;  // real parts, then imaginary ones
  Device<T> a(n, n), vectors(n, n);
  if (between(0, 3) == 0) a.set(identity(n));
  const Host matrix = a.before();
  Shared<R> w(2 * n);
  void* const no = nullptr;
  const int type_of_w = has_parts ? type_of<R> : type_of<std::complex<R>>;
  ask_x("cusolverDnXgeev", params, 0, job, n, type_of<T>, static_cast<void*>(a.data()), a.leading, type_of_w,
        static_cast<void*>(w.data()), type_of<T>, no, n, type_of<T>, static_cast<void*>(vectors.data()),
        vectors.leading, type_of<T>);
  act("cusolverDnXgeev", handle, params, 0, job, n, type_of<T>, static_cast<void*>(a.data()), a.leading,
      type_of_w, static_cast<void*>(w.data()), type_of<T>, no, n, type_of<T>,
      static_cast<void*>(vectors.data()), vectors.leading, type_of<T>, no, size_t{0}, no, size_t{0}, info);
  equal(*info, 0);
  a.expect_others_kept();
  vectors.expect_others_kept([&](Int, Int) { return job == 1; });
  const Host values = made(n, n, [&](Int i, Int j) -> Wide {
    if (i != j) return 0;
    return has_parts ? Wide(w[i], w[n + i]) : Wide(w[2 * i], w[2 * i + 1]);
  });
  Wide sum = 0, trace = 0;
  for (Int i = 0; i < n; ++i) sum += values(i, i), trace += matrix(i, i);
  const auto one = [](Wide value) { return made(1, 1, [=](Int, Int) { return value; }); };
  same<T>(one(sum), one(trace), static_cast<double>(n) * 10);
  if (job == 0) return;
  const Host found = vectors.now();
  const Host right_ones = made(n, n, [&](Int i, Int j) -> Wide {
    if (Of<T>::is_complex || values(j, j).imag() == 0) return found(i, j);
    return values(j, j).imag() > 0 ? Wide(found(i, j).real(), found(i, j + 1).real())
                                   : Wide(found(i, j - 1).real(), -found(i, j).real());
  });
  same<T>(matrix * right_ones, right_ones * values, static_cast<double>(n) * 10);
  for (Int j = 0; j < n; ++j) {
    const Host column = made(n, 1, [&](Int i, Int) { return right_ones(i, j); });
    same<T>(turned(column) * column, one(1), 1);
  }
}

/// Numbers whose squares are out of range, and all eigenvalues but one the same.
void extreme() {
  using T = double;
  const Int n = 30;
  const int in = 30;
  for (const double scale : {1e-200, 1.0, 1e200}) {
    Device<T> a(n, n), u(n, n), v(n, n), ones(made(n, n, [=](Int, Int) { return scale; }));
    a.set(made(n, n, [&](Int i, Int j) { return a.before()(i, j) * scale; }));
    const Host matrix = a.before();
    Shared<double> s(n), w(n);
    act("cusolverDnDgesvdj", handle, 1, 0, in, in, a.data(), a.ld(), s.data(), u.data(), u.ld(), v.data(),
        v.ld(), work<T>(), 0, info, gesvdj);
    for (Int k = 0; k < n; ++k) s[k] /= scale;
    look_at_singular<T>(made(n, n, [&](Int i, Int j) { return matrix(i, j) / scale; }), u.now(), s, 0,
                        v.now());
    for (Device<T>* of : {&a, &ones}) {
      const Host one = hermitian(of->before(), lower);
      act("cusolverDnDsyevd", handle, 1, lower, in, of->data(), of->ld(), w.data(), work<T>(), 0, info);
      for (Int k = 0; k < n; ++k) w[k] /= scale;
      look_at_eigen<T>(made(n, n, [&](Int i, Int j) { return one(i, j) / scale; }), of->now(), w, 0, true);
    }
  }
}

/// Nothing to do.
void empty() {
  Device<float> u(3, 3);
  float* no = nullptr;
  const auto done = [] {
    equal(*info, 0);
    *info = 7;
  };
  *info = 7;
  act("cusolverDnSgetrf", handle, 0, 0, no, 1, no, static_cast<int*>(nullptr), info);
  done();
  act("cusolverDnSpotrf", handle, lower, 0, no, 1, no, 0, info);
  done();
  act("cusolverDnSgeqrf", handle, 3, 0, no, 3, no, no, 0, info);
  done();
  act("cusolverDnSsyevd", handle, 1, lower, 0, no, 1, no, no, 0, info);
  done();
  act("cusolverDnSgesvd", handle, static_cast<signed char>('A'), static_cast<signed char>('A'), 3, 0, no, 3,
      no, u.data(), u.ld(), no, 1, no, 0, no, info);
  done();
  same<float>(turned(u.now()) * u.now(), identity(3), 1);
}

void properties() {
  int number = 0, parts[3] = {};
  act("cusolverGetVersion", &number);
  for (int i = 0; i < 3; ++i) act("cusolverGetProperty", i, parts + i);
  equal(number, parts[0] * 1000 + parts[1] * 100 + parts[2]);
  for (const char* hint : {"DeterministicMode", "MathMode"}) {
    act(std::string("cusolverDnSet") + hint, handle, 2);
    act(std::string("cusolverDnGet") + hint, handle, &number);
    equal(number, 2);
  }
  act("cusolverDnXsyevjSetTolerance", syevj, 1e-7);
  act("cusolverDnXsyevjSetMaxSweeps", syevj, 15);
  act("cusolverDnXgesvdjSetSortEig", gesvdj, 1);
  double residual = 1;
  act("cusolverDnXgesvdjGetResidual", handle, gesvdj, &residual);
  expect_number(residual, 0, 0);
  act("cusolverDnXsyevjGetSweeps", handle, syevj, &number);
  equal(number, 1);
  act("cusolverDnSetAdvOptions", params, 0, 1);
}

/// A call that becomes a node of a graph is done as often as that runs, and not before.
void in_graph() {
  void *stream = nullptr, *found = nullptr, *graph = nullptr, *executable = nullptr;
  succeed(cudaStreamCreate(&stream));
  act("cusolverDnSetStream", handle, stream);
  act("cusolverDnGetStream", handle, &found);
  equal(found == stream ? 1 : 0, 1);
  Device<double> a(made(1, 1, [](Int, Int) { return 65536.0; }));
  succeed(cudaStreamBeginCapture(stream, 0));
  doing = "a graph";
  succeed(call("cusolverDnDpotrf", handle, lower, 1, a.data(), a.ld(), work<double>(), 0, info));
  succeed(cudaStreamEndCapture(stream, &graph));
  succeed(cudaGraphInstantiate(&executable, graph, 0));
  cudaDeviceSynchronize();
  expect_number(a.data()[0], 65536, 0);
  for (int i = 0; i < 3; ++i) succeed(cudaGraphLaunch(executable, stream));
  cudaDeviceSynchronize();
  expect_number(a.data()[0], 4, 0);
  act("cusolverDnSetStream", handle, static_cast<void*>(nullptr));
  succeed(cudaGraphExecDestroy(executable));
  succeed(cudaGraphDestroy(graph));
  succeed(cudaStreamDestroy(stream));
}

/// What calls return that make no sense.
void refused() {
  Shared<float> memory(64);
  float *p = memory.data(), *w = work<float>();
  int size = 0, number = 0;
  size_t bytes = 0;
  Integers<int> pivots(4);
  int *i = pivots.data(), *no_int = nullptr;
  void *none_handle = nullptr, *nothing = nullptr;
  const auto tell = [](const char* what, int status) { std::printf("%s: %d\n", what, status); };
#define TELL(...) tell(#__VA_ARGS__, call(__VA_ARGS__))
  TELL("cusolverDnCreate", static_cast<void**>(nullptr));
  TELL("cusolverDnDestroy", none_handle);
  TELL("cusolverDnSetStream", none_handle, nothing);
  TELL("cusolverDnGetStream", handle, static_cast<void**>(nullptr));
  TELL("cusolverDnDestroyParams", nothing);
  TELL("cusolverDnDestroySyevjInfo", gesvdj);
  TELL("cusolverDnXsyevjSetMaxSweeps", gesvdj, 3);
  TELL("cusolverGetProperty", 3, &number);
  TELL("cusolverGetVersion", no_int);
  TELL("cusolverDnSgetrf_bufferSize", handle, 2, 2, p, 2, no_int);
  TELL("cusolverDnSgetrf_bufferSize", handle, -1, 2, p, 2, &size);
  TELL("cusolverDnSgeqrf_bufferSize", handle, 4, 2, p, 2, &size);
  TELL("cusolverDnSgetrf", none_handle, 2, 2, p, 2, w, i, info);
  TELL("cusolverDnSgetrf", handle, 2, -2, p, 2, w, i, info);
  TELL("cusolverDnSgetrf", handle, 3, 2, p, 2, w, i, info);
  TELL("cusolverDnSgetrf", handle, 2, 2, p, 2, w, i, no_int);
  TELL("cusolverDnSgetrs", handle, 3, 2, 1, p, 2, i, p, 2, info);
  TELL("cusolverDnSgetrs", handle, 0, 2, 1, p, 2, i, p, 1, info);
  TELL("cusolverDnSlaswp", handle, 2, p, 2, 0, 2, i, 1);
  TELL("cusolverDnSpotrf", handle, 2, 2, p, 2, w, 0, info);
  TELL("cusolverDnSpotrs", handle, 0, 2, 1, p, 1, p, 2, info);
  TELL("cusolverDnSpotrsBatched", handle, 0, 2, 2, &p, 2, &p, 2, info, 1);
  TELL("cusolverDnSorgqr", handle, 2, 3, 1, p, 2, p, w, 0, info);
  TELL("cusolverDnSorgqr", handle, 3, 2, 3, p, 3, p, w, 0, info);
  TELL("cusolverDnSormqr", handle, 2, 0, 2, 2, 2, p, 2, p, p, 2, w, 0, info);
  TELL("cusolverDnSormqr", handle, 0, 0, 2, 2, 3, p, 2, p, p, 2, w, 0, info);
  TELL("cusolverDnCunmqr", handle, 0, 1, 2, 2, 2, p, 2, p, p, 2, w, 0, info);
  TELL("cusolverDnSsyevd", handle, 2, 0, 2, p, 2, p, w, 0, info);
  TELL("cusolverDnSsyevj", handle, 1, 0, 2, p, 2, p, w, 0, info, gesvdj);
  TELL("cusolverDnSsygvd", handle, 4, 1, 0, 2, p, 2, p, 2, p, w, 0, info);
  TELL("cusolverDnSsyevdx", handle, 1, 1002, 0, 2, p, 2, 0.0f, 0.0f, 2, 1, &number, p, w, 0, info);
  TELL("cusolverDnXgeev", handle, params, 1, 1, Int{2}, 0, nothing, Int{2}, 4, nothing, 0, nothing, Int{2}, 0,
       nothing, Int{2}, 0, nothing, size_t{0}, nothing, size_t{0}, info);
  TELL("cusolverDnXgeev", handle, params, 0, 1, Int{2}, 4, nothing, Int{2}, 0, nothing, 4, nothing, Int{2}, 4,
       nothing, Int{2}, 4, nothing, size_t{0}, nothing, size_t{0}, info);
  TELL("cusolverDnXgeev", handle, params, 0, 1, Int{2}, 0, nothing, Int{2}, 4, nothing, 0, nothing, Int{2}, 0,
       nothing, Int{1}, 0, nothing, size_t{0}, nothing, size_t{0}, info);
  TELL("cusolverDnSgesvd", handle, 'X', 'A', 2, 2, p, 2, p, p, 2, p, 2, w, 0, p, info);
  TELL("cusolverDnSgesvd", handle, 'A', 'A', 2, 3, p, 2, p, p, 2, p, 3, w, 0, p, info);
  TELL("cusolverDnSgesvd", handle, 'O', 'O', 2, 2, p, 2, p, p, 2, p, 2, w, 0, p, info);
  TELL("cusolverDnSgesvd", handle, 'A', 'A', 2, 2, p, 2, p, p, 1, p, 2, w, 0, p, info);
  TELL("cusolverDnSgesvdj", handle, 1, 0, 2, 2, p, 2, p, p, 2, p, 2, w, 0, info, nothing);
  TELL("cusolverDnSgesvdjBatched", handle, 1, 33, 2, p, 33, p, p, 33, p, 2, w, 0, info, gesvdj, 1);
  TELL("cusolverSpDestroy", none_handle);
  TELL("cusolverSpSetStream", handle, nothing);
  TELL("cusolverSpScsrlsvqr", sparse_handle, -1, 1, p, p, i, i, p, 0.0f, 0, p, &number);
  TELL("cusolverSpScsrlsvqr", sparse_handle, 1, 1, nothing, p, i, i, p, 0.0f, 0, p, &number);
  TELL("cusolverSpScsrlsvqr", sparse_handle, 1, 1, p, p, i, i, p, 0.0f, 0, p, no_int);
  void* kept = nullptr;
  TELL("cusolverSpCreateCsrqrInfo", &kept);
  TELL("cusolverSpScsrqrSolve", sparse_handle, 1, 1, p, p, kept, nothing);
  TELL("cusolverSpXcsrqrAnalysis", sparse_handle, 1, 1, 1, p, i, i, kept);
  TELL("cusolverSpXcsrqrAnalysis", sparse_handle, 1, 1, 1, p, i, i, kept);
  TELL("cusolverSpScsrqrSetup", sparse_handle, 2, 2, 1, p, p, i, i, 0.0f, kept);
  TELL("cusolverSpScsrqrFactor", sparse_handle, 1, 1, 1, p, p, kept, nothing);
  TELL("cusolverSpDestroyCsrqrInfo", kept);
  TELL("cusolverSpDestroyCsrqrInfo", kept);
  TELL("cusolverDnXgetrf_bufferSize", handle, params, Int{2}, Int{2}, 2, nothing, Int{2}, 2, &bytes, &bytes);
  TELL("cusolverDnXgetrf_bufferSize", handle, gesvdj, Int{2}, Int{2}, 0, nothing, Int{2}, 0, &bytes, &bytes);
  TELL("cusolverDnXpotrs", handle, params, 0, Int{2}, Int{1}, 0, nothing, Int{2}, 1, nothing, Int{2}, info);
  TELL("cusolverDnSSgels", handle, 2, 3, 1, p, 2, p, 2, p, 3, nothing, bytes, &number, info);
#undef TELL
}

/// A column that the matrix does not have.
int in_sparse(float* device) {
  const int rows[] = {0, 1}, columns[] = {7};
  cudaMemcpy(device, rows, sizeof rows, 1);
  cudaMemcpy(device + 2, columns, sizeof columns, 1);
  succeed(call("cusolverSpCreate", &sparse_handle));
  Shared<float> values(1), b(1), x(1);
  int singularity = 0;
  return call("cusolverSpScsrlsvqr", sparse_handle, 1, 1, static_cast<void*>(device), values.data(), device,
              device + 2, b.data(), 0.0f, 0, x.data(), &singularity);
}

template <typename T>
void all() {
  for (const auto& [what, part] : {std::pair<const char*, void (*)()>{"LU", &lu<T>},
                                   {"Cholesky", &cholesky<T>},
                                   {"QR", &qr<T>},
                                   {"eigenvalues", &eigenvalues<T>},
                                   {"general eigenvalues", &general_eigenvalues<T>},
                                   {"singular values", &singular_values<T>},
                                   {"refined", &refined<T>},
                                   {"sparse", &sparse<T>},
                                   {"kept factors", &kept_factors<T>}}) {
    right = wrong = 0;
    for (int i = 0; i < 25; ++i) part();
    std::printf("%s, %s: %d wrong\n", letter_of<T>(), what, wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (!open_library("libcusolver.so.12")) return 1;
  succeed(call("cusolverDnCreate", &handle));
  cudaMallocManaged(reinterpret_cast<void**>(&info), sizeof(int), 1);
  if (what == "missing") {
    std::printf("missing: %d\n", call("cusolverDnSsytrf", handle));
    std::printf("sparse: %d\n", call("cusolverRfCreate", &handle));
    return 0;
  }
  if (!what.empty()) {  // what leads outside: of the memory, of the matrix
    Shared<float> a(4);
    Integers<int> pivots(2);
    pivots[0] = pivots[1] = 7;
    float* device = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&device), 12);
    std::printf(
        "call: %d\n",
        what == "outside"  ? call("cusolverDnSpotrf", handle, lower, 2, device, 2, device, 0, info)
        : what == "column" ? in_sparse(device)
        : what == "null"
            ? call("cusolverDnSpotrf", handle, lower, 2, static_cast<float*>(nullptr), 2, device, 0, info)
            : call("cusolverDnSgetrs", handle, none, 2, 1, a.data(), 2, pivots.data(), a.data(), 2, info));
    std::printf("then: %d\n", cudaDeviceSynchronize());
    return 0;
  }
  succeed(call("cusolverSpCreate", &sparse_handle));
  succeed(call("cusolverDnCreateParams", &params));
  succeed(call("cusolverDnCreateSyevjInfo", &syevj));
  succeed(call("cusolverDnCreateGesvdjInfo", &gesvdj));
  all<float>();
  all<double>();
  all<std::complex<float>>();
  all<std::complex<double>>();
  right = wrong = 0;
  for (int i = 0; i < 25; ++i) orders();
  large();
  extreme();
  empty();
  properties();
  in_graph();
  std::printf("others: %d wrong\n", wrong);
  refused();
  std::printf("at last: %d %d\n", cudaDeviceSynchronize(), cudaGetLastError());
  succeed(call("cusolverDnDestroyParams", params));
  succeed(call("cusolverDnDestroySyevjInfo", syevj));
  succeed(call("cusolverDnDestroyGesvdjInfo", gesvdj));
  succeed(call("cusolverSpDestroy", sparse_handle));
  succeed(call("cusolverDnDestroy", handle));
}
