// Every function of cuBLAS that Lanescope does, with random arguments, against sums written down here; and
// what calls return that make no sense. It needs neither nvcc nor headers: functions are looked up by name,
// in the libcublas that the program finds. On an H100 the toolkit's own gives what blas.txt holds.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "library_numbers.hpp"

namespace {

void* handle = nullptr;

/// Element i of a vector whose elements lie `step` apart.
Int at(Int i, Int n, Int step) { return step > 0 ? i * step : (n - 1 - i) * -step; }
Int extent(Int n, Int step) { return (n - 1) * std::abs(step) + 1; }
Int a_step() {
  constexpr Int steps[] = {1, 1, 2, 3, -1, -2};
  return steps[between(0, 5)];
}
/// Which element of the vector lies at `place`; -1: none.
Int element_at(Int place, Int n, Int step) {
  for (Int i = 0; i < n; ++i)
    if (at(i, n, step) == place) return i;
  return -1;
}

/// Names of a type's functions, with sizes of 32 or 64 bits.
template <typename T>
struct Names {
  std::string letter;
  std::string operator()(const std::string& rest, bool v2, bool wide, const std::string& before = "") const {
    return "cublas" + before + letter + rest + (v2 ? "_v2" : "") + (wide ? "_64" : "");
  }
};

/// Calls a function with sizes as int, or as int64_t.
#define CALL(name, v2, ...)                      \
  do {                                           \
    const bool wide = between(0, 1) == 1;        \
    doing = names(name, v2, wide);               \
    if (wide) {                                  \
      using N = int64_t;                         \
      succeed(call(doing, handle, __VA_ARGS__)); \
    } else {                                     \
      using N = int;                             \
      succeed(call(doing, handle, __VA_ARGS__)); \
    }                                            \
    cudaDeviceSynchronize();                     \
  } while (false)

template <typename T>
void vectors(const Names<T>& names) {
  const Int n = between(1, 40), sx = a_step(), sy = a_step();
  Shared<T> x(extent(n, sx)), y(extent(n, sy));
  T alpha = Of<T>::random();
  const auto xs = [&](Int i) { return x.before(at(i, n, sx)); };
  const auto ys = [&](Int i) { return y.before(at(i, n, sy)); };
  const auto of_y = [&](const std::function<Wide(Int)>& f) {
    return [&, f](Int place) {
      const Int i = element_at(place, n, sy);
      return i < 0 ? y.before(place) : f(i);
    };
  };
  const auto of_x = [&](const std::function<Wide(Int)>& f) {
    return [&, f](Int place) {
      const Int i = element_at(place, n, sx);
      return i < 0 ? x.before(place) : f(i);
    };
  };
  CALL("axpy", true, N(n), &alpha, x.data(), N(sx), y.data(), N(sy));
  expect(y, of_y([&](Int i) { return Wide(alpha) * xs(i) + ys(i); }), 1);
  y.keep();
  CALL("copy", true, N(n), x.data(), N(sx), y.data(), N(sy));
  expect(y, of_y(xs), 0);
  y.keep();
  const Int first = std::abs(sx);
  CALL("scal", true, N(n), &alpha, x.data(), N(first));
  expect(
      x, [&](Int place) { return place % first == 0 ? Wide(alpha) * x.before(place) : x.before(place); }, 1);
  x.keep();
  CALL("swap", true, N(n), x.data(), N(sx), y.data(), N(sy));
  expect(x, of_x(ys), 0);
  expect(y, of_y(xs), 0);
  x.keep();
  y.keep();
  Real<T> c = Of<Real<T>>::random();
  T s = Of<T>::random();
  CALL("rot", true, N(n), x.data(), N(sx), y.data(), N(sy), &c, &s);
  expect(x, of_x([&](Int i) { return Wide(c) * xs(i) + Wide(s) * ys(i); }), 4);
  expect(y, of_y([&](Int i) { return Wide(c) * ys(i) - std::conj(Wide(s)) * xs(i); }), 4);
  x.keep();
  y.keep();

  for (const char* name :
       Of<T>::is_complex ? std::vector<const char*>{"dotu", "dotc"} : std::vector<const char*>{"dot"}) {
    T result{};
    CALL(name, true, N(n), x.data(), N(sx), y.data(), N(sy), &result);
    Wide sum = 0;
    for (Int i = 0; i < n; ++i) sum += conj_if(xs(i), std::string(name) == "dotc") * ys(i);
    expect_number(result, sum, static_cast<double>(n));
  }
  // Those whose name has the type of the result, too.
  const std::string of = Of<T>::is_complex ? (names.letter == "C" ? "S" : "D") : "";
  const std::string lower(1, static_cast<char>(std::tolower(names.letter[0])));
  const std::string rest = of.empty() ? names.letter : of + lower;
  Real<T> result{};
  double sum = 0, squares = 0;
  Int greatest = 0, least = 0;
  const auto size = [&](Int i) {
    const Wide value = x.before(i * first);
    return std::abs(value.real()) + std::abs(value.imag());
  };
  for (Int i = 0; i < n; ++i) {
    sum += size(i);
    squares += std::norm(x.before(i * first));
    if (static_cast<Real<T>>(size(i)) > static_cast<Real<T>>(size(greatest))) greatest = i;
    if (static_cast<Real<T>>(size(i)) < static_cast<Real<T>>(size(least))) least = i;
  }
  doing = "cublas" + rest + "asum_v2";
  succeed(call(doing, handle, static_cast<int>(n), x.data(), static_cast<int>(first), &result));
  expect_number(result, sum, sum);
  doing = "cublas" + rest + "nrm2_v2";
  succeed(call(doing, handle, static_cast<int>(n), x.data(), static_cast<int>(first), &result));
  expect_number(result, std::sqrt(squares), 1);
  for (const bool most : {true, false}) {
    int place = -1;
    doing = "cublasI" + lower + (most ? "amax_v2" : "amin_v2");
    succeed(call(doing, handle, static_cast<int>(n), x.data(), static_cast<int>(first), &place));
    expect_number(static_cast<double>(place), static_cast<double>((most ? greatest : least) + 1), 0);
    int64_t wide_place = -1;
    doing += "_64";
    succeed(call(doing, handle, int64_t{n}, x.data(), int64_t{first}, &wide_place));
    expect_number(static_cast<double>(wide_place), static_cast<double>((most ? greatest : least) + 1), 0);
  }
}

enum { none = 0, transposed = 1, adjoint = 2 };
enum { lower = 0, upper = 1 };

/// A stored matrix: where its element lies; -1 if it is not stored.
using Place = std::function<Int(Int, Int)>;

template <typename T>
Wide turned(const std::function<Wide(Int, Int)>& a, int operation, Int i, Int j) {
  return operation == none ? a(i, j) : operation == transposed ? a(j, i) : std::conj(a(j, i));
}

template <typename T>
void matrix_vector(const Names<T>& names) {
  const int operation = static_cast<int>(between(0, 2)), fill = static_cast<int>(between(0, 1)),
            diagonal = static_cast<int>(between(0, 1));
  T alpha = Of<T>::random(), beta = between(0, 3) == 0 ? T(0) : Of<T>::random();
  const Int sx = a_step(), sy = a_step();
  {  // of any shape, and with a band
    const Int m = between(1, 20), n = between(1, 20), kl = between(0, m - 1), ku = between(0, n - 1);
    const Int in = operation == none ? n : m, out = operation == none ? m : n;
    for (const bool banded : {false, true}) {
      const Int lda = (banded ? kl + ku + 1 : m) + between(0, 3);
      Shared<T> a(lda * n), x(extent(in, sx)), y(extent(out, sy));
      const auto element = [&](Int i, Int j) {
        if (!banded) return a.before(i + j * lda);
        return i - j > kl || j - i > ku ? Wide(0) : a.before(ku + i - j + j * lda);
      };
      if (banded)
        CALL("gbmv", true, operation, N(m), N(n), N(kl), N(ku), &alpha, a.data(), N(lda), x.data(), N(sx),
             &beta, y.data(), N(sy));
      else
        CALL("gemv", true, operation, N(m), N(n), &alpha, a.data(), N(lda), x.data(), N(sx), &beta, y.data(),
             N(sy));
      expect(
          y,
          [&](Int place) {
            const Int i = element_at(place, out, sy);
            if (i < 0) return y.before(place);
            Wide sum = 0;
            for (Int j = 0; j < in; ++j) sum += turned<T>(element, operation, i, j) * x.before(at(j, in, sx));
            return Wide(alpha) * sum + Wide(beta) * y.before(place);
          },
          static_cast<double>(in) * 4);
    }
    // rank one
    for (const char* name :
         Of<T>::is_complex ? std::vector<const char*>{"geru", "gerc"} : std::vector<const char*>{"ger"}) {
      const Int lda = m + between(0, 3);
      Shared<T> a(lda * n), x(extent(m, sx)), y(extent(n, sy));
      CALL(name, true, N(m), N(n), &alpha, x.data(), N(sx), y.data(), N(sy), a.data(), N(lda));
      expect(
          a,
          [&](Int place) {
            const Int i = place % lda, j = place / lda;
            if (i >= m) return a.before(place);
            return a.before(place) + Wide(alpha) * x.before(at(i, m, sx)) *
                                         conj_if(y.before(at(j, n, sy)), std::string(name) == "gerc");
          },
          8);
    }
  }
  // Square ones: full, banded, packed.
  const Int n = between(1, 20), k = between(0, n - 1);
  for (int kind = 0; kind < 3; ++kind) {
    const Int lda = (kind == 1 ? k + 1 : n) + between(0, 3);
    const Int stored = kind == 2 ? n * (n + 1) / 2 : lda * n;
    const Place place_of = [&](Int i, Int j) -> Int {
      if (fill == lower ? i < j : i > j) return -1;
      if (kind == 0) return i + j * lda;
      if (kind == 1) return std::abs(i - j) > k ? -1 : (fill == lower ? i - j : k + i - j) + j * lda;
      Int before = 0;
      for (Int column = 0; column < j; ++column) before += fill == lower ? n - column : column + 1;
      return before + (fill == lower ? i - j : i);
    };
    for (const bool hermitian :
         Of<T>::is_complex ? std::vector<bool>{false, true} : std::vector<bool>{false}) {
      // symv for all; the others are symmetric if real, Hermitian if complex
      if (!hermitian && Of<T>::is_complex && kind != 0) continue;
      Shared<T> a(stored), x(extent(n, sx)), y(extent(n, sy));
      const auto element = [&](Int i, Int j) -> Wide {
        const bool is_stored = fill == lower ? i >= j : i <= j;
        const Int place = is_stored ? place_of(i, j) : place_of(j, i);
        if (place < 0) return 0;
        const Wide value = a.before(place);
        if (hermitian && i == j) return value.real();
        return hermitian && !is_stored ? std::conj(value) : value;
      };
      const std::string start = hermitian ? "h" : "s";
      const auto check = [&] {
        expect(
            y,
            [&](Int place) {
              const Int i = element_at(place, n, sy);
              if (i < 0) return y.before(place);
              Wide sum = 0;
              for (Int j = 0; j < n; ++j) sum += element(i, j) * x.before(at(j, n, sx));
              return Wide(alpha) * sum + Wide(beta) * y.before(place);
            },
            static_cast<double>(n) * 4);
      };
      if (kind == 0)
        CALL(hermitian ? "hemv" : "symv", true, fill, N(n), &alpha, a.data(), N(lda), x.data(), N(sx), &beta,
             y.data(), N(sy));
      else if (kind == 1)
        CALL(start + "bmv", true, fill, N(n), N(k), &alpha, a.data(), N(lda), x.data(), N(sx), &beta,
             y.data(), N(sy));
      else
        CALL(start + "pmv", true, fill, N(n), &alpha, a.data(), x.data(), N(sx), &beta, y.data(), N(sy));
      check();
      if (kind == 1) continue;
      // updates of one triangle by one vector and by two
      Real<T> real_alpha = Of<Real<T>>::random();
      const Wide factor = hermitian ? Wide(real_alpha) : Wide(alpha);
      const void* pointer = hermitian ? static_cast<const void*>(&real_alpha) : &alpha;
      const auto updated = [&](Wide by, const std::function<Wide(Int, Int)>& added) {
        expect(
            a,
            [&](Int place) {
              for (Int j = 0; j < n; ++j)
                for (Int i = 0; i < n; ++i)
                  if (place_of(i, j) == place) {
                    if (by == Wide(0)) return a.before(place);  // not even the diagonal is made real
                    const Wide sum = a.before(place) + added(i, j);
                    return hermitian && i == j ? Wide(sum.real()) : sum;
                  }
              return a.before(place);
            },
            16);
        a.keep();
      };
      y.keep();
      const auto xs = [&](Int i) { return x.before(at(i, n, sx)); };
      const auto ys = [&](Int i) { return y.before(at(i, n, sy)); };
      if (kind == 0)
        CALL(hermitian ? "her" : "syr", true, fill, N(n), pointer, x.data(), N(sx), a.data(), N(lda));
      else
        CALL(start + "pr", true, fill, N(n), pointer, x.data(), N(sx), a.data());
      updated(factor, [&](Int i, Int j) { return factor * xs(i) * conj_if(xs(j), hermitian); });
      if (kind == 0)
        CALL(hermitian ? "her2" : "syr2", true, fill, N(n), &alpha, x.data(), N(sx), y.data(), N(sy),
             a.data(), N(lda));
      else
        CALL(start + "pr2", true, fill, N(n), &alpha, x.data(), N(sx), y.data(), N(sy), a.data());
      updated(alpha, [&](Int i, Int j) {
        return Wide(alpha) * xs(i) * conj_if(ys(j), hermitian) +
               conj_if(Wide(alpha), hermitian) * ys(i) * conj_if(xs(j), hermitian);
      });
    }
    // triangles: x = op(A) x, and back again
    Shared<T> a(stored), x(extent(n, sx));
    for (Int i = 0; i < n; ++i) a[place_of(i, i)] = T(static_cast<Real<T>>(n + 3));
    for (Int i = 0; i < stored && diagonal == 1; ++i) a[i] /= static_cast<Real<T>>(2 * n);
    a.keep();
    const auto element = [&](Int i, Int j) -> Wide {
      if (i == j && diagonal == 1) return 1;
      const Int place = place_of(i, j);
      return place < 0 ? Wide(0) : a.before(place);
    };
    const std::string start = kind == 0 ? "tr" : kind == 1 ? "tb" : "tp";
    for (const char* end : {"mv", "sv"}) {
      if (kind == 0)
        CALL(start + end, true, fill, operation, diagonal, N(n), a.data(), N(lda), x.data(), N(sx));
      else if (kind == 1)
        CALL(start + end, true, fill, operation, diagonal, N(n), N(k), a.data(), N(lda), x.data(), N(sx));
      else
        CALL(start + end, true, fill, operation, diagonal, N(n), a.data(), x.data(), N(sx));
      const bool is_product = std::string(end) == "mv";
      expect(
          x,
          [&](Int place) {
            const Int i = element_at(place, n, sx);
            if (i < 0 || !is_product) return x.before(place);
            Wide sum = 0;
            for (Int j = 0; j < n; ++j) sum += turned<T>(element, operation, i, j) * x.before(at(j, n, sx));
            return sum;
          },
          static_cast<double>(n + 3) * 4);
    }
  }
}

template <typename T>
void matrix_matrix(const Names<T>& names) {
  const int of_a = static_cast<int>(between(0, 2)), of_b = static_cast<int>(between(0, 2)),
            fill = static_cast<int>(between(0, 1)), diagonal = static_cast<int>(between(0, 1)),
            side = static_cast<int>(between(0, 1));
  const Int m = between(1, 20), n = between(1, 20), k = between(0, 20);
  T alpha = between(0, 5) == 0 ? T(0) : Of<T>::random(), beta = between(0, 2) == 0 ? T(0) : Of<T>::random();
  const Int ldc = m + between(0, 3);
  const auto columns = [](Shared<T>& a, Int lda) {
    return [&a, lda](Int i, Int j) { return a.before(i + j * lda); };
  };
  const auto check = [&](Shared<T>& c, Int rows, Int leading, double size,
                         const std::function<Wide(Int, Int)>& value) {
    expect(
        c,
        [&](Int place) {
          return place % leading < rows ? value(place % leading, place / leading) : c.before(place);
        },
        size);
  };
  {  // gemm: one, a batch by strides, a batch by pointers
    const Int lda = (of_a == none ? m : std::max<Int>(k, 1)) + between(0, 3),
              ldb = (of_b == none ? std::max<Int>(k, 1) : n) + between(0, 3);
    const Int of_one_a = lda * (of_a == none ? std::max<Int>(k, 1) : m),
              of_one_b = ldb * (of_b == none ? n : std::max<Int>(k, 1)), of_one_c = ldc * n;
    for (int kind = 0; kind < 3; ++kind) {
      const Int count = kind == 0 ? 1 : between(1, 4);
      Shared<T> a(of_one_a * count), b(of_one_b * count), c(of_one_c * count);
      if (kind == 0) {
        CALL("gemm", true, of_a, of_b, N(m), N(n), N(k), &alpha, a.data(), N(lda), b.data(), N(ldb), &beta,
             c.data(), N(ldc));
      } else if (kind == 1) {
        const long long by_a = of_one_a, by_b = of_one_b, by_c = of_one_c;
        CALL("gemmStridedBatched", false, of_a, of_b, N(m), N(n), N(k), &alpha, a.data(), N(lda), by_a,
             b.data(), N(ldb), by_b, &beta, c.data(), N(ldc), by_c, N(count));
      } else {
        Shared<double> pointers(3 * count);
        auto** list = reinterpret_cast<T**>(pointers.data());
        for (Int i = 0; i < count; ++i) {
          list[i] = a.data() + i * of_one_a;
          list[count + i] = b.data() + i * of_one_b;
          list[2 * count + i] = c.data() + i * of_one_c;
        }
        CALL("gemmBatched", false, of_a, of_b, N(m), N(n), N(k), &alpha, list, N(lda), list + count, N(ldb),
             &beta, list + 2 * count, N(ldc), N(count));
      }
      expect(
          c,
          [&](Int place) {
            const Int one = place / of_one_c, i = place % of_one_c % ldc, j = place % of_one_c / ldc;
            if (i >= m) return c.before(place);
            Wide sum = 0;
            for (Int l = 0; l < k; ++l)
              sum +=
                  turned<T>([&](Int r, Int s) { return a.before(one * of_one_a + r + s * lda); }, of_a, i,
                            l) *
                  turned<T>([&](Int r, Int s) { return b.before(one * of_one_b + r + s * ldb); }, of_b, l, j);
            return Wide(alpha) * sum + Wide(beta) * c.before(place);
          },
          static_cast<double>(k) * 8);
    }
  }
  const Int order = side == 0 ? m : n, lda = order + between(0, 3), ldb = m + between(0, 3);
  for (const bool hermitian : Of<T>::is_complex ? std::vector<bool>{false, true} : std::vector<bool>{false}) {
    Shared<T> a(lda * order), b(ldb * n), c(ldc * n);
    const auto element = [&](Int i, Int j) {
      const bool is_stored = fill == lower ? i >= j : i <= j;
      const Wide value = is_stored ? a.before(i + j * lda) : a.before(j + i * lda);
      if (hermitian && i == j) return Wide(value.real());
      return hermitian && !is_stored ? std::conj(value) : value;
    };
    CALL(hermitian ? "hemm" : "symm", true, side, fill, N(m), N(n), &alpha, a.data(), N(lda), b.data(),
         N(ldb), &beta, c.data(), N(ldc));
    check(c, m, ldc, static_cast<double>(order) * 8, [&](Int i, Int j) {
      Wide sum = 0;
      for (Int l = 0; l < order; ++l)
        sum += side == 0 ? element(i, l) * b.before(l + j * ldb) : b.before(i + l * ldb) * element(l, j);
      return Wide(alpha) * sum + Wide(beta) * c.before(i + j * ldc);
    });
    // updates of one triangle
    const int operation = of_a == none ? none : hermitian ? adjoint : transposed;
    const Int depth = between(1, 20), rows = operation == none ? n : depth,
              by = operation == none ? depth : n;
    const Int ld1 = rows + between(0, 3), ld2 = rows + between(0, 3), ld3 = n + between(0, 3);
    Shared<T> p(ld1 * by), q(ld2 * by), r(ld3 * n);
    Real<T> real_alpha = Of<Real<T>>::random(), real_beta = Of<Real<T>>::random();
    for (const char* name : {"rk", "r2k", "rkx"}) {
      const bool one = std::string(name) == "rk", two = std::string(name) == "r2k";
      const void* factor = hermitian && one ? static_cast<const void*>(&real_alpha) : &alpha;
      const void* of_r = hermitian ? static_cast<const void*>(&real_beta) : &beta;
      const Wide f = hermitian && one ? Wide(real_alpha) : Wide(alpha),
                 g = hermitian ? Wide(real_beta) : Wide(beta);
      const std::string full = std::string(hermitian ? "he" : "sy") + name;
      if (one)
        CALL(full, true, fill, operation, N(n), N(depth), factor, p.data(), N(ld1), of_r, r.data(), N(ld3));
      else
        CALL(full, two, fill, operation, N(n), N(depth), factor, p.data(), N(ld1), q.data(), N(ld2), of_r,
             r.data(), N(ld3));
      Shared<T>& second = one ? p : q;
      const Int ld_second = one ? ld1 : ld2;
      check(r, n, ld3, static_cast<double>(depth) * 16, [&](Int i, Int j) {
        if (fill == lower ? i < j : i > j) return r.before(i + j * ld3);
        Wide sum = 0, other = 0;
        const auto u = [&](Int s, Int t) { return turned<T>(columns(p, ld1), operation, s, t); };
        const auto v = [&](Int s, Int t) { return turned<T>(columns(second, ld_second), operation, s, t); };
        for (Int l = 0; l < depth; ++l) {
          sum += u(i, l) * conj_if(v(j, l), hermitian);
          other += v(i, l) * conj_if(u(j, l), hermitian);
        }
        Wide value = f * sum + g * r.before(i + j * ld3);
        if (two) value += conj_if(f, hermitian) * other;
        return hermitian && i == j ? Wide(value.real()) : value;
      });
      for (Int i = 0; i < r.count(); ++i) r[i] = Of<T>::random();
      r.keep();
    }
  }
  {  // triangles
    Shared<T> a(lda * order), b(ldb * n), c(ldc * n);
    for (Int i = 0; i < order; ++i) a[i + i * lda] = T(static_cast<Real<T>>(order + 3));
    for (Int i = 0; i < a.count() && diagonal == 1; ++i) a[i] /= static_cast<Real<T>>(2 * order);
    a.keep();
    const auto element = [&](Int i, Int j) -> Wide {
      if (fill == lower ? i < j : i > j) return 0;
      return i == j && diagonal == 1 ? Wide(1) : a.before(i + j * lda);
    };
    CALL("trmm", true, side, fill, of_a, diagonal, N(m), N(n), &alpha, a.data(), N(lda), b.data(), N(ldb),
         c.data(), N(ldc));
    check(c, m, ldc, static_cast<double>(order + 3) * 8, [&](Int i, Int j) {
      Wide sum = 0;
      for (Int l = 0; l < order; ++l)
        sum += side == 0 ? turned<T>(element, of_a, i, l) * b.before(l + j * ldb)
                         : b.before(i + l * ldb) * turned<T>(element, of_a, l, j);
      return Wide(alpha) * sum;
    });
    c.keep();
    T gamma = Of<T>::random() + T(3);
    CALL("trsm", true, side, fill, of_a, diagonal, N(m), N(n), &gamma, a.data(), N(lda), c.data(), N(ldc));
    check(c, m, ldc, static_cast<double>(order + 3) * 8,
          [&](Int i, Int j) { return Wide(gamma) * Wide(alpha) * b.before(i + j * ldb); });
    Shared<double> pointers(2);
    auto** list = reinterpret_cast<T**>(pointers.data());
    list[0] = a.data();
    list[1] = c.data();
    for (Int i = 0; i < c.count(); ++i) c[i] = c[i] * T(1);
    c.keep();
    T one = T(1);
    CALL("trsmBatched", false, side, fill, of_a, diagonal, N(m), N(n), &one, list, N(lda), list + 1, N(ldc),
         N(1));
    // op(A) X, or X op(A), is what was there
    Shared<T> product(ldc * n);
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < ldc; ++i) {
        if (i >= m) {
          product[i + j * ldc] = c[i + j * ldc];
          continue;
        }
        Wide sum = 0;
        for (Int l = 0; l < order; ++l)
          sum += side == 0 ? turned<T>(element, of_a, i, l) * Wide(c[l + j * ldc])
                           : Wide(c[i + l * ldc]) * turned<T>(element, of_a, l, j);
        product[i + j * ldc] =
            T(Of<T>::is_complex ? T(static_cast<Real<T>>(sum.real())) : T(static_cast<Real<T>>(sum.real())));
        if constexpr (Of<T>::is_complex)
          product[i + j * ldc] = {static_cast<Real<T>>(sum.real()), static_cast<Real<T>>(sum.imag())};
      }
    expect(
        product, [&](Int place) { return c.before(place); }, 30);
  }
  {  // geam, dgmm
    const Int ld1 = (of_a == none ? m : n) + between(0, 3), ld2 = (of_b == none ? m : n) + between(0, 3);
    Shared<T> a(ld1 * (of_a == none ? n : m)), b(ld2 * (of_b == none ? n : m)), c(ldc * n);
    CALL("geam", false, of_a, of_b, N(m), N(n), &alpha, a.data(), N(ld1), &beta, b.data(), N(ld2), c.data(),
         N(ldc));
    check(c, m, ldc, 8, [&](Int i, Int j) {
      return Wide(alpha) * turned<T>(columns(a, ld1), of_a, i, j) +
             Wide(beta) * turned<T>(columns(b, ld2), of_b, i, j);
    });
    c.keep();
    const Int step = a_step(), ld = m + between(0, 3);
    Shared<T> x(extent(order, step)), d(ld * n);
    CALL("dgmm", false, side, N(m), N(n), c.data(), N(ldc), x.data(), N(step), d.data(), N(ld));
    check(d, m, ld, 8,
          [&](Int i, Int j) { return c.before(i + j * ldc) * x.before(at(side == 0 ? i : j, order, step)); });
  }
}

