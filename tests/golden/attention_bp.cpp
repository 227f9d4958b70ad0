#include "layers/attention/partition/graph.h"
#include "layers/attention/partition/rows.h"
#include "tests/golden/attention_replay.h"
#include "tests/golden/golden_parameters.h"

namespace weft::golden {
namespace {

/// A mechanism over sequences that are all laid out alike.
class OverRows final : public layers::Attention {
 public:
  OverRows(std::unique_ptr<layers::Attention> inner, layers::RowLayout layout)
      : inner_(std::move(inner)), layout_(std::move(layout)) {}

  std::vector<layers::Projection> projections() const override { return inner_->projections(); }
  autograd::Var forward(const autograd::Pass& pass,
                        const layers::AttentionInput& input) const override {
    layers::AttentionInput laid_out = input;
    laid_out.sequences.rows = std::make_shared<const std::vector<layers::RowLayout>>(
        std::size_t(input.sequences.batch), layout_);
    return inner_->forward(pass, laid_out);
  }
  std::unique_ptr<layers::DecodeState> begin() const override { return inner_->begin(); }
  void step(layers::DecodeState& state, const layers::StepInput& input,
            std::span<Real> out) const override {
    inner_->step(state, input, out);
  }
  layers::Cost cost(const layers::Sequences& sequences) const override {
    return inner_->cost(sequences);
  }
  void visit(autograd::Inventory& inventory) override { inner_->visit(inventory); }

 private:
  std::unique_ptr<layers::Attention> inner_;
  layers::RowLayout layout_;
};

/// Reader, source and label of every edge.
void compare_edges(Case& golden, const layers::PartitionGraph& graph) {
  std::vector<Real> edges;
  for (Index reader = 0; reader < graph.tree().nodes(); ++reader) {
    std::vector<layers::LabelRun> runs;
    graph.of(reader, runs);
    for (const layers::LabelRun& run : runs)
      for (Index source = run.begin; source < run.end; ++source)
        for (const Index number : {reader, source, run.first + run.step * (source - run.begin)})
          edges.push_back(Real(number));
  }
  golden.compare("state/edges", edges);
}

}  // namespace

void attention_bp(Case& golden) {
  const Index length = golden.integer("length"), fan = golden.integer("fan"),
              clip = golden.integer("clip");
  const bool causal = golden.flag("causal");
  compare_edges(golden, layers::PartitionGraph(length, {fan, clip}, causal));
  OverRows attention(
      make_attention(golden, "bp", golden.shape("in/q"), causal, {{"fan", fan}, {"clip", clip}}),
      layers::PartitionRows().layout(length));
  GoldenParameters parameters(golden, attention, {{"labels", "a"}});
  replay_attention(golden, attention, causal,
                   {.before = [&](const auto&, auto&) { parameters.zero_gradients(); },
                    .after = [&](const auto&, auto&) { parameters.compare_gradients(golden); }});
}

}  // namespace weft::golden
