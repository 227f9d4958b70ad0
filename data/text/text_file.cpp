#include "data/text/text_file.h"

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "data/utf8.h"

namespace weft::data {
namespace {

template <class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) throw core::Error(core::Fault::data, core::message_of(parts...));
}

/// Calls visit(character) for every character of the file, in order.
template <class Visit>
void for_each_character(const TextFile& file, Visit visit) {
  for (std::size_t at = 0; at < file.bytes.size();) {
    const auto character = read_character(file.bytes, at);
    check(character.has_value(), "'", file.path, "' is not UTF-8 at byte ", at,
          ": convert it to UTF-8, or read it as bytes (data.units=bytes, weft data prepare --units "
          "bytes)");
    visit(*character);
  }
}

}  // namespace

TextFile read_text_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  check(fs::exists(path, ignored), "'", path, "' does not exist (looked for from ",
        fs::current_path(ignored).string(), "): correct the path (data.path), or fetch the file");
  check(fs::is_regular_file(path, ignored), "'", path,
        "' is not a file but a directory or device: name one text file");
  std::ifstream stream(path, std::ios::binary);
  check(stream.is_open(), "'", path, "' cannot be opened: check that you may read it");
  TextFile file{path, std::string(fs::file_size(path), '\0')};
  check(!file.bytes.empty(), "'", path, "' is empty: name a file that holds text");
  stream.read(file.bytes.data(), std::streamsize(file.bytes.size()));
  check(bool(stream), "'", path, "' could not be read to its end: check the disk");
  return file;
}

Alphabet alphabet_of(const std::vector<TextFile>& files) {
  std::vector<bool> seen(0x110000);
  for (const TextFile& file : files) {
    for_each_character(file, [&seen](char32_t character) { seen[character] = true; });
  }
  std::vector<char32_t> characters;
  for (char32_t character = 0; character < seen.size(); ++character) {
    if (seen[character]) characters.push_back(character);
  }
  return Alphabet(std::move(characters));
}

void append_tokens(const TextFile& file, const Spelling& spelling, PackedTokens& tokens) {
  if (const auto& alphabet = spelling.alphabet()) {
    for_each_character(
        file, [&](char32_t character) { tokens.append(alphabet->find(character).value()); });
  } else {
    for (const char byte : file.bytes) tokens.append(std::uint8_t(byte));
  }
}

}  // namespace weft::data
