#pragma once

#include "layers/output/output_layer.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/residual.h"
#include "layers/settings/model_settings.h"

namespace weft::layers {

/// Standard deviation of token tables and dense weights at the start.
inline constexpr double initial_deviation = 0.02;

/// Parts as the settings describe them.
std::unique_ptr<FeedForward> make_feed_forward(const ModelSettings& settings, Index layer, Init in,
                                               Init out);
OutputLayer make_output(const ModelSettings& settings, Index vocabulary, Index width);
/// How every sublayer joins its residual stream.
ResidualForm residual_form(const ModelSettings& settings);
/// `image`: what the sequences are, where they are images.
Positions make_positions(const ModelSettings& settings, Index length,
                         const std::optional<core::ImageForm>& image = {});
std::optional<PixelNumber> make_pixel_number(const ModelSettings& settings,
                                             const std::optional<core::ImageForm>& image);

/// loss + share * penalties, of which empty ones are left out.
Var add_penalties(Var loss, Real share, const std::vector<Var>& penalties);

}  // namespace weft::layers
