#include "layers/settings/model_settings.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace weft::layers {

using autograd::StreamOutput;

void ModelSettings::fields(core::Fields& field) {
  field.choice("task", task,
               "what the model predicts: language, the token at every position; classify, the "
               "class of a whole sequence; seq2seq, a target sequence from a source; span, the "
               "span of a document that answers a question",
               {{"language", Task::language},
                {"classify", Task::classify},
                {"seq2seq", Task::seq2seq},
                {"span", Task::span}});
  field.when("task", {"classify"}, [&] { list_classifier(field); });
  field.when("task", {"span"}, [&] {
    field.integer("answer_longest", answer_longest, "the most tokens of an answer",
                  core::at_least(1));
  });
  list_trunk(field);
  field.integer("layers", layers, "Transformer layers, or cycles of a star",
                core::between(1, 1000));
  field.integer("width", width, "width of the residual stream (W)", core::between(1, 65536));
  field.integer("heads", heads, "attention heads of a layer (H)", core::between(1, 1024));
  field.when("trunk", {"transformer"}, [&] { list_feed_forward(field); });
  field.when("task", {"language", "seq2seq"}, [&] {
    field.integer("loss_chunk", loss_chunk,
                  "tokens whose logits are in memory at a time; 0: about a million logits",
                  core::at_least(0));
  });
  field.when("trunk", {"transformer"}, [&] { list_norms(field); });
  list_positions(field);
  field.when(images, "data.kind = \"images\" or \"shapes\"", [&] {
    field.choice("pixel_input", pixel_input,
                 "how a value enters: both, by its row of the token table and as a number, or by "
                 "the table alone",
                 {{"both", PixelInput::both}, {"table", PixelInput::table}});
  });
  field.number("dropout", dropout, "share of each sublayer's outputs that training drops",
               core::between(0, 0.95));
  field.when("task", {"language", "seq2seq"}, [&] { list_output(field); });
  // unless the config says otherwise
  if (task == Task::classify || task == Task::span || is_star()) causal = false;
  field.flag("causal", causal,
             "every token reads only itself and earlier ones; if false, a model can fill in hidden "
             "tokens (data.masking), classify or find answers, but not predict the next token");
  list_depth(field);
  field.when("trunk", {"transformer"}, [&] {
    field.texts("attention", attention,
                "attention of the layers: a name, or a list of names repeated to fill the layers; "
                "a name is a kind or a table [attention.NAME]");
  });
  field.when("task", {"seq2seq"}, [&] { list_seq2seq(field); });
  if (width % std::max<Index>(heads, 1) != 0)
    field.problem("width", core::message_of(width, " is not a multiple of ", heads, " heads"));
  else if (positions == PositionKind::rotary && width / heads % 2 != 0)
    field.problem("positions", core::message_of("rotary positions need an even head width, but ",
                                                width, " / ", heads, " heads is ", width / heads));
  if (attention.empty()) field.problem("attention", "names no attention");
  if (is_star()) check_star(field);
  if (universal.chosen()) check_universal(field);
}

void ModelSettings::list_norms(core::Fields& field) {
  field.choice("norm", norm,
               "normalisation of each sublayer; batch reads the future in training: baselines only",
               {{"layer", NormKind::layer}, {"rms", NormKind::rms}, {"batch", NormKind::batch}});
  field.when(has_batch_statistics(), "model.norm = \"batch\" or model.memory_norm = \"batch\"",
             [&] { list_batch_norm(field); });
  field.choice("norm_place", norm_place, "norm before each sublayer or after its residual",
               {{"pre", NormPlace::pre}, {"post", NormPlace::post}});
}

bool ModelSettings::uses(FeedForwardKind kind) const {
  return std::ranges::find(feedforward, kind) != feedforward.end();
}

