// Every function of cuSPARSE that Lanescope does, with random arguments, against sums written down here; and
// what calls return that make no sense. It needs neither nvcc nor headers: functions are looked up by name,
// in the libcusparse that the program finds. Arguments are such as the toolkit's own library takes, which
// takes fewer than its documentation says: on an H100 it refused what is refused here.
//
// For a GPU there is `sparse real`: a part that crashes the library, or leaves an error with the device, then
// ends its process alone, and each wrong call has one of its own.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <utility>

#include "library_numbers.hpp"

namespace {

void* handle = nullptr;

enum { none = 0, transposed = 1, adjoint = 2 };
enum { csr = 1, csc = 2, coo = 3, bsr = 6 };
enum { by_columns = 1, by_rows = 2 };

/// What is thrown where a call failed that must succeed: the rest of its case makes no sense then.
struct Failed {};
void must_succeed(int status) {
  succeed(status);
  if (status != 0) throw Failed{};
}
/// Calls a function that must succeed, and waits for what it has given to the stream.
template <typename... Arguments>
void act(const std::string& name, Arguments... arguments) {
  doing = name;
  must_succeed(call(name, arguments...));
  must_succeed(cudaDeviceSynchronize());
}

// For a GPU: what is done is a row of steps, of which one that ends the process is left out by the next one.
bool is_real = false;
struct Steps {
  int done;        ///< as many were begun, by all of the processes
  char last[200];  ///< the name of the last one
};
Steps here{}, *steps = &here;
int reached = 0;  ///< by this process

/// Whether a step, which is begun then, was done by no process before.
bool is_to_do(const char* name) {
  if (reached++ < steps->done) return false;
  steps->done = reached;
  std::snprintf(steps->last, sizeof steps->last, "%s", name);
  if (is_real) alarm(120);  // nor does a step that hangs hold up the others
  return true;
}
/// A device with an error does nothing more for its process.
void leave_if_failed() {
  const int status = cudaDeviceSynchronize();
  if (!is_real || status == 0) return;
  std::printf("The device has failed: %d.\n", status);
  std::fflush(stdout);
  _exit(1);
}
/// What a process returns that leaves the next step to another one.
constexpr int go_on = 2;
/// Whatever a wrong call has done to the library is gone with its process.
void end_wrong_call() {
  leave_if_failed();
  if (!is_real) return;
  std::fflush(stdout);
  _exit(go_on);
}

std::string case_name;  ///< for messages

/// Sets what messages say of the arguments.
template <typename... Parts>
void note(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  given = " of " + text.str() + case_name;
}

/// Something that a function made, until the end.
class Made {
 public:
  explicit Made(const char* destroy) : destroy_(destroy) {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if (made_ != nullptr) succeed(call(destroy_, made_));
  }
  [[nodiscard]] void** out() { return &made_; }
  [[nodiscard]] void* get() const { return made_; }

 private:
  const char* destroy_;
  void* made_ = nullptr;
};

constexpr size_t no_size = ~size_t{0};
/// Memory of the size that a function said it wants; of its own for each, since what one leaves there another
/// one may find.
class Buffer {
 public:
  explicit Buffer(size_t bytes) {
    expect_number(bytes < size_t{1} << 30 ? 0.0 : 1.0, 0, 0);
    if (bytes >= size_t{1} << 30) throw Failed{};
    must_succeed(cudaMalloc(&memory_, bytes + 1));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(memory_); }
  [[nodiscard]] void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

/// Indices of 32 or 64 bits that host and device share.
class Indices {
 public:
  explicit Indices(const std::vector<Int>& values, bool wide = false) : wide_(wide) {
    cudaMallocManaged(&data_, (values.size() + 1) * 8, 1);
    for (size_t i = 0; i < values.size(); ++i) set(static_cast<Int>(i), values[i]);
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;
  ~Indices() { cudaFree(data_); }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] int* ints() const { return static_cast<int*>(data_); }
  [[nodiscard]] int type() const { return wide_ ? 3 : 2; }
  [[nodiscard]] Int operator[](Int i) const {
    return wide_ ? static_cast<int64_t*>(data_)[i] : static_cast<int*>(data_)[i];
  }
  void set(Int i, Int value) {
    if (wide_)
      static_cast<int64_t*>(data_)[i] = value;
    else
      static_cast<int*>(data_)[i] = static_cast<int>(value);
  }

 private:
  void* data_ = nullptr;
  bool wide_;
};

struct Place {
  Int i, j;
  bool operator<(const Place& other) const { return i != other.i ? i < other.i : j < other.j; }
};

/// Places in random rows and columns, row by row.
std::vector<Place> some_places(Int rows, Int columns, int percent, bool with_diagonal = false) {
  std::vector<Place> all;
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < columns; ++j)
      if (between(0, 99) < percent || (with_diagonal && i == j)) all.push_back({i, j});
  return all;
}

/// Where each of so many lines begins.
std::vector<Int> offsets_of(const std::vector<Place>& places, Int lines, bool of_columns, Int base) {
  std::vector<Int> offsets(static_cast<size_t>(lines) + 1, base);
  for (const Place& at : places)
    for (Int line = (of_columns ? at.j : at.i) + 1; line <= lines; ++line)
      ++offsets[static_cast<size_t>(line)];
  return offsets;
}
std::vector<Int> rows_of(const std::vector<Place>& places, Int base) {
  std::vector<Int> rows;
  for (const Place& at : places) rows.push_back(at.i + base);
  return rows;
}
std::vector<Int> columns_of(const std::vector<Place>& places, Int base) {
  std::vector<Int> columns;
  for (const Place& at : places) columns.push_back(at.j + base);
  return columns;
}

/// A sparse matrix of random numbers with a descriptor.
template <typename T>
class Sparse {
 public:
  /// In blocks of block x block, if it is in BSR, in places of its own.
  Sparse(int format, Int rows, Int columns, const std::vector<Place>& in, int block, Int base, bool wide)
      : rows(rows), columns(columns), base(base), places(in), format_(format), block_(block), wide_(wide) {
    Int stored_rows = rows, stored_columns = columns;
    if (format == csc)
      std::stable_sort(places.begin(), places.end(),
                       [](const Place& a, const Place& b) { return a.j < b.j; });
    if (format == coo) {  // in any order, but that of the rows
      for (size_t k = 1; k < places.size(); ++k)
        std::swap(places[k], places[static_cast<size_t>(between(0, static_cast<Int>(k)))]);
      std::stable_sort(places.begin(), places.end(),
                       [](const Place& a, const Place& b) { return a.i < b.i; });
    }
    std::vector<Place> blocks = places;
    order_ = static_cast<int>(between(1, 2));
    if (format == bsr) {
      stored_rows = rows / block;
      stored_columns = columns / block;
      places.clear();
      blocks = some_places(stored_rows, stored_columns, 30);
      for (const Place& at : blocks)
        for (Int k = 0; k < Int{block} * block; ++k) {
          const Int across = order_ == by_rows ? k / block : k % block,
                    along = order_ == by_rows ? k % block : k / block;
          places.push_back({at.i * block + across, at.j * block + along});
        }
    }
    first = std::make_unique<Indices>(
        format == coo ? rows_of(places, base)
                      : offsets_of(blocks, format == csc ? columns : stored_rows, format == csc, base),
        wide);
    second =
        std::make_unique<Indices>(format == csc ? rows_of(places, base) : columns_of(blocks, base), wide);
    values = std::make_unique<Shared<T>>(static_cast<Int>(places.size()));
    const auto count = static_cast<Int>(blocks.size());
    const int origin = static_cast<int>(base);
    const std::string constant = between(0, 1) == 1 ? "Const" : "";
    const std::string create = "cusparseCreate" + constant;
    note(text());
    if (format == csr || format == csc)
      act(create + (format == csr ? "Csr" : "Csc"), descriptor.out(), rows, columns, count, first->data(),
          second->data(), values->data(), first->type(), second->type(), origin, type_of<T>);
    if (format == coo)
      act(create + "Coo", descriptor.out(), rows, columns, count, first->data(), second->data(),
          values->data(), first->type(), origin, type_of<T>);
    if (format == bsr)
      act(create + "Bsr", descriptor.out(), stored_rows, stored_columns, count, Int{block}, Int{block},
          first->data(), second->data(), values->data(), first->type(), second->type(), origin, type_of<T>,
          order_);
    look();
  }
  Sparse(int format, Int rows, Int columns, const std::vector<Place>& in, int block = 1)
      : Sparse(format, rows, columns, in, block, between(0, 1), between(0, 1) == 1) {}

  /// For messages.
  [[nodiscard]] std::string text() const {
    const char* names[] = {"", "CSR", "CSC", "COO", "", "", "BSR"};
    std::ostringstream out;
    out << names[format_] << " " << rows << " x " << columns << " of " << places.size() << " elements, "
        << (wide_ ? 64 : 32) << "-bit indices from " << base;
    if (format_ == bsr) out << ", blocks of " << block_ << (order_ == by_rows ? " by rows" : " by columns");
    return out.str();
  }

  /// The values are now what they are.
  void look() {
    values->keep();
    elements_.assign(static_cast<size_t>(rows * columns), 0);
    for (size_t k = 0; k < places.size(); ++k)
      elements_[static_cast<size_t>(places[k].i * columns + places[k].j)] =
          values->before(static_cast<Int>(k));
  }
  [[nodiscard]] Wide operator()(Int i, Int j) const {
    return elements_[static_cast<size_t>(i * columns + j)];
  }
  [[nodiscard]] Int count() const { return static_cast<Int>(places.size()); }
  /// Whether it is in BSR, with such blocks.
  [[nodiscard]] bool has_blocks(int order) const { return format_ == bsr && order_ == order; }

  Int rows, columns, base;
  std::vector<Place> places;
  std::unique_ptr<Indices> first, second;
  std::unique_ptr<Shared<T>> values;
  Made descriptor{"cusparseDestroySpMat"};

 private:
  int format_, block_, order_ = by_rows;
  bool wide_;
  std::vector<Wide> elements_;
};

/// A dense one, of which several may follow each other.
template <typename T>
class Dense {
 public:
  Dense(Int rows, Int columns, int batches = 1)
      : rows(rows),
        columns(columns),
        order(static_cast<int>(between(1, 2))),
        leading((order == by_columns ? rows : columns) + between(0, 3)),
        stride(leading * (order == by_columns ? columns : rows) + between(0, 5)),
        values(stride * batches) {
    act(between(0, 1) == 1 ? "cusparseCreateConstDnMat" : "cusparseCreateDnMat", descriptor.out(), rows,
        columns, leading, values.data(), type_of<T>, order);
    if (batches > 1) act("cusparseDnMatSetStridedBatch", descriptor.get(), batches, stride);
  }
  /// For messages.
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << rows << " x " << columns << (order == by_rows ? " by rows" : " by columns") << " (" << leading
        << ")";
    return out.str();
  }
  [[nodiscard]] Int place(Int i, Int j) const {
    return order == by_columns ? i + j * leading : i * leading + j;
  }
  [[nodiscard]] Wide operator()(Int i, Int j, Int batch = 0) const {
    return values.before(batch * stride + place(i, j));
  }
  /// Holds all of the memory to what is expected: element(i, j, batch), and the rest as before.
  void expect_elements(const std::function<Wide(Int, Int, Int)>& element, double size) {
    expect(
        values,
        [&](Int at) {
          const Int batch = at / stride, in = at % stride;
          const Int i = order == by_columns ? in % leading : in / leading;
          const Int j = order == by_columns ? in / leading : in % leading;
          return i < rows && j < columns ? element(i, j, batch) : values.before(at);
        },
        size);
  }

