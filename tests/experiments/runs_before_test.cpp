#include <cmath>
#include <cstring>
#include <iostream>
#include <set>

#include "experiments/checkpoint/file.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_config.h"
#include "experiments/run/run_files.h"
#include "tests/experiments/program.h"
#include "tests/places.h"

namespace weft::experiments::runs_before_test {
namespace {

namespace fs = std::filesystem;

const fs::path kept = fs::path(source_dir()) / "tests/experiments/runs_before";

// Sanitizers are built with other options, and rounding may follow the optimizer.
#ifdef __SANITIZE_ADDRESS__
constexpr bool same_build = false;
#else
constexpr bool same_build = true;
#endif

/// What differs between two measurements of the same step anyway.
const std::set<std::string> measured = {"tokens_per_s", "peak_bytes", "time"};

/// Where kernels round otherwise, a few steps of training stay this close, as a share of the
/// largest number of an array.
constexpr double tolerance = 0.02;

bool rounds_alike(const RunFiles& run) {
  const std::vector<Facts> starts = read_starts(run);
  return same_build && starts.front().at("isa") == starts.back().at("isa") &&
         starts.front().at("blas") == starts.back().at("blas");
}

/// How far the numbers of two lists are apart; 0 only where every bit is equal.
template <class Number>
double distance(const std::vector<Number>& a, const std::vector<Number>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  if (std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0) return 0;
  double largest = 1e-6, farthest = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double(a[i])));
    farthest = std::max(farthest, std::abs(double(a[i]) - double(b[i])));
  }
  return farthest / largest;
}

std::vector<double> numbers_of(const MetricValue& value) {
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return {double(*whole)};
  return {std::get<double>(value)};
}

class RunBefore : public testing::TestWithParam<std::string> {
 protected:
  /// The run's directory is found by its name: hence the config still has the same hash.
  void resume() {
    const std::string config = GetParam().substr(0, GetParam().rfind('-')) + ".toml";
    fs::create_directories(program_.directory() / "runs");
    fs::copy(kept / "interrupted" / GetParam(), run_, fs::copy_options::recursive);
    fs::copy(kept / config, program_.directory() / config);
    const Outcome outcome = program_.run({"train", config, "--resume"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    ASSERT_NE(outcome.out.find("resumed step 4 from ckpt-00000004.h5"), std::string::npos)
        << outcome.out;
    allowed_ = rounds_alike({run_}) ? 0 : tolerance;
    if (allowed_ > 0)
      std::cout << "other kernels than those of the stored run: compared to within " << allowed_
                << '\n';
  }

  Program program_{"before-" + GetParam()};
  fs::path run_ = program_.directory() / "runs" / GetParam();
  fs::path expected_ = kept / "uninterrupted" / GetParam();
  double allowed_ = 0;
};

TEST_P(RunBefore, keeps_its_name_and_ends_in_the_arrays_it_would_have_ended_in) {
  ASSERT_NO_FATAL_FAILURE(resume());
  const Checkpoint ended = load_checkpoint(run_ / "checkpoints/ckpt-00000008.h5");
  const Checkpoint expected = load_checkpoint(expected_ / "ckpt-00000008.h5");
  EXPECT_EQ(RunConfig::from_text(ended.config_toml, "ended").identity(),
            RunConfig::from_text(expected.config_toml, "expected").identity());
  ASSERT_EQ(ended.arrays.size(), expected.arrays.size());
  for (const auto& [name, array] : expected.arrays) {
    ASSERT_TRUE(ended.arrays.contains(name)) << name;
    EXPECT_EQ(ended.arrays.at(name).shape, array.shape) << name;
    EXPECT_LE(distance(array.values, ended.arrays.at(name).values), allowed_) << name;
  }
  for (const auto& [name, fact] : expected.facts) {
    const bool kept_exactly = name.starts_with("data/") || name.starts_with("rng/");
    EXPECT_TRUE(!kept_exactly || ended.facts.at(name) == fact) << name;
  }
}

TEST_P(RunBefore, measures_what_it_would_have_measured) {
  ASSERT_NO_FATAL_FAILURE(resume());
  const auto ended = read_metrics(run_ / "metrics.jsonl");
  const auto expected = read_metrics(expected_ / "metrics.jsonl");
  ASSERT_EQ(ended.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(ended[i].step, expected[i].step);
    auto values = ended[i].values;
    std::erase_if(values, [](const auto& value) {  // which a younger weft adds
      return value.first == "time" || value.first == "recall_tokens";
    });
    ASSERT_EQ(values.size(), expected[i].values.size());
    for (std::size_t j = 0; j < expected[i].values.size(); ++j) {
      const auto& [name, value] = expected[i].values[j];
      EXPECT_EQ(values[j].first, name);
      if (measured.contains(name)) continue;
      EXPECT_LE(distance(numbers_of(value), numbers_of(values[j].second)), allowed_)
          << name << " at step " << expected[i].step;
    }
  }
}

TEST_P(RunBefore, is_continued_by_its_directory_too_whatever_its_settings_were_called_then) {
  fs::create_directories(program_.directory() / "runs");
  fs::copy(kept / "interrupted" / GetParam(), run_, fs::copy_options::recursive);
  const Outcome outcome = program_.run({"train", "runs/" + GetParam(), "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Stored, RunBefore,
                         testing::Values("clusters-1d4d577e", "stream-f96b5b7c",
                                         "classes-675e7c6a"),
                         [](const auto& run) { return run.param.substr(0, run.param.find('-')); });

TEST(RunName, of_bigbird_is_what_it_was_before_there_were_forms) {
  const std::string config = source_dir() + "/configs/mechanisms/bigbird.toml";
  const auto name = [&](const std::string& form) {
    std::vector<std::string> arguments{"train.tokens=2048"};
    if (!form.empty()) arguments.push_back("attention.bigbird.form=" + form);
    if (form == "etc") arguments.insert(arguments.end(), {"model.causal=false", "sample.tokens=0"});
    return RunConfig::load(config, arguments).identity().substr(0, 8);
  };
  EXPECT_EQ(name(""), "48152733");
  EXPECT_EQ(name("itc"), "48152733");
  EXPECT_NE(name("etc"), "48152733");
}

}  // namespace
}  // namespace weft::experiments::runs_before_test
