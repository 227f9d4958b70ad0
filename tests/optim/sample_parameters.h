#pragma once

#include <vector>

#include "autograd/parameter_arena.h"

namespace weft::optim {

/// Parameters as a model has them: a table of several pieces, a matrix whose size no vector length
/// divides, a bias, a single number. Values and gradients are drawn, the latter anew for each step.
struct SampleParameters {
  using Real = core::Real;

  SampleParameters() : arena(inventory(), autograd::ParameterArena::Use::training) {
    arena.initialise(core::Rng(1));
  }

  void draw_gradients(core::Index step, double scale = 1) {
    for (const auto& slot : arena.slots())
      core::fill_normal(gradient(slot), core::Rng(2).fold(slot.name).fold(step), scale);
  }

  std::span<Real> gradient(const autograd::ParameterArena::Slot& slot) {
    return arena.gradients().subspan(std::size_t(slot.offset), std::size_t(slot.size));
  }

  std::vector<Real> values() { return {arena.values().begin(), arena.values().end()}; }

  autograd::Parameter table{{301, 257}, autograd::Init::normal(0.5)};
  autograd::Parameter matrix{{33, 17}, autograd::Init::uniform(0.3)};
  autograd::Parameter bias{{17}, autograd::Init::normal(1)};
  autograd::Parameter number{{1}, autograd::Init::ones()};
  autograd::ParameterArena arena;

 private:
  autograd::Inventory inventory() {
    autograd::Inventory names;
    names.add("table", table);
    names.add("bias", bias);
    names.add("matrix", matrix);
    names.add("number", number);
    return names;
  }
};

}  // namespace weft::optim
