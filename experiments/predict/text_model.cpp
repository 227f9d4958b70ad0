#include "experiments/predict/text_model.h"

#include "experiments/checkpoint/saved_image.h"
#include "experiments/checkpoint/saved_spelling.h"

namespace weft::experiments {
namespace {

/// A form that says how to spell every token; older checkpoints say it of language models alone.
std::optional<TextForm> spelled_form(const RunConfig& config, const Checkpoint& checkpoint) {
  if (const auto form = saved_form(checkpoint)) {
    if (form->spelling) return form;
    return {};
  }
  const auto spelling = saved_spelling(checkpoint);
  if (!spelling || config.model.is_seq2seq()) return {};
  return TextForm{.vocabulary = spelling->vocabulary(), .spelling = spelling};
}

}  // namespace

TextModel load_text_model(const RunConfig& config, const Checkpoint& checkpoint) {
  if (const auto image = saved_image(checkpoint);
      image && config.model.task == layers::Task::language) {
    const layers::ModelShape shape{
        .vocabulary = image->levels + 1, .length = image->values(), .image = image};
    return {LoadedModel(config, checkpoint, shape), {}, {}, {}, image};
  }
  if (const auto form = spelled_form(config, checkpoint)) {
    const layers::ModelShape shape{.vocabulary = form->vocabulary,
                                   .length = config.data.length,
                                   .classes = Index(form->classes.size()),
                                   .source_length = form->source_length};
    return {LoadedModel(config, checkpoint, shape), *form,
            [form](std::string_view text) { return form->encode(text); },
            [form](std::span<const core::Token> tokens) { return form->decode(tokens); }};
  }
  return load_model_and_data(config, checkpoint);
}

TextModel load_model_and_data(const RunConfig& config, const Checkpoint& checkpoint) {
  LoadedModel saved(config, checkpoint);
  const data::Dataset* dataset = saved.dataset.get();
  TextForm form = TextForm::of(*dataset);
  return {std::move(saved), std::move(form),
          [dataset](std::string_view text) { return dataset->encode(text); },
          [dataset](std::span<const core::Token> tokens) { return dataset->decode(tokens); },
          dataset->image()};
}

}  // namespace weft::experiments
