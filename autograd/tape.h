#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/pass_watch.h"
#include "core/arrays/tensor.h"

namespace weft::autograd {

using core::Index;
using core::Real;
using core::Shape;
using core::Tensor;

class Profile;
class Tape;

/// A tensor that may be on a tape. Without a tape, ops evaluate and record nothing, so
/// inference needs no separate mode.
class Var {
 public:
  Var() = default;
  /// A constant.
  Var(Tensor value) : value_(std::move(value)) {}

  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  Tape* tape() const { return tape_; }
  /// The same place on the same tape, or the same constant.
  bool is(const Var& other) const {
    return tape_ == other.tape_ && node_ == other.node_ && value_.data() == other.value_.data();
  }

 private:
  friend class Tape;
  Var(Tensor value, Tape* tape, Index node) : value_(std::move(value)), tape_(tape), node_(node) {}

  Tensor value_;
  Tape* tape_ = nullptr;
  Index node_ = -1;
};

/// One gradient for each recorded input, in order; an empty tensor stands for zero.
using Gradients = std::vector<Tensor>;

/// Receives the gradient of the output and returns those of the inputs. What it captured is what
/// the op saved; the sweep destroys it once it has run.
using Pullback = std::function<Gradients(Tensor dy)>;

/// Measurements while a tape records and sweeps.
struct TapeOptions {
  /// Throw core::Error (diverged) at the first op whose value or gradient is not finite.
  bool check_finite = false;
  Profile* profile = nullptr;
  PassWatch* watch = nullptr;

  /// For a private tape, which measures the same but is swept as a part of one op.
  TapeOptions inside_op() const { return {check_finite, profile, nullptr}; }
};

/// The ops of one step in the order they ran. Pullbacks return gradients; only the tape adds them.
class Tape {
 public:
  explicit Tape(TapeOptions options = {}) : options_(options) {}
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A leaf whose gradient can be asked for after the sweep.
  Var watch(Tensor x);

  /// Puts the result of an op on the tape. `op` is a literal; inputs without this tape are
  /// constants and their gradients are dropped.
  Var record(const char* op, Tensor y, const std::vector<Var>& inputs, Pullback pullback);

  /// Pulls dy back from y to every leaf. A tape is swept once. A y that is moved in is freed
  /// before.
  void sweep(Var y, Tensor dy);
  /// The same from a loss, a single number, whose gradient is 1.
  void sweep(Var loss);

  /// The gradient of a watched leaf: zeros when nothing depended on it.
  Tensor gradient(const Var& leaf) const;

  const TapeOptions& options() const { return options_; }
  Index size() const { return Index(nodes_.size()); }

 private:
  struct Node {
    const char* op;
    std::string scope;
    std::vector<Index> inputs;
    Pullback pullback;  ///< empty for leaves
    Tensor gradient;
    Index place = 0;  ///< in the pass that is followed
  };

  void deliver(Index node, Tensor gradient);

  TapeOptions options_;
  std::vector<Node> nodes_;
  bool swept_ = false;
};

/// Records on the tape that any input is on; without one, just the value.
Var record(const char* op, Tensor y, const std::vector<Var>& inputs, Pullback pullback);

}  // namespace weft::autograd
