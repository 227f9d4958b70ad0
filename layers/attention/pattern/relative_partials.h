#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "core/simd/kernels.h"
#include "layers/attention/pattern/relative_tile.h"

namespace weft::layers {

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

/// The tables' sums of every task.
class RelativePartials {
 public:
  RelativePartials(const PatternProblem& problem, Index tasks)
      : problem_(problem),
        tasks_(tasks),
        keys_(sizes(size(&RelativeTerms::keys))),
        values_(sizes(size(&RelativeTerms::values))),
        bias_(sizes(problem.relative && problem.relative->bias ? problem.relative->labels : 0)) {}

  RelativeSums of(Index task) const { return {keys_[task], values_[task], bias_[task]}; }

  /// Adds the tasks' sums in their order.
  void write(const PatternGradients& to) const {
    if (!problem_.relative) return;
    const RelativeTerms& terms = *problem_.relative;
    const Index width = problem_.head_width, shares = tasks_ / lanes();
    const auto write_table = [&](const RelativeTable& table, const Partials& sums, Real* out) {
      if (!table.data) return;
      std::fill_n(out, terms.labels * table.stride, Real(0));
      for (Index task = 0; task < tasks_; ++task)
        for (Index label = 0; label < terms.labels; ++label)
          core::simd().axpy(
              1, sums[task] + label * width,
              out + label * table.stride + task / shares % problem_.heads * table.head_step, width);
    };
    write_table(terms.keys, keys_, to.keys);
    write_table(terms.values, values_, to.values);
    if (!terms.bias) return;
    std::fill_n(to.bias, problem_.heads * terms.labels, Real(0));
    for (Index task = 0; task < tasks_; ++task)
      core::simd().axpy(1, bias_[task], to.bias + task / shares % problem_.heads * terms.labels,
                        terms.labels);
  }

 private:
  Index lanes() const { return problem_.sequences.batch * problem_.heads; }
  std::vector<Index> sizes(Index each) const {
    return std::vector<Index>(std::size_t(tasks_), each);
  }
  Index size(RelativeTable RelativeTerms::*table) const {
    const auto& terms = problem_.relative;
    return terms && ((*terms).*table).data ? terms->labels * problem_.head_width : 0;
  }

  const PatternProblem& problem_;
  Index tasks_;
  Partials keys_, values_, bias_;
};

}  // namespace weft::layers
