#pragma once

#include <string>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"
#include "layers/attention/contract/relative.h"
#include "layers/parts/activation.h"
#include "layers/parts/experts/expert_feed_forward.h"
#include "layers/parts/memory/memory_feed_forward.h"
#include "layers/parts/pixel_input.h"
#include "layers/parts/positions.h"
#include "layers/parts/residual.h"
#include "layers/parts/sparse_feed_forward.h"
#include "layers/settings/seq2seq_settings.h"
#include "layers/star/star_settings.h"
#include "layers/universal/universal_settings.h"

namespace weft::layers {

/// What a model does: predicts a token at every place, classifies a whole sequence,
/// generates a target sequence from a source, or answers a question by a span of a document.
enum class Task { language, classify, seq2seq, span };

/// From tokens to hidden vectors: layers of attention and feed-forward, or a ring of tokens around
/// a relay.
enum class TrunkKind { transformer, star };

/// The vector that a classifier reads: an extra token, the mean of all, the row that
/// represents the whole sequence, or the average of that and the maximum of each column.
enum class Pool { cls, mean, root, max_root };

/// A classifier's head: a hidden layer and a linear one, or the latter alone.
enum class ClassHeadKind { mlp, linear };

/// From the last hidden vector to the tokens: a table of all, a multiplicative layer of few
/// weights, or, for the values of an image, a mixture of logistics.
enum class OutputKind { dense, sparse, logistics };

/// The [model] section. `attention` names what each layer uses, repeated to fill the layers.
struct ModelSettings {
  Task task = Task::language;
  TrunkKind trunk = TrunkKind::transformer;
  StarSettings star = {};
  UniversalSettings universal = {};
  Pool pool = Pool::cls;
  ClassHeadKind head = ClassHeadKind::mlp;
  Index answer_longest = 30;  ///< tokens of an answer that a span model may choose
  Index layers = 2;
  Index width = 64;
  Index heads = 4;
  Index ff = 0;  ///< 0: 4 x width
  /// What each layer has, repeated to fill the layers.
  std::vector<FeedForwardKind> feedforward = {FeedForwardKind::dense};
  Activation activation = Activation::gelu;  ///< of dense feed-forwards
  SparseFeedForwardSettings sparse_ff = {};
  ExpertSettings experts = {};
  MemorySettings memory = {};
  Index ff_chunk = 0;    ///< rows of the feed-forward at a time; 0: all
  Index loss_chunk = 0;  ///< tokens whose logits exist at a time; 0: about a million logits
  NormKind norm = NormKind::layer;
  bool allow_leaky_norm = false;
  NormPlace norm_place = NormPlace::pre;
  PositionKind positions = PositionKind::learned;
  Index relative_clip = 64, relative_buckets = 32, relative_distance = 128;
  std::vector<Index> axial_shape = {};   ///< n1, n2; empty: nearly square
  std::vector<Index> axial_widths = {};  ///< d1, d2; empty: halves of the width
  double dropout = 0;
  bool tie = true;
  OutputKind output = OutputKind::dense;
  Index output_modules = 4;    ///< S of a sparse output layer
  Index output_mixtures = 10;  ///< K of a mixture of logistics
  PixelInput pixel_input = PixelInput::both;
  bool causal = true;
  bool segment_memory = false;
  bool reversible = false;
  autograd::StreamOutput reversible_output = autograd::StreamOutput::average;
  Seq2SeqSettings seq2seq = {};
  std::vector<std::string> attention = {"dense"};
  bool images = false;  ///< no setting: whether the data are images, known before fields()
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
  bool is_star() const { return trunk == TrunkKind::star; }
  bool reads_root() const { return pool == Pool::root || pool == Pool::max_root; }
  /// Whether any layer has this feed-forward.
  bool uses(FeedForwardKind kind) const;
  FeedForwardKind feedforward_of(Index layer) const {
    return feedforward[std::size_t(layer) % feedforward.size()];
  }
  /// Training lets a token read later ones by statistics over the batch.
  bool has_batch_statistics() const {
    return norm == NormKind::batch ||
           (uses(FeedForwardKind::memory) && memory.norm == MemorySettings::QueryNorm::batch);
  }
  /// An expert that is full of later tokens' first choices gives up earlier tokens' second ones.
  bool experts_leak() const { return uses(FeedForwardKind::experts) && experts.leaks(); }
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
  void list_trunk(core::Fields& field);
  void list_norms(core::Fields& field);
  void check_star(core::Fields& field) const;
  void check_universal(core::Fields& field) const;
  void list_feed_forward(core::Fields& field);
  void list_positions(core::Fields& field);
  void list_depth(core::Fields& field);
  void list_output(core::Fields& field);
  void list_batch_norm(core::Fields& field);
  void list_axial_positions(core::Fields& field);
  void list_reversible(core::Fields& field);
  void list_sparse_output(core::Fields& field);
  void list_mixture_output(core::Fields& field);
  void check_segment_memory(core::Fields& field) const;
  void list_seq2seq(core::Fields& field);
};

}  // namespace weft::layers
