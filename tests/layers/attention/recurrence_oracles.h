#pragma once

#include "tests/layers/attention/naive_recurrence.h"

/// The naive twins of the mechanisms on the recurrence.
namespace weft::layers {

using RecurrenceInputsInDouble = std::vector<std::vector<double>>;

inline std::vector<double> retention_oracle(const AttentionSample& sample,
                                            const RecurrenceInputsInDouble& in) {
  const NaiveRecurrence it(sample, in);
  const auto decay = [&](Index, Index column) {
    return std::log(1 - std::pow(2.0, -5.0 - double(column / sample.head_width())));
  };
  return it.normalised(it.run(in[0], in[1], in[2], decay, it.constant(1), it.constant(0)), it.silu);
}

inline std::vector<double> gla_oracle(const AttentionSample& sample,
                                      const RecurrenceInputsInDouble& in) {
  const NaiveRecurrence it(sample, in);
  const auto decay = it.gate("decay", true, [](double x, Index) {
    return std::max(std::log(NaiveRecurrence::logistic(x)) / 16, -5.0);
  });
  return it.normalised(it.run(in[0], in[1], in[2], decay, it.constant(1), it.constant(0)), it.silu);
}

/// deltanet, gated_deltanet and kda by the gates that are given.
inline std::vector<double> delta_oracle(const NaiveRecurrence& it,
                                        const NaiveRecurrence::Gate& decay,
                                        const NaiveRecurrence::Gate& write,
                                        const NaiveRecurrence::Gate& erase,
                                        const std::function<double(double)>& activation) {
  return it.normalised(
      it.run(it.unit(it.block(0)), it.unit(it.block(1)), it.block(2), decay, write, erase),
      activation);
}

/// `most`: of the strength, 2 where it may be negative; decays where `fades`.
inline auto deltanet_oracle(double most, bool fades) {
  return [most, fades](const AttentionSample& sample, const RecurrenceInputsInDouble& in) {
    const NaiveRecurrence it(sample, in);
    const auto strength = it.gate(
        "strength", false, [most](double x, Index) { return most * NaiveRecurrence::logistic(x); });
    if (!fades) return delta_oracle(it, it.constant(0), strength, strength, it.silu);
    const auto decay = it.gate("fading", false, [&it](double x, Index head) {
      return -std::exp(it.parameter("log_rate")[std::size_t(head)]) * it.softplus(x);
    });
    return delta_oracle(it, decay, strength, strength, it.silu);
  };
}

inline NaiveRecurrence::Gate column_fading(const NaiveRecurrence& it, double floor) {
  return it.gate("fading", true, [&it, floor](double x, Index head) {
    const double rate = std::exp(it.parameter("log_rate")[std::size_t(head)]);
    return floor == 0 ? -rate * it.softplus(x) : floor * it.logistic(rate * x);
  });
}

inline auto kda_oracle(double floor) {
  return [floor](const AttentionSample& sample, const RecurrenceInputsInDouble& in) {
    const NaiveRecurrence it(sample, in);
    const auto strength =
        it.gate("strength", false, [](double x, Index) { return NaiveRecurrence::logistic(x); });
    return delta_oracle(it, column_fading(it, floor), strength, strength, it.logistic);
  };
}

inline std::vector<double> gdn2_oracle(const AttentionSample& sample,
                                       const RecurrenceInputsInDouble& in) {
  const NaiveRecurrence it(sample, in);
  const auto open = [](double x, Index) { return NaiveRecurrence::logistic(x); };
  return delta_oracle(it, column_fading(it, -5), it.gate("writing", true, open),
                      it.gate("erasing", true, open), it.logistic);
}

/// One head of queries and keys from the input serves all; gated first, then normalised together.
inline std::vector<double> ssd_oracle(const AttentionSample& sample,
                                      const RecurrenceInputsInDouble& in) {
  const NaiveRecurrence it(sample, in);
  const Index D = sample.head_width(), columns = sample.width();
  const auto both = it.map("keys", 2 * D);
  const auto spread = [&](Index first, const std::string& name, double factor) {
    std::vector<double> own, all;
    for (std::size_t i = 0; i < both.size() / 2; ++i)
      own.push_back(
          both[i / std::size_t(D) * std::size_t(2 * D) + std::size_t(first) + i % std::size_t(D)]);
    own = it.convolved(own, name, D);
    for (std::size_t i = 0; i < in[0].size(); ++i)
      all.push_back(factor * own[i / std::size_t(columns) * std::size_t(D) + i % std::size_t(D)]);
    return all;
  };
  const auto v = it.convolved(in[0], "conv_v", columns);
  const auto step =
      it.gate("steps", false, [](double x, Index) { return std::log1p(std::exp(x)); });
  const auto decay = [&](Index row, Index column) {
    return -std::exp(it.parameter("log_rate")[std::size_t(column / D)]) * step(row, column);
  };
  auto o = it.run(spread(0, "conv_q", std::sqrt(double(D))), spread(D, "conv_k", 1), v, decay, step,
                  it.constant(0));
  const auto gate = it.map("gate", columns);
  for (std::size_t first = 0; first < o.size(); first += std::size_t(columns)) {
    double squares = 0;
    for (std::size_t i = first; i < first + std::size_t(columns); ++i) {
      o[i] += it.parameter("skip")[(i - first) / std::size_t(D)] * v[i];
      if (it.only_sums) continue;
      o[i] *= it.silu(gate[i]);
      squares += o[i] * o[i];
    }
    for (std::size_t i = first; !it.only_sums && i < first + std::size_t(columns); ++i)
      o[i] *= it.parameter("gain")[i - first] / std::sqrt(squares / double(columns) + 1e-5);
  }
  return o;
}

}  // namespace weft::layers
