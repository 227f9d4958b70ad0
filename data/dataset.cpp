#include "data/dataset.h"

#include "core/error.h"
#include "data/plain_words.h"

namespace weft::data {

std::string_view name_of(Split split) {
  switch (split) {
    case Split::training:
      return "training";
    case Split::validation:
      return "validation";
    case Split::test:
      break;
  }
  return "test";
}

Batch Dataset::training(Index number, core::Stretch rows) const {
  core::require(number >= 0, "data: training batch ", number, " does not exist");
  core::require(0 <= rows.begin && rows.begin < rows.end && rows.end <= batch(), "data: rows ",
                rows.begin, " to ", rows.end, " of a batch of ", batch());
  return read_training(number, rows);
}

Batch rows_of(const Batch& batch, core::Stretch rows) {
  if (rows == core::Stretch{0, batch.inputs.shape()[0]}) return batch;
  const auto tokens = [&](const core::Tokens& all) {
    if (all.size() == 0) return all;
    std::vector<Index> extents;
    for (Index axis = 0; axis < all.shape().rank(); ++axis) extents.push_back(all.shape()[axis]);
    const Index each = all.size() / extents[0];
    const auto own =
        all.read().subspan(std::size_t(rows.begin * each), std::size_t(rows.size() * each));
    extents[0] = rows.size();
    return core::Tokens(core::Shape(std::span<const Index>(extents)),
                        std::vector<Token>(own.begin(), own.end()));
  };
  const auto lengths = [&](const core::Lengths& all) -> core::Lengths {
    if (!all) return all;
    return std::make_shared<const std::vector<Index>>(all->begin() + rows.begin,
                                                      all->begin() + rows.end);
  };
  Batch part;
  part.inputs = tokens(batch.inputs);
  part.targets = tokens(batch.targets);
  part.lengths = lengths(batch.lengths);
  part.sources = tokens(batch.sources);
  part.source_lengths = lengths(batch.source_lengths);
  part.documents = tokens(batch.documents);
  part.distances = tokens(batch.distances);
  part.continues = batch.continues;
  return part;
}

Batch columns_of(const Batch& batch, core::Stretch columns) {
  const Index rows = batch.inputs.shape()[0], length = batch.inputs.shape()[1];
  core::require(0 <= columns.begin && columns.begin < columns.end && columns.end <= length,
                "data: columns ", columns.begin, " to ", columns.end, " of ", length);
  core::require(batch.targets.shape() == batch.inputs.shape() && !batch.lengths &&
                    batch.sources.size() == 0 && batch.documents.size() == 0,
                "data: only sequences of tokens with a target each can be cut into columns");
  const auto tokens = [&](const core::Tokens& all) {
    if (all.size() == 0) return all;
    std::vector<Token> own;
    for (Index r = 0; r < rows; ++r) {
      const auto row =
          all.read().subspan(std::size_t(r * length + columns.begin), std::size_t(columns.size()));
      own.insert(own.end(), row.begin(), row.end());
    }
    return core::Tokens({rows, columns.size()}, std::move(own));
  };
  Batch part;
  part.inputs = tokens(batch.inputs);
  part.targets = tokens(batch.targets);
  part.distances = tokens(batch.distances);
  part.continues = batch.continues;
  return part;
}

std::vector<std::string> Dataset::words(std::span<const Token> tokens) const {
  return plain_words(decode(tokens));
}

std::optional<std::string> Dataset::reference(Split, Index) const { return {}; }

std::optional<Spelling> Dataset::spelling() const { return {}; }
std::optional<Index> Dataset::text_bytes(Token) const { return {}; }

std::optional<double> Dataset::floor_bits(Split) const { return {}; }

std::optional<double> Dataset::chance() const { return {}; }

std::vector<std::string> Dataset::class_names() const { return {}; }

std::vector<Baseline> Dataset::baselines(Split) const { return {}; }

std::vector<std::string> Dataset::remarks() const { return {}; }

std::vector<BitsBaseline> Dataset::bits_baselines(Split) const { return {}; }

std::optional<core::ImageForm> Dataset::image() const { return {}; }

bool Dataset::predicts_next() const { return true; }

std::optional<std::string> Dataset::difficulty() const { return {}; }
Index Dataset::difficulty_of(std::span<const Token>) const { return 0; }
std::optional<std::string> Dataset::scored_part() const { return {}; }

}  // namespace weft::data
