#include "experiments/checkpoint/saved_spelling.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/utf8.h"

namespace weft::experiments {
namespace {

data::Spelling read_alphabet(const Checkpoint& checkpoint) {
  const auto json = nlohmann::json::parse(checkpoint.text("data/alphabet"), nullptr, false);
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  std::vector<char32_t> characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = data::read_character(text, at);
    if (!character) break;
    characters.push_back(*character);
  }
  if (characters.empty())
    throw core::Error(core::Fault::checkpoint,
                      checkpoint.path.string() + ": its alphabet cannot be read");
  return data::Spelling(data::Alphabet(std::move(characters)));
}

}  // namespace

std::map<std::string, std::string> describe_spelling(
    const std::optional<data::Spelling>& spelling) {
  if (!spelling) return {};
  const auto& alphabet = spelling->alphabet();
  if (!alphabet) return {{"units", "bytes"}};
  std::string characters;
  for (const char32_t character : alphabet->characters())
    data::append_character(characters, character);
  return {{"units", "characters"}, {"alphabet", nlohmann::json(characters).dump()}};
}

std::optional<data::Spelling> saved_spelling(const Checkpoint& checkpoint) {
  if (!checkpoint.has("data/units")) return {};
  if (checkpoint.text("data/units") == "bytes") return data::Spelling::bytes();
  return read_alphabet(checkpoint);
}

}  // namespace weft::experiments
