#pragma once

#include "data/dataset.h"
#include "data/plan.h"
#include "data/questions/question_window.h"
#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// What a model needs, besides its arrays and its config, to read texts and to write its answers
/// without its data. It is saved with every checkpoint and exported with the model.
struct TextForm {
  core::Index vocabulary = 0;
  std::optional<data::Spelling> spelling = {};   ///< none: only the data can read a text
  core::Token first_unit = 0;                    ///< the token of the spelling's first unit
  std::vector<std::string> classes = {};         ///< names, in the order of the logits
  std::optional<core::Token> boundary = {};      ///< begins and ends every generated target
  std::optional<core::Token> document_end = {};  ///< separates two documents
  core::Index source_length = 0;                 ///< tokens of a source, longer ones are cut
  std::optional<data::QuestionForm> question = {};

  /// The form of what a dataset reads.
  static TextForm of(const data::Dataset& dataset);

  /// Text to tokens; what cannot be written in the model's units is an error that names it.
  std::vector<core::Token> encode(std::string_view text) const;
  /// Tokens before the first unit and after the last are left out; ends of documents are line ends.
  std::string decode(std::span<const core::Token> tokens) const;
};

/// The same as facts of a checkpoint, "data/vocabulary" and so on.
Facts describe_form(const TextForm& form);

/// The form among a checkpoint's facts; nothing in older ones, which need their data.
std::optional<TextForm> saved_form(const Checkpoint& checkpoint);

/// What its tokens and classes mean, as far as it says.
data::Meaning saved_meaning(const Checkpoint& checkpoint);

}  // namespace weft::experiments
