#pragma once

#include <vector>

#include "core/arrays/tensor.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// An array of the given size for each task, zeroed.
class Partials {
 public:
  explicit Partials(const std::vector<Index>& sizes) {
    for (const Index size : sizes) arrays_.emplace_back(core::Shape{size}, Real(0));
    for (core::Tensor& array : arrays_) data_.push_back(array.write().data());
  }
  Real* operator[](Index task) const { return data_[std::size_t(task)]; }

 private:
  std::vector<core::Tensor> arrays_;
  std::vector<Real*> data_;
};

}  // namespace weft::layers
