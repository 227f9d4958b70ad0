#pragma once

#include <utility>

#include "data/dataset.h"
#include "data/windows.h"

namespace weft::data {

/// Special tokens of questions: 0 is padding, 1 begins every sequence and
/// stands for "no answer", 2 ends the question.
constexpr Token cls = 1, separator = 2, first_free = 3;

/// How questions and their documents share sequences.
struct QuestionForm {
  Index longest = 0;  ///< tokens of a question, longer ones are cut
  Index stride = 0;   ///< tokens between windows of a document; 0: half a window
};

/// A question and as much of its document as fits in a sequence.
struct QuestionWindow {
  std::vector<Token> tokens;                     ///< CLS, question, SEP, document
  Index document = 0;                            ///< where the document begins in `tokens`
  std::vector<std::pair<Index, Index>> answers;  ///< first and last token; (0, 0): none in it
};

/// The windows in which a document of this many tokens is read after its question, in sequences of
/// `length`.
Windows document_windows(Index document, Index question, Index length, Index stride);

/// One of them, without answers.
QuestionWindow join_window(std::span<const Token> question, std::span<const Token> document,
                           const Window& place);

/// A batch of B = `batch` rows, the first of which hold the windows, each with up to `answers`
/// answers. A row without a window reads two tokens of padding, the second as its document, and
/// lists no answer. `pads`: windows may be shorter than `length`.
Batch batch_of(const std::vector<QuestionWindow>& windows, Index batch, Index length, Index answers,
               bool pads);

}  // namespace weft::data
