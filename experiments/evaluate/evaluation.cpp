#include "experiments/evaluate/evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iomanip>
#include <numbers>
#include <sstream>

#include "core/counters.h"
#include "core/error.h"
#include "experiments/evaluate/baselines.h"

namespace weft::experiments {
namespace {

double bits_of(double nats) { return nats / std::numbers::ln2; }

/// The band of octaves [1], [2, 3], [4, 7], ... that a positive number falls in.
Band& octave(std::vector<Band>& bands, Index value) {
  const std::size_t k = std::size_t(std::bit_width(std::uint64_t(value))) - 1;
  while (bands.size() <= k) {
    const Index from = Index(1) << bands.size();
    bands.push_back({.from = from, .to = 2 * from - 1});
  }
  return bands[k];
}

/// Tenth k of the bands from 0 to 100 per cent.
Band& tenth(std::vector<Band>& bands, Index k) {
  while (bands.size() < 10) {
    const Index from = 10 * Index(bands.size());
    bands.push_back({.from = from, .to = from + 10});
  }
  return bands[std::size_t(k)];
}

void count(Band& band, double nats, bool correct) {
  ++band.tokens;
  band.nats += nats;
  band.correct += correct;
}

/// Sums in double over tokens in order.
class Tally {
 public:
  void add(const data::Batch& batch, const layers::TokenScores& scores) {
    for (Index row = 0; row < batch.targets.shape()[0]; ++row) add_row(batch, scores, row);
  }

  Evaluation finish() {
    core::require(result.tokens > 0, "evaluation: the split has no token to score");
    const double n = double(result.tokens);
    result.nats = sum_ / n;
    result.error = std::sqrt(std::max(0.0, squares_ / n - result.nats * result.nats) / n);
    return std::move(result);
  }

  Evaluation result;

 private:
  void add_row(const data::Batch& batch, const layers::TokenScores& scores, Index row) {
    const auto targets = batch.targets.read(), distances = batch.distances.read();
    const Index length = batch.targets.shape().back();
    Index scored = 0, first = 0, recalled = 0;
    bool all_correct = true, one_place = !distances.empty();
    double row_nats = 0;
    for (Index t = 0; t < length; ++t) {
      const auto i = std::size_t(row * length + t);
      if (targets[i] == core::no_target) continue;
      const double nats = scores.nats[i];
      const bool correct = scores.correct[i];
      if (scored++ == 0) {
        first = t;
        recalled = one_place ? distances[i] : 0;
      }
      one_place = one_place && recalled > 0 && distances[i] == recalled;
      all_correct = all_correct && correct;
      row_nats += nats;
      result.correct += correct;
      sum_ += nats;
      squares_ += nats * nats;
      count(octave(result.by_position, t + 1), nats, correct);
      if (!distances.empty() && distances[i] > 0)
        count(octave(result.by_distance, distances[i]), nats, correct);
    }
    if (scored == 0) return;
    result.tokens += scored;
    ++result.sequences;
    result.sequences_correct += all_correct;
    if (one_place)
      count(tenth(result.by_depth, 10 * (first - recalled) / first), row_nats, all_correct);
  }

  double sum_ = 0, squares_ = 0;
};

void print_bands(std::ostream& out, const char* title, const std::vector<Band>& bands) {
  out << title << '\n';
  for (const Band& band : bands) {
    if (band.tokens == 0) continue;
    const std::string range = band.from == band.to
                                  ? std::to_string(band.from)
                                  : std::to_string(band.from) + "-" + std::to_string(band.to);
    out << "  " << std::setw(13) << range << std::setw(10) << band.tokens << std::setw(10)
        << std::setprecision(3) << band.bits() << std::setw(11) << band.accuracy() << '\n';
  }
}

}  // namespace

double Band::bits() const { return tokens ? bits_of(nats / double(tokens)) : 0; }
double Evaluation::bits() const { return bits_of(nats); }
double Evaluation::accuracy_error() const {
  return std::sqrt(accuracy() * (1 - accuracy()) / double(tokens));
}
double Evaluation::perplexity() const { return std::exp(nats); }

std::optional<double> Evaluation::recall_beyond(Index distance) const {
  Index tokens_beyond = 0, correct_beyond = 0;
  for (const Band& band : by_distance)
    if (band.from > distance) {
      tokens_beyond += band.tokens;
      correct_beyond += band.correct;
    }
  if (tokens_beyond == 0) return std::nullopt;
  return double(correct_beyond) / double(tokens_beyond);
}

Evaluation evaluate(const layers::Model& model, const data::Dataset& dataset,
                    const EvaluationOptions& options) {
  const Index stride = options.stride > 0 ? options.stride : dataset.length();
  Index batches = dataset.evaluation_batches(options.split, stride);
  if (options.batches > 0) batches = std::min(batches, options.batches);
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  Tally tally;
  layers::StreamMemory memory;
  Index tokens_read = 0;
  const Index pairs_before = core::counters().scored_pairs;
  for (Index i = 0; i < batches; ++i) {
    const data::Batch batch = dataset.evaluation(options.split, i, stride);
    if (model.recurrent() && !batch.continues) memory = model.memory(batch.inputs.shape()[0]);
    tokens_read += batch.inputs.size();
    tally.add(batch, model.score(pass, {batch, model.recurrent() ? &memory : nullptr}));
  }
  tally.result.stride = stride;
  tally.result.pairs_per_token = double(core::counters().scored_pairs - pairs_before) /
                                 double(std::max<Index>(1, tokens_read));
  return tally.finish();
}

std::string print_evaluation(const Evaluation& e, const data::Dataset& dataset, data::Split split) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  out << data::name_of(split) << ": " << e.bits() << " bits per " << dataset.unit() << " (± "
      << bits_of(e.error) << "), loss " << e.nats << ", perplexity " << e.perplexity() << ", "
      << e.tokens << (dataset.classes() > 0 ? " sequences" : " tokens") << ", each scored once\n";
  if (const auto floor = dataset.floor_bits(split))
    out << "floor: " << *floor << " bits per " << dataset.unit()
        << ", what the source itself leaves open\n";
  if (e.pairs_per_token > 0)
    out << "attention scored " << std::setprecision(1) << e.pairs_per_token
        << " pairs a token over all layers and heads" << std::setprecision(4) << '\n';
  if (const auto part = dataset.scored_part())
    out << *part << ": " << e.accuracy() << " of tokens right, " << e.sequence_accuracy()
        << " of sequences whole\n";
  if (const auto baselines = all_baselines(dataset, split); !baselines.empty())
    out << print_accuracy(e.accuracy(), e.accuracy_error(), baselines);
  if (!dataset.predicts_next()) return out.str();
  print_bands(out, "       context    tokens      bits   accuracy", e.by_position);
  if (!e.by_distance.empty())
    print_bands(out, " recalled from    tokens      bits   accuracy", e.by_distance);
  if (!e.by_depth.empty())
    print_bands(out, "    at depth, % sequences      bits      whole", e.by_depth);
  if (const auto chance = dataset.chance())
    out << "  chance of a guess: " << std::setprecision(3) << *chance << '\n';
  return out.str();
}

}  // namespace weft::experiments