  Int rows, columns;
  int order;
  Int leading, stride;
  Shared<T> values;
  Made descriptor{"cusparseDestroyDnMat"};
};

template <typename T>
class Vector {
 public:
  explicit Vector(Int size) : values(size) {
    act(between(0, 1) == 1 ? "cusparseCreateConstDnVec" : "cusparseCreateDnVec", descriptor.out(), size,
        values.data(), type_of<T>);
  }
  [[nodiscard]] Wide operator()(Int i) const { return values.before(i); }
  Shared<T> values;
  Made descriptor{"cusparseDestroyDnVec"};
};

/// The conjugate of complex numbers alone is taken.
template <typename T>
int an_operation() {
  return static_cast<int>(between(0, Of<T>::is_complex ? 2 : 1));
}
const char* const names_of_operations[] = {"none", "transposed", "adjoint"};
template <typename M>
Wide turned(const M& a, int operation, Int i, Int j) {
  return operation == none ? a(i, j) : operation == transposed ? a(j, i) : std::conj(a(j, i));
}
/// 0 or 1 as often as another one.
template <typename T>
T a_factor() {
  const auto kind = between(0, 3);
  return kind == 0 ? T(0) : kind == 1 ? T(1) : Of<T>::random();
}

template <typename T>
void products() {
  constexpr int type = type_of<T>;
  const int formats[] = {csr, csc, coo, bsr};
  const int format = formats[between(0, 3)], block = format == bsr ? static_cast<int>(between(1, 4)) : 1;
  const Int rows = between(1, 12) * block, columns = between(1, 12) * block;
  const Sparse<T> a(format, rows, columns, some_places(rows, columns, 30), block);
  T alpha = a_factor<T>(), beta = a_factor<T>();
  const auto told = [&](const std::string& others) {
    note(a.text(), others, ", alpha ", Wide(alpha), ", beta ", Wide(beta));
  };
  // BSR is not transposed; SpMV takes no blocks of 1 by rows, and SpMM none by columns.
  const int op_a = format == bsr ? none : an_operation<T>(), op_b = an_operation<T>();
  const Int out = op_a == none ? rows : columns, in = op_a == none ? columns : rows;
  if (block > 1 || !a.has_blocks(by_rows)) {
    const Vector<T> x(in);
    Vector<T> y(out);
    size_t bytes = no_size;
    told(std::string(", operation ") + names_of_operations[op_a]);
    const auto with = [&](const char* name, auto last) {
      act(name, handle, op_a, &alpha, a.descriptor.get(), x.descriptor.get(), &beta, y.descriptor.get(), type,
          0, last);
    };
    with("cusparseSpMV_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSpMV_preprocess", buffer.get());
    with("cusparseSpMV", buffer.get());
    expect(
        y.values,
        [&](Int i) {
          Wide sum = 0;
          for (Int j = 0; j < in; ++j) sum += turned(a, op_a, i, j) * x(j);
          return Wide(alpha) * sum + Wide(beta) * y(i);
        },
        static_cast<double>(in) * 4);
  }
  if (!a.has_blocks(by_columns)) {
    // Of one row no conjugate is taken.
    const Int sides = between(op_b == adjoint ? 2 : 1, 6);
    // All of a batch have the same sparse matrix.
    const int batches = format == csr || format == coo ? static_cast<int>(between(1, 3)) : 1;
    const auto share = [&](int count) {
      if (format == csr) act("cusparseCsrSetStridedBatch", a.descriptor.get(), count, Int{0}, Int{0});
      if (format == coo) act("cusparseCooSetStridedBatch", a.descriptor.get(), count, Int{0});
    };
    const Dense<T> b(op_b == none ? in : sides, op_b == none ? sides : in, batches);
    Dense<T> c(out, sides, batches);
    size_t bytes = no_size;
    told(", operations " + std::string(names_of_operations[op_a]) + " and " + names_of_operations[op_b] +
         ", B " + b.text() + ", C " + c.text() + ", batches " + std::to_string(batches));
    if (batches > 1) share(batches);
    const auto with = [&](const char* name, auto last) {
      act(name, handle, op_a, op_b, &alpha, a.descriptor.get(), b.descriptor.get(), &beta, c.descriptor.get(),
          type, 0, last);
    };
    with("cusparseSpMM_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSpMM_preprocess", buffer.get());
    with("cusparseSpMM", buffer.get());
    c.expect_elements(
        [&](Int i, Int j, Int batch) {
          Wide sum = 0;
          const auto element = [&](Int r, Int s) { return b(r, s, batch); };
          for (Int l = 0; l < in; ++l) sum += turned(a, op_a, i, l) * turned(element, op_b, l, j);
          return Wide(alpha) * sum + Wide(beta) * c(i, j, batch);
        },
        static_cast<double>(in) * 4);
    if (batches > 1) share(1);
  }
  if (format == csr || (format == bsr && (block == 2 || block == 4))) {
    // An H100 takes the adjoint of A as if there were no operation, even beyond its end, and of B's no
    // conjugate.
    const auto operation = [] { return is_real ? static_cast<int>(between(0, 1)) : an_operation<T>(); };
    const int op_left = operation(), op_right = operation();
    const Int inner = between(1, 8) * block;
    const Dense<T> b(op_left == none ? rows : inner, op_left == none ? inner : rows),
        c(op_right == none ? inner : columns, op_right == none ? columns : inner);
    size_t bytes = no_size;
    told(", operations " + std::string(names_of_operations[op_left]) + " and " +
         names_of_operations[op_right] + ", A " + b.text() + ", B " + c.text());
    const auto with = [&](const char* name, auto last) {
      act(name, handle, op_left, op_right, &alpha, b.descriptor.get(), c.descriptor.get(), &beta,
          a.descriptor.get(), type, 0, last);
    };
    with("cusparseSDDMM_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSDDMM_preprocess", buffer.get());
    with("cusparseSDDMM", buffer.get());
    expect(
        *a.values,
        [&](Int k) {
          const auto [i, j] = a.places[static_cast<size_t>(k)];
          Wide sum = 0;
          for (Int l = 0; l < inner; ++l) sum += turned(b, op_left, i, l) * turned(c, op_right, l, j);
          return Wide(alpha) * sum + Wide(beta) * a.values->before(k);
        },
        static_cast<double>(inner) * 4);
  }
}

/// Solutions are put into the systems.
template <typename T>
void systems() {
  constexpr int type = type_of<T>;
  const int formats[] = {csr, coo};
  const Int n = between(1, 16), sides = between(1, 5);
  const int format = formats[between(0, 1)];
  Sparse<T> a(format, n, n, some_places(n, n, 30, true));
  const int fill = static_cast<int>(between(0, 1)), is_unit = static_cast<int>(between(0, 1));
  const auto well = [&] {  // far from singular
    for (Int k = 0; k < a.count(); ++k) {
      const auto [i, j] = a.places[static_cast<size_t>(k)];
      T& value = (*a.values)[k];
      if (i == j)
        value = value + T(std::abs(value) < 1 ? 3 : 0);
      else
        value = value / T(static_cast<float>(n));
    }
    a.look();
  };
  well();
  act("cusparseSpMatSetAttribute", a.descriptor.get(), 0, &fill, sizeof fill);
  act("cusparseSpMatSetAttribute", a.descriptor.get(), 1, &is_unit, sizeof is_unit);
  bool unit = is_unit == 1;
  const auto triangle = [&](Int i, Int j) {
    if (i == j) return unit ? Wide(1) : a(i, j);
    return (fill == 0 ? i > j : i < j) ? a(i, j) : Wide(0);
  };
  T alpha = Of<T>::random();
  const int op_a = an_operation<T>(), op_b = static_cast<int>(between(0, 1));
  const auto told = [&](const std::string& others) {
    note(a.text(), fill == 0 ? ", lower" : ", upper", is_unit == 1 ? ", unit diagonal" : "", ", operation ",
         names_of_operations[op_a], others);
  };
  const double size = std::is_same_v<Real<T>, float> ? 100 : 1000;
  {
    const Vector<T> x(n);
    Vector<T> y(n);
    Made system("cusparseSpSV_destroyDescr");
    size_t bytes = no_size;
    told("");
    act("cusparseSpSV_createDescr", system.out());
    const auto with = [&](const char* name, auto... last) {
      act(name, handle, op_a, &alpha, a.descriptor.get(), x.descriptor.get(), y.descriptor.get(), type, 0,
          system.get(), last...);
    };
    with("cusparseSpSV_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSpSV_analysis", buffer.get());
    const auto is_solution = [&](const char* when) {
      with("cusparseSpSV_solve");
      doing += when;
      for (Int i = 0; i < n; ++i) {
        Wide sum = 0;
        for (Int j = 0; j < n; ++j) sum += turned(triangle, op_a, i, j) * Wide(y.values[j]);
        expect_number(narrow<T>(sum), Wide(alpha) * x(i), size);
      }
    };
    is_solution("");
    // With other values.
    for (Int k = 0; k < a.count(); ++k) (*a.values)[k] = Of<T>::random();
    well();
    act("cusparseSpSV_updateMatrix", handle, system.get(), static_cast<void*>(a.values->data()), 0);
    is_solution(" after an update");
    Shared<T> on_diagonal(n);
    for (Int k = 0; k < a.count(); ++k) {
      const auto [i, j] = a.places[static_cast<size_t>(k)];
      if (i == j) (*a.values)[k] = on_diagonal[i] = T(4) + Of<T>::random();
    }
    a.look();
    act("cusparseSpSV_updateMatrix", handle, system.get(), static_cast<void*>(on_diagonal.data()), 1);
    unit = false;  // it is divided by the new diagonal in any case
    is_solution(" after an update of the diagonal");
    unit = is_unit == 1;
  }
  {
    const Dense<T> b(op_b == none ? n : sides, op_b == none ? sides : n);
    Dense<T> c(n, sides);
    Made system("cusparseSpSM_destroyDescr");
    size_t bytes = no_size;
    told(std::string(" and ") + names_of_operations[op_b] + ", B " + b.text() + ", C " + c.text());
    act("cusparseSpSM_createDescr", system.out());
    const auto with = [&](const char* name, auto... last) {
      act(name, handle, op_a, op_b, &alpha, a.descriptor.get(), b.descriptor.get(), c.descriptor.get(), type,
          0, system.get(), last...);
    };
    with("cusparseSpSM_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSpSM_analysis", buffer.get());
    with("cusparseSpSM_solve");
    for (Int i = 0; i < n; ++i)
      for (Int j = 0; j < sides; ++j) {
        Wide sum = 0;
        for (Int l = 0; l < n; ++l) sum += turned(triangle, op_a, i, l) * Wide(c.values[c.place(l, j)]);
        expect_number(narrow<T>(sum), Wide(alpha) * turned(b, op_b, i, j), size);
      }
  }
}

