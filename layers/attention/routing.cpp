// Attention among tokens of the same cluster (Routing Transformer). Each head has cluster
// centres, which get no gradient and follow the tokens that join them.
//   strict: a token joins its nearest centre and reads its own and the previous chunk of that
//           cluster's tokens in order of position; causal bit for bit.
//   paper:  each centre takes its nearest tokens of the whole sequence, so that a later token can
//           push out an earlier one; a token's outputs are averaged over the clusters that took it.
#include <algorithm>
#include <cmath>

#include "autograd/ops.h"
#include "layers/attention/clusters/commitment.h"
#include "layers/attention/clusters/nearest_tokens.h"
#include "layers/attention/clusters/routing_choice.h"
#include "layers/attention/clusters/routing_settings.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/key_weights.h"
#include "layers/attention/lists/decoding.h"

namespace weft::layers {
namespace {

/// The lists of every head, made of what was decided.
struct ClusterLists {
  ListRule rule;
  bool paper;
  Index clusters, heads;
  Sequences sequences;
  std::shared_ptr<const RoutingChoice> choice;

  TokenList operator()(Index lane, Index) const {
    const auto at = std::size_t(lane);
    if (paper) {
      const auto& keys = choice->key_sets.empty() ? choice->query_sets : choice->key_sets;
      return set_list(rule, choice->query_sets[at], keys[at], clusters,
                      sequences.keys - sequences.queries);
    }
    const Index real = sequences.real_keys(lane / heads);
    const auto of = [&](const std::vector<std::uint16_t>& ids, Index length, Index count) {
      return std::span<const std::uint16_t>(ids).subspan(std::size_t(lane * length),
                                                         std::size_t(count));
    };
    if (choice->keys.empty())
      return aligned_list(rule, of(choice->queries, sequences.queries, real), clusters);
    return aligned_list(rule, of(choice->queries, sequences.queries, sequences.queries),
                        of(choice->keys, sequences.keys, real), sequences.keys - sequences.queries,
                        clusters);
  }
};

class RoutingAttention final : public Attention, public GroupsTokens {
 public:
  RoutingAttention(const RoutingSettings& settings, const AttentionSite& site)
      : settings_(settings),
        heads_(site.heads),
        width_(site.head_width),
        precision_(site.precision),
        scale_(settings.scale > 0 ? Real(settings.scale) : Real(1 / std::sqrt(double(width_)))),
        forms_(settings.forms()),
        plan_(settings.centroids(heads_, width_, site.length)),
        centroids_(plan_, core::Rng(0).fold("centroids").fold(std::uint64_t(site.layer))) {}

  std::vector<Projection> projections() const override {
    std::vector<Projection> all{{"q", Projection::Side::queries, true}};
    if (!settings_.shared) all.push_back({"k", Projection::Side::keys, true});
    all.push_back({"v", Projection::Side::keys, false});
    return all;
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("routing", *this, input, heads_, width_);
    const Sequences& s = input.sequences;
    const auto tokens = formed_tokens(input);
    const Tensor centres = centroids_.in_use(pass, tokens[0]);
    const auto choice = pass.decide("clusters", [&] { return choose(s, tokens, centres); });
    centroids_.propose(pass, centres, members(s, tokens, *choice));
    ListedProblem problem = problem_of(s);
    problem.list = ClusterLists{rule(s), settings_.paper(), plan_.clusters, heads_, s, choice};
    const Var out = listed_attention(problem, forms_, input.blocks);
    if (settings_.commitment == 0 || !pass.training()) return out;
    return autograd::penalise(pass, out, commitment(input, centres, choice).loss());
  }

  TokenGroups groups(const Pass& pass, const AttentionInput& input) const override {
    const auto tokens = formed_tokens(input);
    const RoutingChoice choice =
        choose(input.sequences, tokens, centroids_.in_use(pass, tokens[0]));
    const auto& keys = settings_.shared ? choice.queries : choice.keys;
    return {"cluster",
            1,
            plan_.clusters,
            {choice.queries.begin(), choice.queries.end()},
            {keys.begin(), keys.end()}};
  }

