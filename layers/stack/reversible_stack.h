#pragma once

#include <span>
#include <string>
#include <vector>

#include "layers/stack/branch.h"

namespace weft::layers {

using autograd::StreamOutput;

/// Branches over two residual streams: the first reads the second stream and adds to the first,
/// the next reads the first and adds to the second, and so on in turn. The sweep takes every
/// branch off again, so that activations do not grow with depth.
class ReversibleStack {
 public:
  /// A branch's part of the stack's pass: `number`, and below it `part` unless that is empty.
  struct Place {
    std::uint64_t number;
    std::string part = {};

    Pass of(const Pass& pass) const;
  };
  /// `name`: the path of its parameters and its scope.
  void append(std::string name, Place place, std::shared_ptr<Branch> branch);

  /// first, second: [B * T, W], where the streams begin -> [B * T, W], or [B * T, 2 W] side by side
  /// `sequences`: what each branch reads of them, in order.
  Var run(const Pass& pass, const Var& first, const Var& second,
          const std::vector<Sequences>& sequences, StreamOutput output) const;

  BranchStates begin() const;
  /// Single tokens of both streams; the states of its branches begin at number `from`.
  /// first, second: [n, W], in place
  void step(const StackRows& rows, std::size_t from, Tensor& first, Tensor& second) const;
  /// The final streams: [n, W], or [n, 2 W] side by side
  static Tensor join(const Tensor& first, const Tensor& second, StreamOutput output);

  std::size_t size() const { return entries_.size(); }
  const Branch& operator[](std::size_t i) const { return *entries_[i].branch; }

  /// What the mechanisms ask for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const;
  Cost cost(const Sequences& sequences) const;
  /// Numbers in weight matrices.
  Index weights() const;
  void visit(Inventory& inventory);

 private:
  struct Entry {
    std::string name;
    Place place;
    std::shared_ptr<Branch> branch;
  };
  std::vector<Entry> entries_;
};

}  // namespace weft::layers