/// Factors of matrices, what they solve, inverses.
template <typename T>
void factors(const Names<T>& names) {
  const int n = static_cast<int>(between(1, 16)), count = static_cast<int>(between(1, 3)),
            lda = n + static_cast<int>(between(0, 2)), sides = static_cast<int>(between(1, 4)),
            operation = static_cast<int>(between(0, 2));
  const Int size = Int{lda} * n;
  Shared<T> a(size * count), b(Int{lda} * sides * count), c(size * count);
  for (Int one = 0; one < count; ++one)
    for (Int i = 0; i < n; ++i) a[one * size + i + ((i + 1) % n) * lda] += T(static_cast<Real<T>>(n + 2));
  a.keep();
  Shared<double> memory(3 * count);
  auto** list = reinterpret_cast<T**>(memory.data());
  for (int i = 0; i < count; ++i) {
    list[i] = a.data() + i * size;
    list[count + i] = b.data() + i * Int{lda} * sides;
    list[2 * count + i] = c.data() + i * size;
  }
  Shared<float> numbers(Int{n} * count + count);
  int* pivots = reinterpret_cast<int*>(numbers.data());
  int* info = pivots + Int{n} * count;
  const auto of_list = [&](int which) { return list + which * count; };
  int host_info = -1;
  doing = names("matinvBatched", false, false);
  succeed(call(doing, handle, n, of_list(0), lda, of_list(2), lda, info, count));
  cudaDeviceSynchronize();
  const auto is_inverse = [&] {
    for (int one = 0; one < count; ++one)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          Wide sum = 0;
          for (int l = 0; l < n; ++l)
            sum += a.before(one * size + i + Int{l} * lda) * Wide(c[one * size + l + Int{j} * lda]);
          if (std::abs(sum - Wide(i == j ? 1 : 0)) > (std::is_same_v<Real<T>, float> ? 1e-3 : 1e-10)) {
            ++wrong;
            std::printf("%s: %d %d of the product is %g\n", doing.c_str(), i, j, std::abs(sum));
            return;
          }
        }
    ++right;
  };
  is_inverse();
  doing = names("getrfBatched", false, false);
  succeed(call(doing, handle, n, of_list(0), lda, pivots, info, count));
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i) expect_number(static_cast<double>(info[i]), 0, 0);
  doing = names("getriBatched", false, false);
  succeed(call(doing, handle, n, of_list(0), lda, pivots, of_list(2), lda, info, count));
  cudaDeviceSynchronize();
  is_inverse();
  doing = names("getrsBatched", false, false);
  succeed(
      call(doing, handle, operation, n, sides, of_list(0), lda, pivots, of_list(1), lda, &host_info, count));
  cudaDeviceSynchronize();
  // op(A) X is what was there
  double error = 0;
  for (int one = 0; one < count; ++one)
    for (int s = 0; s < sides; ++s)
      for (int i = 0; i < n; ++i) {
        Wide sum = 0;
        for (int l = 0; l < n; ++l)
          sum +=
              turned<T>([&](Int r, Int q) { return a.before(one * size + r + q * lda); }, operation, i, l) *
              Wide(b[(Int{one} * sides + s) * lda + l]);
        error = std::max(error, std::abs(sum - b.before((Int{one} * sides + s) * lda + i)));
      }
  expect_number(error < (std::is_same_v<Real<T>, float> ? 1e-3 : 1e-10) ? 0.0 : error, 0, 0);
}

