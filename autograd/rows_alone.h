#pragma once

namespace weft::autograd {

/// While one lives, `linear` on this thread multiplies each row of its input as if it were the only
/// one, with the same bits: what decoding several sequences or tokens together is made of. Weights
/// are read once for all rows.
class RowsAlone {
 public:
  RowsAlone();
  ~RowsAlone();
  RowsAlone(const RowsAlone&) = delete;
  RowsAlone& operator=(const RowsAlone&) = delete;

  static bool now();

 private:
  bool before_;
};

}  // namespace weft::autograd
