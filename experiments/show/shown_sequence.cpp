#include "experiments/show/shown_sequence.h"

#include <algorithm>

#include "core/error.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {
namespace {

using core::Index;
using core::Token;

/// Row b of a matrix of tokens, its first `most` ones; nothing of an empty matrix.
core::Tokens row_of(const core::Tokens& all, Index b, Index most) {
  if (all.size() == 0) return {};
  const core::Shape& shape = all.shape();
  const Index size = all.size() / shape[0];
  const auto row = all.read().subspan(std::size_t(b * size), std::size_t(size));
  if (shape.rank() > 2) return {{1, shape[1], shape[2]}, {row.begin(), row.end()}};
  const Index kept = std::min(size, most);
  return {{1, kept}, {row.begin(), row.begin() + kept}};
}

core::Lengths length_of(const core::Lengths& lengths, Index b) {
  if (!lengths) return nullptr;
  return std::make_shared<const std::vector<Index>>(1, (*lengths)[std::size_t(b)]);
}

/// Each token as people read it, in one line.
std::vector<std::string> names_of(const TextModel& model, const core::Tokens& tokens,
                                  const core::Lengths& lengths) {
  std::vector<std::string> all;
  const auto real = std::size_t(lengths ? lengths->at(0) : tokens.size());
  for (const Token token : tokens.read().first(std::min(real, std::size_t(tokens.size())))) {
    std::string text = model.image ? std::to_string(token) : model.decode(std::span(&token, 1));
    for (const auto& [control, sign] : {std::pair('\n', "⏎"), std::pair('\t', "⇥")})
      if (const auto at = text.find(control); at != text.npos) text.replace(at, 1, sign);
    all.push_back(text.empty() ? "·" : text);
  }
  return all;
}

ShownSequence named(const TextModel& model, core::Batch batch, std::string origin,
                    Index left_out = 0) {
  ShownSequence shown{std::move(batch), {}, {}, std::move(origin), left_out};
  shown.inputs = names_of(model, shown.batch.inputs, shown.batch.lengths);
  shown.sources = names_of(model, shown.batch.sources, shown.batch.source_lengths);
  return shown;
}

core::Tokens row(std::vector<Token> tokens) {
  const Index size = Index(tokens.size());
  return {{1, size}, std::move(tokens)};
}

/// Drops what follows the first `most` tokens and returns how many tokens that were.
Index cut(std::vector<Token>& tokens, Index most) {
  const Index more = std::max<Index>(0, Index(tokens.size()) - most);
  tokens.resize(tokens.size() - std::size_t(more));
  return more;
}

std::vector<Token> with_blanks(const TextModel& model, const std::string& text,
                               const std::string& mask) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t blank = std::min(text.find(mask, at), text.size());
    const auto part = model.encode(std::string_view(text).substr(at, blank - at));
    tokens.insert(tokens.end(), part.begin(), part.end());
    if (blank == text.size()) break;
    tokens.push_back(Token(model.form.vocabulary - 1));
    at = blank + mask.size();
  }
  return tokens;
}

}  // namespace

ShownSequence validation_sequence(const TextModel& model, Index number, Index most) {
  const RunConfig& config = model.saved.config;
  const data::Dataset& dataset = *model.saved.dataset;
  const Index length = dataset.length();
  const Index batches = dataset.evaluation_batches(data::Split::validation, length);
  core::require(number >= 0 && batches > 0, "--sample ", number, ": sequences are counted from 0");
  const data::Batch first = dataset.evaluation(data::Split::validation, 0, length);
  const Index size = first.inputs.shape()[0];
  core::require(number < batches * size, "--sample ", number, ": the validation data have ",
                batches * size, " sequences");
  const data::Batch all = dataset.evaluation(data::Split::validation, number / size, length);
  const bool whole = config.model.task != layers::Task::language;
  const Index b = number % size, kept = whole ? length : most;
  core::Batch own{row_of(all.inputs, b, whole ? all.inputs.size() : most),
                  row_of(all.targets, b, whole ? all.targets.size() : most),
                  length_of(all.lengths, b),
                  row_of(all.sources, b, all.sources.size()),
                  length_of(all.source_lengths, b),
                  row_of(all.documents, b, all.documents.size())};
  return named(model, std::move(own),
               core::message_of("sequence ", number, " of the validation data"),
               std::max<Index>(0, length - kept));
}

ShownSequence text_sequence(const TextModel& model, const std::string& text,
                            const std::string& mask, Index most) {
  const RunConfig& config = model.saved.config;
  core::require(!model.image && config.model.task != layers::Task::span,
                "--text is for models that read one text; leave it out to show a sequence of the "
                "validation data");
  const bool blanks = config.model.task == layers::Task::language && !config.model.causal;
  std::vector<Token> tokens = blanks ? with_blanks(model, text, mask) : model.encode(text);
  core::require(!tokens.empty(), "--text is empty: there is nothing to read");
  const std::string origin = "the given text";
  if (config.model.task == layers::Task::seq2seq) {
    const Index more = cut(tokens, std::min(most, model.form.source_length));
    const Token boundary = model.form.boundary.value();
    const Generation made =
        generate(layers::as_seq2seq_model(*model.saved.model, "show"), tokens, boundary,
                 {.tokens = config.data.length - 1, .temperature = 0});
    std::vector<Token> inputs{boundary};
    inputs.insert(inputs.end(), made.tokens.begin(), made.tokens.end());
    std::vector<Token> targets(inputs.begin() + 1, inputs.end());
    targets.push_back(boundary);
    core::Batch own{row(std::move(inputs)), row(std::move(targets)), nullptr, row(tokens)};
    return named(model, std::move(own), origin + " and the target that the model generates", more);
  }
  if (config.model.task == layers::Task::classify) {
    const Index more = cut(tokens, config.data.length);
    const bool pads = config.data.plan.traits.pads;
    core::require(pads || Index(tokens.size()) == config.data.length, "the text has ",
                  tokens.size(), " tokens, and the model reads ", config.data.length, ", no fewer");
    return named(model, {row(std::move(tokens)), row({0})}, origin, more);
  }
  const Index more = cut(tokens, most);
  return named(model, {row(tokens), row(tokens)}, origin, more);
}

}  // namespace weft::experiments