uint16_t half_of(int value) {  // of |value| < 2048
  if (value == 0) return 0;
  const unsigned size = static_cast<unsigned>(std::abs(value));
  int exponent = 0;
  while ((size >> (exponent + 1)) != 0) ++exponent;
  const unsigned fraction = (size << (10 - exponent)) & 0x3ff;
  return static_cast<uint16_t>((value < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + 15) << 10 |
                               fraction);
}
uint16_t bfloat_of(int value) {  // of |value| < 256
  const auto number = static_cast<float>(value);
  uint32_t bits;
  static_assert(sizeof bits == sizeof number);
  __builtin_memcpy(&bits, &number, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

/// Numbers of 16 and 8 bits: small integers, of which every sum is exact.
void mixed() {
  struct Case {
    const char* name;
    int type_in, type_out, compute;
  };
  constexpr int r32f = 0, r16f = 2, r8i = 3, r32i = 10, r16bf = 14;
  for (const Case& of : {Case{"half to float", r16f, r32f, 68}, Case{"half to half", r16f, r16f, 68},
                         Case{"half in half", r16f, r16f, 64}, Case{"bfloat to float", r16bf, r32f, 68},
                         Case{"bfloat to bfloat", r16bf, r16bf, 68}, Case{"bytes to integers", r8i, r32i, 72},
                         Case{"bytes to floats", r8i, r32f, 68}, Case{"floats by tf32", r32f, r32f, 77}}) {
    doing = std::string("cublasGemmEx ") + of.name;
    constexpr int m = 16, n = 12, k = 8, lda = 16, ldb = 8, ldc = 16;
    Shared<double> memory(3 * 256);
    char* a = reinterpret_cast<char*>(memory.data());
    char* b = a + 2048;
    char* c = b + 2048;
    int va[lda * k], vb[ldb * n];
    const int in_bytes = of.type_in == r32f ? 4 : of.type_in == r8i ? 1 : 2;
    const auto put = [&](char* to, int type, int i, int value) {
      const uint16_t half = half_of(value), bfloat = bfloat_of(value);
      const auto byte = static_cast<int8_t>(value);
      const auto number = static_cast<float>(value);
      __builtin_memcpy(to + i * in_bytes,
                       type == r16f    ? static_cast<const void*>(&half)
                       : type == r16bf ? static_cast<const void*>(&bfloat)
                       : type == r8i   ? static_cast<const void*>(&byte)
                                       : &number,
                       static_cast<size_t>(in_bytes));
    };
    for (int i = 0; i < lda * k; ++i) put(a, of.type_in, i, va[i] = static_cast<int>(between(-3, 3)));
    for (int i = 0; i < ldb * n; ++i) put(b, of.type_in, i, vb[i] = static_cast<int>(between(-3, 3)));
    const float one = 1, zero = 0;
    const uint16_t half_one = 0x3c00, half_zero = 0;
    const int int_one = 1, int_zero = 0;
    const void* alpha = of.compute == 64   ? static_cast<const void*>(&half_one)
                        : of.compute == 72 ? static_cast<const void*>(&int_one)
                                           : &one;
    const void* beta = of.compute == 64   ? static_cast<const void*>(&half_zero)
                       : of.compute == 72 ? static_cast<const void*>(&int_zero)
                                          : &zero;
    succeed(call("cublasGemmEx", handle, 0, 0, m, n, k, alpha, static_cast<const void*>(a), of.type_in, lda,
                 static_cast<const void*>(b), of.type_in, ldb, beta, static_cast<void*>(c), of.type_out, ldc,
                 of.compute, -1));
    cudaDeviceSynchronize();
    int bad = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        int sum = 0;
        for (int l = 0; l < k; ++l) sum += va[i + l * lda] * vb[l + j * ldb];
        const int place = i + j * ldc;
        uint16_t half;
        float number;
        int32_t integer;
        __builtin_memcpy(&half, c + place * 2, 2);
        __builtin_memcpy(&number, c + place * 4, 4);
        __builtin_memcpy(&integer, c + place * 4, 4);
        const bool same = of.type_out == r16f    ? half == half_of(sum)
                          : of.type_out == r16bf ? half == bfloat_of(sum)
                          : of.type_out == r32i  ? integer == sum
                                                 : number == static_cast<float>(sum);
        bad += same ? 0 : 1;
      }
    if (bad == 0) {
      ++right;
    } else {
      ++wrong;
      std::printf("%s: %d of %d are wrong\n", doing.c_str(), bad, m * n);
    }
  }
}

/// Functions of vectors that are told the types, `type` that of elements and `computed` what is computed in:
/// with small integers, of which every sum is exact. `bits`: a number as an element.
template <typename T, typename Factor>
void vectors_of_types(int type, int computed, T (*bits)(int)) {
  const Names<T> names{""};
  constexpr Int n = 12, sx = 2, sy = -1;
  Shared<double> memory(128);
  T* x = reinterpret_cast<T*>(memory.data());
  T* y = x + n * sx;
  int vx[n], vy[n], dot = 0, wrong_ones = 0;
  for (Int i = 0; i < n; ++i) {
    x[i * sx] = bits(vx[i] = i == 0 ? 2 : static_cast<int>(between(-3, 3)));
    y[n - 1 - i] = bits(vy[i] = static_cast<int>(between(-3, 3)));
    dot += vx[i] * vy[i];
  }
  const auto is_right = [&](const T& found, int expected) {
    const T wanted = bits(expected);
    return __builtin_memcmp(&found, &wanted, sizeof found) == 0;
  };
  T result{};
  for (const char* name : {"DotEx", "DotcEx"}) {
    CALL(name, false, N(n), x, type, N(sx), y, type, N(sy), &result, type, computed);
    expect_number(is_right(result, dot) ? 0.0 : 1.0, 0, 0);
  }
  const Factor two = 2;
  CALL("AxpyEx", false, N(n), &two, computed, x, type, N(sx), y, type, N(sy), computed);
  for (Int i = 0; i < n; ++i) wrong_ones += !is_right(y[n - 1 - i], 2 * vx[i] + vy[i]);
  CALL("ScalEx", false, N(n), &two, computed, x, type, N(sx), computed);
  for (Int i = 0; i < n; ++i) wrong_ones += !is_right(x[i * sx], 2 * vx[i]);
  expect_number(static_cast<double>(wrong_ones), 0, 0);
  // A norm that is a whole number.
  const int of_complex =
      type == 4 || type == 5 ? 4 : 0;  // the number of a complex type less that of its reals
  for (Int i = 0; i < n; ++i) x[i * sx] = bits(i < 4 ? 3 : 0);
  T norm = bits(0);
  CALL("Nrm2Ex", false, N(n), x, type, N(sx), &norm, type - of_complex, computed - of_complex);
  expect_number(is_right(norm, 6) ? 0.0 : 1.0, 0, 0);
}

/// Scalars and results in the memory of the device; vectors and matrices between it and the host.
void on_device() {
  float* device = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&device), 4096);
  const float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float back[8] = {};
  doing = "cublasSetVector";
  succeed(call("cublasSetVector", 4, 4, static_cast<const void*>(host), 2, static_cast<void*>(device), 1));
  succeed(call("cublasGetVector", 4, 4, static_cast<const void*>(device), 1, static_cast<void*>(back), 2));
  for (int i = 0; i < 4; ++i) expect_number(back[2 * i], host[2 * i], 0);
  doing = "cublasSetMatrix";
  succeed(call("cublasSetMatrix", 2, 2, 4, static_cast<const void*>(host), 3, static_cast<void*>(device), 2));
  succeed(call("cublasGetMatrix", 2, 2, 4, static_cast<const void*>(device), 2, static_cast<void*>(back), 4));
  expect_number(back[4], 4, 0);
  expect_number(back[5], 5, 0);
  doing = "device pointers";
  cudaMemcpy(device, host, sizeof host, 1);
  int mode = -1;
  succeed(call("cublasSetPointerMode_v2", handle, 1));
  succeed(call("cublasGetPointerMode_v2", handle, &mode));
  expect_number(static_cast<double>(mode), 1, 0);
  succeed(call("cublasSdot_v2", handle, 4, device, 1, device + 4, 1, device + 16));
  succeed(call("cublasSaxpy_v2", handle, 4, device + 16, device, 1, device + 4, 1));
  cudaMemcpy(back, device, sizeof back, 2);
  for (int i = 0; i < 4; ++i) expect_number(back[4 + i], host[4 + i] + 70 * host[i], 0);
  // A factor of 0 makes 0 of what is no number, on an H200 as well; but not of a vector that is scaled.
  const float zero_and_none[] = {0, std::numeric_limits<float>::quiet_NaN()};
  cudaMemcpy(device + 32, zero_and_none, sizeof zero_and_none, 1);
  succeed(call("cublasSaxpy_v2", handle, 1, device + 32, device + 33, 1, device, 1));
  succeed(call("cublasSscal_v2", handle, 1, device + 32, device + 33, 1));
  cudaMemcpy(&back[0], device, sizeof back[0], 2);
  cudaMemcpy(&back[1], device + 33, sizeof back[1], 2);
  expect_number(back[0], host[0], 0);
  expect_number(std::isnan(back[1]) ? 1.0 : 0.0, 1, 0);
  succeed(call("cublasSetPointerMode_v2", handle, 0));
  cudaFree(device);
}

