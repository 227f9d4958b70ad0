#include "core/arrays/tokens.h"

#include "core/error.h"

namespace weft::core {

Tokens::Tokens(Shape shape, std::vector<Token> ids) : shape_(shape) {
  require(shape.size() == Index(ids.size()), "tokens: shape ", shape, " cannot hold ", ids.size(),
          " ids");
  ids_ = std::make_shared<const std::vector<Token>>(std::move(ids));
}

}  // namespace weft::core
