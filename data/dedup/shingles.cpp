#include "data/dedup/shingles.h"

#include <locale.h>
#include <wctype.h>
#include <xxhash.h>

#include <algorithm>
#include <deque>

#include "core/error.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

/// The same letters and spaces on every machine, whatever language it speaks.
locale_t unicode() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  core::require(locale != nullptr, "this system has no locale C.UTF-8: install the libc package's");
  return locale;
}

}  // namespace

std::string normalised(std::string_view text, bool without_markup) {
  const locale_t locale = unicode();
  std::string out;
  bool apart = false;
  for (std::size_t at = 0; at < text.size();) {
    if (without_markup && text[at] == '<') {
      const std::size_t end = text.find('>', at);
      if (end != std::string_view::npos) {
        at = end + 1;
        apart = true;
        continue;
      }
    }
    const auto character = read_character(text, at);
    if (character && iswspace_l(wint_t(*character), locale)) {
      apart = true;
      continue;
    }
    if (apart && !out.empty()) out += ' ';
    apart = false;
    if (character)
      append_character(out, char32_t(towlower_l(wint_t(*character), locale)));
    else
      out += text[at++];
  }
  return out;
}

std::vector<std::uint64_t> word_shingles(std::string_view normalised, core::Index length) {
  core::require(length >= 1, "shingles need at least one word, got ", length);
  std::vector<std::uint64_t> shingles;
  std::deque<std::size_t> begins;  // of the last words
  for (std::size_t at = 0; at < normalised.size();) {
    const std::size_t end = std::min(normalised.find(' ', at), normalised.size());
    begins.push_back(at);
    if (core::Index(begins.size()) > length) begins.pop_front();
    if (core::Index(begins.size()) == length)
      shingles.push_back(XXH3_64bits(normalised.data() + begins.front(), end - begins.front()));
    at = end + 1;
  }
  std::ranges::sort(shingles);
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::size_t both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    both += a[i] == b[j];
    const bool next_a = a[i] <= b[j], next_b = b[j] <= a[i];
    i += next_a;
    j += next_b;
  }
  const std::size_t either = a.size() + b.size() - both;
  return either == 0 ? 0 : double(both) / double(either);
}

}  // namespace weft::data
