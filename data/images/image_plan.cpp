#include "data/images/image_plan.h"

#include "data/images/image_classes.h"
#include "data/images/image_sequences.h"

namespace weft::data {

DataPlan plan_for_images(std::function<ImageSplits()> make, ImagesForm form, bool keeps_values,
                         Index length) {
  const bool classifies = form == ImagesForm::classify;
  return {{.classifies = classifies, .images = true},
          [=](Index batch, std::uint64_t seed) -> std::unique_ptr<Dataset> {
            if (classifies) return std::make_unique<ImageClasses>(make(), length, batch, seed);
            return std::make_unique<ImageSequences>(make(), length, batch, seed, keeps_values);
          }};
}

DataPlan configure_images(core::Fields& fields, Index length) {
  ImagesSettings settings;
  settings.fields(fields);
  return plan_for_images([=] { return ImageSplits(settings); }, settings.form,
                         settings.reduction.keeps_values(), length);
}

}  // namespace weft::data
