#pragma once

#include "core/fields.h"
#include "layers/attention/pattern/attention.h"

namespace weft::layers {

/// The common part of the span mechanisms.
struct SpanSettings {
  Index span = 1024;
  Index ramp = 32;
  double renorm_eps = 0;
  ScoreSettings scores;

  /// Lists span and scale.
  void list_fixed(core::Fields& field);
  /// And what a soft end needs.
  void list_soft(core::Fields& field);
  /// The plan of a mechanism of these settings: its traits with those that all spans have.
  AttentionPlan plan(AttentionMaker make, AttentionTraits traits) const;
};

}  // namespace weft::layers
