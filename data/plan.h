#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "data/dataset.h"

namespace weft::data {

/// What a dataset asks of the model and of training, known before any file is read.
struct DataTraits {
  bool streams = false;     ///< a batch may continue the sequences of the batch before it
  bool sources = false;     ///< each sequence is generated from a source sequence
  bool masks = false;       ///< hidden tokens are to be filled in, not the next token predicted
  bool pads = false;        ///< sequences may be shorter than data.length and are padded
  bool classifies = false;  ///< each sequence has one answer, its class
  bool asks = false;        ///< each sequence asks for a stretch of the document in it
  Index source_length = 0;  ///< the longest source, where it may be longer than data.length
  bool images = false;      ///< sequences are the values of images
};

/// The meaning of tokens and classes for a trained model: a file that holds only some of
/// them is read with the numbers that they have in the model.
struct Meaning {
  std::optional<Spelling> spelling = {};
  std::vector<std::string> classes = {};

  /// The model's spelling if it has every character of this one, else this one.
  Spelling spelling_for(Spelling own) const;
  /// The model's classes if they have all of these names, else these.
  std::vector<std::string> classes_for(std::vector<std::string> own) const;
};

/// A kind of data whose settings have been read: what it asks, and how to make it.
struct DataPlan {
  DataTraits traits;
  std::function<std::unique_ptr<Dataset>(Index batch, std::uint64_t seed)> maker;
  /// The same for a model that has been trained, where files say what tokens and classes mean.
  std::function<std::unique_ptr<Dataset>(Index batch, std::uint64_t seed, const Meaning& known)>
      maker_for = {};

  /// The dataset, in micro-batches of `batch` sequences.
  std::unique_ptr<Dataset> make(Index batch, std::uint64_t seed, const Meaning& known = {}) const;
};

/// A plan that makes a `Kind` of sequences of `length` from these settings.
template <class Kind, class Settings>
DataPlan plan_for(const Settings& settings, Index length, const DataTraits& traits = {}) {
  return {traits, [=](Index batch, std::uint64_t seed) {
            return std::make_unique<Kind>(settings, length, batch, seed);
          }};
}

/// The same for a kind whose settings have a `known`, the meaning that a trained model gives.
template <class Kind, class Settings>
DataPlan plan_for_files(const Settings& settings, Index length, const DataTraits& traits = {}) {
  DataPlan plan = plan_for<Kind>(settings, length, traits);
  plan.maker_for = [=](Index batch, std::uint64_t seed, const Meaning& known) {
    Settings own = settings;
    own.known = known;
    return std::make_unique<Kind>(own, length, batch, seed);
  };
  return plan;
}

}  // namespace weft::data