  std::unique_ptr<DecodeState> begin() const override {
    if (settings_.paper()) return std::make_unique<PrefixCache>();
    auto cache = std::make_unique<MemberCache>();
    cache->members.resize(std::size_t(heads_ * plan_.clusters));
    return cache;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    if (settings_.paper())
      return step_over_prefix(*this, static_cast<PrefixCache&>(state), input, out);
    auto& cache = static_cast<MemberCache&>(state);
    const Index row = heads_ * width_, token = Index(cache.keys.size()) / row;
    const std::span<const Real> keys = input.blocks[settings_.shared ? 0 : 1];
    const std::span<const Real> values = input.blocks.back();
    cache.values.insert(cache.values.end(), values.begin(), values.end());
    cache.keys.resize(cache.keys.size() + std::size_t(row));
    const Tensor centres = transposed_centres(centroids_.in_use(Pass(), {}));
    std::vector<Real> q(static_cast<std::size_t>(width_));
    for (Index h = 0; h < heads_; ++h) {
      const Index first = h * width_;
      forms_.keys.apply(keys.data() + first, cache.keys.data() + token * row + first, width_);
      list_of(cache, centres, h, keys.data() + first).push_back(std::int32_t(token));
      const auto& list = list_of(cache, centres, h, input.blocks[0].data() + first);
      std::vector<std::int32_t> read;
      read_list(list, std::max<Index>(0, Index(list.size()) - 1), settings_.chunk, read);
      if (!settings_.reads_self()) read.pop_back();  // the token itself, which came last
      forms_.queries.apply(input.blocks[0].data() + first, q.data(), width_);
      attend_members(cache,
                     {q.data(), first, width_, row, scale_, settings_.reads_self() ? -1 : token},
                     read, out.data() + first);
    }
  }

