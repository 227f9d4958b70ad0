#include "layers/attention/length_projection.h"

#include <algorithm>

#include "core/arrays/gemm.h"

namespace weft::layers {
namespace {

using autograd::Parameter;

void zero(const core::Matrix& m) {
  for (Index r = 0; r < m.rows; ++r) std::fill_n(m.data + r * m.stride, m.cols, Real(0));
}

/// A table, one for all heads or one for each.
class Table {
 public:
  Table(const Parameter& table, Index columns)
      : table_(table),
        groups_(table.shape().rank() == 3 ? table.shape()[0] : 1),
        slots_(table.shape()[table.shape().rank() - 2]),
        longest_(table.shape().back()),
        columns_(columns / groups_) {}

  Index slots() const { return slots_; }

  /// to = E x.  x: [n, H D] -> to: [slots, H D]
  void apply(const core::ConstMatrix& x, const core::Matrix& to) const {
    if (x.rows == 0) return zero(to);
    for (Index g = 0; g < groups_; ++g)
      core::parallel_gemm(1, weights(g, x.rows), columns(x, g), 0, columns(to, g));
  }
  /// dx = E^T d, dE += d x^T
  void pull_back(const core::ConstMatrix& x, const core::ConstMatrix& d,
                 const core::Matrix& dx) const {
    for (Index g = 0; x.rows > 0 && g < groups_; ++g) {
      core::parallel_gemm(1, core::transposed(weights(g, x.rows)), columns(d, g), 0,
                          columns(dx, g));
      if (table_.gradient().empty()) continue;
      const core::Matrix to{table_.gradient().data() + g * slots_ * longest_, slots_, x.rows,
                            longest_};
      core::parallel_gemm(1, columns(d, g), core::transposed(columns(x, g)), 1, to);
    }
  }

 private:
  core::ConstMatrix weights(Index g, Index n) const {
    return {table_.data() + g * slots_ * longest_, slots_, n, longest_};
  }
  template <class Any>
  Any columns(const Any& x, Index g) const {
    return {x.data + g * columns_, x.rows, columns_, x.stride};
  }

  const Parameter& table_;
  Index groups_, slots_, longest_, columns_;
};

/// The real rows of sequence b, or what padding stands behind them.
struct Rows {
  const Sequences& sequences;
  Index columns;

  Index real(Index b) const {
    return sequences.key_lengths ? (*sequences.key_lengths)[std::size_t(b)] : sequences.keys;
  }
  core::ConstMatrix of(ConstHeads x, Index b) const {
    return {x.data + b * sequences.keys * x.stride, real(b), columns, x.stride};
  }
  core::Matrix of(Heads x, Index b) const {
    return {x.data + b * sequences.keys * x.stride, real(b), columns, x.stride};
  }
  core::Matrix padding(Heads x, Index b) const {
    return {x.data + (b * sequences.keys + real(b)) * x.stride, sequences.keys - real(b), columns,
            x.stride};
  }
};

}  // namespace

/// dk = E^T dk', dE += dk' k^T, and so for values; zero where there is padding.  Saves: the
/// projections.
Var project_length(const std::vector<HeadBlock>& blocks, const Parameter& e, const Parameter& f,
                   const Sequences& sequences, Index columns) {
  const std::vector<Table> tables{{e, columns}, {f, columns}};
  const Index slots = tables[0].slots();
  Tensor y({sequences.batch * slots, 2 * columns});
  const auto part = [=](auto* data, std::size_t i, Index b) {
    return data + b * slots * 2 * columns + Index(i) * columns;
  };
  Real* out = y.write().data();
  for (Index b = 0; b < sequences.batch; ++b)
    for (std::size_t i = 0; i < 2; ++i)
      tables[i].apply(Rows{sequences, columns}.of(heads_of(blocks[i]), b),
                      {part(out, i, b), slots, columns, 2 * columns});
  const HeadGradients gradients(blocks, columns);
  return autograd::record("length_projection", std::move(y), gradients.sources(), [=](Tensor dy) {
    autograd::Gradients d = gradients.allocate();
    const Rows rows{sequences, columns};
    for (std::size_t i = 0; i < 2; ++i) {
      const Heads dx = gradients.heads(d, i);
      for (Index b = 0; b < sequences.batch; ++b) {
        zero(rows.padding(dx, b));
        tables[i].pull_back(rows.of(heads_of(blocks[i]), b),
                            {part(dy.data(), i, b), slots, columns, 2 * columns}, rows.of(dx, b));
      }
    }
    return d;
  });
}

}  // namespace weft::layers
