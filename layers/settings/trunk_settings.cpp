#include "core/error.h"
#include "layers/settings/model_settings.h"

namespace weft::layers {

void ModelSettings::list_trunk(core::Fields& field) {
  field.added("trunk");
  field.choice(
      "trunk", trunk,
      "transformer: layers of attention and feed-forward; star: tokens in a ring that read "
      "their neighbours and a relay that reads them all, cycle by cycle",
      {{"transformer", TrunkKind::transformer}, {"star", TrunkKind::star}});
  field.when("trunk", {"star"}, [&] { star.fields(field); });
  field.when("trunk", {"transformer"}, [&] { universal.fields(field); });
  if (is_star()) layers = 6;           // unless the config says otherwise
  if (universal.chosen()) layers = 1;  // likewise
}

void ModelSettings::check_star(core::Fields& field) const {
  if (task == Task::seq2seq)
    field.problem("trunk",
                  "a star reads whole sequences and generates none: language, classify or span");
  if (causal)
    field.problem("causal",
                  "a star's relay reads every token and every token reads the relay: false");
  if (segment_memory)
    field.problem("segment_memory", "a star carries nothing from segment to segment: false");
  if (reversible)
    field.problem("reversible",
                  "a star's cycles replace what they read and add nothing to it, so that nothing "
                  "can be taken off again: false; train.recompute saves memory too");
  if (positions == PositionKind::rotary || relative().chosen())
    field.problem(
        "positions",
        core::message_of("a star has no ", position_name(positions), " positions: they go to its ",
                         "embeddings; take learned, axial, sinusoidal or none"));
}

void ModelSettings::check_universal(core::Fields& field) const {
  if (task == Task::seq2seq)
    field.problem("steps", "layers that run again are for language, classify and span: 0");
  if (segment_memory)
    field.problem("segment_memory", "does not reach layers that run again: false");
  if (!universal.halts()) return;
  if (reversible)
    field.problem("reversible",
                  "a halted position stays as it is and its streams could not be taken back: "
                  "false, or halting = \"none\"");
  if (norm == NormKind::batch)
    field.problem("norm", "batch statistics would count positions that have halted: layer or rms");
  if (uses(FeedForwardKind::experts) && experts.capacity > 0)
    field.problem("ff_capacity",
                  "the places of an expert are shared out by position, and positions halt: 0");
  if (uses(FeedForwardKind::memory) && memory.norm == MemorySettings::QueryNorm::batch)
    field.problem("memory_norm",
                  "batch statistics would count positions that have halted: layer or none");
}

}  // namespace weft::layers
