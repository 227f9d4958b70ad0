#include <algorithm>
#include <iostream>
#include <set>

#include "core/error.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"

namespace weft::experiments {
namespace {

/// Whether an attention of this kind can have the setting.
bool is_of(const FieldDescription& setting, std::string_view kind) {
  return std::ranges::all_of(setting.conditions, [&](const core::FieldCondition& condition) {
    return condition.key != "kind" ||
           std::ranges::find(condition.values, kind) != condition.values.end();
  });
}

/// What follows a word on the command line: section.key= for every setting there is. Those of an
/// attention table are offered for the kinds themselves, each of which is a table's name.
std::set<std::string> all_keys() {
  std::set<std::string> keys;
  for (const auto& [section, settings] : describe_sections())
    for (const FieldDescription& setting : settings) {
      if (setting.key.find('[') != std::string::npos) continue;
      if (section != "attention.NAME") {
        keys.insert(join_path(section, setting.key));
        continue;
      }
      for (const std::string_view kind : layers::attention_kinds())
        if (is_of(setting, kind))
          keys.insert(join_path("attention." + std::string(kind), setting.key));
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
