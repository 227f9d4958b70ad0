#include "data/summaries/pairs.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "data/batch_rows.h"
#include "data/fingerprint.h"
#include "data/plan.h"
#include "data/shuffle.h"
#include "data/text/character_survey.h"
#include "data/windows.h"

namespace weft::data {

struct Pairs::Source {
  std::array<std::vector<PairLine>, 3> splits;
  std::string text;      ///< everything that is spelled
  std::string identity;  ///< of pairs and settings
  std::string path;      ///< for errors

  Source(const PairsSettings& settings, Index length) {
    const SplitFiles& files = settings.files;
    files.require_one_way();
    identity = core::message_of("pairs units=", name_of(settings.units.kind), " length=", length,
                                " source=", settings.source_length);
    const auto load = [&](const std::string& name) {
      auto pairs = read_pair_file(name, settings.pair_fields());
      for (const PairLine& pair : pairs) {
        identity += "\n" + fingerprint_of(pair.source) + fingerprint_of(pair.target);
        if (settings.units.kind == Unit::characters) text += pair.source + pair.target;
      }
      path = name;
      return pairs;
    };
    if (files.divided()) divide(load(files.path), files.fractions);
    const auto paths = files.split_paths();
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!paths[i].empty()) splits[i] = load(paths[i]);
    for (const auto& pairs : splits) identity += core::message_of("\npairs=", pairs.size());
  }

  /// Equal sources stay together.
  void divide(std::vector<PairLine> pairs, const std::vector<double>& fractions) {
    std::map<std::string, Index> sources;
    std::vector<Index> groups;
    for (const PairLine& pair : pairs)
      groups.push_back(sources.try_emplace(pair.source, Index(sources.size())).first->second);
    const auto chosen =
        divide_groups(groups, Index(sources.size()), fractions, core::Rng(0).fold("pairs splits"));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (chosen[i] < splits.size()) splits[chosen[i]].push_back(std::move(pairs[i]));
  }
};

void PairsSettings::fields(core::Fields& fields, Index) {
  files.list_paths(fields, "one file of pairs, divided into splits by fractions");
  enum class Format { table, json };
  Format format = columns.json ? Format::json : Format::table;
  fields.choice("format", format,
                "columns: divided by tabs, without quoting; json: an object a line",
                {{"columns", Format::table}, {"json", Format::json}});
  columns.json = format == Format::json;
  fields.when("format", {"columns"}, [&] {
    fields.text("source_column", columns.source,
                "the column of sources: its number, from 1, or its name in the header");
    fields.text("target_column", columns.target, "the column of targets, in the same way");
    fields.flag("header", columns.header, "the first line of each file names the columns");
    fields.flag("escapes", columns.escapes,
                "\\n, \\t and \\\\ stand for a line break, a tab and a backslash");
    if (columns.source == columns.target)
      fields.problem("target_column", "is the column of sources: name another");
  });
  fields.when("format", {"json"}, [&] {
    fields.text("source_field", source_field, "the field of sources");
    fields.text("target_field", target_field, "the field of targets");
    if (source_field == target_field)
      fields.problem("target_field", "is the field of sources: name another");
  });
  units.fields(fields, {Unit::bytes, Unit::characters, Unit::sentencepiece});
  fields.integer("source_length", source_length,
                 "the most tokens of a source, longer ones are cut; targets are cut at data.length",
                 core::between(1, 1 << 30));
  files.check_paths(fields, "a file of sources and targets");
  fields.when(files.divided(), "one file in data.path",
              [&] { files.list_fractions(fields, "in random order"); });
}

PairFields PairsSettings::pair_fields() const {
  if (!columns.json) return columns;
  return {.json = true, .source = source_field, .target = target_field};
}

DataPlan configure_pairs(core::Fields& fields, Index length) {
  PairsSettings settings;
  settings.fields(fields, length);
  return plan_for_files<Pairs>(settings, length,
                               {.sources = true, .source_length = settings.source_length});
}

Pairs::Pairs(const PairsSettings& settings, Index length, Index batch, std::uint64_t seed)
    : Pairs(settings, length, batch, seed, Source(settings, length)) {}

