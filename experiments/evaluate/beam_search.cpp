#include "experiments/evaluate/beam_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/error.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// An unfinished target: what decodes it, and the token that it waits to read.
struct Beam {
  std::unique_ptr<layers::SourceDecoder> decoder;
  Token next;
  std::vector<Token> tokens;
  double log_probability = 0;
};

/// A beam continued by a token.
struct Continuation {
  std::size_t beam;
  Token token;
  double log_probability;
};

double score_of(double log_probability, Index tokens, double penalty) {
  return log_probability / std::pow((5 + double(tokens)) / 6, penalty);
}

std::vector<double> log_softmax(const core::Tensor& logits) {
  const auto z = logits.read();
  check_logits(z);
  const double top = double(std::ranges::max(z));
  double total = 0;
  for (const core::Real value : z) total += std::exp(double(value) - top);
  std::vector<double> logs;
  for (const core::Real value : z) logs.push_back(double(value) - top - std::log(total));
  return logs;
}

/// The best targets so far that have ended.
class Finished {
 public:
  /// `longest`: tokens of the longest target, its end included.
  Finished(const BeamOptions& options, Index longest) : options_(options), longest_(longest) {}

  void add(std::vector<Token> tokens, double log_probability, bool ended) {
    const Index counted = Index(tokens.size()) + (ended ? 1 : 0);
    const double score = score_of(log_probability, counted, options_.length_penalty);
    const auto place = std::ranges::find_if(
        targets_, [&](const BeamTarget& other) { return other.score < score; });
    targets_.insert(place, {std::move(tokens), log_probability, score, ended});
    if (Index(targets_.size()) > options_.beams) targets_.pop_back();
  }
  /// Whether a target of this probability may still become one of the best: probabilities only
  /// fall, and nothing raises a score more than the most tokens do.
  bool can_improve(double log_probability) const {
    return Index(targets_.size()) < options_.beams ||
           score_of(log_probability, longest_, options_.length_penalty) > targets_.back().score;
  }
  bool empty() const { return targets_.empty(); }
  std::vector<BeamTarget> take() { return std::move(targets_); }

 private:
  BeamOptions options_;
  Index longest_;
  std::vector<BeamTarget> targets_;  // the best first
};

/// Every continuation of every beam, the most probable ones first: at most twice the beams, since
/// half of them may be ends.
std::vector<Continuation> continuations(const layers::Seq2SeqModel& model,
                                        const std::vector<Beam>& beams, Index most) {
  std::vector<layers::NextOfTarget> next;
  for (const Beam& beam : beams) next.push_back({beam.decoder.get(), beam.next});
  const core::Tensor logits = model.step(next);
  std::vector<Continuation> all;
  for (std::size_t b = 0; b < beams.size(); ++b) {
    const std::vector<double> logs = log_softmax(logits.rows(Index(b), 1));
    for (std::size_t t = 0; t < logs.size(); ++t)
      all.push_back({b, Token(t), beams[b].log_probability + logs[t]});
  }
  const auto likelier = [](const Continuation& x, const Continuation& y) {
    return std::tuple(-x.log_probability, x.beam, x.token) <
           std::tuple(-y.log_probability, y.beam, y.token);
  };
  const auto kept = std::min(all.size(), std::size_t(2 * most));
  std::partial_sort(all.begin(), all.begin() + std::ptrdiff_t(kept), all.end(), likelier);
  all.resize(kept);
  return all;
}

/// The beams of the chosen candidates; a beam's last child takes its decoder, the others copies.
std::vector<Beam> continued(std::vector<Beam>& beams, const std::vector<Continuation>& chosen) {
  std::vector<Index> children(beams.size(), 0);
  for (const Continuation& candidate : chosen) ++children[candidate.beam];
  std::vector<Beam> next;
  for (const Continuation& candidate : chosen) {
    Beam& from = beams[candidate.beam];
    Beam& to = next.emplace_back();
    to.decoder = --children[candidate.beam] > 0 ? from.decoder->copy() : std::move(from.decoder);
    to.next = candidate.token;
    to.tokens = from.tokens;
    to.tokens.push_back(candidate.token);
    to.log_probability = candidate.log_probability;
  }
  return next;
}

}  // namespace

std::vector<BeamTarget> beam_search(const layers::Seq2SeqModel& model,
                                    const std::vector<Token>& source, Token boundary,
                                    const BeamOptions& options) {
  core::require(options.beams >= 1 && options.tokens >= 1 && options.length_penalty >= 0,
                "beam search: ", options.beams, " beams of ", options.tokens,
                " tokens with a length penalty of ", options.length_penalty,
                ": take at least one beam and one token, and no negative penalty");
  const Index steps = std::min(options.tokens + 1, model.longest().value_or(options.tokens + 1));
  std::vector<Beam> beams;
  beams.push_back({model.begin(source), boundary, {}, 0});
  Finished finished(options, steps);
  for (Index step = 1; step <= steps && !beams.empty(); ++step) {
    std::vector<Continuation> chosen;
    for (const Continuation& candidate : continuations(model, beams, options.beams)) {
      if (candidate.token == boundary)
        finished.add(beams[candidate.beam].tokens, candidate.log_probability, true);
      else if (Index(chosen.size()) < options.beams)
        chosen.push_back(candidate);
    }
    if (step == steps) break;
    std::erase_if(chosen,
                  [&](const Continuation& c) { return !finished.can_improve(c.log_probability); });
    beams = continued(beams, chosen);
  }
  if (finished.empty())
    for (const Beam& beam : beams) finished.add(beam.tokens, beam.log_probability, false);
  return finished.take();
}

}  // namespace weft::experiments
