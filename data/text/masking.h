#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/arrays/tokens.h"
#include "core/fields.h"
#include "core/rng.h"

namespace weft::data {

using core::Index;
using core::Token;

/// Which tokens of a text are hidden.
struct MaskingSettings {
  enum class Kind { none, bert, spans };

  Kind masking = Kind::none;
  double mask_share = 0.15;  ///< of all tokens
  double mask_span = 3;      ///< mean number of tokens in a span

  void fields(core::Fields& fields);
  bool chosen() const { return masking != Kind::none; }
};

std::string_view name_of(MaskingSettings::Kind masking);

/// Neighbouring positions of a sequence.
struct Span {
  Index begin, size;
};

/// `count` different numbers below n, ascending; every choice is equally probable.
std::vector<Index> random_places(Index n, Index count, const core::Rng& stream);

/// Spans that hide round(share n) of n tokens, at least 1 and at most n - 1, by about `mean` each.
/// Hidden and visible tokens are both cut into the same number of parts, every way of cutting being
/// equally probable, and the parts alternate: a sequence begins visible and ends hidden.
std::vector<Span> random_spans(Index n, double share, double mean, const core::Rng& stream);

/// What a model has to fill in. Chosen positions keep their token as target, all others have none.
/// bert: round(share n) places, of which 80 % become the mask token, 10 % a random token and 10 %
/// stay as they are, each position independently. spans: every token of random spans becomes the
/// mask token, so the sequence keeps its length and hidden tokens are scored in place.
class Masking {
 public:
  Masking(const MaskingSettings& settings, Index vocabulary);

  /// Tokens come from 0 .. vocabulary - 1; this is the next.
  Token mask_token() const { return Token(vocabulary_); }
  /// Hides some of a sequence.  tokens and targets: n each
  void hide(std::span<Token> tokens, std::span<Token> targets, const core::Rng& stream) const;

 private:
  MaskingSettings settings_;
  Index vocabulary_;
};

}  // namespace weft::data
