#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "autograd/pass_watch.h"
#include "core/arrays/matrix.h"
#include "core/arrays/tensor.h"
#include "core/rng.h"

namespace weft::autograd {

/// The initial value of a parameter.
struct Init {
  enum class Law { constant, normal, uniform, mapped };
  Law law = Law::constant;
  double scale = 0;                 ///< the constant, the standard deviation, or the bound
  double (*map)(double) = nullptr;  ///< of numbers drawn evenly from [0, 1)

  static Init zeros() { return {Law::constant, 0}; }
  static Init ones() { return {Law::constant, 1}; }
  static Init normal(double deviation) { return {Law::normal, deviation}; }
  static Init uniform(double bound) { return {Law::uniform, bound}; }
  static Init mapped(double (*map)(double)) { return {Law::mapped, 0, map}; }
};

/// A table of which a step reads few rows: its gradient is zero but for the rows that pullbacks
/// name, and code that passes over it passes over those only. It has its own learning rate, never
/// decays, and what an optimizer remembers of a row does not change while the row is not read.
struct RowSparse {
  double rate = 1e-3;
};

/// A learned array. Its value and gradient live in the flat arrays of a ParameterArena, which
/// lends them; until then it is only a shape and a law. Pullbacks add to `gradient` in place.
class Parameter {
 public:
  Parameter(core::Shape shape, Init init) : shape_(shape), init_(init) {}
  /// shape: [rows, n]
  Parameter(core::Shape shape, Init init, RowSparse sparse)
      : shape_(shape), init_(init), sparse_(sparse) {}
  Parameter(const Parameter&) = delete;
  Parameter& operator=(const Parameter&) = delete;
  Parameter(Parameter&&) = default;

  const core::Shape& shape() const { return shape_; }
  const core::Tensor& value() const { return announce(), value_; }
  const core::Real* data() const { return value().data(); }
  /// For bringing it back into its legal range between optimizer steps, when no tape holds it.
  std::span<core::Real> writable() { return announce(), lent_; }
  /// Empty where nothing is trained.
  std::span<core::Real> gradient() const { return gradient_; }
  /// Another number whenever the value may have changed: what is derived from it is made anew then.
  std::uint64_t generation() const { return announce(), generation_ ? *generation_ : 0; }
  /// A matrix rounded to bfloat16, once for each generation, where the arena keeps products in
  /// bf16; else without data. To be asked for on the thread that records.
  core::Bf16Matrix rounded() const;
  const Init& init() const { return init_; }
  /// Weight decay pulls on matrices and tables, not on biases and gains.
  bool decays() const { return shape_.rank() >= 2 && !sparse_; }
  /// Set where few rows are read.
  const std::optional<RowSparse>& sparse() const { return sparse_; }
  /// Says that a pullback has added to these rows of the gradient.  rows: ascending
  void touch(const std::vector<core::Index>& rows) const;

 private:
  friend class ParameterArena;
  /// Tells who follows the pass that the value is about to be read.
  void announce() const {
    if (watch_) watch_->before_read(number_);
  }

  core::Shape shape_;
  Init init_;
  core::Tensor value_;
  std::span<core::Real> lent_;  ///< the same numbers, where the arena keeps them
  std::span<core::Real> gradient_;
  std::optional<RowSparse> sparse_;
  std::shared_ptr<std::vector<core::Index>> touched_;  ///< rows, ascending; the arena's
  std::shared_ptr<const std::uint64_t> generation_;
  core::Bf16* rounded_ = nullptr;  ///< the arena's
  mutable std::uint64_t rounded_generation_ = 0;
  PassWatch* watch_ = nullptr;
  core::Index number_ = 0;  ///< in the arena
};

}  // namespace weft::autograd