Pairs::Pairs(const PairsSettings& settings, Index length, Index batch, std::uint64_t seed,
             Source source)
    : settings_(settings),
      length_(length),
      batch_(batch),
      splits_(std::move(source.splits)),
      spelling_(spelling_of(
                    settings.units,
                    [&] {
                      return alphabet_of({source.path, std::move(source.text)});
                    },
                    settings.known),
                1),
      seed_(seed) {
  if (has_pieces())
    source.identity += "\ntokenizer=" + fingerprint_of(spelling_.units().tokenizer()->file());
  fingerprint_ = fingerprint_of(source.identity);
  core::require(settings.source_length >= 1 && length >= 1,
                "pairs: sources and targets need at least one token");
  if (of(Split::training).empty())
    throw core::Error(core::Fault::data,
                      "the training split holds no pair: give training a larger share in "
                      "data.fractions");
}

/// A batch of `asked` rows, with the pairs take(0) .. take(count - 1) as far as there are rows:
/// inputs are 0 and the target, shifted by one.
template <class Take>
Batch Pairs::assemble(Index asked, Index count, Take take) const {
  BatchRows rows(asked, length_);
  rows.source(0, 1, settings_.source_length);
  for (Index row = 0; row < std::min(count, asked); ++row) {
    const PairLine& pair = take(row);
    std::vector<Token> source = encode(pair.source), target = encode(pair.target);
    source.resize(std::min(source.size(), std::size_t(settings_.source_length)));
    target.push_back(*boundary());
    target.resize(std::min(target.size(), std::size_t(length_)));
    std::ranges::copy(source,
                      rows.source(row, Index(source.size()), settings_.source_length).begin());
    std::ranges::copy(target, rows.targets(row).begin());
    std::copy(target.begin(), target.end() - 1, rows.inputs(row).begin() + 1);
  }
  return std::move(rows).finish();
}

Batch Pairs::read_training(Index number, core::Stretch rows) const {
  const auto& pairs = of(Split::training);
  const auto count = Index(pairs.size());
  const core::Rng orders = core::Rng(seed_).fold("pairs order");
  return assemble(rows.size(), rows.size(), [&](Index row) -> const PairLine& {
    const Index place = number * batch_ + rows.begin + row;
    const Shuffle epoch(count, orders.fold(std::uint64_t(place / count)));
    return pairs[std::size_t(epoch[place % count])];
  });
}

Index Pairs::scored(Split split) const {
  if (of(split).empty())
    throw core::Error(core::Fault::data,
                      core::message_of("the ", name_of(split),
                                       " split holds no pair: give it a larger share in "
                                       "data.fractions, or a separate file in data.",
                                       name_of(split), "_path"));
  return Index(of(split).size());
}

Index Pairs::evaluation_batches(Split split, Index stride) const {
  check_stride(stride, length_);
  return (scored(split) + batch_ - 1) / batch_;
}

Batch Pairs::evaluation(Split split, Index number, Index stride) const {
  core::require(number >= 0 && number < evaluation_batches(split, stride), "data: ", name_of(split),
                " batch ", number, " does not exist");
  const Index first = number * batch_;
  return assemble(batch_, scored(split) - first, [&](Index row) -> const PairLine& {
    return of(split)[std::size_t(first + row)];
  });
}

std::optional<std::string> Pairs::reference(Split split, Index number) const {
  return of(split).at(std::size_t(number)).target;
}

/// Other units are counted as they are, the end of a target with them.
std::optional<Index> Pairs::text_bytes(Token token) const {
  if (!has_pieces()) return {};
  return Index(decode(std::span(&token, 1)).size());
}

std::optional<Index> Pairs::training_tokens() const {
  Index total = 0;
  for (const PairLine& pair : of(Split::training))
    total += std::min(length_, Index(encode(pair.target).size()) + 1);
  return total;
}

std::vector<std::string> Pairs::remarks() const {
  Index pairs = 0, sources = 0, targets = 0;
  for (const auto& split : splits_)
    for (const PairLine& pair : split) {
      ++pairs;
      sources += Index(encode(pair.source).size()) > settings_.source_length;
      targets += Index(encode(pair.target).size()) >= length_;
    }
  const auto share = [&](Index cut) { return 100 * double(cut) / double(pairs); };
  return {core::message_of(pairs, " pairs; ", share(sources), " % of sources are cut at ",
                           settings_.source_length, " tokens (data.source_length), ",
                           share(targets), " % of targets at ", length_, " (data.length)")};
}

}  // namespace weft::data
