#include "experiments/train/samples.h"

#include <algorithm>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "data/images/png_file.h"
#include "experiments/evaluate/generation.h"
#include "experiments/evaluate/image_samples.h"

namespace weft::experiments {
namespace {

void write_sample_file(const std::filesystem::path& path, std::string_view contents) {
  std::filesystem::create_directories(path.parent_path());
  core::write_durably(path, contents, core::Fault::checkpoint);
}

/// The configured prompt, or else the source or the first half of the first validation sequence.
std::vector<core::Token> prompt_of(const RunConfig& config, const data::Dataset& dataset) {
  if (auto prompt = dataset.encode(config.sample.prompt); !prompt.empty()) return prompt;
  const Index length = config.data.length;
  const data::Batch batch = dataset.evaluation(data::Split::validation, 0, length);
  const auto first = batch.source_lengths
                         ? batch.sources.read().first(std::size_t(batch.source_lengths->front()))
                         : batch.inputs.read().first(std::size_t(std::max<Index>(1, length / 2)));
  return {first.begin(), first.end()};
}

std::string write_text(const Trainer& trainer, const RunFiles& files) {
  const RunConfig& config = trainer.config();
  const data::Dataset& dataset = trainer.dataset();
  const std::vector<core::Token> prompt = prompt_of(config, dataset);
  const Generation generated = answer(trainer.model(), dataset.boundary(), prompt,
                                      {.tokens = config.sample.tokens,
                                       .temperature = config.sample.temperature,
                                       .top_k = config.sample.top_k,
                                       .seed = std::uint64_t(config.seed)});
  const std::string text = dataset.decode(prompt) + "|" + dataset.decode(generated.tokens);
  write_sample_file(files.samples() / (std::to_string(trainer.steps_done()) + ".txt"), text);
  return "sample (the model goes on after |): " + text;
}

std::string write_images(const Trainer& trainer, const core::ImageForm& form,
                         const RunFiles& files) {
  constexpr Index shown = 4;
  const RunConfig& config = trainer.config();
  const Index given = std::max<Index>(0, form.values() - config.sample.tokens);
  const layers::LanguageModel& model = layers::as_language_model(trainer.model(), "sample.tokens");
  std::vector<Values> images;
  for (Index i = 0; i < shown; ++i)
    if (auto image = held_out_image(trainer.dataset(), data::Split::validation, i))
      images.push_back(std::move(*image));
  const auto rows = completed_rows(model, form, images, given,
                                   {.temperature = config.sample.temperature,
                                    .top_k = config.sample.top_k,
                                    .seed = std::uint64_t(config.seed)});
  const auto file = files.samples() / (std::to_string(trainer.steps_done()) + ".png");
  write_sample_file(file, data::encode_png(sheet_of(rows)));
  return core::message_of("sample ", file.string(), ": held-out images, their first ", given,
                          " values, and the rest by the model");
}

}  // namespace

std::string write_sample(const Trainer& trainer, const RunFiles& files) {
  if (trainer.config().sample.tokens == 0) return "";
  const auto image = trainer.dataset().image();
  return image ? write_images(trainer, *image, files) : write_text(trainer, files);
}

}  // namespace weft::experiments
