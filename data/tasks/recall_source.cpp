#include "data/tasks/recall_source.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace weft::data {

RecallSource::RecallSource(const RecallSettings& settings, Index length)
    : settings_(settings),
      length_(length),
      chain_(settings.symbols, settings.successors,
             core::Rng(std::uint64_t(settings.language)).fold("recall source")),
      first_(chain_.stationary()) {
  core::require(settings.keys >= 1 && settings.payload >= 1 && settings.gap >= 0,
                "recall: needs at least one key, a payload of at least one and no negative gap");
  core::require(length >= 2 * (settings.payload + 1), "recall: a sequence of ", length,
                " has no room for a payload of ", settings.payload,
                " to return: raise data.length to at least ", 2 * (settings.payload + 1));
  reach_.assign(std::size_t(length) + 1, 0.0);
  for (Index d = settings.payload + 1; d <= length; ++d) {
    reach_[std::size_t(d)] =
        reach_[std::size_t(d - 1)] + 1 / (double(d) * std::sqrt(double(length + 1 - d)));
  }
  const double total = reach_.back();
  for (double& mass : reach_) mass /= total;
}

double RecallSource::reach(Index d) const { return reach_[std::size_t(std::min(d, length_))]; }

RecallSequence::RecallSequence(const RecallSource& source)
    : source_(&source),
      used_at_(std::size_t(source.keys()), -1),
      payloads_(std::size_t(source.keys() * source.payload())) {}

void RecallSequence::distribution(std::span<double> out) const {
  const auto symbols = std::size_t(source_->symbols());
  std::ranges::fill(out, 0.0);
  if (position_ == 0) {
    std::ranges::copy(source_->first(), out.begin());
  } else if (key_ >= 0 && repeating_) {
    out[std::size_t(payloads_[std::size_t(key_ * source_->payload() + given_)])] = 1;
  } else if (key_ >= 0) {
    std::ranges::fill(out.first(symbols), 1 / double(symbols));
  } else {
    const auto successors = source_->chain().successors(last_);
    const auto probabilities = source_->chain().probabilities();
    for (std::size_t i = 0; i < successors.size(); ++i) {
      out[std::size_t(successors[i])] = (1 - source_->event()) * probabilities[i];
    }
    share_event(out.subspan(symbols));
  }
}

/// Divides the probability of an event among the keys: each used key takes the distances that are
/// nearest to its own by ratio, the unused ones share what reaches past the oldest.
void RecallSequence::share_event(std::span<double> keys) const {
  double covered = 0;
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    const auto key = std::size_t(recent_[i]);
    const Index age = position_ - used_at_[key];
    double reached = source_->reach(age);
    if (i + 1 < recent_.size()) {
      const Index older = position_ - used_at_[std::size_t(recent_[i + 1])];
      reached = source_->reach(Index(std::sqrt(double(age) * double(older))));
    } else if (recent_.size() == keys.size()) {
      reached = 1;
    }
    keys[key] = source_->event() * (reached - covered);
    covered = reached;
  }
  const double unused = double(keys.size() - recent_.size());
  for (std::size_t key = 0; key < keys.size(); ++key) {
    if (used_at_[key] < 0) keys[key] = source_->event() * (1 - covered) / unused;
  }
}

void RecallSequence::begin_event(Index key) {
  Index& used_at = used_at_[std::size_t(key)];
  key_ = key;
  given_ = 0;
  repeating_ = used_at >= 0;
  age_ = position_ - used_at;
  used_at = position_;
  std::erase(recent_, key);
  recent_.insert(recent_.begin(), key);
}

void RecallSequence::append(Token symbol) {
  if (key_ >= 0) {
    payloads_[std::size_t(key_ * source_->payload() + given_)] = symbol;
    if (++given_ == source_->payload()) {
      key_ = -1;
      repeating_ = false;
    }
  } else if (symbol >= source_->symbols()) {
    begin_event(symbol - source_->symbols());
  }
  last_ = symbol;
  ++position_;
}

RecallDraw draw_sequence(const RecallSource& source, const core::Rng& rng) {
  RecallDraw drawn;
  RecallSequence sequence(source);
  std::vector<double> probabilities(static_cast<std::size_t>(source.vocabulary()));
  for (Index position = 0; position <= source.length(); ++position) {
    sequence.distribution(probabilities);
    double left = rng.uniform(std::uint64_t(position));
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      if (probabilities[i] <= 0) continue;
      chosen = i;
      left -= probabilities[i];
      if (left < 0) break;
    }
    if (position > 0) drawn.bits -= std::log2(probabilities[chosen]);
    drawn.symbols.push_back(Token(chosen));
    drawn.distances.push_back(Token(sequence.distance()));
    sequence.append(Token(chosen));
  }
  return drawn;
}

}  // namespace weft::data
