#pragma once

#include <vector>

#include "core/arrays/tokens.h"
#include "layers/model/seq2seq_model.h"

namespace weft::experiments {

struct BeamOptions {
  core::Index beams = 4;        ///< targets that are followed at a time
  core::Index tokens = 200;     ///< the most tokens of a target, its end not counted
  double length_penalty = 0.8;  ///< 0: targets compete by their probability alone
};

/// A target that beam search found.
struct BeamTarget {
  std::vector<core::Token> tokens;  ///< without the token that ends it
  double log_probability = 0;       ///< of the tokens and, where it has ended, of their end
  double score = 0;                 ///< ln p / ((5 + n) / 6)^length_penalty, n with its end
  bool ended = false;               ///< else it was cut, since no target ended in time
};

/// The targets with the best scores that beam search finds, the best first, at most `beams`. Each
/// step continues the `beams` most probable unfinished targets by every token; the search ends when
/// none of them can still beat the worst of `beams` finished ones. `boundary` begins and ends
/// targets. Ties go to the beam and the token with the lower number.
std::vector<BeamTarget> beam_search(const layers::Seq2SeqModel& model,
                                    const std::vector<core::Token>& source, core::Token boundary,
                                    const BeamOptions& options);

}  // namespace weft::experiments
