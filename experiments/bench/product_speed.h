#pragma once

#include <map>
#include <string>

namespace weft::experiments {

/// Gflop/s of one 1024 x 1024 x 1024 product on each thread at the same time, best of five, by
/// everything that can make it here: "OpenBLAS", "oneDNN", "weft".
std::map<std::string, double> measure_float_products();

/// The same of factors in bf16, by what multiplies them here.
double measure_bf16_products();

}  // namespace weft::experiments
