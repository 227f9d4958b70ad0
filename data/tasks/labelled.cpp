#include "data/tasks/labelled.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "data/fingerprint.h"
#include "data/shuffle.h"

namespace weft::data {
namespace {

constexpr std::size_t most_classes = 10000;

/// The labels of the training lines, sorted: the names of the classes. A file may hold only some of
/// those that a model knows.
std::vector<std::string> names_of(const std::vector<LabelledLine>& lines, const std::string& path,
                                  const Meaning& known) {
  std::set<std::string> names;
  for (const LabelledLine& line : lines) names.insert(line.label);
  const auto all = known.classes_for({names.begin(), names.end()});
  const auto check = [&](bool ok, const char* problem) {
    if (!ok)
      throw core::Error(core::Fault::data,
                        core::message_of(path, ": ", names.size(), " different labels, ", problem,
                                         ": is data.label_column the column of labels?"));
  };
  check(all.size() >= 2, "too few to tell apart");
  check(names.size() <= most_classes, "too many");
  return all;
}

}  // namespace

void LabelledSettings::fields(core::Fields& fields, Index length) {
  files.list_paths(fields, "one file, divided into splits by fractions");
  fields.text("label_column", columns.label,
              "the column of labels: its number, from 1, or its name in the header");
  fields.text("text_column", columns.text, "the column of texts, in the same way");
  fields.flag("header", columns.header, "the first line of each file names the columns");
  fields.added("units");
  units.fields(fields, {Unit::bytes, Unit::sentencepiece});
  fields.integer(
      "shortest", shortest,
      "fewest tokens of a text, shorter texts are left out; data.length: nothing is padded",
      core::at_least(1));
  files.check_paths(fields, "a file of columns divided by tabs, label and text");
  fields.when(files.divided(), "one file in data.path",
              [&] { files.list_fractions(fields, "in random order"); });
  if (columns.label == columns.text)
    fields.problem("text_column", "is the column of labels: name another");
  if (shortest > length)
    fields.problem("shortest", core::message_of("must be at most data.length, ", length));
}

DataPlan configure_labelled(core::Fields& fields, Index length) {
  LabelledSettings settings;
  settings.fields(fields, length);
  return plan_for_files<Labelled>(settings, length,
                                  {.pads = settings.shortest < length, .classifies = true});
}

Labelled::Labelled(const LabelledSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Classification(length, batch, settings.shortest < length),
      spelling_(spelling_of(settings.units, {}, settings.known), 1),
      shortest_(settings.shortest),
      seed_(seed) {
  core::require(settings.units.kind != Unit::characters,
                "labelled: data.units must be bytes or sentencepiece");
  const SplitFiles& files = settings.files;
  files.require_one_way();
  std::string identity =
      core::message_of("labelled length=", length, " shortest=", settings.shortest);
  if (const auto& tokenizer = spelling_.units().tokenizer())
    identity += " tokenizer=" + fingerprint_of(tokenizer->file());
  const auto load = [&](const std::string& path) {
    const std::vector<LabelledLine> lines = read_labelled_file(path, settings.columns);
    if (names_.empty()) names_ = names_of(lines, path, settings.known);
    Rows rows;
    for (const LabelledLine& line : lines) {
      const auto found = std::ranges::lower_bound(names_, line.label);
      if (found == names_.end() || *found != line.label)
        throw core::Error(
            core::Fault::data,
            core::message_of(path, ":", line.number, ": no line of training has the label \"",
                             line.label, "\": correct it, or remove the line"));
      identity += "\n" + line.label + "\t" + fingerprint_of(line.text);
      if (auto row = row_of(line.text, Token(found - names_.begin())))
        rows.push_back(std::move(*row));
    }
    return rows;
  };
  if (files.divided()) divide(load(files.path), files.fractions);
  const auto paths = files.split_paths();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    identity += core::message_of("\nsplit ", i);
    if (!paths[i].empty()) rows_[i] = load(paths[i]);
  }
  for (const Rows& rows : rows_) identity += core::message_of("\nrows=", rows.size());
  fingerprint_ = fingerprint_of(identity);
  if (rows_of(Split::training).empty())
    throw core::Error(
        core::Fault::data,
        core::message_of("the training split holds no text of at least ", settings.shortest,
                         " tokens: lower data.shortest, or give "
                         "training a larger share in data.fractions"));
}

std::optional<Labelled::Row> Labelled::row_of(const std::string& text, Token label) {
  Row row{text, label};
  auto size = Index(text.size());
  if (spelling_.is_bytes()) {
    row.text.resize(std::size_t(std::min(size, length())));
  } else {
    row.pieces = encode(text);
    size = Index(row.pieces.size());
    row.pieces.resize(std::size_t(std::min(size, length())));
  }
  cut_ += size > length();
  left_out_ += size < shortest_;
  if (size < shortest_) return {};
  return row;
}

/// Equal texts stay together.
void Labelled::divide(Rows rows, const std::vector<double>& fractions) {
  std::map<std::string, Index> place;  // of a text among the different ones
  std::vector<Index> groups;
  for (const Row& row : rows)
    groups.push_back(place.try_emplace(row.text, Index(place.size())).first->second);
  const auto splits =
      divide_groups(groups, Index(place.size()), fractions, core::Rng(0).fold("labelled splits"));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (splits[i] < rows_.size()) rows_[splits[i]].push_back(std::move(rows[i]));
}

std::optional<Index> Labelled::training_tokens() const {
  Index total = 0;
  for (const Row& row : rows_of(Split::training))
    total += Index(row.pieces.empty() ? row.text.size() : row.pieces.size());
  return total;
}

Example Labelled::training_example(Index number) const {
  const Rows& rows = rows_of(Split::training);
  const auto count = Index(rows.size());
  const core::Rng orders = core::Rng(seed_).fold("labelled order");
  const Shuffle epoch(count, orders.fold(std::uint64_t(number / count)));
  return example_of(rows[std::size_t(epoch[number % count])]);
}

Index Labelled::scored(Split split) const {
  const Rows& rows = rows_of(split);
  if (rows.empty())
    throw core::Error(
        core::Fault::data,
        core::message_of("the ", name_of(split),
                         " split holds no text: give it a "
                         "larger share in data.fractions, or a separate file in data.",
                         name_of(split), "_path"));
  return Index(rows.size());
}

Example Labelled::scored_example(Split split, Index number) const {
  return example_of(rows_of(split)[std::size_t(number)]);
}

std::vector<std::string> Labelled::remarks() const {
  std::vector<std::string> said;
  if (cut_ > 0)
    said.push_back(core::message_of(cut_, cut_ == 1 ? " text is" : " texts are", " cut at ",
                                    length(), " ", spelling_.units().unit(), "s (data.length)"));
  if (left_out_ > 0)
    said.push_back(core::message_of(left_out_, left_out_ == 1 ? " text is" : " texts are",
                                    " left out, being too short (data.shortest)"));
  return said;
}

}  // namespace weft::data
