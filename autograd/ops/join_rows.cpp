#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// Sequences of S rows of which some are real, followed by T more: S + T places.
struct Joint {
  Index before, behind, width;
  core::Lengths lengths;

  Index batch() const { return Index(lengths->size()); }
  Index places() const { return before + behind; }
  Index real(Index b) const { return (*lengths)[std::size_t(b)]; }

  /// Rows of x and y to their places, zeros to the rest.
  Tensor join(const Tensor& x, const Tensor& y) const {
    Tensor z({batch() * places(), width}, 0);
    Real* to = z.write().data();
    core::parallel_for(batch(), 1, [&](Index b, Index) {
      Real* own = to + b * places() * width;
      std::copy_n(x.data() + b * before * width, real(b) * width, own);
      std::copy_n(y.data() + b * behind * width, behind * width, own + real(b) * width);
    });
    return z;
  }
  /// The real rows of x where they were, zeros after them.
  Tensor first(const Tensor& z) const {
    Tensor x({batch() * before, width}, 0);
    Real* to = x.write().data();
    core::parallel_for(batch(), 1, [&](Index b, Index) {
      std::copy_n(z.data() + b * places() * width, real(b) * width, to + b * before * width);
    });
    return x;
  }
  Tensor second(const Tensor& z) const {
    Tensor y({batch() * behind, width});
    Real* to = y.write().data();
    core::parallel_for(batch(), 1, [&](Index b, Index) {
      std::copy_n(z.data() + (b * places() + real(b)) * width, behind * width,
                  to + b * behind * width);
    });
    return y;
  }
};

void check(const char* op, const Joint& joint) {
  for (const Index length : *joint.lengths)
    core::require(length >= 0 && length <= joint.before, op, ": a length of ", length,
                  " in sequences of ", joint.before);
}

/// Rows of each of the sequences that a matrix holds.
Index rows_each(const char* op, const Var& x, const core::Lengths& lengths) {
  core::require(lengths && !lengths->empty() && x.shape().rank() == 2 &&
                    x.shape()[0] % Index(lengths->size()) == 0,
                op, ": x of shape ", x.shape(), " is not ", lengths ? lengths->size() : 0,
                " sequences");
  return x.shape()[0] / Index(lengths->size());
}

}  // namespace

/// z[b] = the first lengths[b] rows of x[b], then y[b], then zeros.
/// dx and dy are dz at their places; rows of x that were left out get nothing.  Saves: nothing.
Var join_rows(const Var& x, const Var& y, const core::Lengths& lengths) {
  const Joint joint{rows_each("join_rows", x, lengths), rows_each("join_rows", y, lengths),
                    x.shape()[1], lengths};
  core::require(y.shape()[1] == joint.width, "join_rows: ", x.shape(), " and ", y.shape(),
                " differ in width");
  check("join_rows", joint);
  return record("join_rows", joint.join(x.value(), y.value()), {x, y}, [joint](Tensor dz) {
    return Gradients{joint.first(dz), joint.second(dz)};
  });
}

/// y[b] = the `count` rows of z[b] after the first lengths[b].
/// dz is dy at its place and zero elsewhere.  Saves: nothing.
Var rows_behind(const Var& z, const core::Lengths& lengths, Index count) {
  const Index places = rows_each("rows_behind", z, lengths);
  core::require(count >= 1 && count <= places, "rows_behind: ", count, " rows of ", places);
  const Joint joint{places - count, count, z.shape()[1], lengths};
  check("rows_behind", joint);
  return record("rows_behind", joint.second(z.value()), {z}, [joint](Tensor dy) {
    const Tensor nothing({joint.batch() * joint.before, joint.width}, 0);
    return Gradients{joint.join(nothing, dy)};
  });
}

}  // namespace weft::autograd
