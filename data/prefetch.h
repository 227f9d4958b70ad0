#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "data/dataset.h"

namespace weft::data {

/// Prepares training batches, or some rows of them, ahead of their use in a separate thread, at
/// most `depth` of them. next() gives batch first_number, first_number + 1, ...; a failure to make
/// a batch is thrown by the next() that asks for it. The reader's position is the number of batches
/// taken: what was prepared and not taken is made again after a resume. The thread receives no
/// signals.
class Prefetch {
 public:
  Prefetch(const Dataset& dataset, Index first_number, Index depth = 2,
           std::optional<core::Stretch> rows = {});

  Batch next();

 private:
  void work(std::stop_token stop, Index number);

  const Dataset& dataset_;
  const std::size_t depth_;
  const core::Stretch rows_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Batch> ready_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last, so that it ends before what it uses
};

}  // namespace weft::data
