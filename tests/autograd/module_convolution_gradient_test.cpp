#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::module_convolution_gradient_test {
namespace {

using tests::random_tensor;

struct Case {
  Index batch, length, modules, channels, taps, spread;
};

const std::vector<Case> cases{{1, 1, 1, 1, 1, 1}, {2, 5, 3, 4, 3, 3}, {3, 2, 4, 2, 3, 1},
                              {2, 7, 1, 3, 4, 3}, {1, 6, 5, 2, 1, 5}, {2, 300, 8, 4, 3, 3}};

Parameter kernel_of(const Case& c) {
  return {{c.taps, c.spread, c.channels, c.channels}, Init::zeros()};
}

/// The sum over the window, written out.
std::vector<double> naive(const Case& c, const Tensor& x, const Parameter& weight,
                          const Parameter& bias) {
  const Index M = c.channels, width = c.modules * M;
  std::vector<double> y;
  for (Index r = 0; r < c.batch * c.length; ++r)
    for (Index s = 0; s < c.modules; ++s)
      for (Index o = 0; o < M; ++o) {
        double sum = bias.data()[o];
        for (Index a = 0; a < c.taps; ++a)
          for (Index b = 0; b < c.spread; ++b) {
            const Index back = c.taps - 1 - a, from = s + b - c.spread / 2;
            if (r % c.length < back || from < 0 || from >= c.modules) continue;
            for (Index i = 0; i < M; ++i)
              sum += double(x.data()[(r - back) * width + from * M + i]) *
                     double(weight.data()[((a * c.spread + b) * M + i) * M + o]);
          }
        y.push_back(sum);
      }
  return y;
}

TEST(ModuleConvolution, sums_over_earlier_tokens_and_neighbouring_modules) {
  for (const Case& c : cases) {
    Parameter weight = kernel_of(c), bias({c.channels}, Init::zeros());
    const tests::DrawnParameters drawn({&weight, &bias});
    const Tensor x = random_tensor({c.batch * c.length, c.modules * c.channels}, 1);
    tests::expect_close(module_convolution(Var(x), weight, &bias, c.length).value().read(),
                        naive(c, x, weight, bias), 1e-12);
  }
}

TEST(ModuleConvolution, mixes_no_lengths_with_a_single_tap) {
  const Case c{1, 9, 3, 2, 1, 3};
  Parameter weight = kernel_of(c);
  const tests::DrawnParameters drawn({&weight});
  Tensor x = random_tensor({9, 6}, 1);
  const Tensor before = module_convolution(Var(x), weight, nullptr, 9).value();
  for (Real& v : x.write().subspan(4 * 6, 6)) v += 1;
  const Tensor after = module_convolution(Var(x), weight, nullptr, 9).value();
  for (Index t = 0; t < 9; ++t)
    EXPECT_EQ(tests::same_bits(before.rows(t, 1).read(), after.rows(t, 1).read()), t != 4) << t;
}

TEST(ModuleConvolution, refuses_what_does_not_fit) {
  Parameter weight({3, 3, 4, 4}, Init::zeros()), even({3, 2, 4, 4}, Init::zeros()),
      bias({3}, Init::zeros());
  const Var x(random_tensor({6, 8}, 1));
  EXPECT_THROW(module_convolution(x, weight, nullptr, 4), core::Error);
  EXPECT_THROW(module_convolution(x, even, nullptr, 6), core::Error);
  EXPECT_THROW(module_convolution(x, weight, &bias, 6), core::Error);
  EXPECT_THROW(module_convolution(Var(random_tensor({6, 9}, 1)), weight, nullptr, 6), core::Error);
}

TEST(ModuleConvolutionGradient, agrees_with_differences) {
  for (const Case& c : cases) {
    Parameter weight = kernel_of(c), bias({c.channels}, Init::zeros());
    tests::check_gradient("module_convolution",
                          [&](const Pass&, const std::vector<Var>& x) {
                            return add(module_convolution(x[0], weight, &bias, c.length),
                                       module_convolution(x[0], weight, nullptr, c.length));
                          },
                          {random_tensor({c.batch * c.length, c.modules * c.channels}, 1)},
                          {&weight, &bias});
  }
}

}  // namespace
}  // namespace weft::autograd::module_convolution_gradient_test
