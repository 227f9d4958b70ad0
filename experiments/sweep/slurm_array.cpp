#include "experiments/sweep/slurm_array.h"

#include <unistd.h>

#include <algorithm>
#include <boost/program_options/parsers.hpp>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/files/json_nesting.h"
#include "experiments/hold/outside_program.h"
#include "experiments/run/failure.h"
#include "experiments/sweep/slurm_script.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path slurm_folder(const SweepFiles& files) { return files.directory / "slurm"; }

Index number_of(const std::string& text) {
  Index number = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end ? number : 0;
}

std::string own_user() { return std::to_string(::getuid()); }

SlurmArray read_array(const fs::path& directory) {
  SlurmArray array{.directory = directory, .job = {}, .user = own_user(), .trials = {}};
  if (fs::is_regular_file(array.list())) {
    std::istringstream lines(core::read_text_file(array.list()));
    for (std::string line; std::getline(lines, line);)
      array.trials.push_back(line.substr(0, line.find(' ')));
  }
  const fs::path note = directory / "job.json";
  if (!fs::is_regular_file(note)) return array;
  const std::string text = core::read_text_file(note);
  const Json json = Json::parse(core::nests_too_deep(text) ? "" : text, nullptr, false);
  if (!json.is_object()) return array;
  array.job = json.value("job", Json()).is_string() ? json["job"].get<std::string>() : "";
  if (json.value("user", Json()).is_string()) array.user = json["user"].get<std::string>();
  return array;
}

/// A job must not take this process's own place in a cluster, or its choice of kernels, for its
/// own.
std::vector<std::string> environment_of_jobs() {
  return environment_without([](const std::string& name) {
    const bool is_place = name.starts_with("SLURM_") && name != "SLURM_CONF";
    const bool is_kernel_choice = std::getenv(own_blas_variable) &&
                                  (name == "OPENBLAS_CORETYPE" || name == own_blas_variable);
    return is_place || is_kernel_choice || is_of_launcher(name) || name == failure_file_variable;
  });
}

/// The id that sbatch --parsable prints: "12" or "12;cluster". Empty when it is none.
std::string parsed_job(const std::string& out) {
  const std::string id = out.substr(0, out.find_first_of(";\n"));
  const bool is_number =
      !id.empty() && std::ranges::all_of(id, [](unsigned char c) { return std::isdigit(c); });
  return is_number ? id : "";
}

std::string hand_over(const SlurmArray& array, const SlurmOptions& options) {
  const std::string out = (array.directory / "%a.out").string();
  std::vector<std::string> words = {
      "sbatch",         "--job-name=weft", "--requeue", "--open-mode=append", "--signal=B:USR1@180",
      "--output=" + out};
  words.insert(words.end(), options.words.begin(), options.words.end());
  words.push_back("--parsable");
  words.push_back(core::message_of("--array=0-", array.trials.size() - 1) +
                  (options.jobs > 0 ? core::message_of("%", options.jobs) : ""));
  words.push_back(array.script().string());
  const auto result = run_outside(words, environment_of_jobs());
  core::require(result.has_value(),
                "there is no sbatch here: use a machine of the cluster from which jobs are "
                "submitted, or leave out --slurm to train on this one");
  core::require(result->code == 0, "sbatch refused the array (exit code ", result->code,
                "): ", result->err, "correct the options of --slurm; the same command goes on");
  const std::string job = parsed_job(result->out);
  core::require(!job.empty(), "sbatch printed no job id but: ", result->out, result->err);
  return job;
}

}  // namespace

bool SlurmArray::owns(const QueuedTask& task) const {
  const bool is_same_job = job.empty() ? task.command == script().string() : task.array == job;
  return is_same_job && task.index >= 0 && std::size_t(task.index) < trials.size();
}

std::vector<SlurmArray> read_slurm_arrays(const SweepFiles& files) {
  std::vector<SlurmArray> arrays;
  std::error_code none;
  for (const auto& item : fs::directory_iterator(slurm_folder(files), none))
    if (number_of(item.path().filename()) > 0) arrays.push_back(read_array(item.path()));
  std::ranges::sort(arrays, {},
                    [](const SlurmArray& array) { return number_of(array.directory.filename()); });
  return arrays;
}

std::vector<std::string> slurm_words(const std::string& options) {
  try {
    return boost::program_options::split_unix(options);
  } catch (const std::exception& error) {
    throw core::Error("--slurm " + options + ": " + error.what());
  }
}

std::size_t longest_slurm_array() {
  constexpr std::size_t usual = 1000;
  const auto result = run_outside({"scontrol", "show", "config"});
  if (!result || result->code != 0) return usual;
  const std::string name = "MaxArraySize";
  std::istringstream lines(result->out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name)) {
      const std::string value = line.substr(std::min(line.size(), line.find('=') + 1));
      const Index most =
          number_of(value.substr(std::min(value.size(), value.find_first_not_of(' '))));
      core::require(most > 1, "this Slurm takes no arrays of jobs (MaxArraySize is ", most, ")");
      return std::size_t(most - 1);  // indices end below it; 0 to most - 2 always fit
    }
  return usual;
}

SlurmArray submit_slurm_array(const SweepFiles& files, const std::vector<PlannedTrial>& trials,
                              const SlurmOptions& options) {
  const std::vector<SlurmArray> before = read_slurm_arrays(files);
  const Index number = before.empty() ? 1 : number_of(before.back().directory.filename()) + 1;
  SlurmArray array{slurm_folder(files) / std::to_string(number), "", own_user(), {}};
  fs::create_directories(array.directory);
  std::string list;
  for (const PlannedTrial& trial : trials) {
    array.trials.push_back(trial.id);
    list += slurm_line(trial);
  }
  core::write_durably(array.list(), list, core::Fault::checkpoint);
  core::write_durably(array.script(),
                      slurm_script(files, array.list(), fs::read_symlink("/proc/self/exe")),
                      core::Fault::checkpoint);
  try {
    array.job = hand_over(array, options);
  } catch (const core::Error&) {
    fs::remove_all(array.directory);  // its trials were not submitted
    throw;
  }
  const Json json = {{"job", array.job}, {"user", array.user}};
  core::write_durably(array.directory / "job.json", json.dump(1) + "\n", core::Fault::checkpoint);
  return array;
}

}  // namespace weft::experiments
