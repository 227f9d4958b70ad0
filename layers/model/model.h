#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/arrays/batch.h"
#include "core/arrays/image_form.h"
#include "layers/attention/contract/attention.h"
#include "layers/multi_head/stream_memory.h"
#include "layers/output/token_scores.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// What a model reads in one call. With a memory, the inputs continue the streams that it carries,
/// and the call leaves in it what the next segment continues.
struct Reading : core::Batch {
  StreamMemory* memory = nullptr;
  /// Where these are some rows of a batch that is read in `parts` of one size: the targets that are
  /// counted in all of it, of which these may have none. The parts' losses add up to the batch's.
  std::optional<Index> all_targets = {};
  Index parts = 1;
  /// Where the inputs are columns of longer sequences: which.
  std::shared_ptr<const ChunkPlace> chunk = nullptr;
};

/// The sizes of a model's tables that the data need.
struct ModelShape {
  Index vocabulary = 0;
  Index length = 0;                           ///< of the longest input of training
  Index classes = 0;                          ///< answers to a whole sequence
  Index source_length = 0;                    ///< of the longest source of training
  std::optional<core::ImageForm> image = {};  ///< what the inputs are, where they are images
};

/// Anything that is trained on readings.
class Model {
 public:
  virtual ~Model() = default;

  /// Mean loss in nats over the counted targets, times `share`, with the mechanisms' penalties.
  virtual Var loss(const Pass& pass, const Reading& reading, Real share) const = 0;
  /// How many targets of a batch the loss is a mean over.
  virtual Index counted(const core::Batch& batch) const;
  /// How well each target is predicted, in evaluation.
  virtual TokenScores score(const Pass& pass, const Reading& reading) const = 0;

  /// Whether segments of a stream are meant to be read with a memory.
  virtual bool recurrent() const { return false; }
  /// An empty memory for B streams.
  virtual StreamMemory memory(Index) const { return {}; }

  /// Attention of all layers together over B sequences of the training's length; in a recurrent
  /// model, in the middle of a stream.
  virtual Cost attention_cost(Index batch) const = 0;
  /// In chunks of columns: what chunk `from` of these many sequences sends chunk `to` in one pass
  /// of training or, to the right, of evaluation.
  virtual core::Traffic chunk_traffic(const core::ChunkCut&, Index /*batch*/, Index /*from*/,
                                      Index /*to*/) const {
    return {};
  }
  /// Numbers in the weight matrices of the layers.
  virtual Index layer_weights() const = 0;
  /// Numbers in weight matrices, output layer included, embeddings not.
  virtual Index matrix_weights() const = 0;
  /// How many rows a weight is multiplied with for each token of the inputs, on average: more than
  /// one where a source is read too.
  virtual double rows_per_token() const { return 1; }
  /// How many keys each head of each layer reads of a long past; empty where there is no such
  /// number.
  virtual std::vector<std::vector<double>> spans() const { return {}; }

  /// Lists parameters, states and what mechanisms do between steps.
  virtual void visit(Inventory& inventory) = 0;

 protected:
  /// What part of `share` falls to the targets of a reading, and to its penalties.
  Real target_share(const Reading& reading, Real share) const;
  static Real penalty_share(const Reading& reading, Real share) {
    return share / Real(reading.parts);
  }
};

}  // namespace weft::layers
