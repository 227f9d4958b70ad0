#pragma once

#include <string>

namespace weft::experiments {

// Numbers as people read them. What must be read back is written by config_text.

/// With so many decimals; "—" for what is no finite number.
std::string format_fixed(double value, int decimals);
/// The same, with a + before what is not negative.
std::string format_signed(double value, int decimals);
/// "950", "12.5k", "1.2M"; "?" for what is no finite number.
std::string format_count(double count);
/// "45s", "12m", "3h05m", "2d04h"
std::string format_duration(double seconds);

}  // namespace weft::experiments