/// Holds a matrix in CSR, that a function has made, to what it should be.
void expect_rows(const Indices& offsets, const Indices& columns, Int base, const std::vector<Place>& places,
                 Int rows) {
  const std::vector<Int> should = offsets_of(places, rows, false, base);
  bool same = true;
  for (size_t i = 0; i < should.size(); ++i) same = same && offsets[static_cast<Int>(i)] == should[i];
  for (size_t k = 0; same && k < places.size(); ++k)
    same = columns[static_cast<Int>(k)] == places[k].j + base;
  expect_number(same ? 0.0 : 1.0, 0, 0);
}

/// Where one of several matrices has an element.
std::vector<Place> united(const std::vector<Place>& a, const std::vector<Place>& b) {
  std::vector<Place> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Place& x, const Place& y) { return x.i == y.i && x.j == y.j; }),
            all.end());
  return all;
}

/// What describes a matrix of the older interface.
class Kind : public Made {
 public:
  explicit Kind(Int base) : Made("cusparseDestroyMatDescr") {
    act("cusparseCreateMatDescr", out());
    act("cusparseSetMatIndexBase", get(), static_cast<int>(base));
  }
};

template <typename T>
void sums() {
  constexpr int type = type_of<T>;
  T alpha = Of<T>::random(), beta = a_factor<T>();
  const Int rows = between(1, 12), inner = between(1, 12), columns = between(1, 12);
  {
    // All of them have the same indices.
    const Int base = between(0, 1);
    const Sparse<T> a(csr, rows, inner, some_places(rows, inner, 25), 1, base, false),
        b(csr, inner, columns, some_places(inner, columns, 25), 1, base, false);
    std::vector<Place> places;
    Int products = 0;
    for (const Place& left : a.places)
      for (const Place& right : b.places)
        if (left.j == right.i) {
          places.push_back({left.i, right.j});
          ++products;
        }
    places = united(places, {});
    Made c("cusparseDestroySpMat"), work("cusparseSpGEMM_destroyDescr");
    Indices offsets(std::vector<Int>(static_cast<size_t>(rows) + 1), false);
    // The default; and two that need less memory, and tell how much in steps of their own: of products
    // without elements an H100 told nothing that makes sense.
    const int algorithm = between(0, 1) == 0 || products == 0 ? 0 : static_cast<int>(between(4, 5));
    note(a.text(), " and ", b.text(), ", algorithm ", algorithm, ", beta ", Wide(beta));
    act("cusparseCreateCsr", c.out(), rows, columns, Int{0}, offsets.data(), static_cast<void*>(nullptr),
        static_cast<void*>(nullptr), 2, 2, static_cast<int>(base), type);
    act("cusparseSpGEMM_createDescr", work.out());
    const auto step = [&](const char* name, auto... last) {
      act(name, handle, none, none, &alpha, a.descriptor.get(), b.descriptor.get(), &beta, c.get(), type,
          algorithm, work.get(), last...);
    };
    void* no_buffer = nullptr;
    size_t bytes = no_size, next = no_size;
    step("cusparseSpGEMM_workEstimation", &bytes, no_buffer);
    const Buffer first(bytes);  // both are needed until the product is copied
    step("cusparseSpGEMM_workEstimation", &bytes, first.get());
    if (algorithm == 0) {
      step("cusparseSpGEMM_compute", &next, no_buffer);
    } else {
      Int counted = -1;
      act("cusparseSpGEMM_getNumProducts", work.get(), &counted);
      expect_number(static_cast<double>(counted), static_cast<double>(products), 0);
      bytes = no_size;
      step("cusparseSpGEMM_estimateMemory", 0.5F, &bytes, no_buffer, static_cast<size_t*>(nullptr));
      const Buffer estimating(bytes);
      step("cusparseSpGEMM_estimateMemory", 0.5F, &bytes, estimating.get(), &next);
    }
    const Buffer second(next);
    step("cusparseSpGEMM_compute", &next, second.get());
    Int c_rows = 0, c_columns = 0, count = -1;
    act("cusparseSpMatGetSize", c.get(), &c_rows, &c_columns, &count);
    expect_number(static_cast<double>(count), static_cast<double>(places.size()), 0);
    if (count != static_cast<Int>(places.size())) throw Failed{};
    Indices found(std::vector<Int>(places.size()), false);
    Shared<T> values(count);
    act("cusparseCsrSetPointers", c.get(), offsets.data(), found.data(), values.data());
    step("cusparseSpGEMM_copy");
    expect_rows(offsets, found, base, places, rows);
    expect(
        values,
        [&](Int k) {
          const auto [i, j] = places[static_cast<size_t>(k)];
          Wide sum = 0;
          for (Int l = 0; l < inner; ++l) sum += a(i, l) * b(l, j);
          return Wide(alpha) * sum + Wide(beta) * values.before(k);
        },
        static_cast<double>(inner) * 4);
  }
  {
    // Columns are taken as they are stored, and none is converted from one base to another.
    const Int base_a = between(0, 1), base_b = between(0, 1), base_c = between(0, 1);
    const auto moved = [](std::vector<Place> places, Int by) {
      for (Place& at : places) at.j += by;
      return places;
    };
    const std::vector<Place> in_a = moved(some_places(rows, columns, 25), base_a),
                             in_b = moved(some_places(rows, columns, 25), base_b), in_c = united(in_a, in_b);
    const Indices offsets_a(offsets_of(in_a, rows, false, base_a)), columns_a(columns_of(in_a, 0)),
        offsets_b(offsets_of(in_b, rows, false, base_b)), columns_b(columns_of(in_b, 0)),
        offsets_c(std::vector<Int>(static_cast<size_t>(rows) + 1)), columns_c(std::vector<Int>(in_c.size()));
    Shared<T> a(static_cast<Int>(in_a.size())), b(static_cast<Int>(in_b.size())),
        c(static_cast<Int>(in_c.size()));
    const Kind of_a(base_a), of_b(base_b), of_c(base_c);
    void *kind_a = of_a.get(), *kind_b = of_b.get(), *kind_c = of_c.get();
    const int m = static_cast<int>(rows), n = static_cast<int>(columns),
              nnz_a = static_cast<int>(in_a.size()), nnz_b = static_cast<int>(in_b.size());
    size_t bytes = no_size;
    note(rows, " x ", columns, ", ", nnz_a, " elements from ", base_a, " and ", nnz_b, " from ", base_b,
         ", C from ", base_c);
    const std::string name = std::string("cusparse") + letter_of<T>() + "csrgeam2";
    act(name + "_bufferSizeExt", handle, m, n, &alpha, kind_a, nnz_a, a.data(), offsets_a.ints(),
        columns_a.ints(), &beta, kind_b, nnz_b, b.data(), offsets_b.ints(), columns_b.ints(), kind_c,
        c.data(), offsets_c.ints(), columns_c.ints(), &bytes);
    const Buffer buffer(bytes);
    int total = -1;
    act("cusparseXcsrgeam2Nnz", handle, m, n, kind_a, nnz_a, offsets_a.ints(), columns_a.ints(), kind_b,
        nnz_b, offsets_b.ints(), columns_b.ints(), kind_c, offsets_c.ints(), &total, buffer.get());
    expect_number(static_cast<double>(total), static_cast<double>(in_c.size()), 0);
    act(name, handle, m, n, &alpha, kind_a, nnz_a, a.data(), offsets_a.ints(), columns_a.ints(), &beta,
        kind_b, nnz_b, b.data(), offsets_b.ints(), columns_b.ints(), kind_c, c.data(), offsets_c.ints(),
        columns_c.ints(), buffer.get());
    expect_rows(offsets_c, columns_c, base_c, moved(in_c, -base_c), rows);
    const auto value = [](const std::vector<Place>& places, const Shared<T>& values, const Place& at) {
      for (size_t k = 0; k < places.size(); ++k)
        if (places[k].i == at.i && places[k].j == at.j) return values.before(static_cast<Int>(k));
      return Wide(0);
    };
    expect(
        c,
        [&](Int k) {
          const Place& at = in_c[static_cast<size_t>(k)];
          return Wide(alpha) * value(in_a, a, at) + Wide(beta) * value(in_b, b, at);
        },
        4);
  }
}

