#pragma once

#include <string>
#include <vector>

#include "core/fields.h"

namespace weft::layers {

/// The keys of [model] that task = "seq2seq" brings with it.
struct Seq2SeqSettings {
  core::Index encoder_layers = 0;              ///< 0: as many as the decoder's
  std::vector<std::string> encoder_attention;  ///< empty: that of the decoder
  std::string cross_attention = "dense";       ///< of a plain decoder over the source
  core::Index sru_width = 0;  ///< columns of the unit in reversible stacks; 0: none

  void fields(core::Fields& field, bool reversible);
};

}  // namespace weft::layers
