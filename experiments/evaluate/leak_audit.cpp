#include "experiments/evaluate/leak_audit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"

namespace weft::experiments {
namespace {

using core::Token;
using core::Tokens;

/// One sequence of the data: inputs and targets.
struct Sample {
  std::vector<Token> inputs, targets;
};

Sample sequence(const data::Dataset& dataset, Index number) {
  const Index length = dataset.length();
  const Index batches = dataset.evaluation_batches(data::Split::validation, length);
  core::require(batches > 0, "audit: the validation split holds no sequence of ", length,
                " tokens; lower data.length or give more data");
  const data::Batch batch = dataset.evaluation(data::Split::validation, number % batches, length);
  const Index rows = batch.inputs.shape()[0], own = batch.inputs.shape()[1];
  const Index row = number / batches % rows;
  const auto cut = [&](const Tokens& tokens) {
    const auto all = tokens.read().subspan(std::size_t(row * own), std::size_t(own));
    return std::vector<Token>(all.begin(), all.end());
  };
  return {cut(batch.inputs), cut(batch.targets)};
}

core::Tensor outputs(const layers::LanguageModel& model, const std::vector<Token>& inputs) {
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  return model.hidden(pass, Tokens({1, Index(inputs.size())}, inputs)).value();
}

/// Replaces the tokens from `from` on, the first of them by another one for certain.
std::vector<Token> replaced(std::vector<Token> tokens, Index from, Index vocabulary,
                            const core::Rng& rng) {
  for (std::size_t i = std::size_t(from); i < tokens.size(); ++i)
    tokens[i] = Token(rng.below(i, vocabulary));
  Token& first = tokens[std::size_t(from)];
  if (vocabulary > 1)
    first = Token((first + 1 + rng.fold("first").below(0, vocabulary - 1)) % vocabulary);
  return tokens;
}

/// Outputs of rows [0, count) that differ in any bit.
Index changed_rows(const core::Tensor& a, const core::Tensor& b, Index count) {
  const auto width = std::size_t(a.shape().back());
  Index changed = 0;
  for (std::size_t row = 0; row < std::size_t(count); ++row) {
    const auto x = a.read().subspan(row * width, width), y = b.read().subspan(row * width, width);
    changed += std::memcmp(x.data(), y.data(), x.size_bytes()) != 0;
  }
  return changed;
}

double nats_at(const layers::LanguageModel& model, const std::vector<Token>& inputs,
               const std::vector<Token>& targets, Index position) {
  const autograd::Pass pass(core::Rng(0).fold("evaluation"));
  const Index length = Index(inputs.size());
  return model.score(pass, {Tokens({1, length}, inputs), Tokens({1, length}, targets)})
      .nats[std::size_t(position)];
}

/// Adds one token's loss, in the whole sequence and in the one cut right after its input.
void compare_likelihood(const layers::LanguageModel& model, const Sample& sample, Index position,
                        LeakAudit& audit) {
  if (sample.targets[std::size_t(position)] == core::no_target) return;
  const auto head = [&](const std::vector<Token>& tokens) {
    return std::vector<Token>(tokens.begin(), tokens.begin() + position + 1);
  };
  ++audit.scored;
  audit.whole_nats += nats_at(model, sample.inputs, sample.targets, position);
  audit.cut_nats += nats_at(model, head(sample.inputs), head(sample.targets), position);
}

}  // namespace

LeakAudit audit_leaks(const layers::LanguageModel& model, const data::Dataset& dataset,
                      Index trials, Index seed) {
  core::require(trials >= 1, "audit: ", trials, " trials; give --trials 1 or more");
  core::require(dataset.length() >= 2, "audit: sequences of ", dataset.length(),
                " tokens have no past and future");
  const core::Rng rng = core::Rng(std::uint64_t(seed)).fold("audit");
  LeakAudit audit{.trials = trials};
  for (Index trial = 0; trial < trials; ++trial) {
    const core::Rng own = rng.fold(std::uint64_t(trial));
    const Sample sample = sequence(dataset, trial);
    const Index size = Index(sample.inputs.size());
    const Index from = 1 + own.below(0, size - 1);
    const auto other = replaced(sample.inputs, from, dataset.vocabulary(), own.fold("tokens"));
    const Index changed = changed_rows(outputs(model, sample.inputs), outputs(model, other), from);
    audit.outputs += from;
    audit.changed += changed;
    audit.leaking_trials += changed > 0;
    compare_likelihood(model, sample, own.below(1, size), audit);
  }
  const double scored = std::max<double>(1, double(audit.scored));
  audit.whole_nats /= scored;
  audit.cut_nats /= scored;
  if (!std::isfinite(audit.whole_nats) || !std::isfinite(audit.cut_nats))
    throw core::Error(core::Fault::diverged,
                      "audit: the model's loss is not finite, and outputs that are no numbers show "
                      "no leak",
                      "Audit an earlier checkpoint with --ckpt");
  return audit;
}

std::string print_audit(const LeakAudit& a) {
  std::ostringstream out;
  out << a.changed << " of " << a.outputs << " outputs before a change moved";
  if (a.outputs > 0)
    out << " (" << std::setprecision(3) << 100 * double(a.changed) / double(a.outputs) << " %)";
  out << ", in " << a.leaking_trials << " of " << a.trials << " trials\n";
  out << std::fixed << std::setprecision(4) << "loss of " << a.scored << " tokens: " << a.whole_nats
      << " in whole sequences, " << a.cut_nats << " in sequences cut right after their input; gap "
      << a.gap() << " nats\n";
  out << (a.clean()
              ? "clean: no output read the future\n"
              : "LEAKS: outputs read the future; do not compare its scores with causal ones\n");
  return out.str();
}

nlohmann::ordered_json audit_json(const LeakAudit& a) {
  return {{"trials", a.trials},
          {"leaking_trials", a.leaking_trials},
          {"outputs", a.outputs},
          {"changed", a.changed},
          {"clean", a.clean()},
          {"scored", a.scored},
          {"whole_loss", a.whole_nats},
          {"cut_loss", a.cut_nats},
          {"gap", a.gap()}};
}

}  // namespace weft::experiments
