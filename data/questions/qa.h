#pragma once

#include <array>

#include "core/fields.h"
#include "data/questions/question_data.h"
#include "data/questions/squad_file.h"
#include "data/text/shifted_spelling.h"
#include "data/text/split_files.h"
#include "data/windows.h"

namespace weft::data {

/// The settings of data.kind = "qa".
struct QaSettings {
  SplitFiles files{.fractions = {0.8, 0.1, 0.1}};
  Unit units = Unit::bytes;
  Index question_length = 0;  ///< tokens of a question, longer ones are cut; 0: length / 4
  Index stride = 0;           ///< tokens between windows of a document; 0: half a window
  Meaning known = {};         ///< to a model that has been trained

  void fields(core::Fields& fields, Index length);
  Index longest_question(Index length) const {
    return question_length > 0 ? question_length : length / 4;
  }
};

/// Questions about documents from SQuAD's JSON, read byte by byte or character by character. A
/// document that does not fit after its question is read in overlapping windows. Training reads
/// every window that holds an answer wholly once per epoch and, of the others, as many with the
/// target "no answer", each epoch in a new order. One file is divided by fractions of its articles
/// in a random order that depends on their number only; articles of one title stay together.
class Qa final : public QuestionData {
 public:
  Qa(const QaSettings& settings, Index length, Index batch, std::uint64_t seed);

  Index vocabulary() const override { return spelling_.vocabulary(); }
  std::optional<Index> training_tokens() const override;
  std::vector<Token> encode(std::string_view text) const override { return spelling_.encode(text); }
  std::string decode(std::span<const Token> tokens) const override {
    return spelling_.decode(tokens);
  }
  std::optional<Spelling> spelling() const override { return spelling_.units(); }
  Token first_unit() const override { return spelling_.first(); }
  QuestionForm question_form() const override {
    return {settings_.longest_question(length()), settings_.stride};
  }
  std::vector<Baseline> baselines(Split split) const override;
  std::vector<std::string> remarks() const override;
  std::string fingerprint() const override { return fingerprint_; }

  AnswerForm form() const override { return AnswerForm::words; }
  Index questions(Split split) const override;
  Question question(Split split, Index number) const override;
  std::string answer_text(Split split, Index window, Index first, Index last) const override;

 private:
  /// What the files hold, before it is known which characters there are.
  struct Source;
  /// A question of a split.
  struct Asked {
    std::string id;
    std::size_t document;                          ///< among documents_
    std::vector<Token> tokens;                     ///< of the question, cut
    std::vector<std::pair<Index, Index>> answers;  ///< first and last token of the document
    std::vector<std::string> texts;
    Index first_window;
  };
  struct SplitQuestions {
    std::vector<Asked> questions;
    std::vector<std::size_t> window_of;  ///< the question that each window belongs to
  };

  Qa(const QaSettings& settings, Index length, Index batch, std::uint64_t seed, Source source);

  QuestionWindow training_window(Index number) const override;
  Index windows(Split split) const override;
  QuestionWindow window(Split split, Index number) const override;

  void add_article(const SquadArticle& article, SplitQuestions& into);
  void sort_training_windows();
  Windows windows_of(const Asked& asked) const;
  const SplitQuestions& of(Split split) const { return splits_[std::size_t(split)]; }

  QaSettings settings_;
  ShiftedSpelling spelling_;
  std::vector<std::vector<Token>> documents_;
  std::array<SplitQuestions, 3> splits_;
  std::vector<Index> with_answer_, without_;  ///< windows of training
  Index cut_ = 0, unseen_ = 0;  ///< questions cut; questions of training whose answers fit nowhere
  std::uint64_t seed_;
  std::string fingerprint_;
};

}  // namespace weft::data
