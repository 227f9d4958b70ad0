#include "data/text/character_survey.h"

#include "core/error.h"
#include "data/files/refuse_file.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

[[noreturn]] void refuse_bytes(const std::string& path, core::Index at) {
  refuse_file(path, "is not UTF-8 at byte ", at,
              ": convert it to UTF-8, or read it as bytes (data.units=bytes, weft data prepare "
              "--units bytes)");
}

}  // namespace

void CharacterSurvey::add(std::string_view piece, const std::string& path, core::Index at) {
  std::string joined;
  if (!pending_.empty()) {
    joined.swap(pending_);
    joined += piece;
    piece = joined;
    at = pending_at_;
  }
  for (std::size_t next = 0; next < piece.size();) {
    if (const auto character = read_character(piece, next)) {
      seen_[*character] = true;
      ++count_;
      continue;
    }
    if (piece.size() - next >= longest_character) refuse_bytes(path, at + core::Index(next));
    pending_ = piece.substr(next);
    pending_at_ = at + core::Index(next);
    return;
  }
}

void CharacterSurvey::end(const std::string& path) {
  if (!pending_.empty()) refuse_bytes(path, pending_at_);
}

Alphabet CharacterSurvey::alphabet() const {
  std::vector<char32_t> characters;
  for (char32_t character = 0; character < seen_.size(); ++character)
    if (seen_[character]) characters.push_back(character);
  return Alphabet(std::move(characters));
}

Alphabet alphabet_of(const TextFile& file) {
  CharacterSurvey survey;
  survey.add(file.bytes, file.path, 0);
  survey.end(file.path);
  return survey.alphabet();
}

}  // namespace weft::data
