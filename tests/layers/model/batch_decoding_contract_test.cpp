// Several sequences, or several tokens of one, decoded together: the same bits, and each weight
// read once.
#include <set>

#include "core/counters.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"
#include "tests/layers/model/sample_seq2seq.h"
#include "tests/layers/model/universal_forms.h"

namespace weft::layers::batch_decoding_contract_test {
namespace {

using tests::same_bits;

/// every_form() with dense attention, every form of a Universal Transformer, and every registered
/// mechanism that decodes. Half of the probability is enough to halt, which tokens reach at
/// different steps.
std::vector<ModelSettings> every_decoder() {
  std::vector<ModelSettings> all = every_form();
  for (const universal_forms::Form& form : universal_forms::forms()) {
    all.push_back(form.settings);
    all.back().universal.epsilon = 0.5;
  }
  for (const AttentionEntry& entry : attention_registry()) {
    const ModelSettings settings = with_attention(small_settings(), entry.kind);
    if (settings.causal) all.push_back(settings);
  }
  return all;
}

Index weight_bytes_of(const std::function<void()>& work) {
  const Index before = core::counters().weight_bytes;
  work();
  return core::counters().weight_bytes - before;
}

TEST(BatchDecoding, gives_each_of_32_sequences_what_it_is_given_alone_and_reads_weights_once) {
  constexpr Index sequences = 32, steps = 3;
  bool halted_apart = false;
  for (const ModelSettings& settings : every_decoder()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 140);
    const core::Tokens tokens = tests::random_tokens({sequences, steps + 8}, it.vocabulary, 1);
    const auto token = [&](Index s, Index t) {
      return tokens.read()[std::size_t(s * (steps + 8) + t)];
    };
    std::vector<BranchStates> together, alone;
    for (Index s = 0; s < sequences; ++s) {  // in the middle of prompts of different lengths
      together.push_back(it.model.begin());
      for (Index t = 0; t < s % 9; ++t) it.model.step(together.back(), token(s, t));
      alone.push_back(together.back().copy());
    }
    std::set<Index> of_each;
    for (Index step = 0; step < steps; ++step) {
      NextTokens next;
      for (Index s = 0; s < sequences; ++s)
        next.push_back({&together[std::size_t(s)], token(s, s % 9 + step)});
      Tensor all;
      const Index bytes = weight_bytes_of([&] { all = it.model.step(next); });
      ASSERT_EQ(all.shape(), (core::Shape{sequences, it.vocabulary}));
      Index most = 0;
      for (Index s = 0; s < sequences; ++s) {
        Tensor own;
        const Index read = weight_bytes_of(
            [&] { own = it.model.step(alone[std::size_t(s)], token(s, s % 9 + step)); });
        most = std::max(most, read);
        of_each.insert(read);
        ASSERT_TRUE(same_bits(all.rows(s, 1).read(), own.read())) << "sequence " << s;
      }
      // Some mechanisms have weights of their own, which every sequence reads by itself.
      const Index read_once = (sequences * most - bytes) / (sequences - 1);
      EXPECT_GE(read_once, it.model.matrix_weights() * Index(sizeof(Real)));
      if (settings.attention[0] == "dense") {
        EXPECT_EQ(bytes, most);
      }
    }
    halted_apart |= settings.universal.halts() && of_each.size() > 1;
  }
  EXPECT_TRUE(halted_apart) << "in every form all sequences halted at the same step";
}

TEST(BatchDecoding, reads_a_prompt_as_token_by_token) {
  for (const ModelSettings& settings : every_decoder()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 140);
    const core::Tokens prompt = it.tokens(1, 1);
    auto slowly = it.model.begin(), at_once = it.model.begin();
    Tensor logits;
    for (const core::Token token : prompt.read().first(135)) logits = it.model.step(slowly, token);
    EXPECT_TRUE(same_bits(it.model.read(at_once, prompt.read().first(135)).read(), logits.read()));
    EXPECT_EQ(at_once.position, 135);
    for (const core::Token token : prompt.read().subspan(135, 3))
      EXPECT_TRUE(
          same_bits(it.model.step(at_once, token).read(), it.model.step(slowly, token).read()));
  }
}

TEST(BatchDecoding, reads_the_weights_once_for_a_prompt) {
  const SampleModel it(small_settings(), 140);
  const core::Tokens prompt = it.tokens(1, 1);
  auto states = it.model.begin();
  const Index one = weight_bytes_of([&] { it.model.step(states, 0); });
  states = it.model.begin();
  EXPECT_EQ(weight_bytes_of([&] { it.model.read(states, prompt.read().first(120)); }), one);
}

TEST(BatchDecoding, refuses_an_empty_prompt) {
  const SampleModel it(small_settings(), 20);
  auto states = it.model.begin();
  EXPECT_THROW(it.model.read(states, {}), core::Error);
}

}  // namespace
}  // namespace weft::layers::batch_decoding_contract_test
