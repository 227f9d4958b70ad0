#include "experiments/run/tensorboard_log.h"

#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "core/files/durable_file.h"
#include "tests/experiments/program.h"
#include "tests/fresh_directory.h"

namespace weft::experiments::tensorboard_log_test {
namespace {

using core::Index;

/// CRC-32C, bit by bit.
std::uint32_t checksum(const std::string& data) {
  std::uint32_t crc = ~std::uint32_t(0);
  for (const char byte : data) {
    crc ^= std::uint8_t(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

template <class Number>
Number take(std::string& bytes) {
  Number number;
  if (bytes.size() < sizeof number) throw std::runtime_error("cut");
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.erase(0, sizeof number);
  return number;
}

std::uint64_t take_varint(std::string& bytes) {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>(bytes);
    number |= std::uint64_t(byte & 127) << shift;
    if (byte < 128) return number;
  }
}

/// The fields of a protocol buffer: numbers as bytes, messages and texts as they are.
std::multimap<int, std::string> fields_of(std::string bytes) {
  std::multimap<int, std::string> fields;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    std::size_t size = key % 8 == 1 ? 8 : key % 8 == 5 ? 4 : 0;
    std::string field;
    if (key % 8 == 0) {
      const std::uint64_t number = take_varint(bytes);
      field.assign(reinterpret_cast<const char*>(&number), sizeof number);
    } else {
      if (key % 8 == 2) size = take_varint(bytes);
      field = bytes.substr(0, size);
      bytes.erase(0, size);
    }
    fields.emplace(int(key / 8), field);
  }
  return fields;
}

struct Point {
  Index step;
  std::string tag;
  float value;
  double time;

  bool operator==(const Point&) const = default;
};

/// Every point of an event file, read without any code of the log; checksums are checked.
std::vector<Point> points_of(const std::filesystem::path& path) {
  std::string bytes = core::read_text_file(path);
  std::vector<Point> points;
  for (bool first = true; !bytes.empty(); first = false) {
    const std::string length = bytes.substr(0, 8);
    const auto size = take<std::uint64_t>(bytes);
    EXPECT_EQ(take<std::uint32_t>(bytes), checksum(length));
    const std::string data = bytes.substr(0, size);
    bytes.erase(0, size);
    EXPECT_EQ(take<std::uint32_t>(bytes), checksum(data));
    const auto event = fields_of(data);
    if (first) {
      EXPECT_EQ(event.find(3)->second, "brain.Event:2");
      continue;
    }
    std::string time = event.find(1)->second, step = event.find(2)->second;
    const double seconds = take<double>(time);
    const auto number = Index(take<std::uint64_t>(step));
    const auto summary = fields_of(event.find(5)->second);
    for (const auto& [field, text] : summary) {
      const auto value = fields_of(text);
      std::string simple = value.find(2)->second;
      points.push_back({number, value.find(1)->second, take<float>(simple), seconds});
    }
  }
  return points;
}

std::filesystem::path events(const std::filesystem::path& directory) {
  return directory / "events.out.tfevents.weft";
}

void log_steps(const std::filesystem::path& directory, Index from, Index to) {
  TensorboardLog log(directory, from - 1);
  for (Index step = from; step <= to; ++step)
    log.append({step, {{"loss", 1.0 / double(step)}, {"note", std::string("text")}}});
}

TEST(TensorboardLog, another_reader_finds_every_number_and_no_more) {
  const auto directory = fresh_directory();
  {
    TensorboardLog log(directory, 0);
    log.append({300,
                {{"loss", 0.5},
                 {"tokens", std::int64_t(12)},
                 {"validation_bits", 1.25},
                 {"broken", std::nan("")},
                 {"note", std::string("text")},
                 {"recall_accuracy", std::vector<double>{1, 2}}}});
  }
  const auto points = points_of(events(directory));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].tag, "train/loss");
  EXPECT_EQ(points[0].value, 0.5f);
  EXPECT_EQ(points[0].step, 300);
  EXPECT_GT(points[0].time, 1.6e9);
  EXPECT_EQ(points[1].tag, "train/tokens");
  EXPECT_EQ(points[2].tag, "validation/bits");
}

TEST(TensorboardLog, a_resumed_log_has_every_point_once) {
  const auto directory = fresh_directory();
  log_steps(directory, 1, 20);
  const auto before = points_of(events(directory));
  log_steps(directory, 11, 30);
  const auto after = points_of(events(directory));
  ASSERT_EQ(after.size(), 30u);
  for (Index i = 0; i < 30; ++i) EXPECT_EQ(after[std::size_t(i)].step, i + 1);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(after[i], before[i]);
}

TEST(TensorboardLog, a_torn_record_is_cut_off) {
  const auto directory = fresh_directory();
  log_steps(directory, 1, 5);
  const auto size = std::filesystem::file_size(events(directory));
  for (const std::uintmax_t torn : {1, 5, 13, 20}) {
    std::filesystem::resize_file(events(directory), size - torn);
    log_steps(directory, 6, 6);
    const auto points = points_of(events(directory));
    ASSERT_EQ(points.size(), 5u);
    EXPECT_EQ(points.back().step, 6);
    log_steps(directory, 5, 5);
    EXPECT_EQ(std::filesystem::file_size(events(directory)), size);
  }
}

TEST(TensorboardLog, tags_are_grouped) {
  EXPECT_EQ(tensorboard_tag("lr"), "train/lr");
  EXPECT_EQ(tensorboard_tag("validation_loss"), "validation/loss");
  EXPECT_EQ(tensorboard_tag("final_validation_bits"), "final_validation/bits");
  EXPECT_EQ(tensorboard_tag("layers.0.attention.mechanism1.clusters_used"),
            "layers.0/attention.mechanism1.clusters_used");
}

TEST(TensorboardLog, a_run_that_was_resumed_shows_what_its_metrics_hold) {
  const Program program("tensorboard");
  program.write("tiny.toml", tiny_config);
  ASSERT_EQ(
      program
          .run({"train", "tiny.toml", "--run", "run", "train.steps=20", "train.tensorboard=true"})
          .code,
      0);
  // As if it had been killed before its last checkpoint: that and all newer measurements go.
  const auto run = program.directory() / "run";
  for (const char* const file : {"ckpt-00000020.h5"})
    std::filesystem::remove(run / "checkpoints" / file);
  std::filesystem::remove(run / "checkpoints" / "last.json");
  const Outcome resumed = program.run({"train", "run", "--resume", "train.steps=30"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  std::vector<std::pair<Index, float>> expected, found;
  for (const MetricRecord& record : read_metrics(run / "metrics.jsonl"))
    if (record.has("loss")) expected.emplace_back(record.step, float(record.number("loss")));
  for (const Point& point : points_of(events(run / "tensorboard")))
    if (point.tag == "train/loss") found.emplace_back(point.step, point.value);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), 30u);
}

}  // namespace
}  // namespace weft::experiments::tensorboard_log_test
