#include "data/text/text_encoder.h"

#include "core/error.h"
#include "core/parallel.h"
#include "data/spelling/text_cuts.h"
#include "data/spelling/utf8.h"

namespace weft::data {

using core::Index;
using core::Token;

namespace {

constexpr std::size_t most_texts = std::size_t(1) << 16;

/// The alphabet was made of the same text.
std::vector<Token> find_characters(const Alphabet& alphabet, std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto character = read_character(text, at);
    const auto token = character ? alphabet.find(*character) : std::nullopt;
    if (!token)
      throw core::Error(core::Fault::data,
                        "the text changed while it was read: try again when nothing writes to it");
    tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace

void TextEncoder::add(std::string_view piece) {
  buffer_ += piece;
  if (buffer_.size() >= most_bytes_) flush();
}

void TextEncoder::end() {
  ends_.push_back(buffer_.size());
  if (ends_.size() >= most_texts) flush();
}

void TextEncoder::finish() {
  core::require(buffer_.size() == (ends_.empty() ? 0 : ends_.back()),
                "text encoder: the last text has not ended");
  flush();
}

std::vector<Token> TextEncoder::encode(std::string_view text) const {
  return spelling_.alphabet() ? find_characters(*spelling_.alphabet(), text)
                              : spelling_.encode(text);
}

/// How much of a text can be encoded although it goes on.
std::size_t TextEncoder::settled(std::string_view text) const {
  if (spelling_.tokenizer()) return settled_text(text);
  return spelling_.alphabet() ? whole_characters(text) : text.size();
}

void TextEncoder::flush_ended() {
  std::vector<std::vector<Token>> encoded(ends_.size());
  const std::string_view all = buffer_;
  core::parallel_for(Index(ends_.size()), 16, [&](Index begin, Index end) {
    for (std::size_t i = std::size_t(begin); i < std::size_t(end); ++i) {
      const std::size_t first = i == 0 ? 0 : ends_[i - 1];
      encoded[i] = encode(all.substr(first, ends_[i] - first));
    }
  });
  for (const std::vector<Token>& text : encoded) {
    take_(text);
    if (boundary_) take_(std::span(&*boundary_, 1));
  }
}

void TextEncoder::flush() {
  if (buffer_.empty() && ends_.empty()) return;
  if (boundary_ && !begun_) take_(std::span(&*boundary_, 1));
  begun_ = true;
  flush_ended();
  const std::size_t open = ends_.empty() ? 0 : ends_.back();
  const std::string_view rest = std::string_view(buffer_).substr(open);
  const std::size_t certain = settled(rest);
  take_(encode(rest.substr(0, certain)));
  buffer_.erase(0, open + certain);
  ends_.clear();
}

}  // namespace weft::data
