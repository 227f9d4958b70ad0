// What a run's bits depend on besides its config, and how a resumed run keeps to it.
#include "core/arrays/float_products.h"
#include "core/arrays/gemm.h"
#include "core/simd/kernels.h"
#include "experiments/checkpoint/file.h"
#include "experiments/run/run_files.h"
#include "experiments/train/kernels_used.h"
#include "tests/experiments/program.h"

namespace weft::experiments::kernels_program_test {
namespace {

/// Its products are large enough for every library.
constexpr const char* config = R"(
[data]
length = 64
held_out = 8
[model]
layers = 1
width = 64
heads = 1
[train]
steps = 2
batch = 4
)";

void with_openblas() { setenv("WEFT_PRODUCTS", "openblas", 1); }

Checkpoint of_now() {
  Checkpoint checkpoint;
  for (const auto& [name, value] : kernels_used(RunConfig()))
    checkpoint.facts["meta/" + name] = value;
  return checkpoint;
}

TEST(KernelsOfARun, are_followed_without_a_word_where_they_are_here) {
  EXPECT_EQ(follow_kernels(of_now(), RunConfig()), std::vector<std::string>());
}

TEST(KernelsOfARun, recorded_before_there_was_a_choice_are_those_of_openblas) {
  const std::string before = core::float_products();
  Checkpoint old = of_now();
  old.facts.erase("meta/products");
  EXPECT_EQ(follow_kernels(old, RunConfig()), std::vector<std::string>());
  EXPECT_EQ(core::float_products(), "OpenBLAS");
  EXPECT_TRUE(core::use_float_products(before));
}

TEST(KernelsOfARun, that_are_not_here_are_named_and_no_bits_promised) {
  Checkpoint other = of_now();
  other.facts["meta/products"] = std::string("oneDNN 9.9.9 by shape");
  other.facts["meta/blas"] = std::string("Elsewhere");
  const auto warnings = follow_kernels(other, RunConfig());
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("Elsewhere"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("oneDNN 9.9.9 by shape"), std::string::npos) << warnings[1];
}

TEST(KernelsOfARun, are_kept_by_a_resumed_run_to_the_last_bit) {
  const Program program("kernels");
  program.write("small.toml", config);
  for (const std::string run : {"throughout", "resumed", "warned"}) {
    const auto prepare = run == "warned" ? std::function<void()>() : with_openblas;
    const Outcome outcome = program.run({"train", "small.toml", "--run", run}, prepare);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  const auto resume = [&](const std::string& run, const std::function<void()>& prepare) {
    const Outcome outcome =
        program.run({"train", "small.toml", "--run", run, "--resume", "train.steps=4"}, prepare);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  resume("throughout", with_openblas);
  EXPECT_EQ(resume("resumed", {}).find("bits may differ"), std::string::npos);
  const auto arrays = [&](const std::string& run) {
    return load_checkpoint(program.directory() / run / "checkpoints/ckpt-00000004.h5").arrays;
  };
  const auto throughout = arrays("throughout"), resumed = arrays("resumed");
  for (const auto& [name, array] : throughout)
    EXPECT_EQ(resumed.at(name).values, array.values) << name;
  const std::string own = core::float_products();
  const bool differ = own != core::products_of_old;
  EXPECT_EQ(resume("warned", with_openblas).find("bits may differ") != std::string::npos, differ);
}

TEST(KernelsOfARun, are_in_its_environment_and_its_checkpoints) {
  const Program program("kernels_recorded");
  program.write("small.toml", config);
  const Outcome outcome = program.run({"train", "small.toml", "--run", "here"}, with_openblas);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunFiles files{program.directory() / "here"};
  EXPECT_EQ(read_starts(files).at(0).at("products"), Fact(std::string("OpenBLAS")));
  EXPECT_EQ(load_checkpoint(files.checkpoints() / "ckpt-00000002.h5").text("meta/products"),
            "OpenBLAS");
}

}  // namespace
}  // namespace weft::experiments::kernels_program_test
