#include "data/documents/document_stream.h"

#include "core/error.h"

namespace weft::data {

using core::Index;
using Place = DocumentLines::Place;

void DocumentStream::hand_on(std::string_view text, Place place) {
  if (place != Place::none) take_({text, at_, place == Place::begins});
  at_ += Index(text.size());
}

/// A whole line, or the end of one.
void DocumentStream::take_line(std::string_view line) {
  if (inside_) {
    inside_ = false;
    return hand_on(line, Place::goes_on);
  }
  const Place place = lines_.place(DocumentLines::is_empty(line));
  if (!fields_ || place == Place::none) return hand_on(line, place);
  const std::string where = core::message_of("'", path_, "':", lines_.lines());
  take_({lines_.field_of(line, where), at_, true});
  at_ += Index(line.size());
}

/// Hands on what there is of a line without waiting for its end, once it is known not to be empty.
void DocumentStream::begin_long_line() {
  if (!inside_ && DocumentLines::is_empty(rest_)) return;
  hand_on(rest_, inside_ ? Place::goes_on : lines_.place(false));
  inside_ = true;
  rest_.clear();
}

void DocumentStream::add(std::string_view piece) {
  constexpr std::size_t long_line = std::size_t(1) << 16;
  std::size_t begin = 0;
  for (std::size_t end = piece.find('\n'); end != piece.npos; end = piece.find('\n', begin)) {
    const std::string_view line = piece.substr(begin, end + 1 - begin);
    if (rest_.empty()) {
      take_line(line);
    } else {
      rest_ += line;
      take_line(rest_);
      rest_.clear();
    }
    begin = end + 1;
  }
  rest_ += piece.substr(begin);
  if (!fields_ && rest_.size() >= long_line) begin_long_line();
}

void DocumentStream::finish() {
  if (!rest_.empty()) take_line(rest_);
  rest_.clear();
  inside_ = false;
}

}  // namespace weft::data
