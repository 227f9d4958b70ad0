#include <iostream>
#include <set>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {
namespace {

/// What follows a word on the command line: section.key= for every setting there is.
std::set<std::string> all_keys() {
  std::set<std::string> keys;
  const std::string reference = key_reference();
  for (std::size_t at = 0; at < reference.size();) {
    const std::size_t end = reference.find('\n', at);
    const std::string line = reference.substr(at, end - at);
    at = end == std::string::npos ? reference.size() : end + 1;
    const std::string key = line.substr(0, line.find(' '));
    const bool is_key = key == "seed" || key == "threads" || key.find('.') != std::string::npos;
    const bool is_plain = key.find_first_of("[]\"=") == std::string::npos;
    if (is_key && is_plain && !key.starts_with("attention.NAME")) keys.insert(key);
  }
  return keys;
}

/// The branch of the script for the second word of a verb that has verbs of its own.
std::string second_word(const Command& command) {
  std::string names;
  for (const Command& verb : command.verbs()) names.append(verb.name).append(" ");
  return "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"${COMP_WORDS[1]}\" = " + std::string(command.name) +
         " ]; then\n    COMPREPLY=($(compgen -W \"" + names + "\" -- \"$word\"))\n";
}

}  // namespace

int completion_command(const Arguments& arguments) {
  CommandLine line("weft completion bash",
                   "Prints a script that completes verbs, settings and files:\n"
                   "  eval \"$(./weft completion bash)\"");
  line.words(1, 1, "bash");
  if (!line.parse(arguments)) return 0;
  core::require(line.words()[0] == "bash", "weft completion knows bash, not ", line.words()[0]);
  std::string verbs, verbs_of_verbs, keys;
  for (const Command& command : all_commands()) {
    verbs.append(command.name).append(" ");
    if (command.verbs) verbs_of_verbs += second_word(command);
  }
  for (const std::string& key : all_keys()) keys.append(key).append("= ");
  std::cout << R"sh(_weft() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W ")sh"
            << verbs << R"sh(" -- "$word"))
)sh" << verbs_of_verbs
            << R"sh(  elif [ "$COMP_CWORD" = 2 ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W ")sh"
            << keys << R"sh(" -- "$word") $(compgen -f -- "$word"))
    case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac
  fi
}
complete -o filenames -F _weft weft ./weft
)sh";
  return 0;
}

}  // namespace weft::experiments
