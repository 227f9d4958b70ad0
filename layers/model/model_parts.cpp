#include "layers/model/model_parts.h"

#include "layers/parts/feed_forward.h"

namespace weft::layers {

std::unique_ptr<FeedForward> make_feed_forward(const ModelSettings& settings, Index layer, Init in,
                                               Init out) {
  const FeedForwardKind kind = settings.feedforward_of(layer);
  if (kind == FeedForwardKind::sparse)
    return std::make_unique<SparseFeedForward>(settings.width, settings.hidden(),
                                               settings.sparse_ff, settings.ff_chunk);
  if (kind == FeedForwardKind::experts)
    return std::make_unique<ExpertFeedForward>(settings.width, settings.hidden(), settings.experts,
                                               in, out);
  if (kind == FeedForwardKind::memory)
    return std::make_unique<MemoryFeedForward>(settings.width, settings.memory, in);
  return std::make_unique<DenseFeedForward>(settings.width, settings.hidden(), in, out,
                                            settings.ff_chunk, settings.activation);
}

OutputLayer make_output(const ModelSettings& settings, Index vocabulary, Index width) {
  if (settings.output == OutputKind::logistics)
    return OutputLayer::logistics(vocabulary - 1, width, settings.output_mixtures,
                                  Init::normal(initial_deviation));
  if (settings.output == OutputKind::sparse)
    return OutputLayer::sparse(vocabulary, width, settings.output_modules);
  if (settings.tie) return {};
  return OutputLayer::untied(vocabulary, width, Init::normal(initial_deviation));
}

ResidualForm residual_form(const ModelSettings& settings) {
  return {settings.width, settings.norm_place, Real(settings.dropout), settings.norm};
}

Positions make_positions(const ModelSettings& settings, Index length,
                         const std::optional<core::ImageForm>& image) {
  return {settings.positions,          settings.width, settings.width / settings.heads, length,
          settings.axial_grid(length), image};
}

std::optional<PixelNumber> make_pixel_number(const ModelSettings& settings,
                                             const std::optional<core::ImageForm>& image) {
  if (!image || settings.pixel_input != PixelInput::both) return std::nullopt;
  return std::optional<PixelNumber>(std::in_place, image->levels, settings.width,
                                    Init::normal(initial_deviation));
}

Var add_penalties(Var loss, Real share, const std::vector<Var>& penalties) {
  for (const Var& penalty : penalties)
    if (penalty.value().size() > 0) loss = autograd::add(loss, autograd::scale(penalty, share));
  return loss;
}

}  // namespace weft::layers
