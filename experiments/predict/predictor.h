#pragma once

#include <memory>
#include <span>

#include "experiments/predict/record_reader.h"
#include "experiments/predict/text_model.h"

namespace weft::experiments {

/// The prediction for one record.
struct Prediction {
  std::vector<std::string> cells;  ///< one for each column
  std::string json;                ///< the same and more, an object
  std::string problem = {};        ///< why there is no prediction; empty where there is one
  bool empty = false;              ///< the record had no text
};

/// Options of a prediction, where the task has a choice.
struct PredictorOptions {
  core::Index batch = 1;   ///< records that are read at a time
  core::Index tokens = 0;  ///< of a continued text; 0: 32, at most half of the positions
  core::Index beams = 0;   ///< of a generated target; 0: always the most likely token
  core::Index top = 5;     ///< candidates for a blank, in JSON
  std::string mask = "[MASK]";
};

/// Predicts for records what its task predicts. The model must outlive it.
class Predictor {
 public:
  Predictor(const TextModel& model, const PredictorOptions& options)
      : model_(model), options_(options) {}
  virtual ~Predictor() = default;

  /// The meaning of a record's texts.
  virtual std::vector<std::string> texts() const { return {"text"}; }
  /// How a prediction is written.
  virtual std::vector<std::string> columns() const = 0;
  /// One prediction for each of at most `batch` records, in their order.
  std::vector<Prediction> predict(std::span<const Record> records);

  /// Records whose texts were cut, so far, and where.
  core::Index cut() const { return cut_; }
  virtual std::string cut_rule() const = 0;

 protected:
  /// A record as tokens.
  struct Asked {
    std::vector<core::Token> tokens;         ///< of the text or the question
    std::vector<core::Token> document = {};  ///< of the document that is asked about
  };

  /// Throws an Error that says why a record cannot be read.
  virtual Asked read(const Record& record) = 0;
  virtual std::vector<Prediction> answer(const std::vector<Asked>& asked) = 0;

  /// Cuts everything after the first `most` tokens.
  void cut(std::vector<core::Token>& tokens, core::Index most);
  void count_cut() { ++cut_; }

  const TextModel& model() const { return model_; }
  const PredictorOptions& options() const { return options_; }
  core::Index length() const { return model_.saved.config.data.length; }
  /// Whether sequences may be shorter than the length.
  bool pads() const { return model_.saved.config.data.plan.traits.pads; }

 private:
  const TextModel& model_;
  PredictorOptions options_;
  core::Index cut_ = 0;
};

/// An Error for models of images.
void require_texts(const RunConfig& config);

/// The predictor of a model's task.
std::unique_ptr<Predictor> make_predictor(const TextModel& model, const PredictorOptions& options);

// The predictors of the tasks.
std::unique_ptr<Predictor> make_class_predictor(const TextModel& model,
                                                const PredictorOptions& options);
std::unique_ptr<Predictor> make_blank_predictor(const TextModel& model,
                                                const PredictorOptions& options);
std::unique_ptr<Predictor> make_answer_predictor(const TextModel& model,
                                                 const PredictorOptions& options);
std::unique_ptr<Predictor> make_target_predictor(const TextModel& model,
                                                 const PredictorOptions& options);
std::unique_ptr<Predictor> make_text_predictor(const TextModel& model,
                                               const PredictorOptions& options);

/// exp(logits) divided by their sum; logits that are no numbers are an error (Fault::diverged).
std::vector<double> probabilities_of(std::span<const core::Real> logits);
/// Free text as a cell: tabs, line breaks and backslashes are written \t, \n, \r and \\.
std::string cell_of(const std::string& text);
/// Six decimals, as all files have it.
std::string probability_text(double probability);

}  // namespace weft::experiments
