#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "data/files/text_paths.h"
#include "data/text/document_text.h"
#include "data/text/prepared_text.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/live_text.h"
#include "experiments/console/number_text.h"
#include "experiments/console/output_file.h"
#include "experiments/console/progress.h"

namespace weft::experiments {

using core::Index;

namespace {

using data::Split;

bool has_own_files(const CommandLine& line) { return line.has("validation") || line.has("test"); }
bool has_documents(const CommandLine& line) { return line.has("documents") || line.has("field"); }

/// The files of each split.
std::array<std::vector<std::string>, 3> paths_of(const CommandLine& line) {
  std::array<std::vector<std::string>, 3> paths;
  for (const std::string& word : line.words())
    for (const std::string& file : data::text_paths(word).files) paths[0].push_back(file);
  if (line.has("validation")) paths[1] = data::text_paths(line.text("validation")).files;
  if (line.has("test")) paths[2] = data::text_paths(line.text("test")).files;
  core::require(
      !has_own_files(line) || !line.has("fractions"),
      "--fractions divide one text: leave them out where --validation or --test is given");
  return paths;
}

data::TextUnits units_of(const CommandLine& line) {
  const data::TextUnits units{data::unit_named(line.text("units")),
                              line.has("tokenizer") ? line.text("tokenizer") : ""};
  core::require((units.kind == data::Unit::sentencepiece) == line.has("tokenizer"),
                "--units sentencepiece and --tokenizer FILE.model need each other: weft data "
                "tokenizer makes the file");
  return units;
}

/// Says how much of a long text has been read: in a line that changes, or for each tenth where
/// there is no terminal.
class ReadShare {
 public:
  explicit ReadShare(const data::TextDivision& division) {
    double bytes = 0;
    const auto files = division.all_paths();
    for (const std::string& file : files) {
      std::error_code missing;  // is said when the file is read
      const auto size = std::filesystem::file_size(file, missing);
      if (!missing) bytes += double(size);
    }
    is_long_ = bytes >= long_text;
    if (is_long_)
      shown_.message("reading " + format_number_of(double(files.size()), "file") + ", " +
                     format_fixed(bytes / 1e6, 0) + " MB");
  }
  ~ReadShare() { shown_.show({}); }

  void show(double share) {
    if (shown_.is_live()) return shown_.show({"read " + format_fixed(100 * share, 0) + " %"});
    const int tenths = int(10 * share);
    if (!is_long_ || tenths <= shown_tenths_) return;
    shown_.message("read " + std::to_string(10 * tenths) + " %");
    shown_tenths_ = tenths;
  }

 private:
  static constexpr double long_text = 1e8;

