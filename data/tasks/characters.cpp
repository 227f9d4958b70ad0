#include "data/tasks/characters.h"

#include "core/error.h"

namespace weft::data {
namespace {

constexpr core::Index most = 10000;

void check(core::Index count) {
  core::require(count <= most, "data: at most ", most, " symbols and keys can be spelled, got ",
                count);
}

}  // namespace

void append_letters(std::vector<char32_t>& characters, core::Index count) {
  check(count);
  for (char32_t i = 0; i < char32_t(count); ++i)
    characters.push_back(i < 26 ? U'a' + i : 0x4e00 + (i - 26));
}

void append_signs(std::vector<char32_t>& characters, core::Index count) {
  check(count);
  for (char32_t i = 0; i < char32_t(count); ++i)
    characters.push_back(i < 10 ? U'0' + i : i < 36 ? U'A' + (i - 10) : 0xac00 + (i - 36));
}

}  // namespace weft::data
