#include "autograd/parameter_arena.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace weft::autograd {
namespace {

constexpr core::Index alignment = 64 / core::Index(sizeof(core::Real));

}  // namespace

std::unique_ptr<core::Real[], void (*)(void*)> flat_array(core::Index size) {
  const std::size_t bytes =
      (std::size_t(std::max<core::Index>(size, 1)) * sizeof(core::Real) + 63) / 64 * 64;
  auto* data = static_cast<core::Real*>(std::aligned_alloc(64, bytes));
  if (!data) throw std::bad_alloc();
  std::fill_n(data, size, core::Real(0));
  return {data, std::free};
}

ParameterArena::ParameterArena(const Inventory& inventory, Use use)
    : values_(nullptr, std::free), gradients_(nullptr, std::free) {
  for (const auto& [name, parameter] : inventory.parameters()) {
    const core::Index n = parameter->shape().size();
    slots_.push_back({name, parameter->shape(), size_, n, parameter->decays(), parameter->init()});
    size_ += (n + alignment - 1) / alignment * alignment;
    count_ += n;
  }
  values_ = flat_array(size_);
  if (use == Use::training) gradients_ = flat_array(size_);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Parameter& parameter = *inventory.parameters()[i].parameter;
    const Slot& s = slots_[i];
    parameter.value_ = core::Tensor::lend(s.shape, values_.get() + s.offset);
    parameter.generation_ = generation_;
    parameter.lent_ = value(s);
    if (gradients_) parameter.gradient_ = {gradients_.get() + s.offset, std::size_t(s.size)};
  }
}

std::span<core::Real> ParameterArena::values() {
  static std::atomic<std::uint64_t> latest{0};  // no two arenas share a generation
  *generation_ = ++latest;
  return {values_.get(), std::size_t(size_)};
}

void ParameterArena::initialise(const core::Rng& rng) {
  for (const Slot& s : slots_) {
    const core::Rng stream = rng.fold(s.name);
    switch (s.init.law) {
      case Init::Law::constant:
        std::ranges::fill(value(s), core::Real(s.init.scale));
        break;
      case Init::Law::normal:
        core::fill_normal(value(s), stream, s.init.scale);
        break;
      case Init::Law::uniform:
        core::fill_uniform(value(s), stream, s.init.scale);
        break;
    }
  }
}

void ParameterArena::zero_gradients() { std::ranges::fill(gradients(), core::Real(0)); }

}  // namespace weft::autograd
