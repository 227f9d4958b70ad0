#include "experiments/run/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"
#include "experiments/run/log_fault.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void print(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char digits[32];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

void print(std::string& out, std::int64_t value) { out += std::to_string(value); }

void print(std::string& out, const std::string& value) {
  out += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print(std::string& out, const std::vector<double>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    print(out, values[i]);
  }
  out += ']';
}

std::string line_of(const MetricRecord& record) {
  std::string line = "{\"step\":" + std::to_string(record.step);
  for (const auto& [name, value] : record.values) {
    line += ',';
    print(line, name);
    line += ':';
    std::visit([&](const auto& one) { print(line, one); }, value);
  }
  return line + "}\n";
}

double number_of(const Json& json) { return json.is_number() ? json.get<double>() : nan; }

MetricValue value_of(const Json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) return number_of(json);
  std::vector<double> values;
  for (const Json& item : json) values.push_back(number_of(item));
  return values;
}

std::optional<MetricRecord> parse(std::string_view line) {
  if (core::nests_too_deep(line)) return {};
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return {};
  MetricRecord record{.step = json["step"].get<core::Index>()};
  for (const auto& [name, value] : json.items())
    if (name != "step") record.values.emplace_back(name, value_of(value));
  return record;
}

/// Applies `visit(line, record or none)` to each line, the torn last one included.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool torn = end == std::string_view::npos;
    const std::string_view line = text.substr(0, torn ? text.size() : end + 1);
    visit(line, torn ? std::optional<MetricRecord>() : parse(line));
    text.remove_prefix(line.size());
  }
}

}  // namespace

bool MetricRecord::has(const std::string& name) const {
  return std::ranges::any_of(values, [&](const auto& value) { return value.first == name; });
}

double MetricRecord::number(const std::string& name) const {
  for (const auto& [key, value] : values) {
    if (key != name) continue;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return double(*integer);
    if (const auto* number = std::get_if<double>(&value)) return *number;
  }
  return nan;
}

MetricsLog::MetricsLog(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    const std::string text = core::read_text_file(path_);
    const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no line break
    if (whole < text.size() && ::truncate(path_.c_str(), off_t(whole)) != 0)
      fail_to("repair", path_, errno);
  }
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail_to("open", path_, errno);
}

MetricsLog::~MetricsLog() { ::close(file_); }

void MetricsLog::append(const MetricRecord& record) {
  core::require(!record.has("step"), "metrics: 'step' is not a metric's name");
  const std::string line = line_of(record);
  const off_t before = ::lseek(file_, 0, SEEK_END);
  const int error = core::write_fully(file_, std::as_bytes(std::span(line)));
  if (!error) return;
  if (::ftruncate(file_, before) != 0) fail_to("repair", path_, errno);
  fail_to("append to", path_, error);
}

void MetricsLog::sync() {
  if (::fdatasync(file_) != 0) fail_to("sync", path_, errno);
}

std::vector<MetricRecord> read_metrics(const std::filesystem::path& path) {
  std::vector<MetricRecord> records;
  if (!std::filesystem::exists(path)) return records;
  for_each_line(core::read_text_file(path),
                [&](std::string_view, std::optional<MetricRecord> record) {
                  if (record) records.push_back(std::move(*record));
                });
  return records;
}

std::optional<MetricRecord> last_record(const std::filesystem::path& path) {
  constexpr std::streamoff enough = 64 * 1024;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const std::streamoff size = file.tellg(), start = std::max<std::streamoff>(0, size - enough);
  std::string text(std::size_t(size - start), '\0');
  file.seekg(start);
  if (!file.read(text.data(), std::streamsize(text.size()))) return std::nullopt;
  std::optional<MetricRecord> last;
  for_each_line(text, [&](std::string_view, std::optional<MetricRecord> record) {
    if (record) last = std::move(record);
  });
  return last;
}

MetricsCut cut_metrics_back(const std::filesystem::path& path, core::Index step,
                            const std::string& redone) {
  MetricsCut cut;
  if (!std::filesystem::exists(path)) return cut;
  const std::string text = core::read_text_file(path);
  std::string kept;
  for_each_line(text, [&](std::string_view line, const std::optional<MetricRecord>& record) {
    const bool again = record && record->step == step && record->has(redone);
    if (record && record->step <= step && !again) {
      kept += line;
      return;
    }
    ++cut.records;
    if (record) cut.newest_step = std::max(cut.newest_step, record->step);
  });
  if (kept != text) core::write_durably(path, kept, core::Fault::checkpoint);
  return cut;
}

}  // namespace weft::experiments
