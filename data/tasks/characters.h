#pragma once

#include <vector>

#include "core/real.h"

/// Characters for the tokens of generated tasks, so that a sequence can be read.
namespace weft::data {

/// `count` of a, b, c ... z, then ideographs.
void append_letters(std::vector<char32_t>& characters, core::Index count);
/// `count` of 0 ... 9, A ... Z, then Hangul.
void append_signs(std::vector<char32_t>& characters, core::Index count);

}  // namespace weft::data
