#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

/// The words of a text as summaries are compared by: runs of a-z and 0-9 after lower-casing ASCII.
std::vector<std::string> plain_words(std::string_view text);

}  // namespace weft::data