template <typename T>
void conversions() {
  constexpr int type = type_of<T>;
  const int formats[] = {csr, csc, coo};
  const Int rows = between(1, 12), columns = between(1, 12);
  size_t bytes = no_size;
  {
    const Sparse<T> a(formats[between(0, 2)], rows, columns, some_places(rows, columns, 30));
    Dense<T> b(rows, columns);
    note(a.text(), " and ", b.text());
    act("cusparseSparseToDense_bufferSize", handle, a.descriptor.get(), b.descriptor.get(), 0, &bytes);
    const Buffer buffer(bytes);
    act("cusparseSparseToDense", handle, a.descriptor.get(), b.descriptor.get(), 0, buffer.get());
    b.expect_elements([&](Int i, Int j, Int) { return a(i, j); }, 0);
  }
  {
    Dense<T> a(rows, columns);
    const int format = formats[between(0, 2)];
    std::vector<Place> places;
    for (Int i = 0; i < rows; ++i)
      for (Int j = 0; j < columns; ++j) {
        if (between(0, 2) != 0) a.values[a.place(i, j)] = 0;
        if (a.values[a.place(i, j)] != T(0)) places.push_back({i, j});
      }
    a.values.keep();
    if (format == csc)
      std::stable_sort(places.begin(), places.end(),
                       [](const Place& x, const Place& y) { return x.j < y.j; });
    const Int base = between(0, 1);
    const bool wide = between(0, 1) == 1;
    const Indices first(std::vector<Int>(format == coo   ? places.size()
                                         : format == csc ? static_cast<size_t>(columns) + 1
                                                         : static_cast<size_t>(rows) + 1),
                        wide),
        second(std::vector<Int>(places.size()), wide);
    Shared<T> values(static_cast<Int>(places.size()));
    Made b("cusparseDestroySpMat");
    void* nothing = nullptr;
    const char* names[] = {"", "CSR", "CSC", "COO"};
    note(a.text(), " and ", names[format], ", ", wide ? 64 : 32, "-bit indices from ", base);
    bytes = no_size;
    if (format == coo)
      act("cusparseCreateCoo", b.out(), rows, columns, Int{0}, nothing, nothing, nothing, first.type(),
          static_cast<int>(base), type);
    else
      act(format == csc ? "cusparseCreateCsc" : "cusparseCreateCsr", b.out(), rows, columns, Int{0},
          first.data(), nothing, nothing, first.type(), first.type(), static_cast<int>(base), type);
    act("cusparseDenseToSparse_bufferSize", handle, a.descriptor.get(), b.get(), 0, &bytes);
    const Buffer buffer(bytes);
    act("cusparseDenseToSparse_analysis", handle, a.descriptor.get(), b.get(), 0, buffer.get());
    Int found_rows = 0, found_columns = 0, count = -1;
    act("cusparseSpMatGetSize", b.get(), &found_rows, &found_columns, &count);
    expect_number(static_cast<double>(count), static_cast<double>(places.size()), 0);
    act(format == coo   ? "cusparseCooSetPointers"
        : format == csc ? "cusparseCscSetPointers"
                        : "cusparseCsrSetPointers",
        b.get(), first.data(), second.data(), values.data());
    act("cusparseDenseToSparse_convert", handle, a.descriptor.get(), b.get(), 0, buffer.get());
    const std::vector<Int> should_first =
        format == coo ? rows_of(places, base)
                      : offsets_of(places, format == csc ? columns : rows, format == csc, base);
    const std::vector<Int> should_second = format == csc ? rows_of(places, base) : columns_of(places, base);
    bool same = true;
    for (size_t k = 0; k < should_first.size(); ++k)
      same = same && first[static_cast<Int>(k)] == should_first[k];
    for (size_t k = 0; k < should_second.size(); ++k)
      same = same && second[static_cast<Int>(k)] == should_second[k];
    expect_number(same ? 0.0 : 1.0, 0, 0);
    expect(
        values,
        [&](Int k) {
          const auto [i, j] = places[static_cast<size_t>(k)];
          return a(i, j);
        },
        0);
  }
  {
    std::vector<Place> places = some_places(rows, columns, 30);
    const Int base = between(0, 1);
    const int m = static_cast<int>(rows), n = static_cast<int>(columns),
              nnz = static_cast<int>(places.size());
    const std::vector<Int> offsets = offsets_of(places, rows, false, base);
    const Indices row_offsets(offsets), column(columns_of(places, base)),
        new_offsets(std::vector<Int>(static_cast<size_t>(columns) + 1)),
        new_rows(std::vector<Int>(places.size()));
    Shared<T> values(nnz), new_values(nnz);
    note(rows, " x ", columns, " of ", nnz, " elements from ", base);
    bytes = no_size;
    const int action = static_cast<int>(between(0, 1));
    act("cusparseCsr2cscEx2_bufferSize", handle, m, n, nnz, values.data(), row_offsets.ints(), column.ints(),
        new_values.data(), new_offsets.ints(), new_rows.ints(), type, action, static_cast<int>(base), 1,
        &bytes);
    const Buffer buffer(bytes);
    act("cusparseCsr2cscEx2", handle, m, n, nnz, values.data(), row_offsets.ints(), column.ints(),
        new_values.data(), new_offsets.ints(), new_rows.ints(), type, action, static_cast<int>(base), 1,
        buffer.get());
    std::vector<size_t> order(places.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return places[x].j < places[y].j; });
    std::vector<Place> turned_places;
    for (const size_t k : order) turned_places.push_back({places[k].j, places[k].i});
    expect_rows(new_offsets, new_rows, base, turned_places, columns);
    expect(
        new_values,
        [&](Int k) {
          return action == 1 ? values.before(static_cast<Int>(order[static_cast<size_t>(k)]))
                             : new_values.before(k);
        },
        0);

    const Indices coo_rows(std::vector<Int>(places.size())),
        csr_offsets(std::vector<Int>(static_cast<size_t>(rows) + 1));
    act("cusparseXcsr2coo", handle, row_offsets.ints(), nnz, m, coo_rows.ints(), static_cast<int>(base));
    act("cusparseXcoo2csr", handle, coo_rows.ints(), nnz, m, csr_offsets.ints(), static_cast<int>(base));
    bool same = true;
    for (size_t k = 0; k < places.size(); ++k)
      same = same && coo_rows[static_cast<Int>(k)] == places[k].i + base;
    for (size_t i = 0; i < offsets.size(); ++i) same = same && csr_offsets[static_cast<Int>(i)] == offsets[i];
    expect_number(same ? 0.0 : 1.0, 0, 0);

    // Elements in any order are sorted, and a permutation tells where each was.
    std::vector<Place> mixed = places;
    for (size_t k = 1; k < mixed.size(); ++k)
      std::swap(mixed[k], mixed[static_cast<size_t>(between(0, static_cast<Int>(k)))]);
    for (const bool of_rows : {true, false}) {
      const Indices sorted_rows(rows_of(mixed, base)), sorted_columns(columns_of(mixed, base)),
          from(std::vector<Int>(mixed.size()));
      act("cusparseXcoosort_bufferSizeExt", handle, m, n, nnz, sorted_rows.ints(), sorted_columns.ints(),
          &bytes);
      const Buffer buffer(bytes);
      act("cusparseCreateIdentityPermutation", handle, nnz, from.ints());
      act(of_rows ? "cusparseXcoosortByRow" : "cusparseXcoosortByColumn", handle, m, n, nnz,
          sorted_rows.ints(), sorted_columns.ints(), from.ints(), buffer.get());
      same = true;
      for (size_t k = 0; k < mixed.size(); ++k) {
        const Place should = of_rows ? places[k] : Place{turned_places[k].j, turned_places[k].i};
        const auto at = static_cast<Int>(k);
        same = same && sorted_rows[at] == should.i + base && sorted_columns[at] == should.j + base;
        const Place& was = mixed[static_cast<size_t>(from[at])];
        same = same && was.i == should.i && was.j == should.j;
      }
      expect_number(same ? 0.0 : 1.0, 0, 0);
    }
    // The same within the rows of CSR, and the columns of CSC.
    const Kind of(base);
    void* kind = of.get();
    for (const bool of_columns : {false, true}) {
      std::vector<Place> sorted = places;
      const auto line_of = [&](const Place& at) { return of_columns ? at.j : at.i; };
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](const Place& x, const Place& y) { return line_of(x) < line_of(y); });
      std::vector<Place> reversed = sorted;  // in each line
      for (size_t begin = 0; begin < reversed.size();) {
        size_t end = begin;
        while (end < reversed.size() && line_of(reversed[end]) == line_of(reversed[begin])) ++end;
        std::reverse(reversed.begin() + static_cast<Int>(begin), reversed.begin() + static_cast<Int>(end));
        begin = end;
      }
      const Indices lines(offsets_of(sorted, of_columns ? columns : rows, of_columns, base)),
          indices(of_columns ? rows_of(reversed, base) : columns_of(reversed, base)),
          from(std::vector<Int>(places.size()));
      const std::string name = of_columns ? "cusparseXcscsort" : "cusparseXcsrsort";
      act(name + "_bufferSizeExt", handle, m, n, nnz, lines.ints(), indices.ints(), &bytes);
      const Buffer buffer(bytes);
      act("cusparseCreateIdentityPermutation", handle, nnz, from.ints());
      act(name, handle, m, n, nnz, kind, lines.ints(), indices.ints(), from.ints(), buffer.get());
      same = true;
      for (size_t k = 0; k < sorted.size(); ++k) {
        const auto at = static_cast<Int>(k);
        same = same && indices[at] == (of_columns ? sorted[k].i : sorted[k].j) + base;
        const Place& was = reversed[static_cast<size_t>(from[at])];
        same = same && was.i == sorted[k].i && was.j == sorted[k].j;
      }
      expect_number(same ? 0.0 : 1.0, 0, 0);
    }
    // How many elements are not 0.
    const Int lda = rows + between(0, 3);
    Shared<T> dense(lda * columns);
    for (Int k = 0; k < dense.count(); ++k)
      if (between(0, 2) == 0) dense[k] = 0;
    for (const int direction : {0, 1}) {
      std::vector<Int> numbers(static_cast<size_t>(direction == 0 ? rows : columns));
      Int all = 0;
      for (Int i = 0; i < rows; ++i)
        for (Int j = 0; j < columns; ++j)
          if (dense[i + j * lda] != T(0)) {
            ++numbers[static_cast<size_t>(direction == 0 ? i : j)];
            ++all;
          }
      const Indices found((std::vector<Int>(numbers.size())));
      int total = -1;
      act(std::string("cusparse") + letter_of<T>() + "nnz", handle, direction, m, n, kind, dense.data(),
          static_cast<int>(lda), found.ints(), &total);
      same = total == all;
      for (size_t i = 0; i < numbers.size(); ++i) same = same && found[static_cast<Int>(i)] == numbers[i];
      expect_number(same ? 0.0 : 1.0, 0, 0);
    }
  }
}

