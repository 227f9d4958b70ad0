#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/contract/relative.h"
#include "layers/model/seq2seq_settings.h"
#include "layers/parts/experts/expert_feed_forward.h"
#include "layers/parts/memory/memory_feed_forward.h"
#include "layers/parts/positions.h"
#include "layers/parts/sparse_feed_forward.h"

namespace weft::layers {

/// The [model] section. `attention` names what each layer uses, repeated to fill the layers.
struct ModelSettings {
  std::string task = "language";
  std::string pool = "cls";  ///< what a classifier's head reads of a sequence
  std::string head = "mlp";  ///< of a classifier
  Index layers = 2;
  Index width = 64;
  Index heads = 4;
  Index ff = 0;  ///< 0 stands for 4 x width
  std::string feedforward = "dense";
  SparseFeedForwardSettings sparse_ff;
  ExpertSettings experts;
  MemorySettings memory;
  Index ff_chunk = 0;    ///< rows of the feed-forward at a time; 0: all
  Index loss_chunk = 0;  ///< tokens whose logits exist at a time; 0: about a million logits
  std::string norm = "layer";
  bool allow_leaky_norm = false;
  std::string norm_place = "pre";
  std::string positions = "learned";
  Index relative_clip = 64, relative_buckets = 32, relative_distance = 128;
  std::vector<Index> axial_shape;   ///< n1, n2; empty: nearly square
  std::vector<Index> axial_widths;  ///< d1, d2; empty: halves of the width
  double dropout = 0;
  bool tie = true;
  std::string output = "dense";
  Index output_modules = 4;  ///< S of a sparse output layer
  bool causal = true;
  bool segment_memory = false;
  bool reversible = false;
  std::string reversible_output = "average";
  Seq2SeqSettings seq2seq;
  std::vector<std::string> attention = {"dense"};

  void fields(core::Fields& field);

  /// The relative positions, if `positions` names some.
  RelativeSettings relative() const;
  /// How many places the layers read of a sequence of `length` tokens.
  Index places(Index length) const {
    return task == "classify" && pool == "cls" ? length + 1 : length;
  }
  Index hidden() const { return ff > 0 ? ff : 4 * width; }
  /// Training lets a token read later ones by statistics over the batch.
  bool has_batch_statistics() const {
    return norm == "batch" || (feedforward == "memory" && memory.norm == "batch");
  }
  bool tells_from_source() const { return task == "seq2seq"; }
  /// What reads the source of a seq2seq model.
  Index encoder_layers() const {
    return seq2seq.encoder_layers > 0 ? seq2seq.encoder_layers : layers;
  }
  const std::vector<std::string>& encoder_attention() const {
    return seq2seq.encoder_attention.empty() ? attention : seq2seq.encoder_attention;
  }
  /// The distinct names of attention that the model uses.
  std::vector<std::string> attention_names() const;
  /// The grid of axial positions for sequences of up to `length` tokens.
  AxialGrid axial_grid(Index length) const;
  /// A layer as the mechanisms' settings are checked against it.
  AttentionSite site(Index length) const;

 private:
  void list_classifier(core::Fields& field);
  void list_feed_forward(core::Fields& field);
  void list_positions(core::Fields& field);
  void list_depth(core::Fields& field);
  void list_output(core::Fields& field);
  void list_batch_norm(core::Fields& field);
  void list_axial_positions(core::Fields& field);
  void list_reversible(core::Fields& field);
  void list_sparse_output(core::Fields& field);
  void check_segment_memory(core::Fields& field) const;
  void list_seq2seq(core::Fields& field);
};

}  // namespace weft::layers
