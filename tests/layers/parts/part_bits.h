#pragma once

#include "core/parallel.h"
#include "layers/attention/contract/sequences.h"
#include "tests/closeness.h"
#include "tests/layers/drawn_weights.h"
#include "tests/random_values.h"

namespace weft::layers {

/// A part's output and gradients have the same bits on one and three threads, and where its forward
/// pass runs a second time, as in a replay.  x: [rows.batch * rows.queries, width]
template <class Part>
void expect_bits_on_any_threads_and_in_a_replay(Part& part, const Sequences& rows, Index width) {
  DrawnWeights<Part> drawn(part);
  const core::Shape shape{rows.batch * rows.queries, width};
  const Tensor x = tests::random_tensor(shape, 1), upstream = tests::random_tensor(shape, 2);
  const auto run = [&](Index threads, bool again) {
    core::set_threads(threads);
    drawn.arena().zero_gradients();
    autograd::Tape tape, scratch;
    autograd::Journal journal;
    Pass pass(tape, core::Rng(1), journal);
    if (again) {
      part.forward(pass, Var(x), rows);
      pass = pass.replayed_on(scratch);
    }
    const Var in = (again ? scratch : tape).watch(x);
    const Var y = part.forward(pass, in, rows);
    journal.penalty_gradient = 1;
    (again ? scratch : tape).sweep(y, upstream);
    std::vector<Real> all(y.value().read().begin(), y.value().read().end());
    all.insert(all.end(), drawn.arena().gradients().begin(), drawn.arena().gradients().end());
    return all;
  };
  const std::vector<Real> alone = run(1, false);
  EXPECT_TRUE(tests::same_bits(alone, run(3, false)));
  EXPECT_TRUE(tests::same_bits(alone, run(0, true)));
  core::set_threads(0);
}

}  // namespace weft::layers
