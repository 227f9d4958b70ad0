#pragma once

#include "core/fields.h"
#include "core/rng.h"
#include "data/batch_rows.h"
#include "data/plan.h"
#include "data/text/divided_text.h"
#include "data/text/masking.h"
#include "data/text/split_files.h"
#include "data/tokens/packed_tokens.h"

namespace weft::data {

/// The settings of data.kind = "text".
struct TextSettings {
  enum class Documents { none, files, lines, blank };
  enum class Sampling { crops, streams };

  /// `path` may also name a prepared text (.h5), a folder, a pattern, or several with commas.
  SplitFiles files{.fractions = {0.9, 0.1, 0.0}};
  TextUnits units;
  Documents documents = Documents::none;
  std::string field = {};  ///< not empty: lines are JSON, and this field is the document
  Sampling sampling = Sampling::crops;
  MaskingSettings hidden;
  Meaning known = {};  ///< to a model that has been trained

  /// Whether the path names a file of weft data prepare, which has its own units and splits.
  bool prepared() const { return files.path.ends_with(".h5"); }
  bool has_documents() const { return documents != Documents::none; }
  void fields(core::Fields& fields);

 private:
  void list_documents(core::Fields& fields);
};

std::string_view name_of(TextSettings::Documents documents);
std::string_view name_of(TextSettings::Sampling sampling);

/// A text as bytes, characters or pieces, cut into splits; in memory or in a prepared file.
/// Training sequence s (batch number * B + row) starts at a random position drawn from (seed, s),
/// or continues the stream of its row.
class Text final : public Dataset {
 public:
  Text(const TextSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index length() const override { return length_; }
  Index batch() const override { return batch_; }
  Index vocabulary() const override { return facts_.vocabulary(); }
  std::optional<Index> training_tokens() const override { return part(Split::training).size; }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  std::vector<Token> encode(std::string_view text) const override {
    return facts_.spelling.encode(text);
  }
  std::string decode(std::span<const Token> tokens) const override { return facts_.decode(tokens); }
  std::optional<Spelling> spelling() const override { return facts_.spelling; }
  std::optional<Token> document_end() const override { return facts_.boundary(); }
  /// What bits are counted by: pieces are compared by the bytes that they stand for.
  std::string unit() const override { return facts_.spelling.tokenizer() ? "byte" : token_name(); }
  std::optional<Index> text_bytes(Token token) const override;
  /// What a token is.
  std::string token_name() const { return facts_.unit(); }
  std::vector<std::string> remarks() const override { return remarks_; }
  std::string fingerprint() const override { return fingerprint_; }

  /// How many tokens a split holds.
  Index tokens(Split split) const { return part(split).size; }
  /// Copies a split's tokens begin .. begin + out.size() - 1.
  void read(Split split, Index begin, std::span<Token> out) const {
    tokens_->read(part(split).begin + begin, out);
  }

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  void load(const TextSettings& settings);
  DividedText read(const TextSettings& settings);
  void check_training_length(const TextSettings& settings) const;
  const TokenRange& part(Split split) const { return facts_.part(split); }
  const TokenRange& part_to_score(Split split) const;
  Index streams_begin(Index number, Index row) const;
  Index stream_length() const;
  Index stream_segments() const;
  void fill(BatchRows& rows, Index row, const TokenRange& part, Index begin, Index end,
            Index scored_from) const;

  Index length_, batch_;
  bool crops_;
  core::Rng places_;
  TextFacts facts_;
  std::unique_ptr<StoredTokens> tokens_;
  std::vector<Index> bytes_;  ///< that each unit stands for
  std::string fingerprint_;
  std::vector<std::string> remarks_;  ///< on folders and documents
};

}  // namespace weft::data
