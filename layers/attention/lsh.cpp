// Attention among tokens that fall into the same bucket of a random hash (Reformer). Queries and
// keys are one projection, keys at unit length; several rounds of hashing, each with different
// directions, form one softmax.
//   strict: chunks aligned to each bucket's start; causal bit for bit.
//   paper:  chunks of the whole sorted sequence, so later tokens move the edges of earlier chunks.
#include <algorithm>

#include "core/error.h"
#include "core/fields.h"
#include "layers/attention/clusters/angular_hash.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/key_weights.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/lists/attention.h"
#include "layers/attention/lists/decoding.h"
#include "layers/attention/lists/encounters.h"

namespace weft::layers {
namespace {

struct LshSettings {
  enum class Mode { strict, paper };
  enum class Self { fallback, scored };

  Mode mode = Mode::strict;
  Index rounds = 4;
  Index buckets = 0;
  Index chunk = 64;
  double scale = 1;
  Self self = Self::fallback;
  bool dedup = false;
  bool same_bucket = false;
  bool wrap = false;
  Index hash_seed = 0;

  void fields(core::Fields& field) {
    field.choice(
        "mode", mode,
        "strict: each bucket is cut into chunks by itself, nothing leaks; paper: the whole sorted "
        "sequence is cut into chunks, so later tokens influence what earlier ones read",
        {{"strict", Mode::strict}, {"paper", Mode::paper}});
    field.integer("rounds", rounds, "rounds of hashing", core::between(1, 64));
    field.integer("buckets", buckets,
                  "buckets of a round, an even number; 0: the training length / chunk",
                  core::between(0, 65536));
    field.integer("chunk", chunk, "tokens of a chunk; a token reads its own and the one before",
                  core::between(1, 65536));
    field.number("scale", scale, "factor of query . unit key", core::between(1e-6, 1e6));
    field.choice(
        "self", self,
        "a token reads itself only if it reads no other key (fallback), or like any key (scored)",
        {{"fallback", Self::fallback}, {"scored", Self::scored}});
    field.flag("dedup", dedup, "a key found in several rounds counts once");
    field.flag("same_bucket", same_bucket, "paper mode: a token reads keys of its own bucket only");
    field.flag("wrap", wrap,
               "paper mode: a round's first chunk reads the last of the round before");
    field.integer("hash_seed", hash_seed, "seed of the hash directions in evaluation and decoding",
                  core::at_least(0));
    if (buckets % 2 != 0)
      field.problem("buckets",
                    core::message_of(buckets, " is odd; each direction has two buckets"));
    for (const auto& [key, set] : {std::pair("same_bucket", same_bucket), std::pair("wrap", wrap)})
      if (set && !paper()) field.problem(key, "means something in mode = \"paper\" only");
  }

  bool paper() const { return mode == Mode::paper; }
  bool scores_self() const { return self == Self::scored; }
  Index bucket_count(Index length) const {
    return buckets > 0 ? buckets
                       : std::clamp<Index>((length + chunk - 1) / chunk / 2 * 2, 2, 65536);
  }

  AttentionTraits traits() const {
    return {.summary = "softmax over tokens of the same hash bucket, in several rounds (Reformer)",
            .exact = false,
            .cross = false,
            .leaks = paper(),
            .adaptive = true,
            .bf16 = true,
            .separate_keys = false,
            .keys_per_token = "at most rounds x 2 chunk",
            .decode_state = "every key and value, and the buckets' members"};
  }
};

using BucketIds = std::vector<std::uint16_t>;

/// The lists of every head and round, made of the decided buckets: ids are [B, H, rounds, T].
struct BucketLists {
  ListRule rule;
  SortedRule sorted;
  bool paper, dedup;
  Index rounds, buckets, heads;
  Sequences sequences;
  std::shared_ptr<const BucketIds> ids;

  /// Padding is in no list.
  std::span<const std::uint16_t> buckets_of(Index lane, Index round) const {
    const Index length = sequences.queries;
    const Index real = sequences.key_lengths ? sequences.real_keys(lane / heads) : length;
    return {ids->data() + (lane * rounds + round) * length, std::size_t(real)};
  }

  TokenList operator()(Index lane, Index round) const {
    const Index before = round > 0 ? round - 1 : rounds - 1;
    TokenList list = paper ? sorted_list(rule, sorted, buckets_of(lane, round),
                                         buckets_of(lane, before), buckets)
                           : aligned_list(rule, buckets_of(lane, round), buckets);
    if (!dedup) return list;
    std::vector<std::span<const std::uint16_t>> all;
    for (Index r = 0; r < rounds; ++r) all.push_back(buckets_of(lane, r));
    list.encounters =
        std::make_shared<const Encounters>(paper ? sorted_encounters(rule, sorted, all, buckets)
                                                 : aligned_encounters(rule, all, buckets));
    return list;
  }
};

class LshAttention final : public Attention, public GroupsTokens {
 public:
  LshAttention(const LshSettings& settings, const AttentionSite& site)
      : settings_(settings),
        heads_(site.heads),
        width_(site.head_width),
        precision_(site.precision),
        buckets_(settings.bucket_count(site.length)),
        hash_(AngularHash::of(width_, settings.rounds, buckets_)),
        directions_(hash_.draw(core::Rng(std::uint64_t(settings.hash_seed))
                                   .fold("hash")
                                   .fold(std::uint64_t(site.layer)),
                               heads_)) {
    forms_.keys = {HeadForm::Law::unit, paper() ? Real(0) : Real(1e-6) * Real(width_)};
    forms_.keys_from_queries = true;
  }

