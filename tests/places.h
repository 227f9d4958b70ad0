#pragma once

#include <string>

namespace weft {

/// The root of the sources under test.
std::string source_dir();
/// The weft program that was built with the tests.
std::string program_path();

}  // namespace weft
