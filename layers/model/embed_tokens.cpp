#include "layers/model/embed_tokens.h"

#include "core/scope.h"

namespace weft::layers {

Var embed_tokens(const Pass& pass, const core::Tokens& tokens, const Parameter& table,
                 const Positions& positions, Index first, Real dropout, const PixelNumber* pixels) {
  const core::Scope scope("embedding");
  Var x = autograd::reshape(autograd::embedding(pass, tokens, table),
                            {tokens.size(), table.shape().back()});
  if (pixels) x = pixels->add(x, tokens);
  return autograd::dropout(pass.at("embedding"), positions.add(x, tokens.shape().back(), first),
                           dropout);
}

}  // namespace weft::layers
