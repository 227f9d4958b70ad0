#pragma once

namespace weft::layers {

/// Whether a layer reads all of its weights for a token, or a chosen or factored part of them.
enum class Density { dense, sparse };

}  // namespace weft::layers