/// The only node of such a graph is a kernel, which has the attributes of one. (Programs add it to a graph of
/// their own, and ask for the blocks of its clusters first.)
void expect_kernel(void* graph) {
  void* node = nullptr;
  size_t count = 1;
  int type = -1, attribute[16]{};
  constexpr int kernel = 0, cluster_dimension = 4, priority = 8;
  succeed(cudaGraphGetNodes(graph, &node, &count));
  succeed(cudaGraphNodeGetType(node, &type));
  expect_number(type, kernel, 0);
  succeed(cudaGraphKernelNodeGetAttribute(node, cluster_dimension, attribute));
  attribute[0] = -1;
  succeed(cudaGraphKernelNodeSetAttribute(node, priority, attribute));
  attribute[0] = 0;
  succeed(cudaGraphKernelNodeGetAttribute(node, priority, attribute));
  expect_number(attribute[0], -1, 0);
}

/// A call that becomes a node of a graph is done as often as that runs, and not before.
void in_graph() {
  doing = "a graph";
  Shared<float> x(4), y(4);
  const float two = 2;
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  succeed(cudaStreamCreate(&stream));
  succeed(call("cublasSetStream_v2", handle, stream));
  succeed(cudaStreamBeginCapture(stream, 0));
  succeed(call("cublasSaxpy_v2", handle, 4, &two, x.data(), 1, y.data(), 1));
  succeed(cudaStreamEndCapture(stream, &graph));
  expect_kernel(graph);
  succeed(cudaGraphInstantiate(&executable, graph, 0));
  cudaDeviceSynchronize();
  expect(
      y, [&](Int i) { return y.before(i); }, 0);
  for (int i = 0; i < 3; ++i) succeed(cudaGraphLaunch(executable, stream));
  cudaDeviceSynchronize();
  expect(
      y, [&](Int i) { return y.before(i) + 6. * x.before(i); }, 1);
  succeed(call("cublasSetStream_v2", handle, static_cast<void*>(nullptr)));
  succeed(cudaGraphExecDestroy(executable));
  succeed(cudaGraphDestroy(graph));
  succeed(cudaStreamDestroy(stream));
}

