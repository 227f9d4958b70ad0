#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/contract/relative.h"
#include "layers/parts/density.h"
#include "layers/parts/experts/expert_feed_forward.h"
#include "layers/parts/memory/memory_feed_forward.h"
#include "layers/parts/positions.h"
#include "layers/parts/residual.h"
#include "layers/parts/sparse_feed_forward.h"
#include "layers/settings/seq2seq_settings.h"

namespace weft::layers {

/// What a model does: predicts a token at every place, says the class of a whole sequence, or
/// generates a target sequence from a source.
enum class Task { language, classify, seq2seq };

/// What a classifier's head reads of a sequence: a token of its own, or the mean of all.
enum class Pool { cls, mean };

/// A classifier's head: a hidden layer and a linear one, or the latter alone.
enum class ClassHeadKind { mlp, linear };

/// The [model] section. `attention` names what each layer uses, repeated to fill the layers.
struct ModelSettings {
  Task task = Task::language;
  Pool pool = Pool::cls;
  ClassHeadKind head = ClassHeadKind::mlp;
  Index layers = 2;
  Index width = 64;
  Index heads = 4;
  Index ff = 0;  ///< 0 stands for 4 x width
  FeedForwardKind feedforward = FeedForwardKind::dense;
  SparseFeedForwardSettings sparse_ff = {};
  ExpertSettings experts = {};
  MemorySettings memory = {};
  Index ff_chunk = 0;    ///< rows of the feed-forward at a time; 0: all
  Index loss_chunk = 0;  ///< tokens whose logits exist at a time; 0: about a million logits
  NormKind norm = NormKind::layer;
  bool allow_leaky_norm = false;
  NormPlace norm_place = NormPlace::pre;
  std::string positions = "learned";
  Index relative_clip = 64, relative_buckets = 32, relative_distance = 128;
  std::vector<Index> axial_shape = {};   ///< n1, n2; empty: nearly square
  std::vector<Index> axial_widths = {};  ///< d1, d2; empty: halves of the width
  double dropout = 0;
  bool tie = true;
  Density output = Density::dense;
  Index output_modules = 4;  ///< S of a sparse output layer
  bool causal = true;
  bool segment_memory = false;
  bool reversible = false;
  autograd::StreamOutput reversible_output = autograd::StreamOutput::average;
  Seq2SeqSettings seq2seq = {};
  std::vector<std::string> attention = {"dense"};
  /// Of matrix products; not a key of this section, train.precision sets it.
  core::Precision precision = core::Precision::float32;

  void fields(core::Fields& field);

  /// The relative positions, if `positions` names some.
  RelativeSettings relative() const;
  /// How many places the layers read of a sequence of `length` tokens.
  Index places(Index length) const {
    return task == Task::classify && pool == Pool::cls ? length + 1 : length;
  }
  Index hidden() const { return ff > 0 ? ff : 4 * width; }
  /// Training lets a token read later ones by statistics over the batch.
  bool has_batch_statistics() const {
    return norm == NormKind::batch ||
           (feedforward == FeedForwardKind::memory && memory.norm == "batch");
  }
  /// An expert that is full of later tokens' first choices gives up earlier tokens' second ones.
  bool experts_leak() const { return feedforward == FeedForwardKind::experts && experts.leaks(); }
  bool is_seq2seq() const { return task == Task::seq2seq; }
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
