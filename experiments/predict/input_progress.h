#pragma once

#include <functional>
#include <iosfwd>

#include "core/real.h"
#include "experiments/console/live_text.h"

namespace weft::experiments {

/// The progress of reading an input: on a terminal one live line, elsewhere a line every ten
/// seconds, and nothing where it takes less.
class InputProgress {
 public:
  /// `whole`: bytes of the input; 0: not known.
  InputProgress(std::ostream& out, int columns, std::uint64_t whole, std::function<double()> clock);

  void update(core::Index records, std::uint64_t bytes);

 private:
  std::ostream& out_;
  LiveText live_;
  std::uint64_t whole_;
  std::function<double()> clock_;
  double begin_, shown_;
};

}  // namespace weft::experiments