/// What calls return that make no sense.
void refused() {
  Shared<float> memory(4096);
  float* p = memory.data();
  float one = 1;
  const float* s = &one;
  int place = 0;
  int64_t wide = 0;
  float* no = nullptr;
  const auto tell = [](const char* what, int status) { std::printf("%s: %d\n", what, status); };
#define TELL(...) tell(#__VA_ARGS__, call(__VA_ARGS__))
  void* none_handle = nullptr;
  TELL("cublasSaxpy_v2", none_handle, 1, s, p, 1, p, 1);
  TELL("cublasSaxpy_v2", handle, -1, s, p, 1, p, 1);
  TELL("cublasSaxpy_v2", handle, 0, s, p, 1, p, 1);
  TELL("cublasSaxpy_v2", handle, 0, s, no, 1, no, 1);
  TELL("cublasSaxpy_v2", handle, 4, s, p, 0, p, 1);
  TELL("cublasSaxpy_v2", handle, 4, s, p, 1, p, 0);
  TELL("cublasSscal_v2", handle, 4, s, p, 0);
  TELL("cublasSscal_v2", handle, 4, s, p, -1);
  TELL("cublasSscal_v2", handle, -4, s, p, 1);
  TELL("cublasSdot_v2", handle, -4, p, 1, p, 1, p);
  TELL("cublasSdot_v2", handle, 4, p, 0, p, 1, p);
  TELL("cublasSdot_v2", handle, 4, p, 1, p, 1, no);
  TELL("cublasSnrm2_v2", handle, 0, p, 1, p);
  TELL("cublasSnrm2_v2", handle, 4, p, 0, p);
  TELL("cublasDotEx", handle, 4, p, 0, 1, p, 1, 1, p + 100, 0, 0);
  TELL("cublasIsamax_v2", handle, 0, p, 1, &place);
  TELL("cublasIsamax_v2", handle, 4, p, 0, &place);
  TELL("cublasIsamax_v2_64", handle, int64_t{4}, p, int64_t{1}, &wide);
  TELL("cublasScopy_v2", handle, 4, p, 0, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 4, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 3, 4, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 4, 4, s, p, 3, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 0, 4, s, p, 1, p, 1, s, p + 100, 1);
  TELL("cublasSgbmv_v2", handle, 0, 4, 4, -1, 1, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgbmv_v2", handle, 0, 4, 4, 2, 2, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSsymv_v2", handle, 2, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSsymv_v2", handle, 3, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSsbmv_v2", handle, 0, 4, -1, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSsbmv_v2", handle, 0, 4, 3, s, p, 3, p, 1, s, p + 100, 1);
  TELL("cublasStrsv_v2", handle, 0, 0, 2, 4, p, 4, p + 100, 1);
  TELL("cublasStrsv_v2", handle, 0, 4, 0, 4, p, 4, p + 100, 1);
  TELL("cublasSger_v2", handle, 4, 4, s, p, 1, p, 1, p + 100, 3);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, s, p, 3, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, s, p, 4, p, 3, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, s, p, 4, p, 4, s, p + 100, 3);
  TELL("cublasSgemm_v2", handle, 1, 0, 4, 4, 5, s, p, 4, p, 5, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 1, 4, 5, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 4, 0, 4, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 3, 3, 4, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, -4, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, -4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 0, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 0, 4, 4, s, p, 0, p, 4, s, p + 100, 0);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 0, s, p, 4, p, 0, s, p + 100, 4);
  TELL("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, no, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSgemmStridedBatched", handle, 0, 0, 4, 4, 4, s, p, 4, 16LL, p, 4, 16LL, s, p + 100, 4, 16LL,
       -1);
  TELL("cublasSgemmStridedBatched", handle, 0, 0, 4, 4, 4, s, p, 4, 16LL, p, 4, 16LL, s, p + 100, 4, 16LL, 0);
  TELL("cublasSgemmStridedBatched", handle, 0, 0, 4, 4, 4, s, p, 4, 0LL, p, 4, 0LL, s, p + 100, 4, 16LL, 2);
  TELL("cublasSgemmStridedBatched", handle, 0, 0, 4, 4, 4, s, p, 4, 16LL, p, 4, 16LL, s, p + 100, 4, 8LL, 2);
  TELL("cublasSsymm_v2", handle, 2, 0, 4, 4, s, p, 4, p, 4, s, p + 100, 4);
  TELL("cublasSsymm_v2", handle, 0, 0, 4, 5, s, p, 3, p, 4, s, p + 100, 4);
  TELL("cublasSsyrk_v2", handle, 0, 3, 4, 4, s, p, 4, s, p + 100, 4);
  TELL("cublasStrsm_v2", handle, 0, 0, 0, 0, 4, 4, s, p, 3, p + 100, 4);
  TELL("cublasStrmm_v2", handle, 0, 0, 0, 0, 4, 4, s, p, 4, p + 100, 4, p + 100, 4);
  TELL("cublasSgeam", handle, 0, 0, 4, 4, s, p, 4, s, p + 50, 4, p + 100, 3);
  TELL("cublasSgeam", handle, 0, 0, 4, 4, s, p, 4, s, p + 50, 4, p, 4);
  TELL("cublasSgeam", handle, 1, 0, 4, 4, s, p, 4, s, p + 50, 4, p, 4);
  TELL("cublasSgeam", handle, 0, 0, 4, 4, s, p, 5, s, p + 50, 4, p, 4);
  TELL("cublasSdgmm", handle, 0, 4, 4, p, 4, p + 50, 0, p + 100, 4);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 2, 4, s, p + 100, 0, 4, 68, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 0, 4, s, p + 100, 2, 4, 68, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 0, 4, s, p + 100, 0, 4, 72, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 0, 4, s, p + 100, 0, 4, 64, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 0, 4, s, p + 100, 0, 4, 70, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 99, 4, p, 0, 4, s, p + 100, 0, 4, 68, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 4, p, 0, 4, s, p + 100, 0, 4, 1, -1);
  TELL("cublasGemmEx", handle, 0, 0, 4, 4, 4, s, p, 0, 3, p, 0, 4, s, p + 100, 0, 4, 68, -1);
  TELL("cublasSmatinvBatched", handle, 33, reinterpret_cast<float**>(p), 33, reinterpret_cast<float**>(p), 33,
       &place, 1);
  TELL("cublasSetVector", -1, 4, p, 1, p, 1);
  TELL("cublasSetVector", 1, 0, p, 1, p, 1);
  TELL("cublasSetVector", 1, 4, p, 0, p, 1);
  TELL("cublasSetMatrix", 4, 4, 4, p, 3, p, 4);
  TELL("cublasSetPointerMode_v2", handle, 2);
  TELL("cublasSetMathMode", handle, 0);
  TELL("cublasSetMathMode", handle, 77);
  TELL("cublasSetAtomicsMode", handle, 5);
  TELL("cublasSetSmCountTarget", handle, -1);
  TELL("cublasSetWorkspace_v2", handle, static_cast<void*>(nullptr), size_t{0});
  TELL("cublasGetProperty", 3, &place);
  TELL("cublasDestroy_v2", none_handle);
  std::puts("Here refused, on the H100 taken, whatever it then does; without alpha it crashes:");
  TELL("cublasSgemv_v2", handle, 5, 4, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, -4, 4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 4, -4, s, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 0, 4, s, p, 0, p, 1, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 4, 4, s, p, 4, p, 0, s, p + 100, 1);
  TELL("cublasSgemv_v2", handle, 0, 4, 4, s, p, 4, p, 1, s, p + 100, 0);
  TELL("cublasSgemv_v2", handle, 0, 4, 4, no, p, 4, p, 1, s, p + 100, 1);
  TELL("cublasSaxpy_v2", handle, 4, no, p, 1, p, 1);
  TELL("cublasCsyrk_v2", handle, 0, 2, 2, 2, p, p, 2, p, p + 100, 2);
  TELL("cublasCherk_v2", handle, 0, 1, 2, 2, s, p, 2, s, p + 100, 2);
