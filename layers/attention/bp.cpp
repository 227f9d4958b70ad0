// BP-Transformer: the nodes of a binary partition of the sequence are additional rows. A span
// reads its tokens; a token reads itself and, on either side, `fan` nodes of each level, short
// spans near by and long ones far away, which together cover all other tokens exactly once:
//   score = q . (k + a[label]) / sqrt(D), where the label encodes level, side and step of the edge.
// In causal use tokens read no nodes to their right.
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/partition/attention.h"
#include "layers/attention/partition/decoding.h"
#include "layers/attention/partition/rows.h"

namespace weft::layers {
namespace {

struct BpSettings {
  EdgeLabels labels;

  void fields(core::Fields& field) {
    field.integer("fan", labels.fan, "nodes that a token reads of each level, on each side (k)",
                  core::between(1, 4096));
    field.integer("clip", labels.clip, "levels from here on share their labels",
                  core::between(0, 62));
  }

  AttentionTraits traits() const {
    return {.summary = "softmax over spans of a binary partition, fine near by and coarse far away",
            .cross = false,
            .keys_per_token = core::message_of("about ", labels.fan,
                                               " a level and side, log2(T) levels; T rows more, "
                                               "of log2(T) keys on average"),
            .decode_state = "every key and value, and those of as many spans"};
  }
};

class BpAttention final : public Attention {
 public:
  BpAttention(const BpSettings& settings, const AttentionSite& site,
              std::shared_ptr<EdgeCache> edges)
      : labels_(settings.labels),
        heads_(site.heads),
        width_(site.head_width),
        scale_(Real(1 / std::sqrt(double(site.head_width)))),
        table_({labels_.count(), width_}, autograd::Init::normal(0.02)),
        edges_(std::move(edges)) {}

  /// Rotary positions turn nothing: the labels say where a node is.
  std::vector<Projection> projections() const override {
    return {{"q", Projection::Side::queries},
            {"k", Projection::Side::keys},
            {"v", Projection::Side::keys}};
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    check_input("bp", *this, input, heads_, width_);
    return partition_attention(problem(input.sequences), input.blocks,
                               autograd::as_variable(pass, table_));
  }

  std::unique_ptr<DecodeState> begin() const override {
    return std::make_unique<NodeStore>(labels_, heads_, width_, scale_);
  }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    static_cast<NodeStore&>(state).step(input, table_.data(), out);
  }

  Cost cost(const Sequences& sequences) const override {
    return partition_cost(problem(sequences));
  }

  void visit(autograd::Inventory& inventory) override { inventory.add("labels", table_); }

 private:
  PartitionProblem problem(const Sequences& sequences) const {
    const auto make = [&](const RowLayout& layout) {
      return std::make_shared<const EdgeList>(
          PartitionGraph(layout.tokens(), labels_, sequences.causal));
    };
    return {sequences, heads_, width_, scale_, labels_.count(), edges_->of_all(sequences, make)};
  }

  EdgeLabels labels_;
  Index heads_, width_;
  Real scale_;
  autograd::Parameter table_;  ///< [labels, D], the same for all heads
  std::shared_ptr<EdgeCache> edges_;
};

}  // namespace

AttentionPlan configure_bp(core::Fields& field, const AttentionSite&) {
  BpSettings settings;
  settings.fields(field);
  const auto make = [settings, edges = std::make_shared<EdgeCache>()](const AttentionSite& site) {
    return std::make_unique<BpAttention>(settings, site, edges);
  };
  return {.make = make, .traits = settings.traits(), .rows = std::make_shared<PartitionRows>()};
}

}  // namespace weft::layers
