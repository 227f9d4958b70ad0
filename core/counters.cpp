#include "core/counters.h"

namespace weft::core {

Counters& counters() {
  static Counters all;
  return all;
}

}  // namespace weft::core
