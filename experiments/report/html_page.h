#pragma once

#include <string>

#include "experiments/report/report.h"

namespace weft::experiments {

/// One file that needs nothing else: no script, no font, no address.
std::string html_page(const Report& report);

}  // namespace weft::experiments
