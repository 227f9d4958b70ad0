#include "layers/model/seq2seq_model.h"

#include "autograd/rows_alone.h"
#include "core/error.h"
#include "core/scope.h"
#include "layers/model/model_parts.h"

namespace weft::layers {

Seq2SeqModel::Seq2SeqModel(const ModelSettings& settings, Index vocabulary)
    : output_(make_output(settings, vocabulary, settings.width)), loss_chunk_(settings.loss_chunk) {
  core::require(settings.norm != NormKind::batch,
                "model.norm: batch statistics would count padding; take layer or rms");
}

Var Seq2SeqModel::loss(const Pass& pass, const Reading& reading, Real share) const {
  const Var h = hidden(pass, reading);
  const core::Scope scope("output");
  const Var loss =
      output_.loss(pass, h, tokens(), reading.targets, target_share(reading, share), loss_chunk_);
  return with_penalties(pass, loss, penalty_share(reading, share));
}

TokenScores Seq2SeqModel::score(const Pass& pass, const Reading& reading) const {
  return output_.score(hidden(pass, reading).value(), tokens(), reading.targets);
}

Tensor Seq2SeqModel::step(const std::vector<NextOfTarget>& tokens) const {
  const autograd::RowsAlone alone;
  return logits(step_hidden(tokens));
}

core::Lengths source_lengths(const Reading& reading) {
  const core::Shape &inputs = reading.inputs.shape(), &sources = reading.sources.shape();
  core::require(inputs.rank() == 2 && sources.rank() == 2 && inputs[0] == sources[0],
                "seq2seq model: sources of shape ", sources, " for inputs of shape ", inputs,
                ", expected [batch, length] of one batch");
  if (!reading.source_lengths)
    return std::make_shared<const std::vector<Index>>(std::size_t(sources[0]), sources[1]);
  core::require(Index(reading.source_lengths->size()) == sources[0],
                "seq2seq model: ", reading.source_lengths->size(), " source lengths for ",
                sources[0], " sources");
  for (const Index length : *reading.source_lengths)
    core::require(length >= 1 && length <= sources[1], "seq2seq model: a source length of ", length,
                  " for sources of ", sources[1], " tokens");
  return reading.source_lengths;
}

const Seq2SeqModel& as_seq2seq_model(const Model& model, const char* what) {
  const auto* found = dynamic_cast<const Seq2SeqModel*>(&model);
  core::require(found != nullptr, what,
                ": this needs a model that generates from a source, model.task = \"seq2seq\"");
  return *found;
}

}  // namespace weft::layers
