#pragma once

namespace weft::experiments {

inline constexpr char version[] = "0.1.0";

}  // namespace weft::experiments
