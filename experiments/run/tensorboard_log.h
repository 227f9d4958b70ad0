#pragma once

#include <filesystem>
#include <string>

#include "experiments/run/metrics_log.h"

namespace weft::experiments {

/// The numbers of metrics.jsonl once more, as an event file that TensorBoard shows while the run
/// goes on. A record is appended by a single write.
class TensorboardLog {
 public:
  /// DIRECTORY/events.out.tfevents.weft, cut back to `step`: what a resumed run measures again
  /// comes once, and so does what a killed one had half written.
  TensorboardLog(const std::filesystem::path& directory, core::Index step);
  TensorboardLog(const TensorboardLog&) = delete;
  TensorboardLog& operator=(const TensorboardLog&) = delete;
  ~TensorboardLog();

  /// Lists and texts are left out, and so is what is not finite. On failure an Error
  /// (Fault::checkpoint).
  void append(const MetricRecord& record);

 private:
  std::filesystem::path path_;
  int file_;
};

/// "train/loss" of "loss", "validation/bits" of "validation_bits", "layers.0/attention.x" of
/// "layers.0.attention.x": TensorBoard groups charts by what comes before the slash.
std::string tensorboard_tag(const std::string& metric);

}  // namespace weft::experiments
