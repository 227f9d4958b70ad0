#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double log_sigmoid(double x) {
  return x >= 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x));
}

/// ln of the probability of a value under one logistic, and its derivatives.
struct Component {
  double log_probability, by_mean, by_log_scale;
};

/// hi and lo are the upper and lower edge of the value's interval, (y -+ 1 / (levels - 1) - mean)
/// e^-s; the outermost intervals are open. Between them, with d = hi - lo,
///   ln(F(hi) - F(lo)) = ln sigmoid(hi) + ln sigmoid(-lo) + ln(1 - e^-d),
/// which is exact where the plain difference loses everything.
Component component(core::Token value, Index levels, double mean, double log_scale,
                    double least_log_scale) {
  const double s = std::max(log_scale, least_log_scale), inverse = std::exp(-s);
  const double half = 1 / double(levels - 1), y = 2 * half * double(value) - 1;
  const double hi = (y + half - mean) * inverse, lo = (y - half - mean) * inverse;
  Component c;
  if (value == 0) {
    const double rest = sigmoid(-hi);
    c = {log_sigmoid(hi), -inverse * rest, -hi * rest};
  } else if (value == levels - 1) {
    const double rest = sigmoid(lo);
    c = {log_sigmoid(-lo), inverse * rest, lo * rest};
  } else {
    const double d = 2 * half * inverse, above = sigmoid(-hi), below = sigmoid(lo);
    c = {log_sigmoid(hi) + log_sigmoid(-lo) + std::log(-std::expm1(-d)), -inverse * (above - below),
         lo * below - hi * above - d / std::expm1(d)};
  }
  if (log_scale < least_log_scale) c.by_log_scale = 0;
  return c;
}

/// -ln of the mixture's probability of a value; with dtheta, its derivative by theta [3 K].
double row_nats(const Real* theta, Index mixtures, core::Token value, Index levels,
                double least_log_scale, Real* dtheta) {
  std::vector<Component> components;
  double top = -INFINITY, total = 0, joint_top = -INFINITY, joint = 0;
  for (Index k = 0; k < mixtures; ++k) {
    components.push_back(
        component(value, levels, theta[mixtures + k], theta[2 * mixtures + k], least_log_scale));
    top = std::max(top, double(theta[k]));
    joint_top = std::max(joint_top, double(theta[k]) + components.back().log_probability);
  }
  for (Index k = 0; k < mixtures; ++k) {
    total += std::exp(double(theta[k]) - top);
    joint += std::exp(double(theta[k]) + components[std::size_t(k)].log_probability - joint_top);
  }
  for (Index k = 0; dtheta && k < mixtures; ++k) {
    const Component& c = components[std::size_t(k)];
    const double prior = std::exp(double(theta[k]) - top) / total;
    const double posterior = std::exp(double(theta[k]) + c.log_probability - joint_top) / joint;
    dtheta[k] = Real(prior - posterior);
    dtheta[mixtures + k] = Real(-posterior * c.by_mean);
    dtheta[2 * mixtures + k] = Real(-posterior * c.by_log_scale);
  }
  return std::log(total) + top - std::log(joint) - joint_top;
}

}  // namespace

/// out[i] = -ln sum over k of softmax(z)_k (F((y + h - mu_k) e^-s_k) - F((y - h - mu_k) e^-s_k))
/// with F the sigmoid, y = 2 v / (levels - 1) - 1, h = 1 / (levels - 1); 0 where nothing is scored.
/// The gradient goes to z by prior less posterior, to mu and s by the posterior; s below the least
/// has none.  Saves: dtheta for an upstream gradient of 1.
Var logistic_mixture(const Var& theta, const core::Tokens& values, Index levels,
                     Real least_log_scale) {
  core::require(theta.shape().rank() == 2 && theta.shape()[1] % 3 == 0 && theta.shape()[1] > 0 &&
                    values.size() == theta.shape()[0] && levels >= 2,
                "logistic_mixture: theta ", theta.shape(), ", values ", values.shape(), ", ",
                levels, " levels");
  const Index rows = theta.shape()[0], n = theta.shape()[1];
  for (const core::Token v : values.read())
    core::require(v == core::no_target || (v >= 0 && v < levels), "logistic_mixture: value ", v,
                  " is outside ", levels, " levels");
  const bool records = theta.tape() != nullptr;
  Tensor nats({rows}), dtheta(records ? theta.shape() : Shape{0}, 0);
  const std::span<Real> out = nats.write(), d = dtheta.write();
  core::parallel_for(rows, 64, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const core::Token value = values.read()[std::size_t(r)];
      out[std::size_t(r)] =
          value == core::no_target
              ? Real(0)
              : Real(row_nats(theta.value().data() + r * n, n / 3, value, levels,
                              double(least_log_scale), records ? d.data() + r * n : nullptr));
    }
  });
  if (!records) return Var(std::move(nats));
  return record("logistic_mixture", std::move(nats), {theta}, [dtheta, n](Tensor dy) mutable {
    const std::span<Real> d_theta = dtheta.write();
    for (std::size_t i = 0; i < d_theta.size(); ++i) d_theta[i] *= dy.read()[i / std::size_t(n)];
    return Gradients{std::move(dtheta)};
  });
}

}  // namespace weft::autograd
