#include <iostream>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

int config_command(const Arguments& arguments) {
  CommandLine line("weft config CONFIG [section.key=value ...]",
                   "Shows every setting of a config, resolved, with the file and line or the "
                   "argument that set it.");
  line.words(0, 1000, "CONFIG")
      .flag("keys", "show every key there is, with its type, default and meaning")
      .flag("toml", "print a config file that gives the same run");
  if (!line.parse(arguments)) return 0;
  if (line.has("keys")) {
    std::cout << key_reference();
    return 0;
  }
  core::require(!line.words().empty(), "CONFIG is missing; usage: weft config CONFIG, or --keys");
  const RunConfig config = RunConfig::load(line.words()[0], line.overrides());
  std::cout << (line.has("toml") ? config.toml() : config.resolved.listing());
  return 0;
}

}  // namespace weft::experiments
