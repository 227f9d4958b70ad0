// Gradients of what mechanisms with choices are made of.
#include "layers/attention/chosen/entries.h"
#include "layers/attention/chosen/index_loss.h"
#include "layers/attention/chosen/soft_pool.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::layers::chosen_gradient_test {
namespace {

using Inputs = std::vector<Var>;

/// Two sequences of seven queries over ten keys; query t reads every other key up to t + 3, the
/// last one nothing.
GatheredProblem every_other_key(Index heads, Index key_heads) {
  return {.sequences = {2, 7, 10, false},
          .heads = heads,
          .key_heads = key_heads,
          .head_width = 3,
          .scale = Real(0.7),
          .read =
              [](Index b, Index t, std::vector<std::int32_t>& rows) {
                for (Index j = b; t < 6 && j <= t + 3; j += 2) rows.push_back(std::int32_t(j));
              },
          .most = 5};
}

TEST(ChosenGradient, of_gathered_attention_agrees_with_differences) {
  for (const Index key_heads : {1, 2, 4})
    for (const bool sinks : {false, true}) {
      std::vector<Tensor> inputs{tests::random_tensor({14, 13}, 1),
                                 tests::random_tensor({20, 6 * key_heads}, 2)};
      if (sinks) inputs.push_back(tests::random_tensor({4}, 3));
      tests::check_gradient(
          "gathered_attention",
          [&](const Pass&, const Inputs& in) {
            return gathered_attention(every_other_key(4, key_heads),
                                      {{in[0], 1}, {in[1], 0}, {in[1], 3 * key_heads}},
                                      sinks ? in[2] : Var())
                .out;
          },
          inputs);
    }
}

TEST(ChosenGradient, of_means_of_tokens_agrees_with_differences) {
  for (const EntryLayout layout : {EntryLayout{3, 2}, EntryLayout{2, 3}, EntryLayout{1, 1}})
    tests::check_gradient("pool_means",
                          [&](const Pass&, const Inputs& in) {
                            return pool_means(layout, {{in[0], 1}, {in[0], 4}}, 2, 3);
                          },
                          {tests::random_tensor({16, 8}, 1)});
}

TEST(ChosenGradient, of_softly_pooled_tokens_agrees_with_differences) {
  for (const Index ratio : {1, 3, 8, 9})
    tests::check_gradient(
        "soft_pool",
        [&](const Pass&, const Inputs& in) {
          return SoftPool{ratio, 2}.join({{in[0], 0}, {in[0], 2}, {in[1], 1}}, in[2], 2);
        },
        {tests::random_tensor({16, 4}, 1), tests::random_tensor({16, 4}, 2),
         tests::random_tensor({ratio, 2}, 3)});
}

TEST(ChosenGradient, of_the_loss_of_an_index_agrees_with_differences) {
  for (const Index key_heads : {1, 2}) {
    const HeadBlock q{Var(tests::random_tensor({14, 12}, 5)), 0},
        k{Var(tests::random_tensor({20, 3 * key_heads}, 6)), 0};
    const GatheredProblem problem = every_other_key(4, key_heads);
    const IndexLoss loss{{.heads = 2, .width = 3, .scale = Real(0.6)},    problem, q, k,
                         gathered_attention(problem, {q, k, k}).log_sums, 0.5,     12};
    tests::check_gradient("index_loss",
                          [&](const Pass&, const Inputs& in) {
                            return loss.of({{in[0], in[3]}, in[1], in[2]});
                          },
                          {tests::random_tensor({14, 3}, 1), tests::random_tensor({20, 3}, 2),
                           tests::random_tensor({14, 2}, 3), tests::random_tensor({14, 3}, 4)});
  }
}

}  // namespace
}  // namespace weft::layers::chosen_gradient_test
