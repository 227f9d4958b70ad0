#include "tests/golden/ops.h"

// One line for each op, X("name", function), the function in a file of its name; one
// function may serve several ops.
#define WEFT_GOLDEN_OPS(X)                              \
  X("attention.adaptive_span", attention_adaptive_span) \
  X("attention.bp", attention_bp)                       \
  X("attention.compressed", attention_compressed)       \
  X("attention.delta", recurrences)                     \
  X("attention.dense", attention_dense)                 \
  X("attention.differential", attention_differential)   \
  X("attention.efficient", attention_efficient)         \
  X("attention.etc", attention_etc)                     \
  X("attention.forgetting", attention_forgetting)       \
  X("attention.gated_delta", recurrences)               \
  X("attention.gdn2", recurrences)                      \
  X("attention.gla", recurrences)                       \
  X("attention.grouped", attention_grouped)             \
  X("attention.indexed", attention_indexed)             \
  X("attention.kda", recurrences)                       \
  X("attention.linear", attention_linear)               \
  X("attention.linformer", attention_linformer)         \
  X("attention.lsh", attention_lsh)                     \
  X("attention.moba", attention_moba)                   \
  X("attention.nsa", attention_nsa)                     \
  X("attention.pattern", attention_pattern)             \
  X("attention.retention", recurrences)                 \
  X("attention.routing", attention_routing)             \
  X("attention.ssd", recurrences)                       \
  X("attention.taylor", attention_taylor)               \
  X("conv.modules", conv_modules)                       \
  X("conv.short", conv_short)                           \
  X("dense.multiplicative", dense_multiplicative)       \
  X("encoder.bp", encoder_bp)                           \
  X("encoder.star", encoder_star)                       \
  X("encoder.universal", encoder_universal)             \
  X("entmax", entmax)                                   \
  X("ff.moe", ff_moe)                                   \
  X("ff.product_key", ff_product_key)                   \
  X("ff.sparse", ff_sparse)                             \
  X("layer.deltanet", recurrent_layers)                 \
  X("layer.gated_deltanet", recurrent_layers)           \
  X("layer.gla", recurrent_layers)                      \
  X("layer.kda", recurrent_layers)                      \
  X("layer.mamba2", layer_mamba2)                       \
  X("layer.retention", recurrent_layers)                \
  X("loss.logistic_mixture", loss_logistic_mixture)     \
  X("loss.span", loss_span)                             \
  X("norm.gated", norm_gated)                           \
  X("train.gpt", train_gpt)

namespace weft::golden {

#define WEFT_DECLARE(name, function) void function(Case&);
WEFT_GOLDEN_OPS(WEFT_DECLARE)
#undef WEFT_DECLARE

Replay find_op(std::string_view wanted) {
#define WEFT_FIND(name, function) \
  if (wanted == name) return function;
  WEFT_GOLDEN_OPS(WEFT_FIND)
#undef WEFT_FIND
  return nullptr;
}

}  // namespace weft::golden