void ModelSettings::list_feed_forward(core::Fields& field) {
  field.integer("ff", ff, "hidden units of the feed-forward (F); 0: 4 x width", core::at_least(0));
  field.choices("feedforward", feedforward,
                "kind of feed-forward: dense; sparse, where a controller activates one unit in "
                "each block and decoding reads only these; experts, where a router chooses a few "
                "of many feed-forwards; memory, where a token reads a few of many learned values; "
                "a list is repeated to fill the layers",
                {{"dense", FeedForwardKind::dense},
                 {"sparse", FeedForwardKind::sparse},
                 {"experts", FeedForwardKind::experts},
                 {"memory", FeedForwardKind::memory}});
  if (feedforward.empty()) field.problem("feedforward", "names no feed-forward");
  field.when("feedforward", {"dense"}, [&] {
    field.added("activation");
    field.choice("activation", activation,
                 "of the hidden units of dense feed-forwards: gelu, exact; gelu_tanh, its "
                 "approximation by a tanh, with which GPT-2 was trained; relu",
                 {{"gelu", Activation::gelu},
                  {"gelu_tanh", Activation::gelu_tanh},
                  {"relu", Activation::relu}});
  });
  field.when("feedforward", {"sparse"}, [&] { sparse_ff.fields(field, hidden()); });
  field.when("feedforward", {"experts"}, [&] { experts.fields(field); });
  field.when("feedforward", {"memory"}, [&] { memory.fields(field); });
  field.integer("ff_chunk", ff_chunk,
                "rows that the feed-forward processes at a time, computed again in the backward "
                "pass; 0: all at once",
                core::at_least(0));
  if (uses(FeedForwardKind::experts) && ff_chunk > 0)
    field.problem("ff_chunk", "experts share all rows of a call among them: 0");
  if (uses(FeedForwardKind::memory) && ff_chunk > 0)
    field.problem("ff_chunk", "a memory has no hidden units to save: 0");
}

void ModelSettings::list_positions(core::Fields& field) {
  if (universal.chosen()) positions = PositionKind::sinusoidal;  // unless the config says otherwise
  field.choice("positions", positions, "how positions are represented", position_kinds());
  if (positions == PositionKind::image && !images)
    field.problem("positions",
                  "encodes rows, columns and channels of images: set data.kind = "
                  "\"images\" or \"shapes\", or choose other positions");
  field.when("positions", {"axial"}, [&] { list_axial_positions(field); });
  RelativeSettings offsets = relative();
  offsets.fields(field);
  relative_clip = offsets.clip;
  relative_buckets = offsets.buckets;
  relative_distance = offsets.bucket_distance;
}

void ModelSettings::list_depth(core::Fields& field) {
  field.when("task", {"language", "seq2seq"}, [&] {
    field.renamed("recurrence", "segment_memory");
    field.flag("segment_memory", segment_memory,
               "every layer also reads its inputs from earlier segments, without gradient: for "
               "data in streams and attention that carries a past (spans, recurrences)");
  });
  if (segment_memory) check_segment_memory(field);
  field.flag("reversible", reversible,
             "two residual streams, from which the backward pass recomputes every layer's input, "
             "so that memory does not grow with depth");
  field.when("reversible", {"true"}, [&] { list_reversible(field); });
}

void ModelSettings::list_classifier(core::Fields& field) {
  field.choice(
      "pool", pool,
      "what the classifier reads: cls, an extra token before the sequence; mean, the mean of the "
      "real tokens; root, the row that represents the whole sequence in a star or in attention "
      "with a root; max+root, the average of that and the maximum of each column",
      {{"cls", Pool::cls},
       {"mean", Pool::mean},
       {"root", Pool::root},
       {"max+root", Pool::max_root}});
  field.choice("head", head, "mlp: a hidden layer of ff units with relu, then the classes; linear",
               {{"mlp", ClassHeadKind::mlp}, {"linear", ClassHeadKind::linear}});
}

void ModelSettings::list_output(core::Fields& field) {
  field.flag("tie", tie, "the output layer shares the token table");
  field.renamed("loss", "output");
  field.choice("output", output,
               "the output layer: dense, a table of all tokens; sparse, a multiplicative layer; or "
               "logistics, a mixture over the values of an image",
               {{"dense", OutputKind::dense},
                {"sparse", OutputKind::sparse},
                {"logistics", OutputKind::logistics}});
  field.when("output", {"sparse"}, [&] { list_sparse_output(field); });
  field.when("output", {"logistics"}, [&] { list_mixture_output(field); });
}

void ModelSettings::list_batch_norm(core::Fields& field) {
  field.flag("allow_leaky_norm", allow_leaky_norm,
             "batch statistics run over all positions, so training reads the future: allow that "
             "for a baseline");
  if (!allow_leaky_norm)
    field.problem(norm == NormKind::batch ? "norm" : "memory_norm",
                  "batch statistics run over all positions, so that training reads the future: "
                  "choose layer or rms, or for a baseline set model.allow_leaky_norm = true");
}

