#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/tensor.h"
#include "core/files/hdf5_file.h"
#include "core/precision.h"

namespace weft::golden {

using core::Index;
using core::Real;

/// One golden case: the settings and arrays of its file, and the largest error of all that has been
/// compared with them so far. What the file lacks is an Error that names it.
class Case {
 public:
  /// `precision` is that of the products of ops that know bf16.
  explicit Case(const std::filesystem::path& path,
                core::Precision precision = core::Precision::float32)
      : name_(path.stem().string()), file_(core::Hdf5File::open(path)), precision_(precision) {}

  core::Precision precision() const { return precision_; }
  /// The largest error that passes; factors in bf16 have 8 bits.
  double tolerance() const {
    if (precision_ == core::Precision::bf16) return 3e-2;
    return sizeof(Real) == sizeof(double) ? 1e-8 : 3e-4;
  }

  const std::string& name() const { return name_; }
  std::string text(const std::string& attribute) const;
  double number(const std::string& attribute) const;
  Index integer(const std::string& attribute) const;
  bool flag(const std::string& attribute) const { return integer(attribute) != 0; }
  bool has(const std::string& object) const { return file_.contains(object); }

  /// Names of the arrays in a group.
  std::vector<std::string> arrays(const std::string& group) const { return file_.datasets(group); }
  core::Shape shape(const std::string& array) const { return file_.shape(array); }
  std::vector<double> numbers(const std::string& array) const { return file_.read<double>(array); }
  std::vector<std::int32_t> integers(const std::string& array) const {
    return file_.read<std::int32_t>(array);
  }

  /// Error of an array: max |a - b| / max(max |b|, 1e-6), b being the file's.
  void compare(const std::string& array, std::span<const Real> actual) {
    compare(array, actual, numbers(array));
  }
  void compare(const std::string& what, std::span<const Real> actual,
               std::span<const double> expected);

  /// The largest error so far, infinite where a number was not finite, and what had it.
  double error() const { return error_; }
  const std::string& worst() const { return worst_; }
  bool passed() const { return compared_ > 0 && error_ <= tolerance(); }

 private:
  std::string name_;
  core::Hdf5File file_;
  core::Precision precision_;
  double error_ = 0;
  std::string worst_;
  Index compared_ = 0;
};

}  // namespace weft::golden
