#include "core/arrays/float_products.h"

#include <cstdlib>
#include <iostream>

#include "core/arrays/gemm.h"
#include "core/arrays/onednn.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::core::float_products_test {
namespace {

struct Size {
  Index m, n, k;
};

/// Shapes of linear layers, of their weights' gradients and of attention's tiles.
const std::vector<Size> sizes{{384, 256, 128}, {192, 128, 512}, {64, 256, 640},
                              {128, 256, 64},  {128, 64, 256},  {130, 70, 90}};

/// One side of a product, at a chosen distance from where memory begins.
struct Side {
  Side(Index rows_, Index cols_, Index gap, Index offset, std::uint64_t seed)
      : rows(rows_), cols(cols_), stride(cols_ + gap), memory({rows * stride + offset}) {
    const Tensor drawn = tests::random_tensor({rows, cols}, seed);
    first = memory.write().data() + offset;
    for (Index r = 0; r < rows; ++r) std::copy_n(drawn.data() + r * cols, cols, first + r * stride);
  }
  Operand operand(bool flip) const { return {ConstMatrix{first, rows, cols, stride}, flip}; }

  Index rows, cols, stride;
  Tensor memory;
  Real* first;
};

std::vector<Real> product(const Size& size, bool flip_a, bool flip_b, Index gap, Index offset) {
  const Side a(flip_a ? size.k : size.m, flip_a ? size.m : size.k, gap, offset, 1);
  const Side b(flip_b ? size.n : size.k, flip_b ? size.k : size.n, gap, offset, 2);
  std::vector<Real> c(std::size_t(size.m * size.n), 0);
  gemm(1, a.operand(flip_a), b.operand(flip_b), 0, {c.data(), size.m, size.n, size.n});
  return c;
}

template <class Body>
void for_each_flip(const Body& body) {
  for (const bool flip_a : {false, true})
    for (const bool flip_b : {false, true}) body(flip_a, flip_b);
}

/// Multiplies by another library for as long as it lives.
struct Products {
  explicit Products(const std::string& name) : before(float_products()) {
    use_float_products(name);
  }
  ~Products() { use_float_products(before); }
  std::string before;
};

TEST(FloatProducts, of_either_library_are_the_same_but_for_rounding) {
  for (const Size& size : sizes)
    for (const Index gap : {0, 3, 1024})
      for_each_flip([&](bool flip_a, bool flip_b) {
        const std::vector<Real> here = product(size, flip_a, flip_b, gap, 0);
        const Products other(products_of_old);
        SCOPED_TRACE(message_of(size.m, " x ", size.n, " x ", size.k, flip_a, flip_b, gap));
        tests::expect_close(here, tests::in_double(product(size, flip_a, flip_b, gap, 0)),
                            tests::epsilon * 16 * std::sqrt(double(size.k)));
      });
}

TEST(FloatProducts, do_not_depend_on_where_their_memory_begins) {
  for (const Size& size : sizes)
    for_each_flip([&](bool flip_a, bool flip_b) {
      for (const Index gap : {0, 5})
        EXPECT_TRUE(tests::same_bits(product(size, flip_a, flip_b, gap, 0),
                                     product(size, flip_a, flip_b, gap, 1)))
            << size.m << " x " << size.n << " x " << size.k << flip_a << flip_b;
    });
}

TEST(FloatProducts, are_the_same_bits_on_any_number_of_threads) {
  for (const Size& size : {Size{1536, 256, 64}, {256, 1024, 2048}, {512, 128, 4096}})
    for_each_flip([&](bool flip_a, bool flip_b) {
      const Side a(flip_a ? size.k : size.m, flip_a ? size.m : size.k, 0, 0, 1);
      const Side b(flip_b ? size.n : size.k, flip_b ? size.k : size.n, 0, 0, 2);
      std::vector<Real> results[2];
      for (const Index threads : {1, 3}) {
        set_threads(threads);
        std::vector<Real>& c = results[threads / 2];
        c.resize(std::size_t(size.m * size.n));
        parallel_gemm(1, a.operand(flip_a), b.operand(flip_b), 0,
                      {c.data(), size.m, size.n, size.n});
      }
      set_threads(0);
      EXPECT_TRUE(tests::same_bits(results[0], results[1]));
    });
}

TEST(FloatProducts, of_few_numbers_stay_with_openblas) {
  const Side a(32, 64, 0, 0, 1), b(64, 32, 0, 0, 2);
  std::vector<Real> c(32 * 32);
  EXPECT_FALSE(goes_to_onednn(a.operand(false), b.operand(false), {c.data(), 32, 32, 32}));
}

TEST(FloatProducts, whose_rows_compete_for_the_cache_stay_with_an_openblas_that_is_as_wide) {
  if (blas_core() != "SkylakeX") GTEST_SKIP() << "OpenBLAS runs " << blas_core();
  const Side a(512, 256, 1024 - 256, 0, 1), b(512, 256, 0, 0, 2);
  std::vector<Real> c(256 * 256);
  EXPECT_FALSE(goes_to_onednn(a.operand(true), b.operand(false), {c.data(), 256, 256, 256}));
}

TEST(FloatProducts, go_by_shape_where_onednn_can_and_by_openblas_where_a_run_did) {
  const Side a(128, 256, 0, 0, 1), b(256, 128, 0, 0, 2);
  std::vector<Real> c(128 * 128);
  const auto goes = [&] {
    return goes_to_onednn(a.operand(false), b.operand(false), {c.data(), 128, 128, 128});
  };
  const std::string before = float_products();
  EXPECT_TRUE(use_float_products(before));
  if (!std::getenv("WEFT_PRODUCTS")) {
    EXPECT_EQ(goes(), onednn_multiplies_float());
    EXPECT_TRUE(use_float_products(products_of_old));
    EXPECT_FALSE(goes());
    EXPECT_TRUE(use_float_products(before));
  }
  EXPECT_FALSE(use_float_products("another library 1.0"));
  EXPECT_EQ(float_products(), before);
}

/// Ends the process with 0 when WEFT_PRODUCTS = `products` is obeyed, else with the message.
[[noreturn]] void choose_and_exit(const char* products, const std::string& expected) {
  setenv("WEFT_PRODUCTS", products, 1);
  try {
    std::exit(float_products().starts_with(expected) ? 0 : 1);
  } catch (const Error& error) {
    std::cerr << error.what();
    std::exit(2);
  }
}

TEST(FloatProductsDeathTest, obey_the_environment_and_refuse_what_is_not_there) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(choose_and_exit("openblas", products_of_old), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(choose_and_exit("onednn", "oneDNN"),
              testing::ExitedWithCode(onednn_multiplies_float() ? 0 : 2), "");
  EXPECT_EXIT(choose_and_exit("mkl", ""), testing::ExitedWithCode(2),
              "WEFT_PRODUCTS=mkl is neither openblas nor onednn");
}

}  // namespace
}  // namespace weft::core::float_products_test
