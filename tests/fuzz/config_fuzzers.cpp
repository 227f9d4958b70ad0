// Configs as text: TOML files, section.key=value arguments with the options of a verb, sweep files.
#include <iostream>

#include "experiments/config/toml.h"
#include "experiments/console/command_line.h"
#include "experiments/run/run_config.h"
#include "experiments/sweep/trials.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/resolved_config.h"
#include "tests/fuzz/scratch.h"

namespace weft::fuzz {
namespace {

using namespace experiments;

class Silence {
 public:
  Silence() : before_(std::cout.rdbuf(nullptr)) {}
  ~Silence() { std::cout.rdbuf(before_); }

 private:
  std::streambuf* before_;
};

}  // namespace

void fuzz_toml(std::string_view input) {
  const auto path = scratch_file("config.toml", input);
  use_config(RunConfig::load(path.string()));
}

void fuzz_arguments(std::string_view input) {
  const Silence silence;
  CommandLine line("weft train CONFIG", "A verb with all kinds of options.");
  line.words(1, 1000, "CONFIG")
      .flag("resume", "a flag")
      .option("run,r", "DIR", "an option", "run")
      .option("seed", "N", "a number", "1")
      .list("set", "KEY", "a list");
  if (!line.parse(lines_of("default.toml\n" + std::string(input)))) return;
  if (line.has("seed")) line.integer("seed"), line.number("seed"), line.numbers("seed");
  use_config(RunConfig::from_text("", "default.toml", line.overrides()));
}

void fuzz_sweep_file(std::string_view input) {
  scratch_file("base.toml", "[model]\nwidth = 8\nheads = 2\n[train]\nsteps = 2\n");
  const SweepFile sweep = SweepFile::load(scratch_file("sweep.toml", input).string());
  std::size_t trials = 1;
  for (const SweepAxis& axis : sweep.axes)
    if ((trials *= axis.alternatives.size()) > 16) return;  // honest work that takes its time
  product_of(sweep, trials_of(sweep, {}));
}

}  // namespace weft::fuzz
