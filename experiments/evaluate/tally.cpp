#include "experiments/evaluate/tally.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "core/ranks/collectives.h"

namespace weft::experiments {
namespace {

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
Band& tenth_of(std::vector<Band>& bands, Index k) {
  while (bands.size() < 10) {
    const Index from = 10 * Index(bands.size());
    bands.push_back({.from = from, .to = from + 10});
  }
  return bands[std::size_t(k)];
}

/// The band of one number alone.
Band& band_of(std::vector<Band>& bands, Index value) {
  while (Index(bands.size()) <= value)
    bands.push_back({.from = Index(bands.size()), .to = Index(bands.size())});
  return bands[std::size_t(value)];
}

void count_in(Band& band, const TokenResult& token, Index units = 1) {
  ++band.tokens;
  band.units += units;
  band.nats += token.nats;
  band.correct += token.correct;
  band.steps += token.steps;
}

bool is_counted(const Band& band) { return band.tokens > 0; }

Index stride_of(const data::Dataset& dataset, const EvaluationOptions& options) {
  return options.stride > 0 ? options.stride : dataset.length();
}

/// The sequences that a budget of tokens pays for: each brings `stride` new ones.
Index sequences_of(const data::Dataset& dataset, const EvaluationOptions& options) {
  const Index stride = stride_of(dataset, options);
  return std::max<Index>(1, (options.tokens + stride - 1) / stride);
}

/// Nothing is scored in the rows from `first` on.
void leave_out_rows(Index first, data::Batch& batch) {
  const Index rows = batch.targets.shape()[0], each = batch.targets.size() / rows;
  if (first >= rows) return;
  std::vector<core::Token> targets(batch.targets.read().begin(), batch.targets.read().end());
  std::fill(targets.begin() + std::ptrdiff_t(first * each), targets.end(), core::no_target);
  batch.targets = core::Tokens(batch.targets.shape(), std::move(targets));
}

}  // namespace

void Tally::count(const TokenResult& token, Index context, Index distance, TokenSize size) {
  ++result_.tokens;
  result_.units += size.units;
  result_.bytes += size.bytes;
  result_.correct += token.correct;
  sum_ += token.nats;
  squares_ += token.nats * token.nats;
  steps_ += token.steps;
  if (context > 0) count_in(octave(result_.by_position, context), token, size.units);
  if (distance > 0) count_in(octave(result_.by_distance, distance), token, size.units);
}

void Tally::count_sequence(bool all_correct) {
  ++result_.sequences;
  result_.sequences_correct += all_correct;
}

void Tally::count_depth(Index tenth, const TokenResult& whole) {
  count_in(tenth_of(result_.by_depth, tenth), whole);
}

void Tally::count_difficulty(Index difficulty, const TokenResult& whole) {
  count_in(band_of(result_.by_difficulty, difficulty), whole);
}

void Tally::count_length(Index length, const TokenResult& whole) {
  count_in(octave(result_.by_difficulty, length), whole);
}

Evaluation Tally::finish() {
  core::require(result_.tokens > 0, "evaluation: the split has nothing to score");
  const double n = double(result_.tokens);
  result_.nats = sum_ / n;
  result_.error = std::sqrt(std::max(0.0, squares_ / n - result_.nats * result_.nats) / n);
  result_.steps = steps_ / n;
  if (std::ranges::count_if(result_.by_difficulty, is_counted) < 2) result_.by_difficulty.clear();
  return std::move(result_);
}

double Band::bits() const { return units ? bits_of(nats / double(units)) : 0; }

double Evaluation::bits(double nats_per_token) const {
  return bits_of(nats_per_token) * (units > 0 ? double(tokens) / double(units) : 1);
}

std::optional<double> Evaluation::bits_per_byte() const {
  if (bytes == 0) return {};
  return bits_of(nats) * (double(tokens) / double(bytes));
}

double Evaluation::accuracy_error() const {
  return std::sqrt(accuracy() * (1 - accuracy()) / double(tokens));
}
double Evaluation::perplexity() const { return std::exp(nats); }

const std::vector<Band>& Evaluation::by_hardness() const {
  if (!by_distance.empty()) return by_distance;
  return by_difficulty.empty() ? by_position : by_difficulty;
}

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

Index batches_of(const data::Dataset& dataset, const EvaluationOptions& options) {
  Index batches = dataset.evaluation_batches(options.split, stride_of(dataset, options));
  if (options.batches > 0) batches = std::min(batches, options.batches);
  if (options.tokens > 0 && batches > 0) {
    const Index rows =
        dataset.evaluation(options.split, 0, stride_of(dataset, options)).inputs.shape()[0];
    batches = std::min(batches, (sequences_of(dataset, options) + rows - 1) / rows);
  }
  return batches;
}

double for_each_batch(const data::Dataset& dataset, const EvaluationOptions& options,
                      const std::function<void(const data::Batch&)>& read) {
  const Index batches = batches_of(dataset, options);
  Index tokens_read = 0, sequences = 0;
  const Index pairs_before = core::counters().scored_pairs;
  for (Index i = 0; i < batches; ++i) {
    if (options.poll) options.poll();
    data::Batch batch = dataset.evaluation(options.split, i, stride_of(dataset, options));
    const Index rows = batch.inputs.shape()[0];
    if (options.tokens > 0)
      leave_out_rows(std::max<Index>(0, sequences_of(dataset, options) - sequences), batch);
    sequences += rows;
    tokens_read += batch.inputs.size();
    read(batch);
  }
  std::vector<Index> pairs{core::counters().scored_pairs - pairs_before};
  core::add_everywhere(options.ranks, pairs);
  return double(pairs[0]) / double(std::max<Index>(1, tokens_read));
}

}  // namespace weft::experiments
