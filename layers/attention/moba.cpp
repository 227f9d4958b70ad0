// Mixture of block attention (MoBA): keys are cut into blocks, and a query reads its own block up
// to itself and the earlier blocks whose mean keys score highest, all in one softmax. A block
// has a mean only once its last token has been read, so that no choice depends on a later token.
#include <algorithm>
#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "core/fields.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/chosen/block_choice.h"
#include "layers/attention/chosen/packed_rows.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/fittings/shared_heads.h"
#include "layers/attention/lists/attention.h"
#include "layers/attention/lists/decoding.h"

namespace weft::layers {
namespace {

struct MobaSettings {
  Index block = 64, blocks = 4;
  double scale = 0;

  void fields(core::Fields& field) {
    field.integer("block", block, "tokens of a block", core::between(1, 65536));
    field.integer("blocks", blocks, "blocks that a query reads, its own among them",
                  core::between(1, 4096));
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
  }

  AttentionTraits traits() const {
    return {.summary =
                "softmax over the token's own block and the earlier blocks with the best mean keys",
            .bidirectional = false,
            .cross = false,
            .adaptive = true,
            .bf16 = true,
            .keys_per_token = core::message_of("at most ", blocks, " x ", block,
                                               ", and a mean for each earlier block"),
            .decode_state = "every key and value, and a mean for each block"};
  }
};

/// Of one head: the mean keys of blocks that are closed, and the sum of the open one.
class BlockMeans {
 public:
  BlockMeans(Index width, Index block) : block_(block), sum_(std::size_t(width)), means_(width) {}

  void append(const Real* key) {
    core::simd().add(key, sum_.data(), sum_.data(), Index(sum_.size()));
    if (++open_ < block_) return;
    core::simd().scale(1 / Real(block_), sum_.data(), Index(sum_.size()));
    means_.append(sum_.data());
    std::ranges::fill(sum_, Real(0));
    open_ = 0;
  }
  const PackedRows& closed() const { return means_; }
  Index bytes() const { return means_.bytes() + Index(sum_.size() * sizeof(Real)); }

  /// Appends the blocks that a query after all of the closed ones reads, ascending; of these it
  /// sees the first `own`, and reads the one after them in any case.
  void choose(const Real* q, Index own, Index blocks, std::vector<Real>& scores,
              std::vector<std::int32_t>& chosen) const {
    if (own > blocks - 1) means_.multiply(q, own, scores);
    scores.resize(std::size_t(own));
    append_best(scores, blocks - 1, chosen);
    chosen.push_back(std::int32_t(own));
  }

 private:
  Index block_, open_ = 0;
  std::vector<Real> sum_;
  PackedRows means_;
};

struct MobaState final : CopiedState<MobaState> {
  MemberCache cache;              ///< keys and values, [t, G D]
  std::vector<BlockMeans> means;  ///< of each head of keys

  Index bytes() const override {
    Index total = cache.bytes();
    for (const BlockMeans& own : means) total += own.bytes();
    return total;
  }
};

class MobaAttention final : public Attention {
 public:
  MobaAttention(const MobaSettings& settings, const AttentionSite& site)
      : settings_(settings),
        heads_(site.heads),
        kv_heads_(site.kv_heads),
        key_heads_(site.key_heads()),
        width_(site.head_width),
        precision_(site.precision),
        scale_(settings.scale > 0 ? Real(settings.scale) : Real(1 / std::sqrt(double(width_)))) {}

  std::vector<Projection> projections() const override {
    using Side = Projection::Side;
    return {{"q", Side::queries, true},
            {"k", Side::keys, true, kv_heads_},
            {"v", Side::keys, false, kv_heads_}};
  }

  /// Saves: the projections, each key and value as often as heads share it, the output, a log-sum
  /// for each query and head, and the choices.
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("moba", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    require_causal_form("moba", s);
    const auto choice = pass.decide("blocks", [&] { return choose(input); });
    ListedProblem problem = problem_of(s);
    read_chosen(problem, choice, 1);
    std::vector<HeadBlock> blocks = input.blocks;
    if (shares()) {
      const auto all = repeat_heads({key_heads_, heads_, width_}, {blocks[1], blocks[2]});
      std::ranges::copy(all, blocks.begin() + 1);
    }
    return listed_attention(problem, {}, blocks);
  }

