#pragma once

#include "core/rng.h"
#include "data/spelling/sentencepiece.h"
#include "data/spelling/tokenizer.h"

namespace weft::data {

/// Sentences of made words, some with letters of two or three bytes.
inline std::vector<std::string> made_sentences(int count = 400, std::uint64_t seed = 7) {
  const std::vector<std::string> syllables = {"ba", "ke", "ti",  "lo",  "mu",
                                              "sa", "nè", "dor", "wün", "€"};
  const core::Rng rng(seed);
  std::uint64_t i = 0;
  std::vector<std::string> sentences;
  for (int s = 0; s < count; ++s) {
    std::string sentence;
    for (int w = 0; w < 8; ++w) {
      sentence += w ? " " : "";
      for (core::Index n = 1 + rng.below(i++, 3); n > 0; --n)
        sentence += syllables[std::size_t(rng.below(i++, core::Index(syllables.size())))];
    }
    sentences.push_back(sentence + ".");
  }
  return sentences;
}

inline std::string made_model(PieceTable::Form form = PieceTable::Form::unigram,
                              core::Index size = 330) {
  return train_sentencepiece(made_sentences(), {.size = size, .form = form});
}

inline Tokenizer made_tokenizer(PieceTable::Form form = PieceTable::Form::unigram) {
  return Tokenizer(PieceTable(made_model(form), "made"));
}

}  // namespace weft::data
