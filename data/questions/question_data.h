#pragma once

#include "data/questions/question_window.h"

namespace weft::data {

/// The question and its right answers.
struct Question {
  std::string id;
  std::vector<std::string> answers;     ///< texts that are right; empty: there is no answer
  Index place = 0;                      ///< tokens of the document up to its first answer, from 1
  Index first_window = 0, windows = 1;  ///< of the split, counted from 0
};

/// How two answers are compared: as texts of words, normalised as for SQuAD, or symbol by symbol.
enum class AnswerForm { words, symbols };

/// Questions that are answered by a stretch of a document. A batch's inputs are windows of
/// documents after their questions; its targets are [B, A, 2], first and last token of up to A
/// answers, (0, 0) where a window has none; `documents` says where each document begins and ends.
/// Evaluation reads all windows of every question, one after the other.
class QuestionData : public Dataset {
 public:
  Index length() const override { return length_; }
  Index batch() const override { return batch_; }
  Index evaluation_batches(Split split, Index stride) const override;
  Batch evaluation(Split split, Index number, Index stride) const override;
  bool predicts_next() const override { return false; }
  std::string unit() const override { return "question"; }

  virtual AnswerForm form() const = 0;
  virtual QuestionForm question_form() const = 0;
  /// An empty split is a data error.
  virtual Index questions(Split split) const = 0;
  virtual Question question(Split split, Index number) const = 0;
  /// The text of the tokens `first` .. `last` of a window of the split.
  virtual std::string answer_text(Split split, Index window, Index first, Index last) const = 0;

 protected:
  /// `pads`: windows may be shorter than `length`; `answers`: the most that a window lists.
  QuestionData(Index length, Index batch, bool pads, Index answers)
      : length_(length), batch_(batch), answers_(answers), pads_(pads) {}

  /// Training data, numbered from 0 without end.
  virtual QuestionWindow training_window(Index number) const = 0;
  virtual Index windows(Split split) const = 0;
  virtual QuestionWindow window(Split split, Index number) const = 0;

 private:
  Batch read_training(Index number, core::Stretch rows) const override;
  /// A batch of `rows`, with the windows take(0) .. take(count - 1) as far as there are rows.
  template <class Take>
  Batch assemble(Index rows, Index count, Take take) const;

  Index length_, batch_, answers_;
  bool pads_;
};

}  // namespace weft::data
