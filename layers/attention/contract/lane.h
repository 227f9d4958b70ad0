#pragma once

#include "core/arrays/gemm.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// One head of one sequence, and where its rows are in packed matrices: the engines' unit of work.
/// Lanes are numbered by sequence, then by head.
class HeadLane {
 public:
  /// `key_heads` of keys and values serve `heads` of queries, neighbours together.
  HeadLane(const Sequences& s, Index heads, Index key_heads, Index head_width, Index lane)
      : index(lane),
        batch(lane / heads),
        head(lane % heads),
        key_head(head * key_heads / heads),
        real_keys(s.real_keys(batch)),
        queries_(s.queries),
        keys_(s.keys),
        width_(head_width) {}

  /// Rows first, first + step, ... of this lane.  x: [B n, H, D] -> [count, D]
  core::ConstMatrix queries(ConstHeads x, Index first, Index count, Index step = 1) const {
    return {x.data + offset(x.stride, queries_, first, head), count, width_, step * x.stride};
  }
  core::Matrix queries(Heads x, Index first, Index count, Index step = 1) const {
    return {x.data + offset(x.stride, queries_, first, head), count, width_, step * x.stride};
  }
  core::ConstMatrix keys(ConstHeads x, Index first, Index count, Index step = 1) const {
    return {x.data + offset(x.stride, keys_, first, key_head), count, width_, step * x.stride};
  }
  core::Matrix keys(Heads x, Index first, Index count, Index step = 1) const {
    return {x.data + offset(x.stride, keys_, first, key_head), count, width_, step * x.stride};
  }
  core::Operand queries(const ProductHeads& x, Index first, Index count, Index step = 1) const {
    return x.at(batch * queries_ + first, head * width_, count, width_, step);
  }
  core::Operand keys(const ProductHeads& x, Index first, Index count, Index step = 1) const {
    return x.at(batch * keys_ + first, key_head * width_, count, width_, step);
  }
  /// All of them.
  core::ConstMatrix queries(ConstHeads x) const { return queries(x, 0, queries_); }
  core::Matrix queries(Heads x) const { return queries(x, 0, queries_); }
  core::ConstMatrix keys(ConstHeads x) const { return keys(x, 0, keys_); }
  core::Matrix keys(Heads x) const { return keys(x, 0, keys_); }

  Index index, batch, head, key_head;
  Index real_keys;  ///< the keys after them are padding

 private:
  Index offset(Index stride, Index length, Index first, Index of_head) const {
    return (batch * length + first) * stride + of_head * width_;
  }

  Index queries_, keys_, width_;
};

}  // namespace weft::layers