  Cost cost(const Sequences& s) const override {
    const Index joining = 2 * s.batch * heads_ * width_ * plan_.clusters;
    Cost cost;
    for (Index b = 0; b < s.batch; ++b) {
      const Index n = s.real_keys(b);
      const Index longest = settings_.shared ? n : s.queries;
      const Index most = settings_.paper() ? set_pairs(longest, n) : chunk_pairs(s, longest, n);
      const Index rows = settings_.paper() ? plan_.clusters * std::min(longest, settings_.chunk)
                                           : longest + padded_rows(s, longest, n);
      const Index keys = problem_of(s).most_keys;
      cost.scored_pairs += heads_ * most;
      cost.flops += heads_ * rows * keys * 4 * width_;
      cost.backward_flops += heads_ * problem_of(s).backward_flops(rows, keys);
    }
    // Paper mode compares once to know the nearest centre, and once for the sets.
    cost.flops +=
        joining * (s.queries + (settings_.shared ? 0 : s.keys)) * (settings_.paper() ? 2 : 1);
    const Index statistics = heads_ * plan_.clusters * (2 * width_ + 1);
    cost.saved_bytes = listed_saved_bytes(problem_of(s)) + statistics * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override {
    inventory.add("centroids", centroids_.state());
  }

  std::vector<Metric> metrics() const override {
    const auto rows = centroids_.state().value().read();
    const std::size_t stride = std::size_t(width_ + 2);
    double used = 0, most = 0, all = 0, clusters = double(rows.size() / stride);
    for (std::size_t i = 0; i < rows.size(); i += stride) {
      const double members = rows[i + stride - 2];
      used += members > 0;
      most = std::max(most, members);
      all += members;
    }
    return {{"clusters_used", used / clusters},
            {"largest_cluster", all > 0 ? most * double(heads_) / all : 0}};
  }

 private:
  /// A chunk longer than the sequence holds all of it.
  ListRule rule(const Sequences& s) const {
    return {.chunk = std::clamp<Index>(s.keys, 1, settings_.chunk),
            .causal = s.causal,
            .reads_self = settings_.reads_self()};
  }
  ListedProblem problem_of(const Sequences& s) const {
    using Merge = ListedProblem::Merge;
    return {.sequences = s,
            .heads = heads_,
            .head_width = width_,
            .scale = scale_,
            .self_as_fallback = !settings_.reads_self(),
            .merge = settings_.paper() ? Merge::mean : Merge::softmax,
            .count_eps = Real(settings_.count_eps),
            .most_keys = (settings_.paper() ? 1 : 2) * rule(s).chunk,
            .slots = plan_.clusters * std::min(s.queries, settings_.chunk),
            .precision = precision_};
  }

  /// Queries, and keys where they are others, in the form in which they join clusters.
  std::vector<Tensor> formed_tokens(const AttentionInput& input) const {
    const Sequences& s = input.sequences;
    std::vector<Tensor> tokens{
        form_heads(plan_.form, heads_of(input.blocks[0]), s.batch * s.queries, heads_, width_)};
    if (!settings_.shared)
      tokens.push_back(
          form_heads(plan_.form, heads_of(input.blocks[1]), s.batch * s.keys, heads_, width_));
    return tokens;
  }

  RoutingChoice choose(const Sequences& s, const std::vector<Tensor>& tokens,
                       const Tensor& centres) const {
    RoutingChoice choice;
    const std::vector<Index>* lengths = s.key_lengths.get();
    choice.queries = join_clusters(tokens[0], centres, s.batch);
    if (!settings_.shared) choice.keys = join_clusters(tokens[1], centres, s.batch);
    if (!settings_.paper()) return choice;
    choice.query_sets = nearest_tokens(tokens[0], centres, s.batch, settings_.chunk,
                                       settings_.shared ? lengths : nullptr);
    if (!settings_.shared)
      choice.key_sets = nearest_tokens(tokens[1], centres, s.batch, settings_.chunk, lengths);
    return choice;
  }

  std::vector<Centroids::Members> members(const Sequences& s, const std::vector<Tensor>& tokens,
                                          const RoutingChoice& choice) const {
    const std::vector<Index>* lengths = s.key_lengths.get();
    std::vector<Centroids::Members> all{
        {tokens[0], choice.queries, s.batch, s.queries, settings_.shared ? lengths : nullptr}};
    if (!settings_.shared) all.push_back({tokens[1], choice.keys, s.batch, s.keys, lengths});
    return all;
  }

  Commitment commitment(const AttentionInput& input, const Tensor& centres,
                        const std::shared_ptr<const RoutingChoice>& choice) const {
    Commitment loss{settings_.commitment, plan_.form, centres, input.sequences, {}};
    loss.add(input.blocks[0], {choice, &choice->queries});
    if (!settings_.shared) loss.add(input.blocks[1], {choice, &choice->keys});
    return loss;
  }

  /// The list of the cluster that a token joins.  centres: [H, D, K]
  std::vector<std::int32_t>& list_of(MemberCache& cache, const Tensor& centres, Index head,
                                     const Real* token) const {
    const Index clusters = plan_.clusters;
    std::vector<Real> formed(static_cast<std::size_t>(width_));
    std::vector<Real> scratch(static_cast<std::size_t>(clusters));
    plan_.form.apply(token, formed.data(), width_);
    const Index joined = join_cluster(formed.data(), centres.data() + head * width_ * clusters,
                                      width_, clusters, scratch.data());
    return cache.members[std::size_t(head * clusters + joined)];
  }

  /// The most pairs of one sequence and head.
  Index chunk_pairs(const Sequences& s, Index queries, Index keys) const {
    if (!settings_.shared) return queries * std::min(keys, 2 * settings_.chunk);
    return most_pairs(rule(s), keys) + (settings_.reads_self() || keys == 0 ? 0 : 1);
  }
  Index set_pairs(Index queries, Index keys) const {
    return plan_.clusters * std::min(queries, settings_.chunk) * std::min(keys, settings_.chunk);
  }
  /// Rows of blocks that may stay empty: some of one block for each cluster, or with separate keys
  /// for each stretch of queries that begin to read at the same key.
  Index padded_rows(const Sequences& s, Index queries, Index keys) const {
    const Index stretches = settings_.shared ? 1 : 1 + keys / settings_.chunk;
    return std::min(queries, plan_.clusters * stretches) * (rule(s).block_rows() - 1);
  }

  RoutingSettings settings_;
  Index heads_, width_;
  core::Precision precision_;
  Real scale_;
  ListedForms forms_;
  CentroidSettings plan_;
  Centroids centroids_;
};

}  // namespace

AttentionPlan configure_routing(core::Fields& fields, const AttentionSite&) {
  return configure<RoutingSettings, RoutingAttention>(fields);
}

}  // namespace weft::layers
