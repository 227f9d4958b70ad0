#pragma once

#include <deque>

#include "layers/multi_head/multi_head.h"
#include "layers/settings/attention_plans.h"
#include "tests/layers/drawn_weights.h"
#include "tests/layers/given_fields.h"
#include "tests/pull_back.h"

namespace weft::layers {

/// A layer over sequences that are whole, or cut into chunks which are all in this process.
class ChunkedLayer {
 public:
  static constexpr Index width = 12, heads = 4, head_width = 6;

  /// `kind` with settings, over sequences of `length` tokens.
  ChunkedLayer(const std::string& kind, const tests::Settings& settings, bool rotary, Index batch,
               Index length)
      : batch_(batch), length_(length), part_(make(kind, settings, rotary, length)) {}

  MultiHead& part() { return part_; }
  Index batch() const { return batch_; }
  Index length() const { return length_; }

  /// Each chunk's tokens of all sequences.  x: [B * T, W]
  std::vector<Tensor> cut(const Tensor& x, Index chunks) const {
    std::vector<Tensor> all;
    for (Index c = 0; c < chunks; ++c) {
      const core::Stretch own = core::ChunkCut{length_, chunks}.of(c);
      Tensor part({batch_ * own.size(), width});
      for (Index b = 0; b < batch_; ++b)
        std::ranges::copy(x.rows(b * length_ + own.begin, own.size()).read(),
                          part.write().begin() + b * own.size() * width);
      all.push_back(part);
    }
    return all;
  }
  /// The layer on one chunk.
  Var forward(const Pass& pass, const Var& x, Index chunk, Index chunks,
              core::ChunkLink& link) const {
    const core::ChunkCut cut{length_, chunks};
    Sequences s = Sequences::self(batch_, cut.of(chunk).size(), true);
    if (chunks > 1) s.chunk = std::make_shared<const ChunkPlace>(ChunkPlace{cut, chunk, &link});
    return part_.forward(pass, x, s);
  }

  /// By chunk: what the layer gives, and the gradient of its input for that of its output; the
  /// parameters' gradients are added to the arena.
  struct Run {
    std::vector<Tensor> y, dx;
  };
  Run run(const Tensor& x, const Tensor& dy, Index chunks) const {
    core::ChunkLink link(core::one_rank(), {1, chunks});
    link.enter(0);
    const std::vector<Tensor> in = cut(x, chunks), upstream = cut(dy, chunks);
    struct Recorded {
      autograd::Tape tape;
      autograd::Journal journal;
      Var x, y;
    };
    std::deque<Recorded> recorded;
    for (Index c = 0; c < chunks; ++c) {
      Recorded& own = recorded.emplace_back();
      own.x = own.tape.watch(in[std::size_t(c)]);
      own.y = forward(Pass(own.tape, tests::test_stream, own.journal), own.x, c, chunks, link);
    }
    Run found{{}, std::vector<Tensor>(std::size_t(chunks))};
    for (const Recorded& own : recorded) found.y.push_back(own.y.value());
    for (Index c = chunks; c-- > 0;) {
      Recorded& own = recorded[std::size_t(c)];
      own.tape.sweep(own.y, upstream[std::size_t(c)]);
      found.dx[std::size_t(c)] = own.tape.gradient(own.x);
    }
    return found;
  }

 private:
  static MultiHead make(const std::string& kind, const tests::Settings& settings, bool rotary,
                        Index length) {
    const AttentionSite site{
        .width = width, .heads = heads, .head_width = head_width, .length = length};
    tests::GivenFields fields(settings);
    auto plan = read_attention(fields, kind, site);
    EXPECT_TRUE(fields.problems().empty());
    return {plan, site, Init::zeros(), Init::zeros(),
            rotary ? std::make_shared<const Rotary>(head_width, length) : nullptr};
  }

  Index batch_, length_;
  MultiHead part_;
};

/// Layers that read on over chunks.
struct ChunkedCase {
  std::string name, kind;
  tests::Settings settings = {};
  bool rotary = false;
  bool smooth = true;  ///< differences say what its gradient is
};
inline std::vector<ChunkedCase> chunked_cases() {
  using Text = std::string;
  return {
      {"dense", "dense"},
      {"dense_rotary", "dense", {}, true},
      {"shared_keys", "dense", {{"kv_heads", Index(2)}, {"qk_norm", true}}, true},
      {"sinks", "dense", {{"sink", Text("learned")}}},
      {"entmax", "dense", {{"normaliser", Text("entmax")}}, false, false},
      {"band_of_one", "local", {{"window", Index(1)}}},
      {"band", "local", {{"window", Index(7)}}},
      {"band_over_chunks", "local", {{"window", Index(45)}}, true},
      {"first_tokens", "local", {{"window", Index(5)}, {"first", Index(3)}}},
      {"block", "local", {{"form", Text("block")}, {"block", Index(8)}}},
      {"block_across_cuts",
       "local",
       {{"form", Text("block")}, {"block", Index(13)}, {"back", Index(2)}}},
      {"own_block", "local", {{"form", Text("block")}, {"block", Index(11)}, {"back", Index(0)}}},
      {"dilated", "dilated", {{"window", Index(3)}, {"dilation", Index(5)}}, true},
      {"strided", "strided", {{"stride", Index(6)}}},
      {"fixed", "fixed", {{"stride", Index(7)}, {"summary_columns", Index(2)}}},
      {"global", "global", {{"positions", std::vector<Index>{0, 19}}, {"window", Index(4)}}},
      {"atoms",
       "pattern",
       {{"atoms",
         std::vector<tests::Settings>{
             {{"kind", Text("dilated")}, {"left", Index(4)}, {"dilation", Index(3)}},
             {{"kind", Text("dilated")}, {"left", Index(2)}, {"dilation", Index(7)}},
             {{"kind", Text("band")}, {"left", Index(2)}}}}}},
      {"fixed_span", "fixed_span", {{"span", Index(9)}}},
      {"adaptive_span", "adaptive_span", {{"span", Index(30)}, {"ramp", Index(6)}}, false, false},
      {"dynamic_span", "dynamic_span", {{"span", Index(20)}, {"ramp", Index(5)}}, false, false},
      {"linear", "linear", {{"chunk", Index(4)}}},
      {"taylor", "taylor"},
      {"performer", "performer", {{"features", Index(10)}, {"chunk", Index(3)}}},
      {"linear_relu", "linear", {{"map", Text("relu")}, {"chunk", Index(64)}}, true, false},
      {"groups",
       "dense",
       {{"groups", std::vector<tests::Settings>{
                       {{"kind", Text("local")}, {"heads", Index(1)}, {"window", Index(9)}},
                       {{"kind", Text("linear")}, {"heads", Index(3)}}}}}}};
}

}  // namespace weft::layers