  std::unique_ptr<DecodeState> begin() const override {
    auto state = std::make_unique<MobaState>();
    state->means.assign(std::size_t(key_heads_), BlockMeans(width_, settings_.block));
    return state;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& own = static_cast<MobaState&>(state);
    const Index row = key_heads_ * width_, token = Index(own.cache.keys.size()) / row;
    const std::span<const Real> k = input.blocks[1], v = input.blocks[2];
    own.cache.keys.insert(own.cache.keys.end(), k.begin(), k.end());
    own.cache.values.insert(own.cache.values.end(), v.begin(), v.end());
    std::vector<Real> scores;
    for (Index h = 0; h < heads_; ++h) {
      const Index of_keys = h * key_heads_ / heads_;
      const Real* q = input.blocks[0].data() + h * width_;
      std::vector<std::int32_t> blocks, read;
      own.means[std::size_t(of_keys)].choose(q, token / settings_.block, settings_.blocks, scores,
                                             blocks);
      append_tokens(blocks, settings_.block, token, read);
      attend_members(own.cache, {q, of_keys * width_, width_, row, scale_, -1}, read,
                     out.data() + h * width_);
    }
    for (Index g = 0; g < key_heads_; ++g) own.means[std::size_t(g)].append(k.data() + g * width_);
  }

  Cost cost(const Sequences& s) const override {
    Cost cost = chosen_cost(problem_of(s), block(s));
    for (Index b = 0; b < s.batch; ++b) cost.flops += heads_ * choosing_flops(s, b);
    if (shares()) cost.saved_bytes += 2 * s.batch * s.keys * heads_ * width_ * Index(sizeof(Real));
    return cost;
  }

 private:
  bool shares() const { return key_heads_ != heads_; }
  /// A block longer than the sequence holds all of it.
  Index block(const Sequences& s) const { return std::clamp<Index>(s.keys, 1, settings_.block); }
  ListedProblem problem_of(const Sequences& s) const {
    ListedProblem problem = chosen_problem(s, heads_, width_, scale_, block(s), settings_.blocks);
    problem.precision = precision_;
    return problem;
  }

  /// Of one head of sequence b: queries compare themselves with all earlier blocks unless they read
  /// them all.
  Index choosing_flops(const Sequences& s, Index b) const {
    Index flops = 0;
    for (Index t = 0; t < s.real_keys(b); ++t)
      if (t / block(s) > settings_.blocks - 1) flops += PackedRows::flops(width_, t / block(s));
    return flops;
  }

  BlockChoice choose(const AttentionInput& input) const {
    const Sequences& s = input.sequences;
    BlockChoice choice{.width = block(s), .most = settings_.blocks, .length = s.queries};
    choice.numbers.assign(std::size_t(s.batch * heads_ * s.queries * choice.most), -1);
    const ConstHeads q = heads_of(input.blocks[0]), k = heads_of(input.blocks[1]);
    core::parallel_for(s.batch * heads_, 1, [&](Index index, Index) {
      const HeadLane lane(s, heads_, key_heads_, width_, index);
      const core::ConstMatrix queries = lane.queries(q), keys = lane.keys(k);
      BlockMeans means(width_, choice.width);
      std::vector<Real> scores;
      std::vector<std::int32_t> chosen;
      for (Index t = 0; t < lane.real_keys; ++t) {
        chosen.clear();
        means.choose(queries.row(t), t / choice.width, choice.most, scores, chosen);
        std::ranges::copy(chosen, choice.of(index, t));
        means.append(keys.row(t));
      }
      core::counters().flops.fetch_add(choosing_flops(s, lane.batch), std::memory_order_relaxed);
    });
    return choice;
  }

  MobaSettings settings_;
  Index heads_, kv_heads_, key_heads_, width_;
  core::Precision precision_;
  Real scale_;
};

}  // namespace

AttentionPlan configure_moba(core::Fields& fields, const AttentionSite&) {
  return configure<MobaSettings, MobaAttention>(fields);
}

}  // namespace weft::layers