  LiveText shown_{std::cerr, [] { return terminal_columns(STDERR_FILENO); }};
  bool is_long_ = false;
  int shown_tenths_ = 0;
};

/// A text that is cut where its shares end, in the order of the files.
data::TextFacts in_order(const CommandLine& line, data::TokenFiles& tokens) {
  data::TextDivision division{.paths = paths_of(line), .units = units_of(line)};
  if (!has_own_files(line))
    division.fractions =
        line.has("fractions") ? line.numbers("fractions") : std::vector<double>{0.9, 0.1, 0};
  data::TextFacts facts;
  {
    ReadShare shown(division);
    division.progress = [&](double share) { shown.show(share); };
    facts = data::encode_divided_text(division, tokens);
  }
  const Index used = facts.parts[0].size + facts.parts[1].size + facts.parts[2].size;
  if (used < tokens.size())
    std::cout << tokens.size() - used << ' ' << facts.unit()
              << "s at the end are in no split: --fractions add up to less than 1\n";
  if (!has_own_files(line))
    std::cout << "the splits are consecutive parts of the text, in the order of the files; "
                 "--documents draws them document by document\n";
  return facts;
}

/// A text whose documents are drawn into splits, or come from a file for each.
data::TextFacts by_document(const CommandLine& line, data::TokenFiles& tokens) {
  const std::string form = line.has("documents") ? line.text("documents") : "lines";
  const data::TextDocuments how{
      .rule = {data::DocumentRule::form_named(form), line.has("field") ? line.text("field") : ""},
      .boundaries = line.has("boundaries"),
      .seed = std::uint64_t(line.integer("seed"))};
  data::TextDivision division{.paths = paths_of(line), .units = units_of(line)};
  if (!has_own_files(line))
    division.fractions =
        line.has("fractions") ? line.numbers("fractions") : std::vector<double>{0.9, 0.05, 0.05};
  data::DocumentFacts found;
  {
    ReadShare shown(division);
    division.progress = [&](double share) { shown.show(share); };
    found = data::encode_document_text(division, how, tokens);
  }
  if (how.rule.form == data::DocumentRule::Form::lines && found.empty_lines > 0)
    std::cout << found.empty_lines << " empty lines are no documents and were left out\n";
  const auto& counts = found.documents;
  std::cout << counts[0] + counts[1] + counts[2] << " documents, each " << how.rule.words()
            << ": training " << counts[0] << ", validation " << counts[1] << ", test " << counts[2]
            << (has_own_files(line) ? "" : ", drawn with --seed " + line.text("seed")) << '\n';
  return std::move(found.text);
}

}  // namespace

int data_prepare_command(const Arguments& arguments) {
  CommandLine line(
      "weft data prepare INPUT... -o FILE.h5",
      "Writes a text as tokens, with its alphabet or tokenizer, splits and a fingerprint, to be "
      "trained on as data.path=FILE.h5: training starts immediately and the text stays "
      "on the disk. Several inputs are concatenated. The same input gives the same bytes. A text "
      "of "
      "any length takes little memory; while it is written, it takes twice the disk space of "
      "FILE.h5.");
  line.words(1, 100000, "INPUT")
      .option("output,o", "FILE.h5", "where to write")
      .option("units", "UNITS", "what a token is: bytes, characters or sentencepiece", "bytes")
      .option("tokenizer", "FILE.model", "the tokenizer of sentencepiece, from weft data tokenizer")
      .option("documents", "HOW",
              "draw whole documents into the splits: lines, blank (empty lines divide them), files")
      .option("field", "NAME", "each line is a JSON object, and this field is a document")
      .flag("boundaries", "put a token of its own between documents, instead of a line end")
      .option("seed", "N", "which documents are drawn into which split", "1")
      .option("fractions", "A,B,C",
              "shares of training, validation and test, in this order; unless given 0.9,0.1,0, of "
              "documents 0.9,0.05,0.05")
      .option("validation", "FILE", "a separate file for the validation split")
      .option("test", "FILE", "a separate file for the test split")
      .flag("force", "replace an existing file");
  if (!line.parse(arguments)) return 0;
  const std::filesystem::path output = line.text("output");
  core::require(output.extension() == ".h5", "-o ", output.string(),
                ": name it FILE.h5, by which data.path knows a prepared text");
  for (const auto& paths : paths_of(line)) check_output(output, paths, line.has("force"));

  core::require(!line.has("boundaries") || has_documents(line),
                "--boundaries are those of documents: add --documents files, lines or blank");
  data::TokenFiles tokens(output);
  const data::TextFacts facts =
      has_documents(line) ? by_document(line, tokens) : in_order(line, tokens);
  const std::string fingerprint = data::write_prepared_text(output, facts, tokens);
  const auto size = [&](Split split) { return facts.part(split).size; };
  std::cout << output.string() << ": " << tokens.size() << ' ' << facts.unit() << "s, "
            << tokens.different() << " different; training " << size(Split::training)
            << ", validation " << size(Split::validation) << ", test " << size(Split::test)
            << "\nxxh3-128 " << fingerprint
            << "\ntrain on it with: data.kind=text data.path=" << output.string() << '\n';
  return 0;
}

}  // namespace weft::experiments
