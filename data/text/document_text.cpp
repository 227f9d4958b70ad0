#include "data/text/document_text.h"

#include <numeric>

#include "core/error.h"
#include "data/documents/document_split.h"
#include "data/documents/document_stream.h"
#include "data/text/character_survey.h"
#include "data/text/text_encoder.h"

namespace weft::data {
namespace {

/// Hands on the documents of a file.
TextOrigin read_documents(PieceReader& reader, const std::string& path, const DocumentRule& rule,
                          const DocumentStream::Take& take, Index& empty_lines) {
  DocumentStream stream(path, rule, take);
  TextOrigin origin = reader.read(path, [&](std::string_view piece, Index) { stream.add(piece); });
  stream.finish();
  empty_lines += stream.empty_lines();
  return origin;
}

/// What has to be known of all documents before any is encoded.
struct Overview {
  std::vector<Index> sizes = {};  ///< of those to be drawn into splits
  CharacterSurvey characters = {};
  bool any_text = false;
};

Overview survey_documents(PieceReader& reader, const TextDivision& division,
                          const DocumentRule& rule, bool characters) {
  Overview found;
  Index ignored = 0;
  for (std::size_t i = 0; i < division.paths.size(); ++i)
    for (const std::string& path : division.paths[i]) {
      const auto take = [&](const DocumentPart& part) {
        found.any_text |= !part.text.empty();
        if (characters) found.characters.add(part.text, path, part.at);
        if (!division.fractions || i > 0) return;
        if (part.begins) found.sizes.push_back(0);
        found.sizes.back() += Index(part.text.size());
      };
      read_documents(reader, path, rule, take, ignored);
      found.characters.end(path);
    }
  return found;
}

/// Encodes the documents of one split.
class SplitEncoder {
 public:
  SplitEncoder(const TextFacts& facts, const DocumentRule& rule, Split split, TokenRuns& runs)
      : by_lines_(!facts.boundaries),
        single_(rule.form == DocumentRule::Form::lines && rule.field.empty()),
        encoder_(facts.spelling, facts.boundary(),
                 [&runs, split](std::span<const Token> tokens) { runs.append(split, tokens); }) {}

  void add(const DocumentPart& part) {
    if (part.begins) {
      end_document();
      ++documents_;
    }
    append(part.text);
  }
  void finish() {
    end_document();
    if (by_lines_ && documents_ > 0) encoder_.end();
    encoder_.finish();
  }
  Index documents() const { return documents_; }

 private:
  void append(std::string_view text) {
    encoder_.add(text);
    bytes_ += Index(text.size());
    if (!by_lines_) return;
    tail_ += text.substr(text.size() - std::min<std::size_t>(text.size(), 2));
    tail_.erase(0, tail_.size() - std::min<std::size_t>(tail_.size(), 2));
  }
  /// Adds what divides a document from the next one: a boundary, or a line end or two.
  void end_document() {
    if (documents_ == 0) return;
    if (!by_lines_) {
      encoder_.end();
    } else if (bytes_ > 0) {
      if (!tail_.ends_with('\n')) append("\n");
      if (!single_ && tail_ != "\n\n") append("\n");
    }
    bytes_ = 0;
  }

  bool by_lines_, single_;
  TextEncoder encoder_;
  Index documents_ = 0, bytes_ = 0;  ///< of the last document
  std::string tail_;                 ///< the last two bytes of all
};

/// Draws documents into splits, and finds the characters: what needs a pass of its own.
struct DocumentPlan {
  std::vector<Split> drawn = {};
  std::size_t next = 0;  ///< of those drawn
  Spelling spelling = Spelling::bytes();
  Index bytes = 0;  ///< of all that are drawn

  Split take() {
    if (next == drawn.size())
      throw core::Error(core::Fault::data,
                        "the text changed while it was read: try again when nothing writes to it");
    return drawn[next++];
  }
};

DocumentPlan plan_documents(PieceReader& reader, const TextDivision& division,
                            const TextDocuments& how) {
  const bool characters = division.units.kind == Unit::characters;
  Overview overview;
  if (characters || division.fractions)
    overview = survey_documents(reader, division, how.rule, characters);
  if (!how.boundaries && overview.any_text) overview.characters.add("\n", "", 0);
  DocumentPlan plan;
  if (division.fractions)
    plan.drawn = split_documents(overview.sizes, *division.fractions, how.seed);
  plan.bytes = std::accumulate(overview.sizes.begin(), overview.sizes.end(), Index(0));
  plan.spelling = spelling_of(
      division.units, [&] { return overview.characters.alphabet(); }, division.known);
  return plan;
}

}  // namespace

DocumentFacts encode_document_text(const TextDivision& division, const TextDocuments& how,
                                   TokenRuns& runs) {
  const bool twice = division.units.kind == Unit::characters || division.fractions;
  PieceReader reader(division.all_paths(), twice ? 2 : 1, division.progress);
  DocumentPlan plan = plan_documents(reader, division, how);
  DocumentFacts found{.text = {.spelling = plan.spelling, .boundaries = how.boundaries}};
  runs.begin(found.text.vocabulary(), least_tokens(found.text.spelling, plan.bytes));
  std::vector<SplitEncoder> encoders;
  for (const Split split : {Split::training, Split::validation, Split::test})
    encoders.emplace_back(found.text, how.rule, split, runs);
  Split split = Split::training;
  for (std::size_t i = 0; i < division.paths.size(); ++i)
    for (const std::string& path : division.paths[i]) {
      const auto take = [&](const DocumentPart& part) {
        if (part.begins) split = division.fractions && i == 0 ? plan.take() : Split(i);
        encoders[std::size_t(split)].add(part);
      };
      found.text.origins.push_back(read_documents(reader, path, how.rule, take, found.empty_lines));
    }
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    encoders[i].finish();
    found.documents[i] = encoders[i].documents();
  }
  found.text.parts = parts_of(runs);
  return found;
}

DocumentText read_document_text(const TextDivision& division, const TextDocuments& how) {
  MemoryRuns runs(division.paths[0].empty() ? "" : division.paths[0].front());
  DocumentFacts facts = encode_document_text(division, how, runs);
  return {std::move(facts), runs.take()};
}

}  // namespace weft::data
