#include "autograd/parameter_arena.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>

#include "core/arrays/bf16.h"
#include "core/parallel.h"

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

ParameterArena::ParameterArena(const Inventory& inventory, Use use, core::Precision precision)
    : values_(nullptr, std::free), gradients_(nullptr, std::free) {
  for (const auto& [name, parameter] : inventory.parameters()) {
    const core::Index n = parameter->shape().size();
    slots_.push_back({name, parameter->shape(), 0, n, parameter->decays(), parameter->init(),
                      parameter->sparse()});
    count_ += n;
  }
  const auto lay_out = [&](bool sparse) {
    for (Slot& s : slots_) {
      if (s.sparse.has_value() != sparse) continue;
      s.offset = size_;
      size_ += (s.size + alignment - 1) / alignment * alignment;
    }
  };
  lay_out(false);
  dense_size_ = size_;
  lay_out(true);
  values_ = flat_array(size_);
  if (use == Use::training) gradients_ = flat_array(size_);
  if (precision == core::Precision::bf16) rounded_.resize(std::size_t(dense_size_));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Parameter& parameter = *inventory.parameters()[i].parameter;
    Slot& s = slots_[i];
    if (s.sparse) s.touched = parameter.touched_ = std::make_shared<std::vector<core::Index>>();
    parameter.value_ = core::Tensor::lend(s.shape, values_.get() + s.offset);
    parameter.generation_ = generation_;
    parameter.lent_ = value(s);
    if (!rounded_.empty() && !s.sparse && s.shape.rank() == 2)
      parameter.rounded_ = rounded_.data() + s.offset;
    if (gradients_) parameter.gradient_ = {gradients_.get() + s.offset, std::size_t(s.size)};
  }
}

void ParameterArena::set_watch(const Inventory& inventory, PassWatch& watch) {
  watch_ = &watch;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    inventory.parameters()[i].parameter->watch_ = &watch;
    inventory.parameters()[i].parameter->number_ = core::Index(i);
  }
}

std::span<core::Real> ParameterArena::values() {
  if (watch_) watch_->before_values();
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
      case Init::Law::mapped:
        for (core::Index i = 0; i < s.size; ++i)
          value(s)[std::size_t(i)] = core::Real(s.init.map(stream.uniform(std::uint64_t(i))));
        break;
    }
  }
}

void ParameterArena::zero_gradients() {
  if (!gradients_) return;
  std::fill_n(gradients_.get(), dense_size_, core::Real(0));
  for (const Slot& s : slots_) {
    if (!s.sparse) continue;
    const core::Index n = s.shape.back();
    for (const core::Index row : *s.touched)
      std::fill_n(gradients_.get() + s.offset + row * n, n, core::Real(0));
    s.touched->clear();
  }
}

core::Bf16Matrix Parameter::rounded() const {
  if (!rounded_) return {};
  const core::Index rows = shape_[0], cols = shape_[1];
  if (rounded_generation_ != generation()) {
    core::parallel_for(rows, core::rows_per_piece(cols), [&](core::Index begin, core::Index end) {
      core::round_to_bf16({data() + begin * cols, end - begin, cols, cols},
                          rounded_ + begin * cols);
    });
    rounded_generation_ = generation();
  }
  return {rounded_, rows, cols, cols};
}

void Parameter::touch(const std::vector<core::Index>& rows) const {
  if (!touched_) return;
  std::vector<core::Index> both;
  std::ranges::set_union(*touched_, rows, std::back_inserter(both));
  *touched_ = std::move(both);
}

}  // namespace weft::autograd
