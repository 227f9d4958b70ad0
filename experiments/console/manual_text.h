#pragma once

#include <string>

namespace weft::experiments {

// Pages of the manual, in roff.

/// Text as roff shows it: hyphens that can be copied, no line that is taken for a command.
std::string roff(const std::string& text);

/// The head of a page of section 1 and its NAME.
std::string manual_head(const std::string& name, const std::string& summary);

}  // namespace weft::experiments
