#include "core/arrays/float_products.h"

#include <cstdlib>
#include <iostream>

#include "core/arrays/avx512_products.h"
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
                              {128, 256, 64},  {128, 64, 256},  {130, 70, 90},
                              {33, 17, 300},   {9, 47, 513},    {272, 40, 1100}};

/// One side of a product, at a chosen distance from where memory begins.
struct Side {
  Side(Index rows_, Index cols_, Index gap, Index offset, std::uint64_t seed)
      : rows(rows_), cols(cols_), stride(cols_ + gap), memory({rows * stride + offset}, Real(7)) {
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

/// Every way to multiply that this machine has.
std::vector<std::string> all_products() {
  std::vector<std::string> names{products_of_old};
  if (avx512_multiplies()) names.push_back("weft 1");
  if (onednn_multiplies_float()) names.push_back(onednn_version() + " by shape");
  return names;
}

/// Multiplies in another way for as long as it lives.
struct Products {
  explicit Products(const std::string& name) : before(float_products()) {
    use_float_products(name);
  }
  ~Products() { use_float_products(before); }
  std::string before;
};

TEST(FloatProducts, of_all_ways_are_the_same_but_for_rounding) {
  for (const Size& size : sizes)
    for (const Index gap : {0, 3, 1024})
      for_each_flip([&](bool flip_a, bool flip_b) {
        const Products old(products_of_old);
        const auto expected = tests::in_double(product(size, flip_a, flip_b, gap, 0));
        for (const std::string& name : all_products()) {
          const Products other(name);
          SCOPED_TRACE(
              message_of(name, ": ", size.m, " x ", size.n, " x ", size.k, flip_a, flip_b, gap));
          tests::expect_close(product(size, flip_a, flip_b, gap, 0), expected,
                              tests::epsilon * 16 * std::sqrt(double(size.k)));
        }
      });
}

TEST(FloatProducts, scale_and_add_in_every_way_and_leave_what_lies_between_rows) {
  const Size size{70, 45, 300};
  const Side a(size.m, size.k, 0, 0, 1), b(size.k, size.n, 0, 0, 2), start(size.m, size.n, 3, 0, 3);
  const std::vector<Real> plain = product(size, false, false, 0, 0);
  for (const std::string& name : all_products()) {
    const Products other(name);
    const Side c(size.m, size.n, 3, 0, 3);
    gemm(Real(0.5), a.operand(false), b.operand(false), Real(-2),
         {c.first, size.m, size.n, c.stride});
    for (Index i = 0; i < size.m; ++i)
      for (Index j = 0; j < c.stride; ++j) {
        const double before = start.first[i * c.stride + j], now = c.first[i * c.stride + j];
        const double expected =
            j < size.n ? 0.5 * plain[std::size_t(i * size.n + j)] - 2 * before : before;
        EXPECT_NEAR(now, expected, tests::epsilon * 300) << name << i << ", " << j;
      }
  }
}

TEST(FloatProducts, by_weft_give_a_row_the_same_bits_among_others_as_among_a_few) {
  if (!avx512_multiplies()) GTEST_SKIP() << "no AVX-512";
  const Index m = 300, n = 96, k = 700, few = 13, first = 250;
  const Side a(m, k, 0, 0, 1), b(n, k, 0, 0, 2);
  std::vector<Real> all(std::size_t(m * n)), some(std::size_t(few * n));
  avx512_gemm(1, a.operand(false), b.operand(true), 0, {all.data(), m, n, n});
  avx512_gemm(1, row_panel(a.operand(false), first, few), b.operand(true), 0,
              {some.data(), few, n, n});
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + first * n));
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
  const Side a(16, 64, 0, 0, 1), b(64, 16, 0, 0, 2);
  std::vector<Real> c(16 * 16);
  EXPECT_EQ(multiplier_of(a.operand(false), b.operand(false), {c.data(), 16, 16, 16}),
            Multiplier::openblas);
}

TEST(FloatProducts, whose_rows_compete_for_the_cache_stay_with_an_openblas_that_is_as_wide) {
  if (blas_core() != "SkylakeX") GTEST_SKIP() << "OpenBLAS runs " << blas_core();
  const Products other(onednn_version() + " by shape");
  const Side a(512, 256, 1024 - 256, 0, 1), b(512, 256, 0, 0, 2);
  std::vector<Real> c(256 * 256);
  EXPECT_NE(multiplier_of(a.operand(true), b.operand(false), {c.data(), 256, 256, 256}),
            Multiplier::onednn);
}

TEST(FloatProducts, go_as_the_machine_can_and_as_a_run_did) {
  const Side a(128, 256, 0, 0, 1), b(256, 128, 0, 0, 2);
  std::vector<Real> c(128 * 128);
  const auto goes = [&] {
    return multiplier_of(a.operand(false), b.operand(false), {c.data(), 128, 128, 128});
  };
  const std::string before = float_products();
  EXPECT_TRUE(use_float_products(before));
  if (!std::getenv("WEFT_PRODUCTS")) {
    EXPECT_EQ(goes(), avx512_multiplies() ? Multiplier::avx512 : Multiplier::openblas);
    EXPECT_TRUE(use_float_products(products_of_old));
    EXPECT_EQ(goes(), Multiplier::openblas);
    if (onednn_multiplies_float()) {
      EXPECT_TRUE(use_float_products(onednn_version() + " by shape"));
      EXPECT_EQ(goes(), Multiplier::onednn);
    }
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
  EXPECT_EXIT(choose_and_exit("weft", "weft"), testing::ExitedWithCode(avx512_multiplies() ? 0 : 2),
              "");
  EXPECT_EXIT(choose_and_exit("mkl", ""), testing::ExitedWithCode(2),
              "WEFT_PRODUCTS=mkl is none of openblas, onednn and weft");
}

}  // namespace
}  // namespace weft::core::float_products_test
