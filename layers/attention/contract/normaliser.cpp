#include "layers/attention/contract/normaliser.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"

namespace weft::layers {
namespace {

constexpr double least_alpha = 1.01;

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

}  // namespace

void NormaliserSettings::fields(core::Fields& field) {
  field.choice(
      "normaliser", kind,
      "what turns scores into weights; all but softmax can give a key a weight of exactly zero",
      {{"softmax", Kind::softmax},
       {"sparsemax", Kind::sparsemax},
       {"entmax15", Kind::entmax15},
       {"entmax", Kind::entmax}});
  if (kind == Kind::sparsemax) alpha = 2;
  field.when("normaliser", {"entmax"}, [&] {
    field.number("alpha", alpha,
                 "2: sparsemax, near 1: near softmax; the initial value if it is learned",
                 core::between(least_alpha, 8));
    field.flag("learned_alpha", learned, "every head learns its own alpha between 1.01 and 2");
    if (learned && alpha >= 2)
      field.problem("alpha", "a learned alpha starts between 1.01 and 2, for example at 1.5");
  });
  field.when("normaliser", {"softmax"}, [&] {
    field.added("sink");
    field.choice("sink", sink,
                 "learned: one more logit in each head's softmax, without a value, so that the "
                 "weights of keys can add up to less than 1",
                 {{"none", SinkKind::none}, {"learned", SinkKind::learned}});
  });
}

Normaliser::Normaliser(const NormaliserSettings& settings, Index heads)
    : softmax_(settings.is_softmax()), heads_(heads), alpha_(settings.alpha) {
  if (settings.is_softmax() && settings.sink == SinkKind::learned)
    sinks_ = std::make_unique<autograd::Parameter>(core::Shape{heads}, autograd::Init::zeros());
  if (!settings.learned) return;
  const double start = std::log((alpha_ - 1) / (2 - alpha_));
  parameter_ = std::make_unique<autograd::Parameter>(
      core::Shape{heads}, autograd::Init{autograd::Init::Law::constant, start});
}

std::vector<Entmax> Normaliser::of_heads() const {
  std::vector<Entmax> all;
  if (softmax_) return all;
  for (Index h = 0; h < heads_; ++h)
    all.emplace_back(parameter_ ? std::max(least_alpha, 1 + sigmoid(double(parameter_->data()[h])))
                                : alpha_);
  return all;
}

Var Normaliser::parameter(const Pass& pass) const {
  return autograd::as_variable(pass, *parameter_);
}

Var Normaliser::sinks(const Pass& pass) const {
  return sinks_ ? autograd::as_variable(pass, *sinks_) : Var();
}

core::Tensor Normaliser::pull_back(const std::vector<double>& dalpha) const {
  core::Tensor gradient(core::Shape{heads_});
  for (Index h = 0; h < heads_; ++h) {
    const double above = sigmoid(double(parameter_->data()[h]));
    const bool held = 1 + above < least_alpha;
    gradient.write()[std::size_t(h)] =
        held ? 0 : Real(dalpha[std::size_t(h)] * above * (1 - above));
  }
  return gradient;
}

void Normaliser::visit(autograd::Inventory& inventory) {
  if (parameter_) inventory.add("alpha", *parameter_);
  if (sinks_) inventory.add("sinks", *sinks_);
}

}  // namespace weft::layers