template <typename T>
void vectors() {
  constexpr int type = type_of<T>;
  const Int size = between(1, 40), base = between(0, 1);
  std::vector<Int> places;
  for (Int i = 0; i < size; ++i)
    if (between(0, 2) == 0) places.push_back(i);
  for (size_t k = 1; k < places.size(); ++k)
    std::swap(places[k], places[static_cast<size_t>(between(0, static_cast<Int>(k)))]);
  std::vector<Int> stored = places;
  for (Int& place : stored) place += base;
  const Indices indices(stored, between(0, 1) == 1);
  const auto count = static_cast<Int>(places.size());
  Shared<T> x(count);
  Vector<T> y(size);
  Made made("cusparseDestroySpVec");
  note(count, " of ", size, " elements, ", indices.type() == 3 ? 64 : 32, "-bit indices from ", base);
  act("cusparseCreateSpVec", made.out(), size, count, indices.data(), x.data(), indices.type(),
      static_cast<int>(base), type);
  void *sparse = made.get(), *dense = y.descriptor.get();
  const auto element_of = [&](Int i) -> Int {  // of y in x; -1: none
    for (size_t k = 0; k < places.size(); ++k)
      if (places[k] == i) return static_cast<Int>(k);
    return -1;
  };
  const auto place_of = [&](Int k) { return places[static_cast<size_t>(k)]; };
  T alpha = a_factor<T>(), beta = a_factor<T>();
  act("cusparseAxpby", handle, &alpha, sparse, &beta, dense);
  expect(
      y.values,
      [&](Int i) {
        const Int k = element_of(i);
        return Wide(beta) * y(i) + (k < 0 ? Wide(0) : Wide(alpha) * x.before(k));
      },
      4);
  y.values.keep();
  T c = Of<T>::random(), s = Of<T>::random();
  act("cusparseRot", handle, &c, &s, sparse, dense);
  expect(
      x, [&](Int k) { return Wide(c) * x.before(k) + Wide(s) * y(place_of(k)); }, 20);
  expect(
      y.values,
      [&](Int i) {
        const Int k = element_of(i);
        return k < 0 ? y(i) : Wide(c) * y(i) - Wide(s) * x.before(k);
      },
      20);
  x.keep();
  y.values.keep();
  for (const int operation : {none, adjoint}) {
    if (operation == adjoint && !Of<T>::is_complex) break;
    size_t bytes = no_size;
    T result{};
    act("cusparseSpVV_bufferSize", handle, operation, sparse, dense, &result, type, &bytes);
    const Buffer buffer(bytes);
    act("cusparseSpVV", handle, operation, sparse, dense, &result, type, buffer.get());
    Wide sum = 0;
    for (Int k = 0; k < count; ++k) sum += conj_if(x.before(k), operation == adjoint) * y(place_of(k));
    expect_number(result, sum, static_cast<double>(count) * 100);
  }
  act("cusparseGather", handle, dense, sparse);
  expect(
      x, [&](Int k) { return y(place_of(k)); }, 0);
  for (Int k = 0; k < count; ++k) x[k] = Of<T>::random();
  x.keep();
  act("cusparseScatter", handle, sparse, dense);
  expect(
      y.values,
      [&](Int i) {
        const Int k = element_of(i);
        return k < 0 ? y(i) : x.before(k);
      },
      0);
}

/// Of the products of incomplete factors the elements are right that the matrix has.
template <typename T>
void factors() {
  const Int n = between(1, 14), base = between(0, 1);
  std::vector<Place> places = some_places(n, n, 25, true);
  {  // with each place its mirror image
    std::vector<Place> mirrored;
    for (const Place& at : places) mirrored.push_back({at.j, at.i});
    places = united(places, mirrored);
  }
  const Indices offsets(offsets_of(places, n, false, base)), columns(columns_of(places, base));
  const int m = static_cast<int>(n), nnz = static_cast<int>(places.size());
  Shared<T> a(nnz);
  const auto place_of = [&](Int i, Int j) -> Int {
    for (size_t k = 0; k < places.size(); ++k)
      if (places[k].i == i && places[k].j == j) return static_cast<Int>(k);
    return -1;
  };
  const Kind kind_of(base);
  void* kind = kind_of.get();
  note(n, " x ", n, " of ", nnz, " elements from ", base);
  for (const bool lu : {true, false}) {
    for (Int k = 0; k < nnz; ++k) {
      const auto [i, j] = places[static_cast<size_t>(k)];
      a[k] = Of<T>::random();
      if (i == j) a[k] = T(static_cast<Real<T>>(4 * n)) + T(std::abs(a[k]));
      if (!lu && i > j) {
        const T mirror = a[place_of(j, i)];
        if constexpr (Of<T>::is_complex)
          a[k] = std::conj(mirror);
        else
          a[k] = mirror;
      }
    }
    a.keep();
    const std::string of = lu ? "csrilu02" : "csric02", name = std::string("cusparse") + letter_of<T>() + of;
    Made made(lu ? "cusparseDestroyCsrilu02Info" : "cusparseDestroyCsric02Info");
    int bytes = -1, position = 5;
    act(lu ? "cusparseCreateCsrilu02Info" : "cusparseCreateCsric02Info", made.out());
    void* info = made.get();
    act(name + "_bufferSize", handle, m, nnz, kind, a.data(), offsets.ints(), columns.ints(), info, &bytes);
    const Buffer buffer(static_cast<size_t>(bytes));  // −1, if it is left so, is too large
    act(name + "_analysis", handle, m, nnz, kind, a.data(), offsets.ints(), columns.ints(), info, 1,
        buffer.get());
    act("cusparseX" + of + "_zeroPivot", handle, info, &position);
    expect_number(static_cast<double>(position), -1, 0);
    act(name, handle, m, nnz, kind, a.data(), offsets.ints(), columns.ints(), info, 1, buffer.get());
    act("cusparseX" + of + "_zeroPivot", handle, info, &position);
    expect_number(static_cast<double>(position), -1, 0);
    const auto element = [&](Int i, Int j) {
      const Int k = place_of(i, j);
      return k < 0 ? Wide(0) : Wide(a[k]);
    };
    for (Int k = 0; k < nnz; ++k) {
      const auto [i, j] = places[static_cast<size_t>(k)];
      if (!lu && i < j) {  // left as it was
        expect_number(a[k], a.before(k), 0);
        continue;
      }
      Wide sum = 0;
      for (Int l = 0; l <= std::min(i, j); ++l)
        sum += (lu && l == i ? Wide(1) : element(i, l)) * (lu ? element(l, j) : std::conj(element(j, l)));
      expect_number(narrow<T>(sum), a.before(k), static_cast<double>(n) * 10);
    }
    // A pivot that is 0 is told; one that is missing at once.
    const Int row = between(0, n - 1);
    for (Int k = 0; k < nnz; ++k) {
      const auto [i, j] = places[static_cast<size_t>(k)];
      a[k] = T(i == j && i != row ? 1 : 0);
    }
    act(name, handle, m, nnz, kind, a.data(), offsets.ints(), columns.ints(), info, 1, buffer.get());
    doing = of + " of a singular matrix";
    expect_number(static_cast<double>(call("cusparseX" + of + "_zeroPivot", handle, info, &position)), 9, 0);
    expect_number(static_cast<double>(position), static_cast<double>(row + base), 0);
    if (lu) {
      double tolerance = 0.5;
      T boost = T(2);
      act(name + "_numericBoost", handle, info, 1, &tolerance, &boost);
      act(name, handle, m, nnz, kind, a.data(), offsets.ints(), columns.ints(), info, 1, buffer.get());
      act("cusparseX" + of + "_zeroPivot", handle, info, &position);
      expect_number(a[place_of(row, row)], 2, 0);
    }
    std::vector<Place> fewer;
    for (const Place& at : places)
      if (at.i != row || at.j != row) fewer.push_back(at);
    if (fewer.empty()) continue;  // a matrix without elements is refused
    const Indices fewer_offsets(offsets_of(fewer, n, false, base)), fewer_columns(columns_of(fewer, base));
    act(name + "_analysis", handle, m, static_cast<int>(fewer.size()), kind, a.data(), fewer_offsets.ints(),
        fewer_columns.ints(), info, 1, buffer.get());
    doing = of + " without an element on the diagonal";
    expect_number(static_cast<double>(call("cusparseX" + of + "_zeroPivot", handle, info, &position)), 9, 0);
    expect_number(static_cast<double>(position), static_cast<double>(row + base), 0);
  }
}

/// Solutions are put into the systems.
template <typename T>
void tridiagonal() {
  const std::string letter = letter_of<T>();
  const Int m = between(3, 20), sides = between(1, 4), ldb = m + between(0, 3);
  const double size = std::is_same_v<Real<T>, float> ? 100 : 1000;
  for (const char* kind : {"gtsv2", "gtsv2_nopivot", "gtsv2StridedBatch"}) {
    const bool batch = std::string(kind) == "gtsv2StridedBatch";
    Shared<T> below(ldb * sides), on(ldb * sides), above(ldb * sides), b(ldb * sides);
    // Far from singular: by the diagonal, or by rows in pairs that must change places.
    const bool in_pairs = std::string(kind) == "gtsv2" && between(0, 1) == 0;
    for (Int i = 0; i < on.count(); ++i) {
      const bool ends = in_pairs && (i % 2 != 0 || i + 1 < m), begins = ends && i % 2 == 0;
      if (!in_pairs || !ends) on[i] += T(8);
      if (!in_pairs) continue;
      if (ends) on[i] = 0;
      above[i] = begins ? T(4) + above[i] : above[i] / T(8);
      below[i] = ends && !begins ? T(4) + below[i] : below[i] / T(8);
    }
    for (Int i = 0; i < below.count(); ++i) {
      const Int row = batch ? i % ldb : i;
      if (row == 0) below[i] = 0;
      if (row == m - 1) above[i] = 0;
    }
    below.keep();
    on.keep();
    above.keep();
    const std::string name = "cusparse" + letter + kind;
    const int rows = static_cast<int>(m), columns = static_cast<int>(sides), step = static_cast<int>(ldb);
    size_t bytes = no_size;
    note("order ", m, ", ", sides, " sides, step ", ldb);
    if (batch) {
      act(name + "_bufferSizeExt", handle, rows, below.data(), on.data(), above.data(), b.data(), columns,
          step, &bytes);
      const Buffer buffer(bytes);
      act(name, handle, rows, below.data(), on.data(), above.data(), b.data(), columns, step, buffer.get());
    } else {
      act(name + "_bufferSizeExt", handle, rows, columns, below.data(), on.data(), above.data(), b.data(),
          step, &bytes);
      const Buffer buffer(bytes);
      act(name, handle, rows, columns, below.data(), on.data(), above.data(), b.data(), step, buffer.get());
    }
    for (Int side = 0; side < sides; ++side)
      for (Int i = 0; i < ldb; ++i) {
        const Int at = side * ldb + i, row = batch ? at : i;
        if (i >= m) {
          expect_number(b[at], b.before(at), 0);
          continue;
        }
        Wide sum = on.before(row) * Wide(b[at]);
        if (i > 0) sum += below.before(row) * Wide(b[at - 1]);
        if (i + 1 < m) sum += above.before(row) * Wide(b[at + 1]);
        expect_number(narrow<T>(sum), b.before(at), size);
      }
  }
}

