#include "core/parallel.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>

#include "core/error.h"
#include "core/workers.h"

namespace weft::core {
namespace {

/// The workers guarantee that pieces see what was written before their loop, and that who waited
/// for it sees what they wrote. ThreadSanitizer does not see how they do that, so the loop states
/// it by the addresses of its members, which a piece may use before it has seen their values. There
/// are two, so that pieces are not put in order among themselves. In other builds this does
/// nothing.
class Loop final : public Pieces {
 public:
  Loop(Index count, Index grain, const std::function<void(Index, Index)>& body)
      : count_(count), grain_(grain), body_(body) {
    before_loop();
  }
  Loop(const Loop&) = delete;
  ~Loop() { after_loop(); }

  void run(Index piece) const override {
    before_piece();
    body_(piece * grain_, std::min(count_, (piece + 1) * grain_));
    after_piece();
  }

 private:
#ifdef __SANITIZE_THREAD__
  void before_loop() { __tsan_release(&began_); }
  void before_piece() const { __tsan_acquire(&began_); }
  void after_piece() const { __tsan_release(&ended_); }
  void after_loop() { __tsan_acquire(&ended_); }
  mutable char began_ = 0, ended_ = 0;
#else
  void before_loop() {}
  void before_piece() const {}
  void after_piece() const {}
  void after_loop() {}
#endif

  Index count_, grain_;
  const std::function<void(Index, Index)>& body_;
};

}  // namespace

void set_threads(Index count) {
  require(count >= 0, "threads: needs 0 (all cores) or more, got ", count);
  set_workers(count > 0 ? int(count) : own_processors());
}

Index threads() { return workers(); }

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  const Index pieces = (count + grain - 1) / grain;
  if (pieces <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  run_pieces(pieces, Loop(count, grain, body));
}

Index rows_per_piece(Index width) {
  return std::max<Index>(1, elementwise_grain / std::max<Index>(1, width));
}

}  // namespace weft::core
