#include <iostream>

#include "core/error.h"
#include "experiments/commands/commands.h"

namespace weft::experiments {

std::span<const Command> data_commands() {
  static constexpr Command commands[] = {
      {"prepare", "write a text as tokens, ready to train on", data_prepare_command},
      {"dedup", "drop documents that nearly repeat earlier ones", data_dedup_command},
  };
  return commands;
}

int data_command(const Arguments& arguments) {
  const bool help = !arguments.empty() && arguments[0] == "--help";
  std::string known;
  for (const Command& command : data_commands()) {
    if (help) std::cout << "weft data " << command.name << ": " << command.summary << '\n';
    if (!arguments.empty() && command.name == arguments[0])
      return command.run({arguments.begin() + 1, arguments.end()});
    known.append(known.empty() ? "" : " and ").append(command.name);
  }
  core::require(!arguments.empty(), "weft data needs a verb of its own: it knows ", known);
  core::require(help, "weft data knows ", known, ", not ", arguments[0]);
  return 0;
}

}  // namespace weft::experiments