/// Numbers of 16 and 8 bits: small integers, of which every sum is exact.
void mixed() {
  struct Case {
    const char* name;
    int in, out, compute;
  };
  constexpr int r32f = 0, r16f = 2, r8i = 3, r32i = 10, r16bf = 14;
  const auto put = [](void* to, int type, Int i, int value) {
    const auto number = static_cast<float>(value);
    const auto half = static_cast<_Float16>(number);
    const auto byte = static_cast<int8_t>(value);
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    const auto bfloat = static_cast<uint16_t>(bits >> 16);
    const Int size = type == r8i ? 1 : type == r32f || type == r32i ? 4 : 2;
    std::memcpy(static_cast<char*>(to) + i * size,
                type == r16f    ? static_cast<const void*>(&half)
                : type == r16bf ? static_cast<const void*>(&bfloat)
                : type == r8i   ? static_cast<const void*>(&byte)
                : type == r32i  ? static_cast<const void*>(&value)
                                : &number,
                static_cast<size_t>(size));
  };
  for (const Case& of :
       {Case{"half to float", r16f, r32f, r32f}, Case{"half to half", r16f, r16f, r32f},
        Case{"bfloat to float", r16bf, r32f, r32f}, Case{"bfloat to bfloat", r16bf, r16bf, r32f},
        Case{"bytes to integers", r8i, r32i, r32i}, Case{"bytes to floats", r8i, r32f, r32f}}) {
    constexpr Int rows = 6, columns = 5;
    const std::vector<Place> places = some_places(rows, columns, 50);
    const Indices offsets(offsets_of(places, rows, false, 0)), column(columns_of(places, 0));
    Shared<double> values(64), x(64), y(64), should(64);
    std::vector<int> a, b;
    for (size_t k = 0; k < places.size(); ++k) {
      a.push_back(static_cast<int>(between(0, 6)) - 3);
      put(values.data(), of.in, static_cast<Int>(k), a.back());
    }
    for (Int j = 0; j < columns; ++j) {
      b.push_back(static_cast<int>(between(0, 6)) - 3);
      put(x.data(), of.in, j, b.back());
    }
    std::memcpy(y.data(), should.data(), 64 * 8);
    for (Int i = 0; i < rows; ++i) {
      int sum = 0;
      for (size_t k = 0; k < places.size(); ++k)
        if (places[k].i == i) sum += a[k] * b[static_cast<size_t>(places[k].j)];
      put(should.data(), of.out, i, sum);
    }
    Made made_matrix("cusparseDestroySpMat"), made_in("cusparseDestroyDnVec"),
        made_out("cusparseDestroyDnVec");
    note(of.name);
    act("cusparseCreateCsr", made_matrix.out(), rows, columns, static_cast<Int>(places.size()),
        offsets.data(), column.data(), static_cast<void*>(values.data()), 2, 2, 0, of.in);
    act("cusparseCreateDnVec", made_in.out(), columns, static_cast<void*>(x.data()), of.in);
    act("cusparseCreateDnVec", made_out.out(), rows, static_cast<void*>(y.data()), of.out);
    const float one = 1, zero = 0;
    const int int_one = 1, int_zero = 0;
    const bool integers = of.compute == r32i;
    size_t bytes = no_size;
    const auto with = [&](const char* name, auto last) {
      act(name, handle, none, integers ? static_cast<const void*>(&int_one) : &one, made_matrix.get(),
          made_in.get(), integers ? static_cast<const void*>(&int_zero) : &zero, made_out.get(), of.compute,
          0, last);
    };
    with("cusparseSpMV_bufferSize", &bytes);
    const Buffer buffer(bytes);
    with("cusparseSpMV", buffer.get());
    expect_number(std::memcmp(y.data(), should.data(), 64 * 8) == 0 ? 0.0 : 1.0, 0, 0);
  }
}

/// What descriptors and handles were told is what they tell.
void properties() {
  Shared<float> memory(64);
  void *p = memory.data(), *q = memory.data() + 20, *r = memory.data() + 40;
  void *a = nullptr, *x = nullptr, *v = nullptr, *b = nullptr;
  Int rows = 0, columns = 0, count = 0;
  void *first = nullptr, *second = nullptr, *values = nullptr;
  int first_type = 0, second_type = 0, base = 0, type = 0, order = 0, batches = 0, format = 0;
  const auto equal = [](Int found, Int expected) {
    expect_number(static_cast<double>(found), static_cast<double>(expected), 0);
  };
  const auto same = [](const void* found, const void* expected) {
    expect_number(found == expected ? 0.0 : 1.0, 0, 0);
  };
  act("cusparseCreateCsr", &a, Int{3}, Int{4}, Int{5}, p, q, r, 3, 3, 1, 0);
  for (const char* name : {"cusparseCsrGet", "cusparseConstCsrGet"}) {
    act(name, a, &rows, &columns, &count, &first, &second, &values, &first_type, &second_type, &base, &type);
    equal(rows * 100 + columns * 10 + count, 345);
    same(first, p);
    same(second, q);
    same(values, r);
    equal(first_type * 100 + second_type * 10 + base, 331);
    equal(type, 0);
  }
  act("cusparseSpMatGetFormat", a, &format);
  equal(format, csr);
  act("cusparseSpMatGetIndexBase", a, &base);
  equal(base, 1);
  act("cusparseCsrSetStridedBatch", a, 3, Int{4}, Int{5});
  act("cusparseSpMatGetStridedBatch", a, &batches);
  equal(batches, 3);
  act("cusparseSpMatSetValues", a, p);
  act("cusparseConstSpMatGetValues", a, &values);
  same(values, p);
  int attribute = 1;
  act("cusparseSpMatSetAttribute", a, 1, &attribute, sizeof attribute);
  attribute = 0;
  act("cusparseSpMatGetAttribute", a, 1, &attribute, sizeof attribute);
  equal(attribute, 1);
  act("cusparseSpMatGetAttribute", a, 0, &attribute, sizeof attribute);
  equal(attribute, 0);
  act("cusparseDestroySpMat", a);
  act("cusparseCreateCsc", &a, Int{3}, Int{4}, Int{5}, p, q, r, 2, 2, 0, 1);
  act("cusparseCscGet", a, &rows, &columns, &count, &first, &second, &values, &first_type, &second_type,
      &base, &type);
  equal(rows * 100 + columns * 10 + count, 345);
  equal(first_type * 100 + second_type * 10 + base, 220);
  equal(type, 1);
  act("cusparseDestroySpMat", a);
  act("cusparseCreateCoo", &a, Int{3}, Int{4}, Int{5}, p, q, r, 2, 0, 5);
  act("cusparseCooGet", a, &rows, &columns, &count, &first, &second, &values, &first_type, &base, &type);
  equal(rows * 100 + columns * 10 + count, 345);
  equal(type, 5);
  act("cusparseCooSetStridedBatch", a, 2, Int{5});
  act("cusparseDestroySpMat", a);
  act("cusparseCreateSpVec", &x, Int{9}, Int{5}, p, q, 2, 1, 0);
  act("cusparseSpVecGet", x, &rows, &count, &first, &values, &first_type, &base, &type);
  equal(rows * 10 + count, 95);
  same(first, p);
  same(values, q);
  act("cusparseSpVecSetValues", x, r);
  act("cusparseSpVecGetValues", x, &values);
  same(values, r);
  act("cusparseSpVecGetIndexBase", x, &base);
  equal(base, 1);
  act("cusparseDestroySpVec", x);
  act("cusparseCreateDnVec", &v, Int{9}, p, 0);
  act("cusparseDnVecSetValues", v, q);
  act("cusparseDnVecGet", v, &rows, &values, &type);
  equal(rows, 9);
  same(values, q);
  act("cusparseConstDnVecGetValues", v, &values);
  same(values, q);
  act("cusparseDestroyDnVec", v);
  act("cusparseCreateDnMat", &b, Int{3}, Int{4}, Int{5}, p, 0, 1);
  act("cusparseDnMatSetStridedBatch", b, 2, Int{30});
  Int stride = 0;
  act("cusparseDnMatGetStridedBatch", b, &batches, &stride);
  equal(batches * 100 + stride, 230);
  act("cusparseDnMatSetValues", b, q);
  act("cusparseDnMatGet", b, &rows, &columns, &count, &values, &type, &order);
  equal(rows * 1000 + columns * 100 + count * 10 + order, 3451);
  same(values, q);
  act("cusparseDestroyDnMat", b);
  void* kind = nullptr;
  act("cusparseCreateMatDescr", &kind);
  for (const auto& [name, value] : {std::pair<const char*, int>{"MatType", 3},
                                    {"MatFillMode", 1},
                                    {"MatDiagType", 1},
                                    {"MatIndexBase", 1}}) {
    equal(call(std::string("cusparseGet") + name, kind), 0);
    act(std::string("cusparseSet") + name, kind, value);
    equal(call(std::string("cusparseGet") + name, kind), value);
  }
  act("cusparseDestroyMatDescr", kind);
  int number = 0;
  act("cusparseGetVersion", handle, &number);
  int parts[3] = {};
  for (int i = 0; i < 3; ++i) act("cusparseGetProperty", i, parts + i);
  equal(number, parts[0] * 1000 + parts[1] * 100 + parts[2]);
}

/// A matrix of 2 x 2, of which 1, 2 and 3 are stored; x is 1, 10.
struct Small {
  Indices offsets{std::vector<Int>{0, 2, 3}}, columns{std::vector<Int>{0, 1, 1}};
  Shared<float> values{3}, x{2}, y{2};
  Made matrix{"cusparseDestroySpMat"}, from{"cusparseDestroyDnVec"}, to{"cusparseDestroyDnVec"};
  void *a = nullptr, *in = nullptr, *out = nullptr;
  Small() {
    for (int i = 0; i < 3; ++i) values[i] = static_cast<float>(i + 1);
    x[0] = 1;
    x[1] = 10;
    y[0] = y[1] = 0;
    act("cusparseCreateCsr", matrix.out(), Int{2}, Int{2}, Int{3}, offsets.data(), columns.data(),
        values.data(), 2, 2, 0, 0);
    act("cusparseCreateDnVec", from.out(), Int{2}, x.data(), 0);
    act("cusparseCreateDnVec", to.out(), Int{2}, y.data(), 0);
    a = matrix.get();
    in = from.get();
    out = to.get();
  }
  const Buffer buffer{size_t{1} << 20};
};

/// Scalars in the memory of the device.
void on_device() {
  doing = "device pointers";
  Small of;
  float* scalars = nullptr;
  const float numbers[] = {2, 3, 0};
  cudaMalloc(reinterpret_cast<void**>(&scalars), sizeof numbers);
  cudaMemcpy(scalars, numbers, sizeof numbers, 1);
  of.y[0] = of.y[1] = 1;
  int mode = -1;
  act("cusparseSetPointerMode", handle, 1);
  act("cusparseGetPointerMode", handle, &mode);
  expect_number(static_cast<double>(mode), 1, 0);
  act("cusparseSpMV", handle, none, scalars, of.a, of.in, scalars + 1, of.out, 0, 0, of.buffer.get());
  expect_number(of.y[0], 45, 0);
  expect_number(of.y[1], 63, 0);
  const Indices place(std::vector<Int>{1});
  Shared<float> value(1);
  value[0] = 5;
  Made made("cusparseDestroySpVec");
  act("cusparseCreateSpVec", made.out(), Int{2}, Int{1}, place.data(), value.data(), 2, 0, 0);
  act("cusparseSpVV", handle, none, made.get(), of.in, scalars + 2, 0, of.buffer.get());
  float result = 0;
  cudaMemcpy(&result, scalars + 2, sizeof result, 2);
  expect_number(result, 50, 0);
  act("cusparseSetPointerMode", handle, 0);

  // A factor of 0 makes 0 of what is no number, on an H200 as well.
  const float zero = 0, one = 1, no_number = std::numeric_limits<float>::quiet_NaN();
  of.y[0] = of.y[1] = 4;
  of.values[0] = no_number;
  act("cusparseSpMV", handle, none, &zero, of.a, of.in, &one, of.out, 0, 0, of.buffer.get());
  expect_number(of.y[0], 4, 0);
  of.values[0] = one;
  of.y[0] = no_number;
  act("cusparseSpMV", handle, none, &one, of.a, of.in, &zero, of.out, 0, 0, of.buffer.get());
  expect_number(std::isfinite(of.y[0]) ? 1.0 : 0.0, 1, 0);
}

