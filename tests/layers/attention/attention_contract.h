#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/attention_variants.h"

namespace weft::layers {

/// Every kind of the registry with its defaults, and every variant.
inline std::vector<AttentionVariant> registry_and_variants() {
  std::vector<AttentionVariant> all;
  for (const AttentionEntry& entry : attention_registry())
    all.push_back({std::string(entry.kind), std::string(entry.kind), {}});
  all.insert(all.end(), attention_variants().begin(), attention_variants().end());
  return all;
}

inline AttentionTraits traits_of(const AttentionVariant& variant) {
  tests::GivenFields fields(variant.settings);
  return find_attention(variant.kind)
      ->configure(fields, {.width = 12, .heads = 3, .head_width = 4, .length = 1})
      .traits;
}

/// Those whose traits ask for a test, so that none is registered that checks nothing.
inline std::vector<AttentionVariant> those_that(
    const std::function<bool(const AttentionTraits&)>& hold) {
  std::vector<AttentionVariant> all;
  for (const AttentionVariant& variant : registry_and_variants())
    if (hold(traits_of(variant))) all.push_back(variant);
  return all;
}

inline std::string name_of(const testing::TestParamInfo<AttentionVariant>& chosen) {
  return chosen.param.name;
}

/// What every mechanism must keep to. A new one needs no line here: it inherits these tests by
/// being registered, and opts out of what its traits deny.
class AttentionContract : public testing::TestWithParam<AttentionVariant> {
 protected:
  ~AttentionContract() override { core::set_threads(0); }

  AttentionSample sample(const Sequences& sequences, Index heads = 3, Index head_width = 4) const {
    return {GetParam().kind, sequences, heads, head_width, GetParam().settings};
  }
  AttentionTraits traits() const { return traits_of(GetParam()); }

  /// Two sequences of the given length in every form that the traits allow.
  std::vector<Sequences> forms(Index length) const {
    const AttentionTraits t = traits();
    std::vector<Sequences> all;
    for (const bool causal : {true, false}) {
      if (!(causal ? t.causal : t.bidirectional)) continue;
      const Sequences self = Sequences::self(2, length, causal);
      all.push_back(self);
      if (t.padding) all.push_back(padded(self, {(length + 1) / 2, length}));
      if (t.cross) all.push_back({2, length, 2 * length + 3, causal});
      if (t.cross && !causal) all.push_back({2, 2 * length + 3, length, causal});
    }
    return all;
  }
};

inline std::string describe(const Sequences& s) {
  return core::message_of(s.queries, " queries, ", s.keys, " keys", s.causal ? ", causal" : "",
                          s.key_lengths ? ", padded" : "");
}

}  // namespace weft::layers
