#include "experiments/show/shown_reading.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

using layers::Observation;

/// How many of the rows are real.
Index real_rows(const Observation& seen, Index rows) {
  const layers::Sequences& s = seen.sequences;
  return s.key_lengths && rows == s.keys ? std::min(rows, s.real_keys(0)) : rows;
}

std::vector<std::vector<Index>> groups_of(const Observation& seen, const std::vector<Index>& all,
                                          Index head, Index tokens, Index real) {
  std::vector<std::vector<Index>> rounds;
  for (Index round = 0; !all.empty() && round < seen.groups.rounds; ++round) {
    const auto first = all.begin() + (head * seen.groups.rounds + round) * tokens;
    rounds.emplace_back(first, first + real);
  }
  return rounds;
}

void measure(ShownHead& head) {
  const WeightTile& tile = head.tile;
  double far = 0, all = 0;
  const double behind = double(tile.keys - tile.queries);
  for (Index i = 0; i < tile.queries; ++i) {
    double sum = 0, sizes = 0;
    const float* const row = tile.weights.data() + i * tile.keys;
    for (Index j = 0; j < tile.keys; ++j) {
      sum += double(row[j]);
      sizes += std::abs(double(row[j]));
    }
    for (Index j = 0; j < tile.keys; ++j) {
      const double size = std::abs(double(row[j]));
      head.keys += size > 0.01 * sizes;
      far += size * std::abs(double(i) + behind - double(j));
    }
    head.sum += sum;
    all += sizes;
  }
  head.keys /= double(tile.queries);
  head.sum /= double(tile.queries);
  head.distance = all > 0 ? far / all : 0;
}

std::string words_of(const layers::TokenGroups& groups) {
  if (groups.name.empty()) return "";
  std::string text = format_number_of(double(groups.count), std::string(groups.name));
  if (groups.rounds > 1) text += " in " + std::to_string(groups.rounds) + " rounds";
  return text;
}

}  // namespace

WeightTile tile_of(const Observation& seen, Index h) {
  const Index queries = seen.weights.shape()[2], keys = seen.weights.shape()[3];
  WeightTile tile{.queries = real_rows(seen, queries), .keys = real_rows(seen, keys)};
  for (Index i = 0; i < tile.queries; ++i) {
    const core::Real* const from = seen.weights.data() + (h * queries + i) * keys;
    for (Index j = 0; j < tile.keys; ++j) tile.weights.push_back(float(from[j]));
  }
  tile.query_groups = groups_of(seen, seen.groups.queries, h, queries, tile.queries);
  tile.key_groups = groups_of(seen, seen.groups.keys, h, keys, tile.keys);
  if (std::size_t(h) < seen.spans.size()) tile.span = seen.spans[std::size_t(h)];
  return tile;
}

namespace {

ShownHead head_of(const Observation& seen, Index h) {
  ShownHead head{tile_of(seen, h), seen.name, words_of(seen.groups)};
  head.tile.title = "head " + std::to_string(seen.site.first_head + h + 1);
  measure(head);
  return head;
}

/// Names of a layer's rows, made of those of the tokens: rows that a mechanism adds have none, and
/// a token that a model puts before a sequence is in front.
std::vector<std::string> names_of(const Observation& seen, Index rows,
                                  const std::vector<std::string>& tokens) {
  std::vector<std::string> names(std::size_t(rows), "·");
  if (seen.sequences.rows) {
    const std::vector<Index>& places = seen.sequences.rows->at(0).of_tokens;
    const std::size_t before = places.size() - std::min(places.size(), tokens.size());
    for (std::size_t t = before; t < places.size(); ++t)
      names[std::size_t(places[t])] = tokens[t - before];
    return names;
  }
  const std::size_t before = names.size() - std::min(names.size(), tokens.size());
  for (std::size_t t = before; t < names.size(); ++t) names[t] = tokens[t - before];
  return names;
}

}  // namespace

void ReadingCollector::add(const Observation& seen) { seen_.push_back(seen); }

std::vector<ShownLayer> ReadingCollector::layers(const ShownSequence& sequence,
                                                 bool is_seq2seq) const {
  std::vector<ShownLayer> all;
  bool decoding = false;
  std::map<std::string, Index> calls;  // of each part and layer
  for (const Observation& seen : seen_) {
    const bool joins = seen.site.first_head > 0 && !all.empty();
    if (joins) {
      for (Index h = 0; h < seen.weights.shape()[1]; ++h)
        all.back().heads.push_back(head_of(seen, h));
      continue;
    }
    decoding |= is_seq2seq && seen.site.causal;
    const bool cross = decoding && !seen.site.causal;
    const std::string part = !is_seq2seq ? ""
                             : cross     ? "cross attention, "
                             : decoding  ? "decoder, "
                                         : "encoder, ";
    const std::string title = part + "layer " + std::to_string(seen.site.layer + 1);
    const Index call = ++calls[title];
    ShownLayer layer{title, {}, {}, {}};
    for (Index h = 0; h < seen.weights.shape()[1]; ++h) layer.heads.push_back(head_of(seen, h));
    if (call > 1) layer.title += ", step " + std::to_string(call);
    const WeightTile& tile = layer.heads[0].tile;
    const bool of_sources = is_seq2seq && !decoding;
    layer.query_names =
        names_of(seen, tile.queries, of_sources ? sequence.sources : sequence.inputs);
    layer.key_names =
        names_of(seen, tile.keys, of_sources || cross ? sequence.sources : sequence.inputs);
    all.push_back(std::move(layer));
  }
  return all;
}

}  // namespace weft::experiments
