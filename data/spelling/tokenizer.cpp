#include "data/spelling/tokenizer.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "data/spelling/sentencepiece.h"
#include "data/spelling/text_cuts.h"

namespace weft::data {

using core::Index;
using core::Token;

Tokenizer::Tokenizer(PieceTable table)
    : table_(std::make_shared<const PieceTable>(std::move(table))),
      search_(has_sentencepiece() ? std::make_shared<const PieceSearch>(*table_) : nullptr) {}

Tokenizer Tokenizer::read(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault))
    throw core::Error(core::Fault::data,
                      "the tokenizer '" + path +
                          "' does not exist: correct data.tokenizer, or make it with weft data "
                          "tokenizer TEXT -o " +
                          path);
  constexpr std::uintmax_t most = std::uintmax_t(64) << 20;
  if (std::filesystem::file_size(path, fault) > most)
    throw core::Error(core::Fault::data,
                      "the tokenizer '" + path + "' is too large to be one: name another file");
  return Tokenizer(PieceTable(core::read_text_file(path), "the tokenizer '" + path + "'"));
}

/// Where the library does not give back the text, its bytes stand for it.
void Tokenizer::encode_piecewise(std::string_view text, std::vector<Token>& tokens) const {
  const auto byte = [&](char one) { tokens.push_back(table_->byte_piece(one)); };
  const auto words = [&](std::string_view stretch) {
    const std::vector<int> found = search_->tokens(stretch);
    std::string_view rest = stretch;
    for (const int token : found) {
      const bool known = token >= 0 && token < table_->size();
      if (!known || !rest.starts_with(table_->text(token))) break;
      rest.remove_prefix(table_->text(token).size());
    }
    if (rest.empty())
      tokens.insert(tokens.end(), found.begin(), found.end());
    else
      std::ranges::for_each(stretch, byte);
  };
  cut_text(text, words, byte);
}

std::vector<Token> Tokenizer::encode(std::string_view text) const {
  require_sentencepiece();
  constexpr std::size_t most_at_once = std::size_t(1) << 16;
  std::vector<std::string_view> parts;  // of whole lines, so that no stretch is cut
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > most_at_once) end = std::min(text.find('\n', most_at_once), end - 1) + 1;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  std::vector<std::vector<Token>> pieces(parts.size());
  core::parallel_for(Index(parts.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      encode_piecewise(parts[std::size_t(i)], pieces[std::size_t(i)]);
  });
  if (pieces.empty()) return {};
  std::vector<Token> tokens = std::move(pieces[0]);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    tokens.insert(tokens.end(), pieces[i].begin(), pieces[i].end());
  return tokens;
}

std::string Tokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    core::require(token >= 0 && token < vocabulary(), "token ", token,
                  " is not in a vocabulary of ", vocabulary());
    text += table_->text(token);
  }
  return text;
}

}  // namespace weft::data
