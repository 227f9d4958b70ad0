#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/fields.h"
#include "core/rng.h"

namespace weft::data {

/// The files of a dataset with three splits: one file that is divided, or one for each split.
struct SplitFiles {
  std::string path = {};  ///< one file, divided by `fractions`
  /// Or one file for each split.
  std::string train_path = {}, validation_path = {}, test_path = {};
  std::vector<double> fractions = {};  ///< of training, validation, test

  /// Whether one file is divided, because no split has a separate file.
  bool divided() const;
  /// The files of training, validation and test; empty where there is none.
  std::array<std::string, 3> split_paths() const {
    return {train_path, validation_path, test_path};
  }
  /// Throws a usage error unless either `path` or files of splits are given.
  void require_one_way() const;

  /// Visits the paths.
  void list_paths(core::Fields& fields, const char* path_help);
  /// Reports missing or contradictory paths; `wanted` says what kind of file is needed.
  void check_paths(core::Fields& fields, const char* wanted) const;
  /// Visits `fractions`; `order` says in which order a file is divided.
  void list_fractions(core::Fields& fields, const char* order);
};

/// Assigns items to splits by fractions of their groups, which stay together, in a random order
/// that depends on the number of groups only. `groups`: the group of each item, 0 .. count - 1.
/// -> the split of each item, 0 .. 2, or 3 where the fractions leave it out
std::vector<std::size_t> divide_groups(const std::vector<core::Index>& groups, core::Index count,
                                       const std::vector<double>& fractions,
                                       const core::Rng& order);

}  // namespace weft::data
