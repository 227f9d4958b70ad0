#pragma once

#include <string>
#include <vector>

#include "layers/stack/branch.h"

namespace weft::layers {

using autograd::StreamOutput;

/// Branches over two residual streams: the first reads the second stream and adds to the first,
/// the next reads the first and adds to the second, and so on in turn. The sweep takes every
/// branch off again, so that activations do not grow with depth.
class TwoStreams {
 public:
  /// `name`: the path of its parameters.
  void append(std::string name, std::unique_ptr<Branch> branch);

  /// first, second: [B * T, W], where the streams begin -> [B * T, W], or [B * T, 2 W] side by side
  Var run(const Pass& pass, const Var& first, const Var& second, const Sequences& sequences,
          StreamOutput output) const;

  struct States {
    std::vector<std::unique_ptr<DecodeState>> branches;
    Index position = 0;
  };
  States begin() const;
  /// One token of both streams.  first, second: [1, W], in place
  void step(States& states, Tensor& first, Tensor& second) const;

  std::size_t size() const { return branches_.size(); }
  const Branch& operator[](std::size_t i) const { return *branches_[i].branch; }

  /// What the mechanisms ask for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const;
  Cost cost(const Sequences& sequences) const;
  Index weights() const;
  std::vector<Metric> metrics() const;
  void constrain();
  void visit(Inventory& inventory);

 private:
  struct Named {
    std::string name;
    std::unique_ptr<Branch> branch;
  };
  std::vector<Named> branches_;
};

}  // namespace weft::layers
