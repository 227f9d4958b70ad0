#include "data/text/masking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/choice_names.h"

namespace weft::data {
namespace {

Index share_of(Index n, double share) { return Index(std::round(share * double(n))); }

/// `total` as a sum of `count` positive numbers, every such sum being equally probable.
std::vector<Index> random_parts(Index total, Index count, const core::Rng& stream) {
  std::vector<Index> parts;
  Index begin = 0;
  for (const Index last : random_places(total - 1, count - 1, stream)) {
    parts.push_back(last + 1 - begin);
    begin = last + 1;
  }
  parts.push_back(total - begin);
  return parts;
}

}  // namespace

std::string_view name_of(MaskingSettings::Kind masking) {
  using Kind = MaskingSettings::Kind;
  return masking == Kind::none ? "none" : masking == Kind::bert ? "bert" : "spans";
}

void MaskingSettings::fields(core::Fields& fields) {
  fields.choice("masking", masking,
                "hide tokens, which a bidirectional model fills in: bert, single tokens; spans, "
                "runs of neighbouring tokens; none: predict the next token",
                named({Kind::none, Kind::bert, Kind::spans}));
  fields.when("masking", {"bert", "spans"}, [&] {
    fields.number("mask_share", mask_share, "share of the tokens that is hidden",
                  core::between(0.001, 0.9));
  });
  fields.when("masking", {"spans"}, [&] {
    fields.number("mask_span", mask_span, "mean number of tokens in a hidden span",
                  core::between(1, 1000));
  });
}

std::vector<Index> random_places(Index n, Index count, const core::Rng& stream) {
  core::require(count >= 0 && count <= n, "masking: ", count, " places of ", n);
  std::vector<Index> places(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  for (Index i = 0; i < count; ++i)
    std::swap(places[std::size_t(i)],
              places[std::size_t(i + stream.below(std::uint64_t(i), n - i))]);
  places.resize(std::size_t(count));
  std::ranges::sort(places);
  return places;
}

std::vector<Span> random_spans(Index n, double share, double mean, const core::Rng& stream) {
  core::require(n >= 2, "masking: spans need at least two tokens, got ", n);
  const Index hidden = std::clamp<Index>(share_of(n, share), 1, n - 1);
  const Index count =
      std::clamp<Index>(Index(std::round(double(hidden) / mean)), 1, std::min(hidden, n - hidden));
  const std::vector<Index> sizes = random_parts(hidden, count, stream.fold("hidden"));
  const std::vector<Index> gaps = random_parts(n - hidden, count, stream.fold("gaps"));
  std::vector<Span> spans;
  Index at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    at += gaps[i];
    spans.push_back({at, sizes[i]});
    at += sizes[i];
  }
  return spans;
}

Masking::Masking(const MaskingSettings& settings, Index vocabulary)
    : settings_(settings), vocabulary_(vocabulary) {
  core::require(settings.chosen(), "data.masking must be bert or spans, got 'none'");
}

void Masking::hide(std::span<Token> tokens, std::span<Token> targets,
                   const core::Rng& stream) const {
  core::require(tokens.size() == targets.size(), "masking: ", targets.size(), " targets for ",
                tokens.size(), " tokens");
  std::ranges::fill(targets, core::no_target);
  const auto n = Index(tokens.size());
  if (settings_.masking == MaskingSettings::Kind::spans) {
    for (const Span& span : random_spans(n, settings_.mask_share, settings_.mask_span, stream)) {
      const auto begin = std::size_t(span.begin), size = std::size_t(span.size);
      std::ranges::copy(tokens.subspan(begin, size), targets.begin() + span.begin);
      std::ranges::fill(tokens.subspan(begin, size), mask_token());
    }
    return;
  }
  const core::Rng kinds = stream.fold("kinds"), others = stream.fold("others");
  const Index count = std::max<Index>(1, share_of(n, settings_.mask_share));
  for (const Index place : random_places(n, count, stream.fold("places"))) {
    Token& token = tokens[std::size_t(place)];
    targets[std::size_t(place)] = token;
    const double kind = kinds.uniform(std::uint64_t(place));
    if (kind < 0.8) {
      token = mask_token();
    } else if (kind < 0.9) {
      token = Token(others.below(std::uint64_t(place), vocabulary_));
    }
  }
}

}  // namespace weft::data
