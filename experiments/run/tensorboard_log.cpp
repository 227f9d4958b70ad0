#include "experiments/run/tensorboard_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/run/log_fault.h"

namespace weft::experiments {
namespace {

// Field numbers of the protocol buffers Event, Summary and Summary.Value.
namespace event {
constexpr protozero::pbf_tag_type wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr protozero::pbf_tag_type value = 1;
}
namespace value {
constexpr protozero::pbf_tag_type tag = 1, simple_value = 2;
}

constexpr std::size_t head = 12, tail = 4;  // bytes around the data of a record

template <class Number>
std::string bytes_of(Number number) {
  number = boost::endian::native_to_little(number);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// CRC-32C, turned and shifted, since a checksum of data that hold checksums is a poor one.
std::string masked_checksum(std::string_view data) {
  boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
  crc.process_bytes(data.data(), data.size());
  const std::uint32_t plain = crc.checksum();
  return bytes_of(std::uint32_t((plain >> 15 | plain << 17) + 0xa282ead8));
}

/// A TFRecord: length, its checksum, data, their checksum.
std::string framed(const std::string& data) {
  const std::string length = bytes_of(std::uint64_t(data.size()));
  return length + masked_checksum(length) + data + masked_checksum(data);
}

/// The data of the whole record at the front of `bytes`.
std::optional<std::string_view> record_at(std::string_view bytes) {
  if (bytes.size() < head + tail) return {};
  const std::string_view length = bytes.substr(0, 8);
  const std::uint64_t size =
      boost::endian::load_little_u64(reinterpret_cast<const unsigned char*>(length.data()));
  if (bytes.substr(8, 4) != masked_checksum(length) || size > bytes.size() - head - tail) return {};
  const std::string_view data = bytes.substr(head, size);
  if (bytes.substr(head + size, tail) != masked_checksum(data)) return {};
  return data;
}

core::Index step_of(std::string_view data) {
  protozero::pbf_reader reader(data.data(), data.size());
  return reader.next(event::step) ? reader.get_int64() : 0;
}

/// An event without a step; the caller adds its content.
std::string begun_event() {
  std::string data;
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  protozero::pbf_writer(data).add_double(event::wall_time, now.count());
  return data;
}

std::string first_record() {
  std::string data = begun_event();
  protozero::pbf_writer(data).add_string(event::file_version, "brain.Event:2");
  return framed(data);
}

/// The records up to `step` and up to the first that is not whole.
std::string records_until(std::string_view bytes, core::Index step) {
  std::string kept;
  while (const auto data = record_at(bytes)) {
    const std::size_t size = head + data->size() + tail;
    if (step_of(*data) <= step) kept += bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return kept;
}

}  // namespace

std::string tensorboard_tag(const std::string& metric) {
  for (const std::string group : {"validation", "final_validation"})
    if (metric.starts_with(group + "_")) return group + "/" + metric.substr(group.size() + 1);
  if (metric.starts_with("layers.")) {
    const std::size_t dot = metric.find('.', std::string_view("layers.").size());
    if (dot != std::string::npos) return metric.substr(0, dot) + "/" + metric.substr(dot + 1);
  }
  return "train/" + metric;
}

TensorboardLog::TensorboardLog(const std::filesystem::path& directory, core::Index step)
    : path_(directory / "events.out.tfevents.weft") {
  std::filesystem::create_directories(directory);
  const std::string before =
      std::filesystem::exists(path_) ? core::read_text_file(path_) : std::string();
  std::string kept = records_until(before, step);
  if (kept.empty()) kept = first_record();
  if (kept != before) core::write_durably(path_, kept, core::Fault::checkpoint);
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail_to("open", path_, errno);
}

TensorboardLog::~TensorboardLog() { ::close(file_); }

void TensorboardLog::append(const MetricRecord& record) {
  std::string data = begun_event();
  protozero::pbf_writer writer(data);
  writer.add_int64(event::step, record.step);
  {
    protozero::pbf_writer list(writer, event::summary);
    for (const auto& [name, ignored] : record.values) {
      const double number = record.number(name);
      if (!std::isfinite(number)) continue;
      protozero::pbf_writer one(list, summary::value);
      one.add_string(value::tag, tensorboard_tag(name));
      one.add_float(value::simple_value, float(number));
    }
  }
  const std::string whole = framed(data);
  const int error = core::write_fully(file_, std::as_bytes(std::span(whole)));
  if (error) fail_to("append to", path_, error);
}

}  // namespace weft::experiments
