#pragma once

#include "core/fields.h"
#include "data/dataset.h"

namespace weft::data {

/// The settings of data.kind = "recall".
struct RecallSettings {
  Index symbols = 26;    ///< ordinary symbols, drawn by the Markov source and as payload
  Index keys = 8;        ///< symbols that announce a payload
  Index payload = 3;     ///< symbols that follow a key
  double gap = 2;        ///< mean number of ordinary symbols between recall events
  Index successors = 4;  ///< symbols that may follow an ordinary symbol
  Index language = 1;    ///< number of the language, out of all with these settings
  Index stream = 0;      ///< tokens of a sequence that is read in segments; 0: data.length
  Index held_out = 256;  ///< sequences in the validation split, and as many in the test split

  void fields(core::Fields& fields, Index length);
};

}  // namespace weft::data
