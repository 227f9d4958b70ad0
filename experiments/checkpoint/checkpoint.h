#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/named_array.h"
#include "core/files/hdf5_file.h"

namespace weft::experiments {

/// Single values that accompany the arrays, named "group/name": "rng/seed", "data/position",
/// "meta/isa".
using Fact = core::Hdf5File::Attribute;
using Facts = std::map<std::string, Fact>;

using core::ConstNamedArray;
using core::NamedArray;

/// A run at one step, as seen by the writer: all a resumed run needs to go on bit for bit. The
/// arrays are views, which must stay alive and unchanged while it is saved. They are named by their
/// place in the file: "params/NAME", "optim/m/NAME", "optim/v/NAME", "states/NAME", "memory/NAME",
/// where NAME is dotted ("layers.0.attention.qkv.weight").
struct Snapshot {
  core::Index step = 0;
  std::string config_toml;
  Facts facts;
  std::vector<ConstNamedArray> arrays;
};

/// The same, read back from a file; it owns its arrays.
struct Checkpoint {
  struct Array {
    core::Shape shape;
    std::vector<core::Real> values;
  };

  std::filesystem::path path;
  core::Index step = 0;
  /// The validation metric it was saved with; lower is better.
  std::optional<double> validation;
  std::string config_toml;
  Facts facts;
  std::map<std::string, Array> arrays;

  bool has(const std::string& fact) const { return facts.contains(fact); }
  /// One fact; an Error (Fault::checkpoint) when it is absent or of another kind.
  std::int64_t integer(const std::string& fact) const;
  double number(const std::string& fact) const;
  const std::string& text(const std::string& fact) const;

  /// One array, which must be there with exactly this shape.
  const std::vector<core::Real>& array(const std::string& name, const core::Shape& shape) const;

  /// Copies the arrays below `group` ("params", "optim", "states", "memory") to where they belong.
  /// Names and shapes must match one to one; otherwise nothing is copied and one Error lists every
  /// difference.
  void restore(std::string_view group, std::span<const NamedArray> targets) const;
};

}  // namespace weft::experiments
