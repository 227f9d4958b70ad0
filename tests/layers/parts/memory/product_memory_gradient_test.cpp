#include "layers/parts/memory/product_memory.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::layers::product_memory_gradient_test {
namespace {

TEST(ProductMemory, gradient) {
  for (const Index top : {2, 3, 7}) {
    Parameter keys({2, 2, 4, 3}, Init::zeros());
    Parameter values({16, 5}, Init::zeros(), autograd::RowSparse{});
    // Some slots of each row; which ones is nothing that a gradient passes.
    auto slots = std::make_shared<Slots>();
    for (Index i = 0; i < 6 * 2 * top; ++i) slots->push_back(std::int32_t((i * 7 + i / top) % 16));
    tests::check_gradient("product_memory",
                          [&](const Pass&, const std::vector<Var>& in) {
                            return product_memory(in[0], slots, {keys, values, top});
                          },
                          {tests::random_tensor({6, 12}, 1)}, {&keys, &values});
  }
}

}  // namespace
}  // namespace weft::layers::product_memory_gradient_test
