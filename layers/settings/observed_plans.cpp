#include "layers/settings/observed_plans.h"

#include "layers/attention/contract/key_weights.h"

namespace weft::layers {
namespace {

using Observe = std::function<void(const Observation&)>;

/// A mechanism that does what another does, and reports what it read.
class ObservedAttention final : public Attention {
 public:
  ObservedAttention(std::unique_ptr<Attention> inner, std::string name, const AttentionSite& site,
                    Observe observe)
      : inner_(std::move(inner)),
        name_(std::move(name)),
        site_(site),
        observe_(std::move(observe)) {}

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    observe_({name_, site_, input.sequences,
              key_weights(*inner_, pass, input, site_.heads, site_.head_width),
              token_groups(*inner_, pass, input), inner_->spans()});
    return inner_->forward(pass, input);
  }

  std::vector<Projection> projections() const override { return inner_->projections(); }
  std::unique_ptr<DecodeState> begin() const override { return inner_->begin(); }
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    inner_->step(state, input, out);
  }
  Cost cost(const Sequences& sequences) const override { return inner_->cost(sequences); }
  Index memory_tokens() const override { return inner_->memory_tokens(); }
  Index carried_numbers() const override { return inner_->carried_numbers(); }
  std::vector<double> spans() const override { return inner_->spans(); }
  void visit(autograd::Inventory& inventory) override { inner_->visit(inventory); }
  Var penalty(const Pass& pass) const override { return inner_->penalty(pass); }
  std::vector<Metric> metrics() const override { return inner_->metrics(); }
  void constrain() override { inner_->constrain(); }

 private:
  std::unique_ptr<Attention> inner_;
  std::string name_;
  AttentionSite site_;
  Observe observe_;
};

}  // namespace

AttentionPlans observed_plans(const AttentionPlans& plans, const Observe& observe) {
  AttentionPlans all = plans;
  for (auto& [name, groups] : all)
    for (HeadGroupPlan& group : groups)
      group.attention.make = [make = group.attention.make, name = name,
                              observe](const AttentionSite& site) -> std::unique_ptr<Attention> {
        return std::make_unique<ObservedAttention>(make(site), name, site, observe);
      };
  return all;
}

}  // namespace weft::layers
