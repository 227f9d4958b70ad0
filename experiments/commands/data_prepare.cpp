#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "data/text/prepared_text.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/output_file.h"
#include "experiments/console/command_line.h"

namespace weft::experiments {
namespace {

data::TextDivision division_of(const CommandLine& line) {
  data::TextDivision division{.paths = {}, .units = line.text("units")};
  division.paths[0] = line.words();
  if (line.has("validation")) division.paths[1] = {line.text("validation")};
  if (line.has("test")) division.paths[2] = {line.text("test")};
  const bool own_files = line.has("validation") || line.has("test");
  core::require(
      !own_files || !line.has("fractions"),
      "--fractions divide one text: leave them out where --validation or --test is given");
  if (!own_files)
    division.fractions =
        line.has("fractions") ? line.numbers("fractions") : std::vector<double>{0.9, 0.1, 0};
  return division;
}

}  // namespace

int data_prepare_command(const Arguments& arguments) {
  CommandLine line(
      "weft data prepare INPUT... -o FILE.h5",
      "Writes a text as tokens, with its alphabet, splits and a fingerprint, to be "
      "trained on as data.path=FILE.h5: training starts immediately and the text stays "
      "on the disk. Several inputs are concatenated. The same input gives the same bytes.");
  line.words(1, 100000, "INPUT")
      .option("output,o", "FILE.h5", "where to write")
      .option("units", "UNITS", "what a token is: bytes or characters", "bytes")
      .option("fractions", "A,B,C",
              "shares of training, validation and test, in this order; 0.9,0.1,0 unless given")
      .option("validation", "FILE", "the validation split's own file")
      .option("test", "FILE", "the test split's own file")
      .flag("force", "replace an existing file");
  if (!line.parse(arguments)) return 0;
  const std::filesystem::path output = line.text("output");
  core::require(output.extension() == ".h5", "-o ", output.string(),
                ": name it FILE.h5, by which data.path knows a prepared text");
  const data::TextDivision division = division_of(line);
  for (const auto& paths : division.paths) check_output(output, paths, line.has("force"));

  const data::DividedText text = data::read_divided_text(division);
  const std::string fingerprint = data::write_prepared_text(output, text);
  const auto size = [&](data::Split split) { return text.facts.part(split).size; };
  std::cout << output.string() << ": " << text.tokens.size() << ' ' << text.facts.unit() << "s, "
            << text.facts.spelling.vocabulary() << " different; training "
            << size(data::Split::training) << ", validation " << size(data::Split::validation)
            << ", test " << size(data::Split::test) << "\nxxh3-128 " << fingerprint
            << "\ntrain on it with: data.kind=text data.path=" << output.string() << '\n';
  return 0;
}

}  // namespace weft::experiments