/// A call that becomes a node of a graph is done as often as that runs, and not before.
void in_graph() {
  Small of;
  void *stream = nullptr, *found = nullptr, *graph = nullptr, *executable = nullptr;
  const float one = 1;
  succeed(cudaStreamCreate(&stream));
  act("cusparseSetStream", handle, stream);
  act("cusparseGetStream", handle, &found);
  expect_number(found == stream ? 0.0 : 1.0, 0, 0);
  succeed(cudaStreamBeginCapture(stream, 0));
  doing = "a graph";
  succeed(call("cusparseSpMV", handle, none, &one, of.a, of.in, &one, of.out, 0, 0, of.buffer.get()));
  succeed(cudaStreamEndCapture(stream, &graph));
  succeed(cudaGraphInstantiate(&executable, graph, 0));
  cudaDeviceSynchronize();
  expect_number(of.y[0], 0, 0);
  for (int i = 0; i < 3; ++i) succeed(cudaGraphLaunch(executable, stream));
  cudaDeviceSynchronize();
  expect_number(of.y[0], 63, 0);
  expect_number(of.y[1], 90, 0);
  act("cusparseSetStream", handle, static_cast<void*>(nullptr));
  succeed(cudaGraphExecDestroy(executable));
  succeed(cudaGraphDestroy(graph));
  succeed(cudaStreamDestroy(stream));
}

