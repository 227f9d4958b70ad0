#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

using MetricValue = std::variant<double, std::int64_t, std::string, std::vector<double>>;

/// The measurements of one step, in the order it is printed; read back, in the order of names.
struct MetricRecord {
  core::Index step = 0;
  std::vector<std::pair<std::string, MetricValue>> values = {};

  bool has(const std::string& name) const;
  /// A number or integer; NaN when it is absent or was not finite.
  double number(const std::string& name) const;
};

/// metrics.jsonl, the truth about a run: one JSON object a line, appended by a single write, so a
/// reader never sees half a record of a live run. Numbers are printed with the fewest digits that
/// read back exactly (a whole one as an integer); NaN and infinities become null.
/// A checkpoint of step N is saved after the records of step N are appended; a resumed run first
/// cuts the log back to N.
class MetricsLog {
 public:
  /// Opens for appending; a torn last line, left by a killed writer, is removed.
  explicit MetricsLog(std::filesystem::path path);
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;
  ~MetricsLog();

  /// On failure (a full disk) an Error (Fault::checkpoint), and the file is as before.
  void append(const MetricRecord& record);
  /// Makes all appended records survive a power failure; to be called before a checkpoint is saved.
  void sync();

 private:
  std::filesystem::path path_;
  int file_;
};

/// All whole records of a log, in order; none when there is no file.
std::vector<MetricRecord> read_metrics(const std::filesystem::path& path);

/// The newest whole record, found without reading the log from its beginning.
std::optional<MetricRecord> last_record(const std::filesystem::path& path);

/// The records removed when a log was truncated.
struct MetricsCut {
  core::Index records = 0;
  core::Index newest_step = -1;  // of the removed records
};

/// Removes, all or nothing, every record with a step above `step`, and lines that are no records;
/// of `step` itself those with the metric `redone`, which will be measured again.
MetricsCut cut_metrics_back(const std::filesystem::path& path, core::Index step,
                            const std::string& redone = {});

}  // namespace weft::experiments
