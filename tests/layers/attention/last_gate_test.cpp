// Gates that mechanisms compute from the layer's input: decays, strengths of writing and erasing,
// weights of branches and of heads.
#include "tests/closeness.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::last_gate_test {
namespace {

using core::Precision;
using tests::same_bits;
using tests::Settings;

struct Gated {
  std::string kind;
  Settings settings = {};
};

/// Every kind whose output depends on gates, with settings under which it leaves keys out.
std::vector<Gated> gated() {
  return {{"retention"},
          {"gla"},
          {"ssd"},
          {"deltanet"},
          {"gated_deltanet", {{"negative", true}}},
          {"kda", {{"floor", 0.0}}},
          {"gdn2"},
          {"forgetting"},
          {"differential"},
          {"nsa",
           {{"block", Index(8)},
            {"stride", Index(4)},
            {"select_block", Index(8)},
            {"selected", Index(3)},
            {"window", Index(8)}}},
          {"indexed", {{"selected", Index(8)}}},
          {"compressed", {{"window", Index(8)}, {"ratio", Index(4)}, {"selected", Index(3)}}}};
}

// Open, shut, and whatever a large input makes of a decay, at lengths inside and across chunks.
TEST(LastGate, of_a_sequence_moves_no_bit_of_earlier_outputs) {
  for (const Gated& one : gated())
    for (const Precision precision : {Precision::float32, Precision::bf16})
      for (const Index length : {5, 64, 65, 131}) {
        const AttentionSample before(one.kind, Sequences::self(2, length, true), 2, 8, one.settings,
                                     {}, precision);
        const Tensor out = before.evaluate();
        for (const Real size : {Real(-1e3), Real(1e3), Real(0)}) {
          SCOPED_TRACE(core::message_of(one.kind, ", ", length, " tokens, gates from ", size));
          AttentionSample after(one.kind, Sequences::self(2, length, true), 2, 8, one.settings, {},
                                precision);
          Tensor& x = after.inputs().back();
          const Index columns = x.shape().back();
          for (Index b = 0; b < 2; ++b)
            for (Index c = 0; c < columns; ++c)
              x.write()[std::size_t(((b + 1) * length - 1) * columns + c)] =
                  c % 3 == 0 ? -size : size;
          const Tensor changed = after.evaluate();
          for (Index b = 0; b < 2; ++b)
            EXPECT_TRUE(same_bits(out.rows(b * length, length - 1).read(),
                                  changed.rows(b * length, length - 1).read()));
        }
      }
}

// The gates of these kinds do reach the output of their own token.
TEST(LastGate, of_a_sequence_changes_its_own_output) {
  for (const Gated& one : gated()) {
    if (one.kind == "indexed" || one.kind == "compressed") continue;  // it chooses among others
    const Index length = 65;
    AttentionSample it(one.kind, Sequences::self(1, length, true), 2, 8, one.settings);
    const Tensor out = it.evaluate();
    Tensor& x = it.inputs().back();
    for (Real& number : x.write().subspan(std::size_t((length - 1) * x.shape().back())))
      number += 3;
    EXPECT_FALSE(
        same_bits(out.rows(length - 1, 1).read(), it.evaluate().rows(length - 1, 1).read()))
        << one.kind;
  }
}

}  // namespace
}  // namespace weft::layers::last_gate_test
