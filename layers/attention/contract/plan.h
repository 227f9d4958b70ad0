#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/fields.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// The text of `weft list attentions` for a mechanism.
struct AttentionTraits {
  std::string_view summary = {};
  bool causal = true;         ///< can be used in a language model
  bool bidirectional = true;  ///< can read the future when asked to
  bool exact = true;          ///< computes softmax over every key that it names
  bool cross = true;          ///< takes keys of another length than its queries
  bool padding = true;        ///< takes key lengths
  bool relative = false;      ///< reads relative positions
  bool reads_self = true;     ///< a token is among its own keys
  bool leaks = false;         ///< later tokens take part in choosing what earlier ones read
  bool adaptive = false;      ///< what is read depends on the data: `cost` is the most it can be
  bool bf16 = false;          ///< its products follow train.precision; else they are float32
  /// Without causal order, what a query gets depends on itself and the keys alone: neither on its
  /// place nor on other queries.
  bool queries_alone = false;
  bool separate_keys = true;   ///< the layer projects its queries and its keys apart
  bool convolves = false;      ///< has a short convolution of its own
  bool gates_output = false;   ///< norms and gates what leaves its heads itself
  bool carries_state = false;  ///< carries a state over segments
  bool chunks = false;         ///< can be trained in chunks of columns (train.chunks)
  std::string keys_per_token = {};
  std::string decode_state = {};
};

/// Makes a configured mechanism for any layer that uses it.
using AttentionMaker = std::function<std::unique_ptr<Attention>(const AttentionSite&)>;

/// A mechanism with its settings, before any layer has one.
struct AttentionPlan {
  AttentionMaker make;  ///< null where the settings name no mechanism
  AttentionTraits traits = {};
  /// The most tokens before its segment that training may let it use; 0 where it carries no past.
  Index most_memory_tokens = 0;
  /// Which rows the mechanism adds to those of the tokens; null if none.
  std::shared_ptr<const RowRule> rows = nullptr;
};

/// The plan of a Mechanism that is constructed from Settings and a site. Settings list their fields
/// and say what the mechanism is (`traits`).
template <class Settings, class Mechanism>
AttentionPlan configure(core::Fields& fields) {
  Settings settings;
  settings.fields(fields);
  return {
      [settings](const AttentionSite& site) { return std::make_unique<Mechanism>(settings, site); },
      settings.traits()};
}

}  // namespace weft::layers
