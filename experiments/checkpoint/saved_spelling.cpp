#include "experiments/checkpoint/saved_spelling.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/base64.h"
#include "core/files/json_nesting.h"
#include "data/spelling/utf8.h"

namespace weft::experiments {
namespace {

data::Spelling read_alphabet(const Checkpoint& checkpoint) {
  const std::string& saved = checkpoint.text("data/alphabet");
  const auto json = nlohmann::json::parse(core::nests_too_deep(saved) ? "" : saved, nullptr, false);
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

data::Spelling read_tokenizer(const Checkpoint& checkpoint) {
  const std::string name = checkpoint.path.string() + ": its tokenizer";
  const auto model = core::from_base64(checkpoint.text("data/tokenizer"));
  if (!model) throw core::Error(core::Fault::checkpoint, name + " cannot be read");
  try {
    return data::Spelling(data::Tokenizer(data::PieceTable(*model, name)));
  } catch (const core::Error& error) {
    throw core::Error(core::Fault::checkpoint, error.reason());
  }
}

/// The meaning of each number before and now; empty for a number that is not used.
using Meaning = std::vector<std::string>;

void compare(const std::string& what, const Meaning& before, const Meaning& now,
             std::vector<std::string>& differences) {
  constexpr std::size_t most_shown = 20;
  std::size_t found = 0;
  // In quotes, what cannot be printed escaped.
  const auto name = [](const Meaning& names, std::size_t i) {
    using nlohmann::json;
    return i < names.size() ? json(names[i]).dump(-1, ' ', false, json::error_handler_t::replace)
                            : std::string("nothing");
  };
  for (std::size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
    if (i < before.size() && i < now.size() && before[i] == now[i]) continue;
    if (++found <= most_shown)
      differences.push_back(core::message_of(what, ' ', i, ": ", name(before, i), " in training, ",
                                             name(now, i), " in this data"));
  }
  if (found > most_shown) differences.push_back("...");
}

Meaning characters_of(const data::Spelling& spelling) {
  Meaning all;
  if (const auto& alphabet = spelling.alphabet())
    for (const char32_t character : alphabet->characters())
      data::append_character(all.emplace_back(), character);
  else if (spelling.tokenizer())
    for (core::Token token = 0; token < spelling.vocabulary(); ++token)
      all.push_back(spelling.decode(std::span(&token, 1)));
  else
    all.push_back("bytes");
  return all;
}

/// Number by number, unless tokens are not even of one kind.
void compare_spellings(const data::Spelling& before, const data::Spelling& now,
                       std::vector<std::string>& differences) {
  if (before.unit() == now.unit())
    return compare("token", characters_of(before), characters_of(now), differences);
  differences.push_back("each token is a " + before.unit() + " in training, a " + now.unit() +
                        " in this data: set data.units as in training");
}

/// Classes that only one side has; with the same names, those in another order.
void compare_classes(const Meaning& before, const Meaning& now,
                     std::vector<std::string>& differences) {
  const std::size_t known = differences.size();
  const auto only_in = [&](const Meaning& own, const Meaning& other, const char* where) {
    for (const std::string& name : own)
      if (std::ranges::find(other, name) == other.end())
        differences.push_back("class \"" + name + "\": in " + where + " only");
  };
  only_in(now, before, "this data");
  only_in(before, now, "training");
  if (differences.size() == known) compare("class", before, now, differences);
  constexpr std::size_t most_shown = 20;
  if (differences.size() <= known + most_shown) return;
  const std::size_t more = differences.size() - known - most_shown;
  differences.resize(known + most_shown);
  differences.push_back(core::message_of("... and ", more, " more"));
}

}  // namespace

std::string describe_classes(const std::vector<std::string>& names) {
  return nlohmann::json(names).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> saved_classes(const Checkpoint& checkpoint) {
  if (!checkpoint.has("data/classes")) return {};
  const std::string& text = checkpoint.text("data/classes");
  try {
    core::require(!core::nests_too_deep(text), "nested");
    return nlohmann::json::parse(text).get<Meaning>();
  } catch (const std::exception&) {
    throw core::Error(core::Fault::checkpoint,
                      checkpoint.path.string() + ": its names of classes cannot be read");
  }
}

std::vector<std::string> differences_in_meaning(const Checkpoint& checkpoint,
                                                const data::Dataset& dataset) {
  std::vector<std::string> differences;
  const auto before = saved_spelling(checkpoint), now = dataset.spelling();
  if (before && now) compare_spellings(*before, *now, differences);
  if (checkpoint.has("data/classes"))
    compare_classes(saved_classes(checkpoint),
                    nlohmann::json::parse(describe_classes(dataset.class_names())).get<Meaning>(),
                    differences);
  return differences;
}

std::map<std::string, std::string> describe_spelling(
    const std::optional<data::Spelling>& spelling) {
  if (!spelling) return {};
  if (const auto& tokenizer = spelling->tokenizer())
    return {{"units", "sentencepiece"}, {"tokenizer", core::base64(tokenizer->file())}};
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
  if (checkpoint.text("data/units") == "sentencepiece") return read_tokenizer(checkpoint);
  return read_alphabet(checkpoint);
}

}  // namespace weft::experiments
