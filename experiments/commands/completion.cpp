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

/// The names of the verbs that a verb has of its own.
std::string names_of(const Command& command) {
  std::string names;
  for (const Command& verb : command.verbs()) names.append(verb.name).append(" ");
  return names;
}

/// Text between single quotes, as zsh and fish read it.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string all = "'";
  for (const char c : text) c == '\'' ? all.append(quote) : all.append(1, c);
  return all + "'";
}

/// The branch of the script for the second word of a verb that has verbs of its own.
std::string second_word(const Command& command) {
  return "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"${COMP_WORDS[1]}\" = " + std::string(command.name) +
         " ]; then\n    COMPREPLY=($(compgen -W \"" + names_of(command) + "\" -- \"$word\"))\n";
}

std::string bash_script(const std::string& keys) {
  std::string verbs, verbs_of_verbs;
  for (const Command& command : all_commands()) {
    verbs.append(command.name).append(" ");
    if (command.verbs) verbs_of_verbs += second_word(command);
  }
  return R"sh(_weft() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W ")sh" +
         verbs + R"sh(" -- "$word"))
)sh" + verbs_of_verbs +
         R"sh(  elif [ "$COMP_CWORD" = 2 ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W ")sh" +
         keys + R"sh(" -- "$word") $(compgen -f -- "$word"))
    case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac
  fi
}
complete -o filenames -F _weft weft ./weft
)sh";
}

std::string zsh_script(const std::string& keys) {
  std::string verbs, branches;
  for (const Command& command : all_commands()) {
    verbs += "    " +
             quoted(std::string(command.name) + ":" + std::string(command.summary), "'\\''") + "\n";
    if (command.verbs)
      branches += "      " + std::string(command.name) + ") compadd " + names_of(command) + ";;\n";
  }
  return "#compdef weft\n_weft() {\n  local -a verbs keys\n  verbs=(\n" + verbs +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
         "  if (( CURRENT == 3 )); then\n    case $words[2] in\n" +
         branches + "    esac\n  else\n    keys=(" + keys +
         ")\n    compadd -S '' -a keys\n  fi\n  _files\n}\ncompdef _weft weft ./weft\n";
}

std::string fish_script(const std::string& keys) {
  std::string text;
  for (const Command& command : all_commands()) {
    text += "complete -c weft -n __fish_use_subcommand -f -a " + std::string(command.name) +
            " -d " + quoted(command.summary, "\\'") + "\n";
    if (command.verbs)
      text += "complete -c weft -n '__fish_seen_subcommand_from " + std::string(command.name) +
              "' -a '" + names_of(command) + "'\n";
  }
  return text + "complete -c weft -n 'not __fish_use_subcommand' -a '" + keys + "'\n";
}

}  // namespace

int completion_command(const Arguments& arguments) {
  CommandLine line("weft completion bash|zsh|fish",
                   "Prints a script that completes verbs, settings and files:\n"
                   "  eval \"$(./weft completion bash)\"\n"
                   "  weft completion zsh > DIR/_weft    (DIR: a folder of $fpath)\n"
                   "  weft completion fish | source");
  line.words(1, 1, "bash, zsh or fish");
  if (!line.parse(arguments)) return 0;
  std::string keys;
  for (const std::string& key : all_keys()) keys.append(key).append("= ");
  const std::string& shell = line.words()[0];
  core::require(shell == "bash" || shell == "zsh" || shell == "fish",
                "weft completion knows bash, zsh and fish, not ", shell);
  std::cout << (shell == "bash"  ? bash_script(keys)
                : shell == "zsh" ? zsh_script(keys)
                                 : fish_script(keys));
  return 0;
}

}  // namespace weft::experiments
