#include "core/arrays/onednn.h"

#include "core/counters.h"
#include "core/error.h"
#include "core/simd/kernels.h"

#if defined(WEFT_HAS_ONEDNN) && !defined(WEFT_DOUBLE)
#include <dnnl.hpp>
#endif

// Of its builds only the one on OpenMP, which is Debian's, can be kept on one thread inside a task.
#if defined(DNNL_CPU_THREADING_RUNTIME) && DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>

#include <compare>
#include <map>
#include <string_view>
#include <unordered_map>

namespace weft::core {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
constexpr auto bf16 = dnnl::memory::data_type::bf16, f32 = dnnl::memory::data_type::f32;
constexpr Index any = DNNL_RUNTIME_DIM_VAL;

/// Keeps OpenMP from starting threads for what is called meanwhile.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

/// A product as oneDNN compiles it; sizes and strides are `any` for one that takes them all.
struct Shape {
  Index m, n, k, a_stride, b_stride, c_stride;
  bool a_transposed, b_transposed, rounded;
  Real alpha, beta;
  auto operator<=>(const Shape&) const = default;
};

Shape shape_of(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  return {c.rows,   c.cols,       a.cols(),     a.matrix.stride,      b.matrix.stride,
          c.stride, a.transposed, b.transposed, a.rounded != nullptr, alpha,
          beta};
}

Desc factor(Index rows, Index cols, Index stride, bool transposed, bool rounded) {
  return Desc({rows, cols}, rounded ? bf16 : f32, transposed ? Dims{1, stride} : Dims{stride, 1});
}

struct Descs {
  explicit Descs(const Shape& s)
      : a(factor(s.m, s.k, s.a_stride, s.a_transposed, s.rounded)),
        b(factor(s.k, s.n, s.b_stride, s.b_transposed, s.rounded)),
        c({s.m, s.n}, f32, {s.c_stride, 1}) {}
  Desc a, b, c;
};

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::matmul compile(const Shape& s) {
  dnnl::primitive_attr attributes;
  if (s.alpha != 1) attributes.set_output_scales(0, {s.alpha});
  if (s.beta != 0) {
    dnnl::post_ops sum;
    sum.append_sum(s.beta);
    attributes.set_post_ops(sum);
  }
  const Descs descs(s);
  return dnnl::matmul({{descs.a, descs.b, descs.c}, attributes, engine()});
}

void* address(const Operand& f) {
  if (f.rounded) return const_cast<Bf16*>(f.rounded);
  return const_cast<Real*>(f.matrix.data);
}

/// The memory of one product, whose addresses change from call to call.
struct Arguments {
  explicit Arguments(const Descs& d)
      : a(d.a, engine(), nullptr), b(d.b, engine(), nullptr), c(d.c, engine(), nullptr) {}
  void point(const Operand& left, const Operand& right, const Matrix& to) {
    a.set_data_handle(address(left));
    b.set_data_handle(address(right));
    c.set_data_handle(to.data);
  }
  std::unordered_map<int, dnnl::memory> all() const {
    return {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
  }
  dnnl::memory a, b, c;
};

/// Compiled products of one thread: oneDNN's scratch memory belongs to the thread that compiles.
class Products {
 public:
  void run(const Shape& shape, const Operand& a, const Operand& b, const Matrix& c) {
    // Which of the two it is depends on the shape alone, since it moves bits.
    const bool regular = shape.m % 16 == 0 && shape.n % 16 == 0 && shape.k % 16 == 0;
    regular ? run_compiled(shape, a, b, c) : run_general(shape, a, b, c);
  }

 private:
  static constexpr std::size_t most = 1024;
  struct Compiled {
    dnnl::matmul product;
    Arguments arguments;
    std::unordered_map<int, dnnl::memory> all;
  };

  void run_compiled(const Shape& shape, const Operand& a, const Operand& b, const Matrix& c) {
    auto found = compiled_.find(shape);
    if (found == compiled_.end()) {
      if (compiled_.size() >= most) compiled_.clear();
      const Arguments arguments{Descs(shape)};
      found = compiled_.insert({shape, {compile(shape), arguments, arguments.all()}}).first;
    }
    found->second.arguments.point(a, b, c);
    found->second.product.execute(stream_, found->second.all);
  }

  /// Odd sizes come in too many kinds to compile each.
  void run_general(const Shape& shape, const Operand& a, const Operand& b, const Matrix& c) {
    Shape kind = shape;
    for (Index* size : {&kind.m, &kind.n, &kind.k, &kind.a_stride, &kind.b_stride, &kind.c_stride})
      *size = any;
    auto found = general_.find(kind);
    if (found == general_.end()) found = general_.insert({kind, compile(kind)}).first;
    Arguments arguments{Descs(shape)};
    arguments.point(a, b, c);
    found->second.execute(stream_, arguments.all());
  }

  dnnl::stream stream_{engine()};
  std::map<Shape, Compiled> compiled_;
  std::map<Shape, dnnl::matmul> general_;
};

/// Whether a product in float gains by compiling its sizes in: its matrices have no gaps and b
/// stays in the second cache. Of any other, oneDNN's general routine makes as much or more.
bool suits_compiling(const Operand& a, const Operand& b, const Matrix& c) {
  constexpr Index most_of_b = 1 << 18;
  const bool regular = c.rows % 16 == 0 && c.cols % 16 == 0 && a.cols() % 16 == 0;
  const bool without_gaps =
      a.matrix.stride == a.matrix.cols && b.matrix.stride == b.matrix.cols && c.stride == c.cols;
  return regular && without_gaps && !a.transposed && c.cols * a.cols() <= most_of_b;
}

}  // namespace

bool onednn_multiplies_float() {
  static const bool does = std::string_view(simd().isa) == "avx512";
  return does;
}

bool onednn_multiplies_bf16() {
#ifdef __x86_64__
  static const bool does = __builtin_cpu_supports("avx512bf16") && onednn_multiplies_float();
  return does;
#else
  return false;
#endif
}

void onednn_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  const OneThread alone;
  if (a.rounded || suits_compiling(a, b, c)) {
    thread_local Products products;
    products.run(shape_of(alpha, a, b, beta, c), a, b, c);
  } else {
    const dnnl_status_t status = dnnl_sgemm(
        a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', c.rows, c.cols, a.cols(), alpha,
        a.matrix.data, a.matrix.stride, b.matrix.data, b.matrix.stride, beta, c.data, c.stride);
    if (status == dnnl_out_of_memory) throw std::bad_alloc();
    require(status == dnnl_success, "oneDNN: a product failed with status ", int(status));
  }
  counters().flops.fetch_add(2 * c.rows * c.cols * a.cols(), std::memory_order_relaxed);
}

std::string onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  return message_of("oneDNN ", v->major, ".", v->minor, ".", v->patch);
}

}  // namespace weft::core

#else

namespace weft::core {

bool onednn_multiplies_float() { return false; }

bool onednn_multiplies_bf16() { return false; }

void onednn_gemm(Real, const Operand&, const Operand&, Real, const Matrix&) {
  throw Error("weft was built without oneDNN");
}

std::string onednn_version() { return ""; }

}  // namespace weft::core

#endif
