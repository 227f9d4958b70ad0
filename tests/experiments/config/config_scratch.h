#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/error.h"

namespace weft::experiments {

/// A fresh directory of config files, gone with the test.
class ConfigScratch {
 public:
  ConfigScratch() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) /
            ("weft-" + std::string(test->test_suite_name()) + "-" + test->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~ConfigScratch() { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  /// The message without the scratch directory, so that tests can state it whole.
  std::string strip(std::string message) const {
    const std::string prefix = root_.string() + "/";
    for (std::size_t at; (at = message.find(prefix)) != std::string::npos;)
      message.erase(at, prefix.size());
    return message;
  }

 private:
  std::filesystem::path root_;
};

/// What `action` throws as an error of usage; empty when it throws nothing.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::usage);
    return error.what();
  }
  return "";
}

}  // namespace weft::experiments
