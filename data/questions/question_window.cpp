#include "data/questions/question_window.h"

#include <algorithm>

#include "core/error.h"

namespace weft::data {

Windows document_windows(Index document, Index question, Index length, Index stride) {
  const Index room = length - 2 - question;
  return {document, room, stride > 0 ? stride : std::max<Index>(1, room / 2)};
}

QuestionWindow join_window(std::span<const Token> question, std::span<const Token> document,
                           const Window& place) {
  QuestionWindow window{{cls}, 0, {}};
  window.tokens.insert(window.tokens.end(), question.begin(), question.end());
  window.tokens.push_back(separator);
  window.document = Index(window.tokens.size());
  window.tokens.insert(window.tokens.end(), document.begin() + place.begin,
                       document.begin() + place.end);
  return window;
}

Batch batch_of(const std::vector<QuestionWindow>& windows, Index batch, Index length, Index answers,
               bool pads) {
  std::vector<Token> inputs(std::size_t(batch * length), 0);
  std::vector<Token> targets(std::size_t(batch * answers * 2), core::no_target);
  std::vector<Token> documents(std::size_t(batch * 2), 1);
  std::vector<Index> lengths(std::size_t(batch), 2);
  core::require(Index(windows.size()) <= batch, "data: ", windows.size(), " windows in a batch of ",
                batch);
  for (std::size_t row = 0; row < windows.size(); ++row) {
    const QuestionWindow& window = windows[row];
    const auto size = Index(window.tokens.size());
    core::require(size == length || (pads && size < length), "data: a window of ", size,
                  " tokens does not fit in ", length);
    core::require(Index(window.answers.size()) <= answers, "data: ", window.answers.size(),
                  " answers in a window, at most ", answers, " were expected");
    std::ranges::copy(window.tokens, inputs.begin() + Index(row) * length);
    auto target = targets.begin() + Index(row) * answers * 2;
    for (const auto& [first, last] : window.answers) {
      *target++ = Token(first);
      *target++ = Token(last);
    }
    documents[2 * row] = Token(window.document);
    documents[2 * row + 1] = Token(size - 1);
    lengths[row] = size;
  }
  Batch result;
  result.inputs = core::Tokens({batch, length}, std::move(inputs));
  result.targets = core::Tokens({batch, answers, 2}, std::move(targets));
  result.documents = core::Tokens({batch, 2}, std::move(documents));
  if (pads) result.lengths = std::make_shared<const std::vector<Index>>(std::move(lengths));
  return result;
}

}  // namespace weft::data
