// What models are kept in: checkpoints (with a valid seal), their lists, safetensors, rename maps.
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/list.h"
#include "experiments/checkpoint/safetensors.h"
#include "experiments/checkpoint/saved_image.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "experiments/checkpoint/text_form.h"
#include "experiments/exchange/model_exchange.h"
#include "experiments/run/run_config.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/fuzz/scratch.h"

namespace weft::fuzz {

using namespace experiments;

void fuzz_checkpoint(std::string_view input) {
  const Checkpoint checkpoint = load_checkpoint(sealed_file("checkpoint.h5", input));
  saved_image(checkpoint);
  saved_spelling(checkpoint);
  saved_form(checkpoint);
  const RunConfig config = RunConfig::from_text(checkpoint.config_toml, "saved");
  const auto copy = scratch_folder() / "exported.safetensors";
  write_model(exported_model(checkpoint, config), copy);
  const SafetensorsFile exported(copy);
}

void fuzz_checkpoint_list(std::string_view input) {
  const auto entries = parse_checkpoint_list(std::string(input));
  demand(parse_checkpoint_list(print_checkpoint_list(entries)) == entries, "another list");
}

void fuzz_safetensors(std::string_view input) {
  const SafetensorsFile file(scratch_file("model.safetensors", input));
  for (const auto& [name, array] : file.arrays()) {
    std::vector<core::Real> values(std::size_t(array.shape.size()));
    file.read(name, values);
  }
}

void fuzz_rename_map(std::string_view input) { read_rename_map(scratch_file("map.txt", input)); }

}  // namespace weft::fuzz