#undef TELL
  for (int status = 0; status < 18; ++status) {
    const auto text = [&](const char* name) {
      return reinterpret_cast<const char* (*)(int)>(dlsym(library, name))(status);
    };
    std::printf("%d: %s: %s\n", status, text("cublasGetStatusName"), text("cublasGetStatusString"));
  }
}

/// What becomes of 2 C + 0 X, or 0 X, and of X + 0 C, where what the 0 takes part with is no number: BLAS
/// does not read that.
void factors_of_nothing() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float zero = 0, two = 2;
  Shared<float> none(4), c(4);
  Shared<double> pointers(2);
  auto** list = reinterpret_cast<float**>(pointers.data());
  list[0] = none.data(), list[1] = c.data();
  float *const x = none.data(), *const y = c.data();
  const auto tell = [&](const char* name, auto... arguments) {
    for (int i = 0; i < 4; ++i) x[i] = nan, y[i] = static_cast<float>(i + 1);
    const int status = call(std::string("cublas") + name, handle, arguments...);
    cudaDeviceSynchronize();
    std::printf("a factor of 0, %s: %d: %g %g %g %g\n", name, status, y[0], y[1], y[2], y[3]);
  };
  tell("Saxpy_v2", 4, &zero, x, 1, y, 1);
  tell("Sgemv_v2", 0, 2, 2, &zero, x, 2, x, 1, &two, y, 1);
  tell("Sgbmv_v2", 0, 2, 2, 0, 0, &zero, x, 1, x, 1, &two, y, 1);
  tell("Ssymv_v2", 0, 2, &zero, x, 2, x, 1, &two, y, 1);
  tell("Ssbmv_v2", 0, 2, 0, &zero, x, 1, x, 1, &two, y, 1);
  tell("Sspmv_v2", 0, 2, &zero, x, x, 1, &two, y, 1);
  tell("Sger_v2", 2, 2, &zero, x, 1, x, 1, y, 2);
  tell("Ssyr_v2", 0, 2, &zero, x, 1, y, 2);
  tell("Ssyr2_v2", 0, 2, &zero, x, 1, x, 1, y, 2);
  tell("Sspr_v2", 0, 2, &zero, x, 1, y);
  tell("Sgemm_v2", 0, 0, 2, 2, 2, &zero, x, 2, x, 2, &two, y, 2);
  tell("SgemmStridedBatched", 0, 0, 1, 1, 1, &zero, x, 1, 1LL, x, 1, 1LL, &two, y, 1, 1LL, 4);
  tell("SgemmBatched", 0, 0, 2, 2, 2, &zero, list, 2, list, 2, &two, list + 1, 2, 1);
  tell("GemmEx", 0, 0, 2, 2, 2, &zero, x, 0, 2, x, 0, 2, &two, y, 0, 2, 68, -1);
  tell("Ssymm_v2", 0, 0, 2, 2, &zero, x, 2, x, 2, &two, y, 2);
  tell("Ssyrk_v2", 0, 0, 2, 2, &zero, x, 2, &two, y, 2);
  tell("Ssyr2k_v2", 0, 0, 2, 2, &zero, x, 2, x, 2, &two, y, 2);
  tell("Ssyrkx", 0, 0, 2, 2, &zero, x, 2, x, 2, &two, y, 2);
  tell("Strmm_v2", 0, 0, 0, 0, 2, 2, &zero, x, 2, x, 2, y, 2);
  tell("Strsm_v2", 0, 0, 0, 0, 2, 2, &zero, x, 2, y, 2);
  tell("Sgeam", 0, 0, 2, 2, &zero, x, 2, &two, y, 2, y, 2);
  // The other way round: X is the result, which was no number.
  const auto into = [&](const char* name, auto... arguments) {
    for (int i = 0; i < 4; ++i) x[i] = nan, y[i] = static_cast<float>(i + 1);
    const int status = call(std::string("cublas") + name, handle, arguments...);
    cudaDeviceSynchronize();
    std::printf("a result of none, %s: %d: %g %g %g %g\n", name, status, x[0], x[1], x[2], x[3]);
  };
  into("Sgemv_v2", 0, 2, 2, &two, y, 2, y, 1, &zero, x, 1);
  into("Ssymv_v2", 0, 2, &two, y, 2, y, 1, &zero, x, 1);
  into("Sgemm_v2", 0, 0, 2, 2, 2, &two, y, 2, y, 2, &zero, x, 2);
  into("Ssymm_v2", 0, 0, 2, 2, &two, y, 2, y, 2, &zero, x, 2);
  into("Ssyrk_v2", 0, 0, 2, 2, &two, y, 2, &zero, x, 2);
  into("Sgeam", 0, 0, 2, 2, &two, y, 2, &zero, x, 2, x, 2);
  into("Sscal_v2", 4, &zero, x, 1);
}

