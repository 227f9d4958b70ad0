#pragma once

namespace weft::core {

/// What the factors of a model's matrix products are rounded to. Parameters, gradients, moments and
/// the sums inside products are Real in either.
enum class Precision { float32, bf16 };

}  // namespace weft::core
