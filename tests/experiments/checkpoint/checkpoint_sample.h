#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/files/durable_file.h"
#include "core/rng.h"
#include "experiments/checkpoint/checkpoint.h"
#include "tests/fresh_directory.h"

namespace weft::experiments {

/// A small run whose contents follow from its step.
struct SampleRun {
  std::vector<core::Real> weight, moment;
  Snapshot snapshot;

  explicit SampleRun(core::Index step) : weight(60 * 50), moment(60 * 50) {
    core::fill_normal(weight, core::Rng(1).fold(std::uint64_t(step)), 1);
    core::fill_normal(moment, core::Rng(2).fold(std::uint64_t(step)), 1e-6);
    snapshot.step = step;
    snapshot.config_toml = "seed = 1\n[model]\nwidth = 50\n";
    snapshot.facts = {{"rng/seed", std::int64_t(-3)},
                      {"data/position", std::int64_t(step * 100)},
                      {"meta/isa", std::string("avx2")},
                      {"meta/best", 0.1}};
    snapshot.arrays = {{"params/layers.0.attention.qkv.weight", {60, 50}, weight},
                       {"optim/m/layers.0.attention.qkv.weight", {60, 50}, moment}};
  }

  bool equals(const Checkpoint& checkpoint) const {
    return checkpoint.step == snapshot.step && checkpoint.facts == snapshot.facts &&
           checkpoint.config_toml == snapshot.config_toml &&
           checkpoint.arrays.at(snapshot.arrays[0].name).values == weight &&
           checkpoint.arrays.at(snapshot.arrays[1].name).values == moment;
  }
};

inline void flip_bit(const std::filesystem::path& path, core::Index bit) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(bit / 8);
  const char flipped = char(file.get() ^ (1 << (bit % 8)));
  file.seekp(bit / 8);
  file.put(flipped);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message of the Error that the action throws; empty when it throws none.
template <class Action>
std::string message_when(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace weft::experiments
