#pragma once

#include <optional>
#include <string>

#include "core/real.h"

namespace weft::experiments {

/// A process as another one can recognise it, also from another machine.
struct Holder {
  std::string host = {};
  std::string machine = {};  ///< where `process` means something: a boot and a space of numbers
  core::Index process = 0;   ///< its number
  core::Index started =
      0;  ///< in ticks since the boot; distinguishes it from a later process of that number
  std::string job = {};  ///< of Slurm, or empty
  core::Index restarts = 0;
  bool locked = false;     ///< it has the directory's lock too
  std::string token = {};  ///< no two claims have the same

  /// This process, with a new token.
  static Holder own();
  /// Nothing when the text is none that json() gave.
  static std::optional<Holder> parse(const std::string& json);
  std::string json() const;

  /// "process 12 on host", and the job where there is one.
  std::string text() const;
  bool is_on_machine_of(const Holder& other) const { return machine == other.machine; }
  /// Whether the process still runs, asked on its machine.
  bool is_alive() const;
};

}  // namespace weft::experiments
