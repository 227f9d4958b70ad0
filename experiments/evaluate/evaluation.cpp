#include "experiments/evaluate/evaluation.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "experiments/evaluate/baselines.h"
#include "experiments/evaluate/question_evaluation.h"
#include "experiments/evaluate/shared_rows.h"

namespace weft::experiments {
namespace {

/// How much of the data a token stands for. Where bits are per byte, a token is as many units as it
/// has bytes.
TokenSize size_of(const data::Dataset& dataset, bool per_byte, core::Token token) {
  const auto bytes = dataset.text_bytes(token);
  if (!bytes) return {};
  return {.units = per_byte ? *bytes : 1, .bytes = *bytes};
}

/// Counts a sequence of one answer by how hard it is.
void count_whole(const data::Dataset& dataset, const data::Batch& batch, Index row,
                 const TokenResult& whole, Tally& tally) {
  const Index length = batch.inputs.shape()[1];
  const Index real = batch.lengths ? (*batch.lengths)[std::size_t(row)] : length;
  if (!dataset.difficulty()) return tally.count_length(real, whole);
  const auto own = batch.inputs.read().subspan(std::size_t(row * length), std::size_t(real));
  tally.count_difficulty(dataset.difficulty_of(own), whole);
}

/// Counts every scored token of a sequence of a batch, and the sequence if it has any.
void count_row(const data::Dataset& dataset, const data::Batch& batch,
               const layers::TokenScores& scores, Index row, Tally& tally) {
  const bool per_byte = dataset.unit() == "byte";
  const auto targets = batch.targets.read(), distances = batch.distances.read();
  const Index length = batch.targets.shape().back();
  Index scored = 0, first = 0, recalled = 0;
  bool all_correct = true, one_place = !distances.empty();
  TokenResult whole;
  for (Index t = 0; t < length; ++t) {
    const auto i = std::size_t(row * length + t);
    if (targets[i] == core::no_target) continue;
    const Index distance = distances.empty() ? 0 : distances[i];
    if (scored++ == 0) first = t, recalled = distance;
    one_place = one_place && recalled > 0 && distance == recalled;
    all_correct = all_correct && scores.correct[i];
    const double steps = scores.steps.empty() ? 0 : double(scores.steps[i]);
    whole.nats += scores.nats[i];
    whole.steps += steps;
    tally.count({scores.nats[i], scores.correct[i], steps}, t + 1, distance,
                size_of(dataset, per_byte, targets[i]));
  }
  if (scored == 0) return;
  whole.correct = all_correct;
  tally.count_sequence(all_correct);
  if (one_place) tally.count_depth(10 * (first - recalled) / first, whole);
  if (dataset.classes() > 0) count_whole(dataset, batch, row, whole, tally);
}

/// Scores a batch shard by shard; `memory` is that of this rank's shards.
layers::TokenScores score_shards(const layers::Model& model, const autograd::Pass& pass,
                                 const data::Batch& batch, const SharedRows& shared,
                                 std::vector<layers::StreamMemory>& memory) {
  std::vector<float> nats, steps;
  std::vector<char> correct;
  const std::vector<data::Batch> parts = shared.own(batch);
  for (std::size_t s = 0; s < parts.size(); ++s) {
    const data::Batch& part = parts[s];
    if (model.recurrent() && !part.continues) memory[s] = model.memory(part.inputs.shape()[0]);
    const auto own = model.score(pass, {part, model.recurrent() ? &memory[s] : nullptr});
    nats.insert(nats.end(), own.nats.begin(), own.nats.end());
    correct.insert(correct.end(), own.correct.begin(), own.correct.end());
    steps.insert(steps.end(), own.steps.begin(), own.steps.end());
  }
  nats = shared.join(std::move(nats));
  correct = shared.join(std::move(correct));
  return {std::move(nats), std::vector<bool>(correct.begin(), correct.end()),
          shared.join(std::move(steps))};
}

/// The same where sequences are cut into chunks, each of which is run after those on its left.
layers::TokenScores score_chunks(const layers::Model& model, const autograd::Pass& pass,
                                 const data::Batch& batch, const SharedRows& shared,
                                 core::ChunkLink& link) {
  const core::ChunkUnits& units = shared.units();
  const core::ChunkCut cut{batch.inputs.shape()[1], units.chunks};
  core::require(cut.length >= cut.count, "evaluation: sequences of ", cut.length,
                " tokens for train.chunks = ", cut.count);
  const core::Stretch own = shared.own_units(), shards = units.shards_of(own);
  std::vector<std::vector<float>> nats(std::size_t(own.size()));
  std::vector<std::vector<char>> correct(std::size_t(own.size()));
  for (Index shard = shards.begin; shard < shards.end; ++shard) {
    const core::Stretch rows = shared.rows_of(shard, batch.inputs.shape()[0]);
    if (rows.size() == 0) continue;
    const data::Batch part = data::rows_of(batch, rows);
    const core::Stretch mine = units.units_in(shard, own);
    link.enter(shard);
    for (Index unit = mine.end; unit-- > mine.begin;) {
      const Index chunk = units.chunk_of(unit);
      layers::Reading reading{data::columns_of(part, cut.of(chunk))};
      reading.chunk =
          std::make_shared<const layers::ChunkPlace>(layers::ChunkPlace{cut, chunk, &link});
      const layers::TokenScores scores = model.score(pass, reading);
      const auto i = std::size_t(unit - own.begin);
      nats[i] = scores.nats;
      correct[i].assign(scores.correct.begin(), scores.correct.end());
    }
  }
  link.finish();
  const auto right = shared.join_chunks(correct, batch);
  return {shared.join_chunks(nats, batch), std::vector<bool>(right.begin(), right.end())};
}

/// `title`: columns of the range and of three numbers.
void print_bands(std::ostream& out, const std::string& title, const std::vector<Band>& bands) {
  const bool halts = std::ranges::any_of(bands, [](const Band& band) { return band.steps > 0; });
  out << title << (halts ? "    steps\n" : "\n");
  for (const Band& band : bands) {
    if (band.tokens == 0) continue;
    const std::string range = band.from == band.to
                                  ? std::to_string(band.from)
                                  : std::to_string(band.from) + "-" + std::to_string(band.to);
    out << "  " << std::setw(13) << range << std::setw(10) << band.tokens << std::setw(10)
        << std::setprecision(3) << band.bits() << std::setw(11) << band.accuracy();
    if (halts) out << std::setw(9) << std::setprecision(2) << band.mean_steps();
    out << '\n';
  }
}

}  // namespace

Evaluation evaluate(const layers::Model& model, const data::Dataset& dataset,
                    const EvaluationOptions& options) {
  const auto* questions = dynamic_cast<const data::QuestionData*>(&dataset);
  if (const auto* answers = dynamic_cast<const layers::SpanModel*>(&model); answers && questions)
    return evaluate_questions(*answers, *questions, options);
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  Tally tally;
  const SharedRows shared(options);
  core::ChunkLink link(options.ranks, shared.units());
  std::vector<layers::StreamMemory> memory(std::size_t(shared.own_shards()));
  const double pairs = for_each_batch(dataset, options, [&](const data::Batch& batch) {
    const layers::TokenScores scores = options.chunks > 1
                                           ? score_chunks(model, pass, batch, shared, link)
                                           : score_shards(model, pass, batch, shared, memory);
    for (Index row = 0; row < batch.targets.shape()[0]; ++row)
      count_row(dataset, batch, scores, row, tally);
  });
  Evaluation result = tally.finish();
  result.stride = options.stride > 0 ? options.stride : dataset.length();
  result.pairs_per_token = pairs;
  result.budget = options.tokens;
  return result;
}

std::string print_evaluation(const Evaluation& e, const data::Dataset& dataset, data::Split split,
                             std::string_view name) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4);
  const char* scored = e.f1 ? " questions" : dataset.classes() > 0 ? " sequences" : " tokens";
  out << (name.empty() ? data::name_of(split) : name) << ": " << e.bits() << " bits per "
      << dataset.unit() << " (± " << e.bits_error() << "), loss " << e.nats << ", perplexity "
      << e.perplexity() << ", " << e.tokens << scored << ", each scored once\n";
  if (e.budget > 0) out << "scored: the first " << e.budget << " tokens of the split (--tokens)\n";
  if (const auto bits = e.bits_per_byte(); bits && e.bytes != e.tokens)
    out << "the text of these tokens has " << e.bytes << " bytes, " << *bits << " bits for each\n";
  if (const auto floor = dataset.floor_bits(split))
    out << "floor: " << *floor << " bits per " << dataset.unit()
        << ", what the source itself leaves open\n";
  if (e.pairs_per_token > 0)
    out << "attention scored " << std::setprecision(1) << e.pairs_per_token
        << " pairs a token over all layers and heads" << std::setprecision(4) << '\n';
  if (const auto part = dataset.scored_part())
    out << *part << ": " << e.accuracy() << " of tokens right, " << e.sequence_accuracy()
        << " of sequences whole\n";
  if (e.f1) out << "exact match " << e.accuracy() << ", F1 " << *e.f1 << '\n';
  if (const auto baselines = all_baselines(dataset, split); !baselines.empty())
    out << print_accuracy(e.f1 ? "exact match" : "accuracy", e.accuracy(), e.accuracy_error(),
                          baselines);
  if (const auto baselines = dataset.bits_baselines(split); !baselines.empty())
    out << print_bits(e.bits(), e.bits_error(), baselines);
  if (e.steps > 0) out << "steps until positions halt: " << e.steps << " on average\n";
  if (e.f1) print_bands(out, "     answer at questions      bits      exact", e.by_distance);
  if (!e.by_difficulty.empty()) {
    std::ostringstream title;
    title << std::setw(14) << dataset.difficulty().value_or("length")
          << " sequences      bits   accuracy";
    print_bands(out, title.str(), e.by_difficulty);
  }
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