void ModelSettings::list_axial_positions(core::Fields& field) {
  const core::Range whole = core::at_least(1);
  field.integers("axial_shape", axial_shape,
                 "n1, n2: rows and columns of the grid of positions, for any length up to n1 n2; "
                 "empty: nearly square",
                 whole);
  field.integers("axial_widths", axial_widths,
                 "d1, d2: columns of a position vector for its row and for its column, width in "
                 "sum; empty: halves",
                 whole);
  if (!axial_shape.empty() && axial_shape.size() != 2)
    field.problem("axial_shape", "needs two numbers: rows and columns");
  if (!axial_widths.empty() &&
      (axial_widths.size() != 2 || axial_widths[0] + axial_widths[1] != width))
    field.problem("axial_widths",
                  core::message_of("needs two numbers that add up to the width, ", width));
  if (width < 2) field.problem("positions", "axial positions need a width of at least 2");
}

void ModelSettings::list_reversible(core::Fields& field) {
  if (norm_place != NormPlace::pre)
    field.problem("norm_place", "a reversible stack needs norms inside its branches: pre");
  field.when("task", {"language", "classify", "span"}, [&] {  // seq2seq ends in the average
    field.choice("reversible_output", reversible_output,
                 "what the output layer reads of the two streams: their average, or both (2 W)",
                 {{"average", StreamOutput::average}, {"concat", StreamOutput::concat}});
    if (task == Task::language && tie && reversible_output == StreamOutput::concat)
      field.problem("tie", "two concatenated streams need an output layer of their own: false");
  });
}

void ModelSettings::list_seq2seq(core::Fields& field) {
  seq2seq.fields(field, reversible);
  if (!causal)
    field.problem("causal", "a target is generated token by token and reads no later ones: true");
  if (segment_memory)
    field.problem("segment_memory", "a source begins anew with every target: false");
  if (norm == NormKind::batch)
    field.problem("norm", "batch statistics would count padding: layer or rms");
}

void ModelSettings::list_sparse_output(core::Fields& field) {
  field.renamed("loss_modules", "output_modules");
  field.integer("output_modules", output_modules,
                "modules of the sparse output layer (S), a divisor of the number of tokens",
                core::at_least(1));
  if (tie) field.problem("tie", "a sparse output layer has weights of its own: false");
}

void ModelSettings::list_mixture_output(core::Fields& field) {
  field.integer("output_mixtures", output_mixtures, "logistics in the mixture (K)",
                core::between(1, 1000));
  if (!images)
    field.problem("output",
                  "logistics gives probabilities to the values of images: set data.kind "
                  "= \"images\" or \"shapes\", or choose dense or sparse");
  if (tie) field.problem("tie", "a mixture has weights of its own: false");
}

void ModelSettings::check_segment_memory(core::Fields& field) const {
  if (!relative().chosen() && positions != PositionKind::none)
    field.problem("positions", core::message_of(position_name(positions),
                                                " positions begin anew in every segment, so that ",
                                                "segment_memory needs none, xl, shaw or t5"));
}

AxialGrid ModelSettings::axial_grid(Index length) const {
  AxialGrid grid;
  grid.n1 = axial_shape.empty() ? Index(std::sqrt(double(length))) : axial_shape[0];
  grid.n2 = axial_shape.empty() ? (length + grid.n1 - 1) / grid.n1 : axial_shape[1];
  grid.d1 = axial_widths.empty() ? width / 2 : axial_widths[0];
  grid.d2 = axial_widths.empty() ? width - width / 2 : axial_widths[1];
  return grid;
}

std::vector<std::string> ModelSettings::attention_names() const {
  if (is_star()) return {};
  std::vector<std::string> all = attention, names;
  if (is_seq2seq()) {
    all.insert(all.end(), encoder_attention().begin(), encoder_attention().end());
    if (!reversible) all.push_back(seq2seq.cross_attention);
  }
  for (const std::string& name : all)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

RelativeSettings ModelSettings::relative() const {
  return {positions, relative_clip, relative_buckets, relative_distance};
}

AttentionSite ModelSettings::site(Index length) const {
  return {.layers = layers,
          .width = width,
          .heads = heads,
          .head_width = width / std::max<Index>(heads, 1),
          .length = length,
          .causal = causal,
          .precision = precision};
}

}  // namespace weft::layers
