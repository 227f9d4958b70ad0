#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/parallel.h"
#include "data/dedup/near_duplicates.h"
#include "data/documents/document_file.h"
#include "experiments/commands/commands.h"
#include "experiments/console/command_line.h"
#include "experiments/console/output_file.h"

namespace weft::experiments {

using core::Index;

namespace {

/// A JSON object on each line: what was dropped and why, then what was too large to drop.
std::string report_of(const data::DocumentFile& file, const data::NearDuplicates& found) {
  std::string text;
  for (const data::Repeat& repeat : found.repeats) {
    nlohmann::ordered_json json = {{"dropped", file.line(repeat.document)},
                                   {"kept", file.line(repeat.kept)},
                                   {"similarity", repeat.kept_similarity}};
    if (repeat.match != repeat.kept) {
      json["through"] = file.line(repeat.match);
      json["through_similarity"] = repeat.match_similarity;
    }
    text += json.dump() + '\n';
  }
  for (const auto& cluster : found.refused) {
    auto lines = nlohmann::ordered_json::array();
    for (const Index document : cluster) lines.push_back(file.line(document));
    text += nlohmann::ordered_json{{"too_large", lines}}.dump() + '\n';
  }
  return text;
}

void summarise(const data::DocumentFile& file, const data::DocumentRule& rule,
               const data::NearDuplicates& found, Index largest) {
  const auto documents = std::size_t(file.size());
  const auto exact = std::ranges::count_if(found.repeats, [](const data::Repeat& repeat) {
    return repeat.match_similarity == 1 && repeat.kept_similarity == 1;
  });
  const auto dropped = std::ptrdiff_t(found.repeats.size());
  std::cout << "a document is " << rule.words() << "; " << file.empty_lines()
            << " empty lines are in none and stay\n"
            << documents << " documents: " << documents - found.repeats.size() << " kept, "
            << dropped << " dropped, " << exact << " of them the same and " << dropped - exact
            << " nearly the same as an earlier one\n";
  for (const auto& cluster : found.refused)
    std::cerr << "warning: " << cluster.size()
              << " documents resemble each other, more than --largest " << largest
              << ": all are kept; look at the report, then raise --largest\n";
}

}  // namespace

int data_dedup_command(const Arguments& arguments) {
  CommandLine line(
      "weft data dedup INPUT -o OUTPUT",
      "Drops documents that nearly repeat earlier ones, and keeps the first of each "
      "group. A document is a line, what empty lines divide, or a field of the JSON "
      "object on a line; weft data prepare cuts a text in the same way. Two documents "
      "are compared by the word n-grams they share (Jaccard similarity): MinHash finds "
      "candidates, whose similarity is computed exactly. Do not use it on a benchmark's "
      "own splits.");
  line.words(1, 1, "INPUT")
      .option("output,o", "FILE", "where to write what is kept")
      .option("threshold", "X", "similarity from which a document is dropped", "0.8")
      .option("shingle", "N", "words in an n-gram; shorter documents must be identical", "5")
      .option("largest", "N", "clusters with more different documents than this are kept", "1000")
      .option("documents", "HOW", "what a document is: lines, or blank (empty lines divide them)",
              "lines")
      .option("field", "NAME", "each line is a JSON object, and this field is the text")
      .option("report", "FILE", "where to write what was dropped and why, as JSON lines")
      .flag("markup", "leave <...> out of the comparison")
      .option("threads", "N", "threads to use, 0: all cores", "0")
      .flag("force", "replace existing files");
  if (!line.parse(arguments)) return 0;
  const std::string& input = line.words()[0];
  const std::string& output = line.text("output");
  check_output(output, {input}, line.has("force"));
  if (line.has("report")) check_output(line.text("report"), {input, output}, line.has("force"));
  core::require(!line.has("report") || line.text("report") != output,
                "--report and -o are the same file: give the report another one");
  core::set_threads(line.integer("threads"));

  const data::DocumentRule rule{data::DocumentRule::form_named(line.text("documents")),
                                line.has("field") ? line.text("field") : ""};
  core::require(rule.form != data::DocumentRule::Form::files,
                "--documents files: dedup reads one file, so it must be lines or blank");
  const data::DocumentFile file(data::read_text_file(input), rule);
  const data::NearDuplicateSettings settings{.threshold = line.number("threshold"),
                                             .words = line.integer("shingle"),
                                             .largest = line.integer("largest"),
                                             .without_markup = line.has("markup")};
  const auto texts = file.texts();
  const data::NearDuplicates found = data::find_near_duplicates(texts, settings);
  std::vector<Index> dropped;
  for (const data::Repeat& repeat : found.repeats) dropped.push_back(repeat.document);
  core::write_durably(output, file.without(dropped));
  if (line.has("report")) core::write_durably(line.text("report"), report_of(file, found));
  summarise(file, rule, found, settings.largest);
  return 0;
}

}  // namespace weft::experiments
