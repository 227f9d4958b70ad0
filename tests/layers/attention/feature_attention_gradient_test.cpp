// The gradients of attention through feature maps, in every form of its kernel.
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"

namespace weft::layers::feature_attention_gradient_test {
namespace {

const std::vector<std::string> kinds = {"linear", "taylor", "efficient", "performer"};

void expect_gradient(AttentionSample& it) {
  SCOPED_TRACE(core::message_of(it.sequences().batch, " x ", it.heads(), " heads of ",
                                it.head_width(), ", ", it.sequences().queries, " queries, ",
                                it.sequences().keys, " keys",
                                it.sequences().causal ? ", causal" : ""));
  for (Tensor& input : it.inputs())  // away from the kinks of feature maps
    for (Real& x : input.write())
      if (std::abs(x) < Real(5e-3)) x = Real(5e-3);
  tests::check_gradient(
      "feature_attention",
      [&](const Pass& pass, const std::vector<Var>& in) { return it.forward(pass, in); },
      it.inputs(), it.arena());
}

TEST(FeatureAttentionGradient, agrees_with_differences_at_any_chunk) {
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false})
      for (const Index chunk : {1, 7, 64, 200}) {
        SCOPED_TRACE(core::message_of(kind, ", chunks of ", chunk));
        AttentionSample it(kind, Sequences::self(2, 100, causal), 2, 5, {{"chunk", chunk}});
        expect_gradient(it);
      }
}

// One or two lanes are cut into spans, eight are not.
TEST(FeatureAttentionGradient, agrees_with_differences_in_spans) {
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false})
      for (const Index lanes : {1, 2, 3, 8}) {
        SCOPED_TRACE(core::message_of(kind, ", ", lanes, " lanes"));
        AttentionSample it(kind, Sequences::self(1, 150, causal), lanes, 4, {{"chunk", Index(8)}});
        expect_gradient(it);
      }
}

TEST(FeatureAttentionGradient, agrees_with_differences_across_sequences_and_padding) {
  for (const std::string& kind : kinds)
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(kind);
      for (const Sequences& s :
           {Sequences{2, 5, 11, causal}, Sequences{2, 70, 200, causal},
            Sequences{1, 200, 70, causal}, padded(Sequences::self(2, 150, causal), {65, 0}),
            padded({2, 70, 150, causal}, {20, 149})}) {
        AttentionSample it(kind, s, 2, 4, {{"chunk", Index(16)}});
        expect_gradient(it);
      }
    }
}

TEST(FeatureAttentionGradient, agrees_with_differences_for_every_positive_map) {
  for (const std::string map : {"elu", "relu", "softplus"}) {
    SCOPED_TRACE(map);
    AttentionSample it("linear", Sequences::self(2, 70, true), 2, 4, {{"map", map}, {"eps", 0.1}});
    expect_gradient(it);
  }
}

// Keys that rise by more than the slack of a reference cut chunks into parts.
TEST(FeatureAttentionGradient, agrees_with_differences_where_keys_rise_steeply) {
  for (const std::string kind : {"efficient", "performer"})
    for (const bool causal : {true, false})
      for (const Index heads : {1, 8}) {
        SCOPED_TRACE(core::message_of(kind, ", ", heads, " heads"));
        AttentionSample it(kind, Sequences::self(1, 60, causal), heads, 4, {{"chunk", Index(12)}});
        std::span<Real> k = it.inputs()[1].write();
        for (Index t = 0; t < 60; ++t)
          for (Index d = 0; d < it.width(); ++d) {
            Real& x = k[std::size_t(t * it.width() + d)];
            if (kind == "efficient") x += Real(50 * (t / 5) - 300);
            // Features of a key fall with its square: long keys come first.
            if (kind == "performer") x *= t < 20 ? Real(20 - t) : 1;
          }
        expect_gradient(it);
      }
}

}  // namespace
}  // namespace weft::layers::feature_attention_gradient_test
