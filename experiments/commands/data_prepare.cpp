#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "data/documents/document_file.h"
#include "data/documents/document_split.h"
#include "data/fingerprint.h"
#include "data/text/prepared_text.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/output_file.h"

namespace weft::experiments {

using core::Index;

namespace {

using data::Split;

bool has_own_files(const CommandLine& line) { return line.has("validation") || line.has("test"); }
bool has_documents(const CommandLine& line) { return line.has("documents") || line.has("field"); }

/// The files of each split.
std::array<std::vector<std::string>, 3> paths_of(const CommandLine& line) {
  std::array<std::vector<std::string>, 3> paths{line.words(), {}, {}};
  if (line.has("validation")) paths[1] = {line.text("validation")};
  if (line.has("test")) paths[2] = {line.text("test")};
  core::require(
      !has_own_files(line) || !line.has("fractions"),
      "--fractions divide one text: leave them out where --validation or --test is given");
  return paths;
}

/// A text that is cut where its shares end, in the order of the files.
data::DividedText in_order(const CommandLine& line) {
  data::TextDivision division{.paths = paths_of(line), .units = line.text("units")};
  if (!has_own_files(line))
    division.fractions =
        line.has("fractions") ? line.numbers("fractions") : std::vector<double>{0.9, 0.1, 0};
  data::DividedText text = data::read_divided_text(division);
  const Index used = text.facts.parts[0].size + text.facts.parts[1].size + text.facts.parts[2].size;
  if (used < text.tokens.size())
    std::cout << text.tokens.size() - used << ' ' << text.facts.unit()
              << "s at the end are in no split: --fractions add up to less than 1\n";
  if (!has_own_files(line))
    std::cout << "the splits are consecutive parts of the text, in the order of the files; "
                 "--documents draws them document by document\n";
  return text;
}

/// The documents of some files, whose texts they refer to.
struct Documents {
  std::vector<data::DocumentFile> files = {};
  std::vector<data::TextOrigin> origins = {};
  std::vector<std::string_view> texts = {};
};

Documents read_documents(const std::vector<std::string>& paths, const data::DocumentRule& rule) {
  Documents found;
  Index empty = 0;
  for (const std::string& path : paths) {
    data::TextFile file = data::read_text_file(path);
    found.origins.push_back({std::filesystem::path(path).filename().string(),
                             Index(file.bytes.size()), data::fingerprint_of(file.bytes)});
    found.files.emplace_back(std::move(file), rule);
    empty += found.files.back().empty_lines();
  }
  for (const data::DocumentFile& file : found.files)
    for (const std::string_view text : file.texts()) found.texts.push_back(text);
  if (rule.form == data::DocumentRule::Form::lines && empty > 0)
    std::cout << empty << " empty lines are no documents and were left out\n";
  return found;
}

/// A document and what divides it from the next one.
void append_document(std::string& text, std::string_view document, bool is_line) {
  text += document;
  for (const std::string_view end : {"\n", "\n\n"})
    if (!document.empty() && !text.ends_with(end) && (end.size() == 1 || !is_line)) text += '\n';
}

/// A text whose documents are drawn into splits, or come from a file for each.
data::DividedText by_document(const CommandLine& line) {
  const std::string form = line.has("documents") ? line.text("documents") : "lines";
  const data::DocumentRule rule{data::DocumentRule::form_named(form),
                                line.has("field") ? line.text("field") : ""};
  const auto shares =
      line.has("fractions") ? line.numbers("fractions") : std::vector<double>{0.9, 0.05, 0.05};
  const bool is_line = rule.form == data::DocumentRule::Form::lines && rule.field.empty();
  std::array<std::string, 3> texts;
  std::array<Index, 3> counts{};
  std::vector<data::TextOrigin> origins;
  const auto paths = paths_of(line);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Documents found = read_documents(paths[i], rule);
    origins.insert(origins.end(), found.origins.begin(), found.origins.end());
    std::vector<Index> sizes;
    for (const std::string_view text : found.texts) sizes.push_back(Index(text.size()));
    std::vector<Split> splits(sizes.size(), Split(i));
    if (!has_own_files(line) && i == 0)
      splits = data::split_documents(sizes, shares, std::uint64_t(line.integer("seed")));
    for (std::size_t k = 0; k < splits.size(); ++k) {
      append_document(texts[std::size_t(splits[k])], found.texts[k], is_line);
      ++counts[std::size_t(splits[k])];
    }
  }
  std::cout << counts[0] + counts[1] + counts[2] << " documents, each " << rule.words()
            << ": training " << counts[0] << ", validation " << counts[1] << ", test " << counts[2]
            << (has_own_files(line) ? "" : ", drawn with --seed " + line.text("seed")) << '\n';
  std::vector<data::TextFile> files;
  std::array<std::size_t, 3> parts{};
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!texts[i].empty()) {
      files.push_back({std::string(data::name_of(Split(i))), std::move(texts[i])});
      parts[i] = 1;
    }
  data::DividedText text = data::divide_texts(std::move(files), parts, line.text("units"));
  text.facts.origins = std::move(origins);
  return text;
}

/// How many different tokens occur.
Index count_different(const data::PackedTokens& tokens, Index vocabulary) {
  std::vector<bool> seen(static_cast<std::size_t>(vocabulary));
  std::visit(
      [&](const auto& all) {
        for (const auto token : all) seen[std::size_t(token)] = true;
      },
      tokens.packed());
  return Index(std::ranges::count(seen, true));
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
      .option("documents", "HOW",
              "draw whole documents into the splits: lines, blank (empty lines divide them), files")
      .option("field", "NAME", "each line is a JSON object, and this field is a document")
      .option("seed", "N", "which documents are drawn into which split", "1")
      .option("fractions", "A,B,C",
              "shares of training, validation and test, in this order; unless given 0.9,0.1,0, of "
              "documents 0.9,0.05,0.05")
      .option("validation", "FILE", "the validation split's own file")
      .option("test", "FILE", "the test split's own file")
      .flag("force", "replace an existing file");
  if (!line.parse(arguments)) return 0;
  const std::filesystem::path output = line.text("output");
  core::require(output.extension() == ".h5", "-o ", output.string(),
                ": name it FILE.h5, by which data.path knows a prepared text");
  for (const auto& paths : paths_of(line)) check_output(output, paths, line.has("force"));

  const data::DividedText text = has_documents(line) ? by_document(line) : in_order(line);
  const std::string fingerprint = data::write_prepared_text(output, text);
  const auto size = [&](Split split) { return text.facts.part(split).size; };
  std::cout << output.string() << ": " << text.tokens.size() << ' ' << text.facts.unit() << "s, "
            << count_different(text.tokens, text.facts.spelling.vocabulary())
            << " different; training " << size(Split::training) << ", validation "
            << size(Split::validation) << ", test " << size(Split::test) << "\nxxh3-128 "
            << fingerprint << "\ntrain on it with: data.kind=text data.path=" << output.string()
            << '\n';
  return 0;
}

}  // namespace weft::experiments
