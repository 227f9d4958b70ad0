#pragma once

#include <functional>
#include <vector>

#include "autograd/pass.h"
#include "tests/random_values.h"

namespace weft::tests {

/// What is differentiated. With a tape on the pass the inputs stand on it, else they are constants.
using Function =
    std::function<autograd::Var(const autograd::Pass&, const std::vector<autograd::Var>&)>;

/// f's value, a random gradient for it, and what that becomes at each input.
struct Pulled {
  core::Tensor value, upstream;
  std::vector<core::Tensor> gradients;
};

/// The random stream of every run, so that masks are the same in all of them.
inline const core::Rng test_stream(3);

/// Runs f on a tape, in training, and pulls a random gradient back.
inline Pulled pull_back(const Function& f, const std::vector<core::Tensor>& inputs,
                        autograd::Journal& journal) {
  autograd::Tape tape;
  std::vector<autograd::Var> leaves;
  for (const core::Tensor& x : inputs) leaves.push_back(tape.watch(x));
  const autograd::Var y = f(autograd::Pass(tape, test_stream, journal), leaves);
  Pulled result{y.value(), random_tensor(y.shape(), 5), {}};
  tape.sweep(y, result.upstream);
  for (const autograd::Var& leaf : leaves) result.gradients.push_back(tape.gradient(leaf));
  return result;
}

inline Pulled pull_back(const Function& f, const std::vector<core::Tensor>& inputs) {
  autograd::Journal journal;
  return pull_back(f, inputs, journal);
}

}  // namespace weft::tests
