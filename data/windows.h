#pragma once

#include "data/dataset.h"

namespace weft::data {

/// A stretch of predictions; prediction i reads tokens up to i and is scored on token i + 1.
struct Window {
  Index begin;        ///< first prediction
  Index end;          ///< one past the last, at most `length` after the first
  Index scored_from;  ///< the predictions from here to the end are scored
};

/// A usage error unless windows of `length` may begin `stride` apart.
void check_stride(Index stride, Index length);

/// How a run of predictions is cut into windows of `length` that begin `stride` apart, so that each
/// prediction is scored in exactly one: the first window scores all of its own, each later one its
/// last `stride`. The last window may be shorter.
class Windows {
 public:
  Windows(Index predictions, Index length, Index stride);

  Index count() const;
  Window operator[](Index number) const;

 private:
  Index predictions_, length_, stride_;
};

}  // namespace weft::data
