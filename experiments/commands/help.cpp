#include <filesystem>
#include <iostream>
#include <sstream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"
#include "experiments/console/manual_text.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// What a verb prints on standard output.
std::string printed_by(const Arguments& words) {
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  try {
    run_command("weft", all_commands(), words);
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  return text.str();
}

/// The page of weft, or of a verb that has verbs of its own: what each of them does.
std::string page_of(const std::string& name, const std::string& summary,
                    std::span<const Command> commands) {
  std::string page = manual_head(name, summary) + ".SH VERBS\n";
  for (const Command& command : commands)
    page += ".TP\n" + roff(name + "-" + std::string(command.name)) + "(1)\n" +
            roff(std::string(command.summary)) + "\n";
  return page;
}

void write_pages(const fs::path& folder, const std::string& name, const Arguments& words,
                 std::span<const Command> commands) {
  for (const Command& command : commands) {
    const std::string own = name + "-" + std::string(command.name);
    Arguments path = words;
    path.emplace_back(command.name);
    if (command.verbs) {
      core::write_durably(folder / (own + ".1"),
                          page_of(own, std::string(command.summary), command.verbs()));
      write_pages(folder, own, path, command.verbs());
      continue;
    }
    path.push_back("--man");
    core::write_durably(folder / (own + ".1"), printed_by(path));
  }
}

}  // namespace

int help_command(const Arguments& words) {
  if (words[0] == "--man-pages") {
    core::require(words.size() == 2, "usage: weft help --man-pages DIR");
    fs::create_directories(words[1]);
    core::write_durably(
        fs::path(words[1]) / "weft.1",
        page_of("weft", "trains and compares long-sequence Transformers on CPUs", all_commands()));
    write_pages(words[1], "weft", {}, all_commands());
    return 0;
  }
  const bool manual = words[0] == "--man";
  Arguments verb(words.begin() + (manual ? 1 : 0), words.end());
  core::require(!verb.empty(), "usage: weft help [--man] VERB");
  verb.push_back(manual ? "--man" : "--help");
  return run_command("weft", all_commands(), verb);
}

}  // namespace weft::experiments
