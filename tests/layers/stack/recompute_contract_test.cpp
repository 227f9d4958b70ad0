// Layers that are computed again in the sweep.
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::recompute_contract_test {
namespace {

using tests::same_bits;

std::vector<ModelSettings> models() {
  std::vector<ModelSettings> all;
  for (const AttentionEntry& entry : attention_registry())
    for (const ModelSettings& form : every_form()) {
      ModelSettings settings = with_attention(form, entry.kind);
      settings.dropout = 0.2;
      all.push_back(settings);
    }
  return all;
}

TEST(Recompute, changes_no_bit_of_loss_or_gradients) {
  for (const ModelSettings& settings : models()) {
    SCOPED_TRACE(describe(settings));
    SampleModel plain(settings, 140), again(settings, 140, true);
    EXPECT_EQ(plain.train(), again.train());
    EXPECT_TRUE(same_bits(plain.drawn.arena().gradients(), again.drawn.arena().gradients()));
  }
}

TEST(Recompute, keeps_less_in_memory) {
  for (const AttentionEntry& entry : attention_registry()) {
    ModelSettings settings = with_attention(small_settings(), entry.kind);
    settings.layers = 6;
    settings.width = 32;
    settings.ff = 128;
    const auto peak = [&](bool recompute) {
      SampleModel it(settings, 256, recompute);
      const Index before = core::memory_use().live;
      core::reset_memory_peak();
      it.train();
      return core::memory_use().peak - before;
    };
    const Index plain = peak(false), again = peak(true);
    EXPECT_LT(again, plain / 2) << entry.kind;
  }
}

}  // namespace
}  // namespace weft::layers::recompute_contract_test
