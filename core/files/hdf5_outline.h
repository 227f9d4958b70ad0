#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/files/hdf5_file.h"

namespace weft::core {

/// An HDF5 file without the elements of one long dataset, which are never in memory: whoever writes
/// the file puts them between the other bytes. The whole is byte for byte what Hdf5File::in_memory
/// makes of the same contents.
class Hdf5Outline {
 public:
  /// `label` names the file in errors.
  explicit Hdf5Outline(const std::string& label);
  ~Hdf5Outline();
  Hdf5Outline(const Hdf5Outline&) = delete;
  Hdf5Outline& operator=(const Hdf5Outline&) = delete;

  /// What all other contents are written to.
  Hdf5File& file() { return file_; }
  /// Creates a dataset of `count` elements of exactly T, one after the other. Only once.
  template <class T>
  void leave_out(const std::string& dataset, Index count);

  struct Bytes {
    std::vector<std::byte> before, after;  ///< the elements that are left out
  };
  /// The other bytes of the file; it is complete then.
  Bytes finish();

 private:
  std::vector<std::byte> read(Index begin, Index end) const;

  int memory_;
  Hdf5File file_;
  Index begin_ = 0, end_ = 0;  ///< of what is left out
};

}  // namespace weft::core
