#pragma once

#include <string>
#include <vector>

#include "tests/layers/attention/chosen_variants.h"

namespace weft::layers {

/// Those with rows of their own.
inline std::vector<AttentionVariant> row_variants() {
  return {
      {"bigbird_beside",
       "bigbird",
       {{"form", "etc"}, {"block", core::Index(16)}, {"every", core::Index(9)}}},
      {"bigbird_beside_random",
       "bigbird",
       {{"form", "etc"},
        {"block", core::Index(8)},
        {"random", core::Index(2)},
        {"every", core::Index(20)},
        {"clip", core::Index(5)},
        {"share", "kv"}}},
      {"etc_small",
       "etc",
       {{"window", core::Index(9)}, {"clip", core::Index(3)}, {"every", core::Index(5)}}},
      {"etc_hard",
       "etc",
       {{"window", core::Index(5)},
        {"clip", core::Index(2)},
        {"every", core::Index(4)},
        {"hard_l2g", true},
        {"hard_g2l", true}}},
      {"etc_unshared",
       "etc",
       {{"window", core::Index(7)}, {"every", core::Index(11)}, {"share", "none"}}},
      {"bp_thin", "bp", {{"fan", core::Index(1)}, {"clip", core::Index(2)}}},
      {"bp_wide", "bp", {{"fan", core::Index(7)}, {"clip", core::Index(0)}}},
  };
}

/// On the pattern engine.
inline std::vector<AttentionVariant> pattern_variants() {
  using Numbers = std::vector<core::Index>;
  static const tests::Settings united = {
      {"atoms", std::vector<tests::Settings>{
                    {{"kind", "dilated"}, {"left", core::Index(5)}, {"dilation", core::Index(3)}},
                    {{"kind", "band"}, {"left", core::Index(6)}, {"right", core::Index(2)}},
                    {{"kind", "dilated"}, {"left", core::Index(9)}, {"dilation", core::Index(6)}},
                    {{"kind", "global"}, {"positions", Numbers{3, 17}}}}}};
  const auto with = [](tests::Settings settings, const tests::Settings& more) {
    settings.insert(more.begin(), more.end());
    return settings;
  };
  return {
      {"local_narrow", "local", {{"window", core::Index(9)}}},
      {"local_block", "local", {{"form", "block"}, {"block", core::Index(32)}}},
      {"strided_separate", "strided", {{"stride", core::Index(8)}, {"heads_use", "separate"}}},
      {"fixed_sub_blocks",
       "fixed",
       {{"stride", core::Index(16)}, {"c", core::Index(4)}, {"sub_blocks", true}}},
      {"global_scattered",
       "global",
       {{"positions", Numbers{0, 5, 6, 40}}, {"window", core::Index(4)}}},
      {"random_small", "random", {{"block", core::Index(16)}, {"blocks", core::Index(2)}}},
      {"longformer_global",
       "longformer",
       {{"window", Numbers{16}},
        {"dilation", Numbers{3}},
        {"dilated_heads", core::Index(1)},
        {"positions", Numbers{0, 9, 10}}}},
      {"bigbird_small", "bigbird", {{"block", core::Index(16)}, {"random", core::Index(1)}}},
      {"pattern_union", "pattern", united},
      {"dense_shared", "dense", {{"kv_heads", core::Index(1)}}},
      {"strided_shared",
       "strided",
       {{"stride", core::Index(8)}, {"heads_use", "separate"}, {"kv_heads", core::Index(1)}}},
      {"local_sinks",
       "local",
       {{"window", core::Index(9)}, {"first", core::Index(3)}, {"sink", "learned"}}},
      {"pattern_sink", "pattern", with(united, {{"sink", "learned"}})},
      {"differential_shared", "differential", {{"kv_heads", core::Index(1)}}},
      {"dense_sparsemax", "dense", {{"normaliser", "sparsemax"}}},
      {"local_entmax",
       "local",
       {{"window", core::Index(9)}, {"normaliser", "entmax"}, {"alpha", 1.25}}},
      {"dense_learned_alpha", "dense", {{"normaliser", "entmax"}, {"learned_alpha", true}}},
      {"local_sparsemax", "local", {{"window", core::Index(9)}, {"normaliser", "sparsemax"}}},
      {"pattern_entmax15", "pattern", with(united, {{"normaliser", "entmax15"}})},
      {"random_learned_alpha",
       "random",
       {{"block", core::Index(16)},
        {"blocks", core::Index(2)},
        {"normaliser", "entmax"},
        {"alpha", 1.75},
        {"learned_alpha", true}}},
  };
}

/// On the other engines.
inline std::vector<AttentionVariant> other_variants() {
  return {
      {"lsh_small",
       "lsh",
       {{"rounds", core::Index(3)},
        {"buckets", core::Index(6)},
        {"chunk", core::Index(5)},
        {"dedup", true}}},
      {"lsh_factorised", "lsh", {{"buckets", core::Index(150)}, {"chunk", core::Index(40)}}},
      {"routing_small", "routing", {{"clusters", "3"}, {"chunk", core::Index(5)}}},
      {"routing_separate",
       "routing",
       {{"clusters", "3"}, {"chunk", core::Index(5)}, {"shared", false}}},
      {"fixed_span_narrow", "fixed_span", {{"span", core::Index(9)}}},
      {"adaptive_span_narrow",
       "adaptive_span",
       {{"span", core::Index(50)}, {"ramp", core::Index(7)}, {"initial", 0.33}}},
      {"adaptive_span_shared",
       "adaptive_span",
       {{"span", core::Index(50)},
        {"ramp", core::Index(7)},
        {"initial", 0.33},
        {"kv_heads", core::Index(1)}}},
      {"adaptive_span_eps",
       "adaptive_span",
       {{"span", core::Index(50)},
        {"ramp", core::Index(7)},
        {"initial", 0.33},
        {"renorm_eps", 0.01}}},
      {"dynamic_span_narrow",
       "dynamic_span",
       {{"span", core::Index(90)}, {"ramp", core::Index(11)}, {"bias", -0.5}}},
      {"gated_deltanet_negative",
       "gated_deltanet",
       {{"conv", core::Index(0)}, {"negative", true}, {"chunk", core::Index(9)}}},
      {"kda_unbounded",
       "kda",
       {{"floor", 0.0}, {"rank", core::Index(3)}, {"chunk", core::Index(40)}}},
  };
}

inline const std::vector<AttentionVariant>& attention_variants() {
  static const std::vector<AttentionVariant> variants = [] {
    std::vector<AttentionVariant> all = pattern_variants();
    for (const auto& more : {other_variants(), chosen_variants(), row_variants()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return variants;
}

}  // namespace weft::layers