  std::vector<Projection> projections() const override {
    return {{"qk", Projection::Side::queries, true}, {"v", Projection::Side::keys, false}};
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("lsh", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    core::require(s.queries == s.keys, "lsh attention: ", s.queries, " queries for ", s.keys,
                  " keys; shared queries and keys have one length");
    const auto ids = bucket_ids(pass, input);
    core::require(Index(ids->size()) == s.batch * heads_ * settings_.rounds * s.queries,
                  "lsh attention: ", ids->size(), " buckets were decided for ", s.batch, " x ",
                  heads_, " heads, ", settings_.rounds, " rounds and length ", s.queries);
    ListedProblem problem = problem_of(s);
    problem.list = BucketLists{rule(s),
                               {settings_.same_bucket, settings_.wrap},
                               paper(),
                               settings_.dedup,
                               settings_.rounds,
                               buckets_,
                               heads_,
                               s,
                               ids};
    return listed_attention(problem, forms_, input.blocks);
  }

  TokenGroups groups(const Pass& pass, const AttentionInput& input) const override {
    const auto ids = bucket_ids(pass, input);
    const std::vector<Index> all(ids->begin(), ids->end());
    return {"bucket", settings_.rounds, buckets_, all, all};
  }

  std::unique_ptr<DecodeState> begin() const override {
    if (paper()) return std::make_unique<PrefixCache>();
    auto cache = std::make_unique<MemberCache>();
    cache->members.resize(std::size_t(heads_ * settings_.rounds * buckets_));
    return cache;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    if (paper()) return step_over_prefix(*this, static_cast<PrefixCache&>(state), input, out);
    auto& cache = static_cast<MemberCache&>(state);
    const Index row = heads_ * width_, token = Index(cache.keys.size()) / row;
    cache.values.insert(cache.values.end(), input.blocks[1].begin(), input.blocks[1].end());
    cache.keys.resize(cache.keys.size() + std::size_t(row));
    for (Index h = 0; h < heads_; ++h) {
      const Index first = h * width_;
      const Real* q = input.blocks[0].data() + first;
      forms_.keys.apply(q, cache.keys.data() + token * row + first, width_);
      attend_members(cache, {q, first, width_, row, Real(settings_.scale), token},
                     join_buckets(cache, h, q, std::int32_t(token)), out.data() + first);
    }
  }

  Cost cost(const Sequences& s) const override {
    const Index m = rule(s).chunk;
    Cost cost;
    for (Index b = 0; b < s.batch; ++b) {
      const Index n = s.real_keys(b);
      // A block's last rows may be missing, once in each bucket.
      const Index rows = n + std::min(n, buckets_) * (rule(s).block_rows() - 1);
      const Index wrapped = settings_.wrap ? std::min(m, n) * std::min(m, n) : 0;
      cost.scored_pairs +=
          heads_ * (settings_.rounds * (most_pairs(rule(s), n) + wrapped) + (n > 0));
      cost.flops += heads_ * settings_.rounds * rows * 2 * m * 4 * width_;
      cost.backward_flops += heads_ * settings_.rounds * problem_of(s).backward_flops(n, 2 * m);
    }
    cost.flops += 2 * s.batch * heads_ * s.queries * width_ * settings_.rounds * hash_.directions();
    cost.saved_bytes = listed_saved_bytes(problem_of(s));
    return cost;
  }

 private:
  bool paper() const { return settings_.paper(); }
  std::shared_ptr<const BucketIds> bucket_ids(const Pass& pass, const AttentionInput& input) const {
    const Sequences& s = input.sequences;
    return pass.decide("buckets", [&]() -> BucketIds {
      return hash_tokens(
          hash_, pass.training() ? hash_.draw(pass.stream().fold("hash"), heads_) : directions_,
          heads_of(input.blocks[0]), s.batch, heads_, s.queries);
    });
  }
  /// A chunk longer than the sequence holds all of it.
  ListRule rule(const Sequences& s) const {
    return {.chunk = std::clamp<Index>(s.keys, 1, settings_.chunk),
            .causal = s.causal,
            .reads_self = settings_.scores_self()};
  }
  ListedProblem problem_of(const Sequences& s) const {
    return {.sequences = s,
            .heads = heads_,
            .head_width = width_,
            .rounds = settings_.rounds,
            .scale = Real(settings_.scale),
            .self_as_fallback = !settings_.scores_self(),
            .most_keys = 2 * rule(s).chunk,
            .precision = precision_};
  }

  /// Puts a token into its buckets and returns the tokens that it reads, of all rounds.
  std::vector<std::int32_t> join_buckets(MemberCache& cache, Index head, const Real* q,
                                         std::int32_t token) const {
    const Index rounds = settings_.rounds, columns = rounds * hash_.directions();
    std::vector<Real> scratch(static_cast<std::size_t>(columns));
    std::vector<std::uint16_t> buckets(static_cast<std::size_t>(rounds));
    hash_.hash(q, directions_.data() + head * width_ * columns, buckets.data(), scratch.data());
    std::vector<std::int32_t> read;
    for (Index r = 0; r < rounds; ++r) {
      auto& bucket =
          cache.members[std::size_t((head * rounds + r) * buckets_ + buckets[std::size_t(r)])];
      read_list(bucket, Index(bucket.size()), settings_.chunk, read);
      if (settings_.scores_self()) read.push_back(token);
      bucket.push_back(token);
    }
    if (settings_.dedup) {
      std::ranges::sort(read);
      read.erase(std::unique(read.begin(), read.end()), read.end());
    }
    return read;
  }

  LshSettings settings_;
  Index heads_, width_;
  core::Precision precision_;
  Index buckets_;
  AngularHash hash_;
  Tensor directions_;  ///< of evaluation and decoding
  ListedForms forms_;
};

}  // namespace

AttentionPlan configure_lsh(core::Fields& fields, const AttentionSite&) {
  return configure<LshSettings, LshAttention>(fields);
}

}  // namespace weft::layers
