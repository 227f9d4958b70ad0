#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/dataset.h"
#include "layers/model/language_model.h"

namespace weft::experiments {

using core::Index;

/// Whether a model that should read the past only reads the future. Tokens from a random position
/// on are replaced, and every output before it must keep its bits. Where outputs depend on the
/// future through what is chosen to be read, the likelihood of a whole sequence flatters the model:
/// `gap` is the loss of tokens predicted from a sequence cut right after their inputs, less their
/// loss in the whole.
struct LeakAudit {
  Index trials = 0;
  Index leaking_trials = 0;  ///< in which any output before the change moved
  Index outputs = 0;         ///< outputs before a change, all trials
  Index changed = 0;         ///< of those, how many moved
  Index scored = 0;          ///< tokens behind the gap
  double whole_nats = 0, cut_nats = 0;

  bool clean() const { return changed == 0; }
  double gap() const { return cut_nats - whole_nats; }
};

/// Audits sequences of the validation split.
LeakAudit audit_leaks(const layers::LanguageModel& model, const data::Dataset& dataset,
                      Index trials, Index seed);

std::string print_audit(const LeakAudit& audit);
nlohmann::ordered_json audit_json(const LeakAudit& audit);

}  // namespace weft::experiments
