#include "tests/places.h"

namespace weft {

std::string source_dir() { return WEFT_SOURCE_DIR; }

std::string program_path() { return WEFT_PROGRAM; }

}  // namespace weft