/// What calls return that make no sense, or that the toolkit's library does not take.
void refused() {
  Small of;
  float one = 1;
  const float* s = &one;
  const float* no = nullptr;
  const std::complex<float> complex_one = 1;
  const auto* z = &complex_one;
  void *none_handle = nullptr, *nothing = nullptr, *made = nullptr;
  size_t bytes = 0;
  int number = 0;
  Shared<float> memory(64);
  float* p = memory.data();
  int* i = of.offsets.ints();
  const Kind general(0), symmetric(0);
  void* kind = general.get();
  act("cusparseSetMatType", symmetric.get(), 1);
  std::vector<std::unique_ptr<Made>> all;
  const auto make = [&](const char* name, const char* destroy, auto... arguments) {
    all.push_back(std::make_unique<Made>(destroy));
    doing = name;
    succeed(call(name, all.back()->out(), arguments...));
    return all.back()->get();
  };
  const auto sparse = [&](const char* name, auto... arguments) {
    return make(name, "cusparseDestroySpMat", arguments...);
  };
  const auto dense = [&](Int rows, Int columns, int type) {
    return make("cusparseCreateDnMat", "cusparseDestroyDnMat", rows, columns, rows, p, type, by_columns);
  };
  // The small matrix in other formats; blocks of 2 in a row of 1 x 1; and a square of 6 in blocks.
  const Indices zeros(std::vector<Int>{0, 0, 1}), wide(std::vector<Int>{0, 2, 3, 0, 1, 1}, true);
  void *in_coo =
           sparse("cusparseCreateCoo", Int{2}, Int{2}, Int{3}, zeros.data(), of.columns.data(), p, 2, 0, 0),
       *in_csc = sparse("cusparseCreateCsc", Int{2}, Int{2}, Int{3}, i, of.columns.data(), p, 2, 2, 0, 0),
       *from_one = sparse("cusparseCreateCsr", Int{2}, Int{2}, Int{0}, p, p, p, 2, 2, 1, 0),
       *in_64_bits = sparse("cusparseCreateCsr", Int{2}, Int{2}, Int{3}, wide.data(), p, p, 3, 3, 0, 0),
       *complex = sparse("cusparseCreateCsr", Int{2}, Int{2}, Int{3}, i, of.columns.data(), p, 2, 2, 0, 4),
       *blocks = sparse("cusparseCreateBsr", Int{1}, Int{1}, Int{1}, Int{2}, Int{2}, zeros.ints() + 1,
                        zeros.data(), p, 2, 2, 0, 0, 1),
       *blocks_of_1 = sparse("cusparseCreateBsr", Int{2}, Int{2}, Int{3}, Int{1}, Int{1}, i,
                             of.columns.data(), p, 2, 2, 0, 0, 1),
       *blocks_of_1_by_rows = sparse("cusparseCreateBsr", Int{2}, Int{2}, Int{3}, Int{1}, Int{1}, i,
                                     of.columns.data(), p, 2, 2, 0, 0, 2),
       *blocks_of_3 = sparse("cusparseCreateBsr", Int{1}, Int{1}, Int{1}, Int{3}, Int{3}, zeros.ints() + 1,
                             zeros.data(), p, 2, 2, 0, 0, 1);
  void *b = dense(2, 3, 0), *c = dense(2, 2, 0), *d = dense(2, 2, 0), *of_3 = dense(3, 3, 0),
       *complex_row = dense(1, 2, 4), *complex_column = dense(2, 1, 4), *b_turned = dense(3, 2, 0),
       *two = dense(2, 2, 0);
  act("cusparseDnMatSetStridedBatch", two, 2, Int{4});
  void *system = make("cusparseSpSV_createDescr", "cusparseSpSV_destroyDescr"),
       *analysed = make("cusparseSpSV_createDescr", "cusparseSpSV_destroyDescr"),
       *several = make("cusparseSpSM_createDescr", "cusparseSpSM_destroyDescr"),
       *work = make("cusparseSpGEMM_createDescr", "cusparseSpGEMM_destroyDescr"),
       *vector =
           make("cusparseCreateSpVec", "cusparseDestroySpVec", Int{3}, Int{1}, of.columns.data(), p, 2, 0, 0),
       *fits =
           make("cusparseCreateSpVec", "cusparseDestroySpVec", Int{2}, Int{1}, of.columns.data(), p, 2, 0, 0),
       *doubles = make("cusparseCreateDnVec", "cusparseDestroyDnVec", Int{2}, p, 1),
       *info = make("cusparseCreateCsrilu02Info", "cusparseDestroyCsrilu02Info"),
       *ic_info = make("cusparseCreateCsric02Info", "cusparseDestroyCsric02Info");
  act("cusparseSpSV_analysis", handle, 0, s, of.a, of.in, of.out, 0, 0, analysed, of.buffer.get());
#define TELL(...)                                             \
  if (is_to_do(#__VA_ARGS__)) {                               \
    std::printf("%s: %d\n", #__VA_ARGS__, call(__VA_ARGS__)); \
    end_wrong_call();                                         \
  }
  TELL("cusparseCreate", static_cast<void**>(nullptr));
  TELL("cusparseDestroy", none_handle);
  TELL("cusparseSetPointerMode", handle, 2);
  TELL("cusparseSetStream", none_handle, nothing);
  TELL("cusparseGetStream", handle, static_cast<void**>(nullptr));
  TELL("cusparseGetVersion", handle, static_cast<int*>(nullptr));
  TELL("cusparseGetProperty", 3, &number);
  TELL("cusparseSetMatType", kind, 4);
  TELL("cusparseSetMatIndexBase", nothing, 0);
  TELL("cusparseDestroyMatDescr", nothing);
  TELL("cusparseCreateCsr", &made, Int{-1}, Int{2}, Int{3}, i, i, p, 2, 2, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{5}, i, i, p, 2, 2, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 1, 2, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 2, 4, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 2, 3, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 3, 2, 0, 0);
  TELL("cusparseCreateConstCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 3, 2, 0, 0);
  TELL("cusparseCreateCsc", &made, Int{2}, Int{2}, Int{3}, i, i, p, 2, 3, 0, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 2, 2, 2, 0);
  TELL("cusparseCreateCsr", &made, Int{2}, Int{2}, Int{3}, i, i, p, 2, 2, 0, 99);
  TELL("cusparseCreateCsr", static_cast<void**>(nullptr), Int{2}, Int{2}, Int{3}, i, i, p, 2, 2, 0, 0);
  TELL("cusparseCreateBsr", &made, Int{2}, Int{2}, Int{3}, Int{0}, Int{1}, i, i, p, 2, 2, 0, 0, 1);
  TELL("cusparseCreateBsr", &made, Int{2}, Int{2}, Int{3}, Int{2}, Int{3}, i, i, p, 2, 2, 0, 0, 1);
  TELL("cusparseCreateBsr", &made, Int{2}, Int{2}, Int{3}, Int{2}, Int{2}, i, i, p, 2, 3, 0, 0, 1);
  TELL("cusparseCreateDnVec", &made, Int{-1}, p, 0);
  TELL("cusparseCreateDnVec", &made, Int{2}, nothing, 0);
  TELL("cusparseCreateDnMat", &made, Int{3}, Int{2}, Int{2}, p, 0, 1);
  TELL("cusparseCreateDnMat", &made, Int{3}, Int{2}, Int{3}, p, 0, 3);
  TELL("cusparseCreateSpVec", &made, Int{3}, Int{4}, i, p, 2, 0, 0);
  TELL("cusparseDnMatSetStridedBatch", c, 0, Int{4});
  TELL("cusparseCsrSetStridedBatch", of.a, 1, Int{-1}, Int{0});
  TELL("cusparseCooSetPointers", of.a, i, i, p);
  TELL("cusparseCscGet", of.a, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing,
       nothing, nothing);
  TELL("cusparseSpMatSetAttribute", of.a, 2, &number, size_t{4});
  TELL("cusparseSpMatSetAttribute", of.a, 0, &number, size_t{8});
  TELL("cusparseSpMatGetFormat", nothing, &number);
  TELL("cusparseDnVecSetValues", nothing, p);
  TELL("cusparseDestroySpMat", nothing);
  TELL("cusparseDestroySpMat", of.in);
  TELL("cusparseSpMV", none_handle, 0, s, of.a, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 3, s, of.a, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, no, of.a, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, of.a, of.in, no, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, nothing, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, of.a, of.a, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, of.a, of.in, s, doubles, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, of.a, of.in, s, of.out, 1, 0, nothing);
  TELL("cusparseSpMV_bufferSize", handle, 0, s, of.a, of.in, s, of.out, 0, 0, static_cast<size_t*>(nullptr));
  TELL("cusparseSpMV", handle, 2, s, of.a, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 1, s, blocks, of.in, s, of.out, 0, 0, nothing);
  TELL("cusparseSpMV", handle, 0, s, blocks_of_1_by_rows, of.in, s, of.out, 0, 0, of.buffer.get());
  TELL("cusparseSpMM", handle, 0, 0, s, of.a, b, s, c, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 0, 1, s, of.a, b, s, c, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 2, 0, s, of.a, d, s, c, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 0, 2, s, of.a, d, s, c, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 0, 0, s, of.a, two, s, two, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 0, 0, s, of.a, d, s, two, 0, 0, nothing);
  TELL("cusparseSpMM", handle, 0, 2, z, complex, complex_row, z, complex_column, 4, 0, nothing);
  TELL("cusparseSpMM", handle, 1, 0, s, blocks, d, s, c, 0, 0, of.buffer.get());
  TELL("cusparseSpMM_bufferSize", handle, 0, 0, s, blocks, d, s, c, 0, 0, &bytes);
  TELL("cusparseSDDMM", handle, 0, 0, s, b, b, s, of.a, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 2, 0, s, c, d, s, of.a, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 2, s, c, d, s, of.a, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 0, s, c, d, s, in_coo, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 0, s, c, d, s, in_csc, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 0, s, c, d, s, blocks_of_1, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 0, s, of_3, of_3, s, blocks_of_3, 0, 0, nothing);
  TELL("cusparseSDDMM", handle, 0, 0, s, b, b_turned, s, blocks, 0, 0, nothing);
  TELL("cusparseSpSV_solve", handle, 0, s, of.a, of.in, of.out, 0, 0, system);
  TELL("cusparseSpSV_analysis", handle, 0, s, of.a, of.in, of.out, 0, 0, nothing, nothing);
  TELL("cusparseSpSV_analysis", handle, 2, s, of.a, of.in, of.out, 0, 0, system, nothing);
  TELL("cusparseSpSV_analysis", handle, 0, s, in_csc, of.in, of.out, 0, 0, system, nothing);
  TELL("cusparseSpSV_analysis", handle, 0, s, blocks, of.in, of.out, 0, 0, system, nothing);
  TELL("cusparseSpSV_updateMatrix", handle, system, p, 0);
  TELL("cusparseSpSV_updateMatrix", handle, analysed, p, 2);
  TELL("cusparseSpSM_analysis", handle, 0, 0, s, in_csc, c, d, 0, 0, several, nothing);
  TELL("cusparseSpSM_analysis", handle, 2, 0, s, of.a, c, d, 0, 0, several, nothing);
  TELL("cusparseSpSM_analysis", handle, 0, 2, s, of.a, c, d, 0, 0, several, nothing);
  TELL("cusparseSpSM_analysis", handle, 0, 2, z, complex, complex_row, complex_column, 4, 0, several,
       nothing);
  TELL("cusparseSpGEMM_workEstimation", handle, 0, 0, s, of.a, of.a, s, in_64_bits, 0, 0, work, &bytes,
       nothing);
  TELL("cusparseSpGEMM_workEstimation", handle, 0, 0, s, of.a, of.a, s, from_one, 0, 0, work, &bytes,
       nothing);
  TELL("cusparseSpGEMM_workEstimation", handle, 0, 0, s, in_64_bits, in_64_bits, s, in_64_bits, 0, 0, work,
       &bytes, nothing);
  TELL("cusparseSpGEMM_compute", handle, 1, 0, s, of.a, of.a, s, of.a, 0, 0, work, &bytes, of.buffer.get());
  TELL("cusparseAxpby", handle, s, vector, s, of.out);
  TELL("cusparseSpVV", handle, 1, fits, of.in, p, 0, nothing);
  TELL("cusparseSpVV", handle, 2, fits, of.in, p, 0, nothing);
  TELL("cusparseSpVV_bufferSize", handle, 2, fits, of.in, p, 0, &bytes);
  TELL("cusparseSparseToDense_bufferSize", handle, blocks, d, 0, &bytes);
  TELL("cusparseScsrilu02", handle, -2, 3, kind, p, i, i, info, 0, nothing);
  TELL("cusparseScsrilu02", handle, 2, 3, kind, p, i, i, nothing, 0, nothing);
  TELL("cusparseXcsrilu02_zeroPivot", handle, info, static_cast<int*>(nullptr));
  TELL("cusparseScsrilu02", handle, 2, 3, symmetric.get(), p, i, i, info, 0, nothing);
  TELL("cusparseScsrilu02_analysis", handle, 1, 0, kind, p, zeros.ints(), i, info, 0, nothing);
  TELL("cusparseScsric02_analysis", handle, 1, 0, kind, p, zeros.ints(), i, ic_info, 0, nothing);
  TELL("cusparseSgtsv2", handle, 2, 1, p, p, p, p, 2, nothing);
  TELL("cusparseSgtsv2", handle, 4, 1, p, p, p, p, 3, nothing);
  TELL("cusparseSgtsv2StridedBatch", handle, 4, p, p, p, p, 2, 3, nothing);
  TELL("cusparseXcoo2csr", handle, i, -1, 2, i, 0);
  TELL("cusparseSnnz", handle, 2, 2, 2, kind, p, 2, i, &number);
  TELL("cusparseSnnz", handle, 0, 2, 2, kind, p, 1, i, &number);
  if (is_to_do("what differs"))
    std::puts("Here refused, on the H100 taken, whatever it then does; the second and the last one crash:");
  TELL("cusparseDestroyMatDescr", of.a);
  TELL("cusparseSpSV_analysis", handle, 0, s, of.a, of.in, of.out, 1, 0, system, nothing);
  TELL("cusparseSpSV_solve", handle, 1, s, of.a, of.in, of.out, 0, 0, analysed);
  TELL("cusparseSpGEMM_copy", handle, 0, 0, s, of.a, of.a, s, of.a, 0, 0, work);
  TELL("cusparseScsrilu02", handle, 2, 3, nothing, p, i, i, info, 0, nothing);
#undef TELL
  if (!is_to_do("the names of statuses")) return;
  for (int status = 0; status < 13; ++status) {
    const auto text = [&](const char* name) {
      return reinterpret_cast<const char* (*)(int)>(dlsym(library, name))(status);
    };
    std::printf("%d: %s: %s\n", status, text("cusparseGetErrorName"), text("cusparseGetErrorString"));
  }
}

/// The numbers of the case are its own, whatever became of those before. If a call fails that must not, the
/// rest of the case is left out.
template <typename Part>
void do_case(const std::string& letter, int number, const Part& part) {
  case_name = " (" + letter + " " + std::to_string(number) + ")";
  std::seed_seq seeds(case_name.begin(), case_name.end());
  random_state = std::mt19937_64(seeds)();
  try {
    part();
  } catch (const Failed&) {
    leave_if_failed();
  }
  given.clear();
}

template <typename T>
void all() {
  for (const auto& [what, part] : {std::pair<const char*, void (*)()>{"products", &products<T>},
                                   {"systems", &systems<T>},
                                   {"sums", &sums<T>},
                                   {"conversions", &conversions<T>},
                                   {"vectors", &vectors<T>},
                                   {"factors", &factors<T>},
                                   {"three diagonals", &tridiagonal<T>}}) {
    if (!is_to_do(what)) continue;
    right = wrong = 0;
    for (int i = 0; i < 30; ++i) do_case(letter_of<T>(), i, part);
    std::printf("%s, %s: %d right, %d wrong\n", letter_of<T>(), what, right, wrong);
  }
}

bool begin() {
  if (!open_library("libcusparse.so.12")) return false;
  succeed(call("cusparseCreate", &handle));
  return true;
}

/// All that needs no error.
int everything() {
  if (!begin()) return 1;
  all<float>();
  all<double>();
  all<std::complex<float>>();
  all<std::complex<double>>();
  for (const auto& [name, part] : {std::pair<const char*, void (*)()>{"numbers of few bits", &mixed},
                                   {"properties", &properties},
                                   {"device pointers", &on_device},
                                   {"a graph", &in_graph}}) {
    if (!is_to_do(name)) continue;
    right = wrong = 0;
    do_case(name, 0, part);
    std::printf("%s: %d right, %d wrong\n", name, right, wrong);
  }
  do_case("refused", 0, &refused);
  std::printf("at last: %d %d\n", cudaDeviceSynchronize(), cudaGetLastError());
  succeed(call("cusparseDestroy", handle));
  return 0;
}

/// The same, begun again behind each step that ends its process.
int everything_apart() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // before anything is written
  void* shared = mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  steps = new (shared) Steps{};
  is_real = true;
  for (;;) {
    const int before = steps->done;
    std::fflush(stdout);  // or the child would write it, too
    const pid_t child = fork();
    if (child == 0) {
      const int status = everything();
      std::fflush(stdout);
      _exit(status);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == go_on) continue;
    std::printf("%s: ended, %s %d\n", steps->last, WIFSIGNALED(status) ? "signal" : "status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (steps->done == before) return 1;  // even the beginning fails
  }
}

/// What leads outside: of the memory, of the matrix, of its elements.
void lead_outside(const std::string& what) {
  Small of;
  const float one = 1;
  void* matrix = of.a;
  Made in_coo("cusparseDestroySpMat");
  if (what == "outside") {
    float* device = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&device), 4);
    succeed(call("cusparseDnVecSetValues", of.out, device));
  }
  if (what == "null") succeed(call("cusparseDnVecSetValues", of.in, static_cast<void*>(nullptr)));
  if (what == "column") of.columns.set(1, 7);
  if (what == "offsets") of.offsets.set(1, 4);
  const Indices rows(std::vector<Int>{1, 0, 1});
  if (what == "unsorted_coo") {
    act("cusparseCreateCoo", in_coo.out(), Int{2}, Int{2}, Int{3}, rows.data(), of.columns.data(),
        of.values.data(), 2, 0, 0);
    matrix = in_coo.get();
  }
  std::printf("product: %d\n",
              call("cusparseSpMV", handle, 0, &one, matrix, of.in, &one, of.out, 0, 0, of.buffer.get()));
  std::printf("then: %d\n", cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "real") return everything_apart();
  if (what.empty()) return everything();
  if (!begin()) return 1;
  if (what == "missing") {
    std::printf("missing: %d\n", call("cusparseSbsrmv", handle));
  } else if (what == "unsorted") {
    Small of;
    const Kind kind(0);
    Made info("cusparseDestroyCsrilu02Info");
    of.columns.set(0, 1);
    of.columns.set(1, 0);
    act("cusparseCreateCsrilu02Info", info.out());
    act("cusparseScsrilu02", handle, 2, 3, kind.get(), of.values.data(), of.offsets.ints(), of.columns.ints(),
        info.get(), 0, of.buffer.get());
  } else {
    lead_outside(what);
  }
  return 0;
}
