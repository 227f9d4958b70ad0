#pragma once

#include <string>

namespace weft::experiments {

// Numbers as people read them.

/// The fewest digits that read back as the same number: "0.1", "12", "3e-4".
std::string format_exact(double value);
/// With a fixed number of decimals; "—" for what is no finite number.
std::string format_fixed(double value, int decimals);
/// The same, with a + before what is not negative.
std::string format_signed(double value, int decimals);
/// "950", "12.5k", "1.2M"; "?" for what is no finite number.
std::string format_count(double count);
/// "1 thread", "2 threads"
std::string format_number_of(double count, const std::string& noun);
/// A count as people write it: "4k" -> "4096"; anything else stays as it is.
std::string without_kilo(const std::string& text);
/// Bytes in units of 2^20, with one decimal: "12.5".
std::string format_mib(double bytes);
/// "45s", "12m", "3h05m", "2d04h"
std::string format_duration(double seconds);

}  // namespace weft::experiments