template <typename T>
void all(const char* letter) {
  const Names<T> names{letter};
  for (const auto& [what, part] : {std::pair<const char*, void (*)(const Names<T>&)>{"vectors", &vectors<T>},
                                   {"matrix and vector", &matrix_vector<T>},
                                   {"matrices", &matrix_matrix<T>},
                                   {"factors", &factors<T>}}) {
    right = wrong = 0;
    for (int i = 0; i < 40; ++i) part(names);
    std::printf("%s, %s: %d right, %d wrong\n", letter, what, right, wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (!open_library("libcublas.so.13")) return 1;
  succeed(call("cublasCreate_v2", &handle));
  if (what == "outside") {  // of the memory that there is
    float* device = nullptr;
    const float one = 1;
    cudaMalloc(reinterpret_cast<void**>(&device), 60);
    std::printf("gemm: %d\n",
                call("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, &one, device, 4, device, 4, &one, device, 4));
    std::printf("then: %d\n", cudaDeviceSynchronize());
    return 0;
  }
  if (what == "null") {
    float* memory = nullptr;
    const float one = 1;
    cudaMalloc(reinterpret_cast<void**>(&memory), 1024);
    float* none = nullptr;
    for (int i = 0; i < 3; ++i)
      std::printf("gemm: %d\n", call("cublasSgemm_v2", handle, 0, 0, 4, 4, 4, &one, i == 0 ? none : memory, 4,
                                     i == 1 ? none : memory, 4, &one, i == 2 ? none : memory + 100, 4));
    std::printf("then: %d\n", cudaDeviceSynchronize());
    return 0;
  }
  if (what == "missing") {
    std::printf("missing: %d\n", call("cublasSgelsBatched", handle));
    return 0;
  }
  all<float>("S");
  all<double>("D");
  all<std::complex<float>>("C");
  all<std::complex<double>>("Z");
  right = wrong = 0;
  mixed();
  vectors_of_types<uint16_t, float>(2, 0, half_of);
  vectors_of_types<uint16_t, float>(14, 0, bfloat_of);
  vectors_of_types<float, float>(0, 0, [](int value) { return static_cast<float>(value); });
  vectors_of_types<double, double>(1, 1, [](int value) { return static_cast<double>(value); });
  vectors_of_types<std::complex<float>, std::complex<float>>(
      4, 4, [](int value) { return std::complex<float>(static_cast<float>(value)); });
  vectors_of_types<std::complex<double>, std::complex<double>>(
      5, 5, [](int value) { return std::complex<double>(value); });
  on_device();
  in_graph();
  std::printf("others: %d right, %d wrong\n", right, wrong);
  factors_of_nothing();
  refused();
  std::printf("at last: %d %d\n", cudaDeviceSynchronize(), cudaGetLastError());
  succeed(call("cublasDestroy_v2", handle));
}
