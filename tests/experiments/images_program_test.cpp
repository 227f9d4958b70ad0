// What users meet of images: training on files, bits beside tables of counts, pictures, resuming,
// and what is refused.
#include "tests/data/images/image_bytes.h"
#include "tests/experiments/program.h"

namespace weft::experiments::images_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* config = R"(
[data]
kind = "images"
length = 48
train_path = "train.idx"
test_path = "test.idx"

[model]
layers = 1
width = 16
heads = 2
positions = "image"
attention = "strided"

[train]
steps = 12
batch = 4
eval_every = 6

[sample]
tokens = 24
at_evaluations = true
)";

const auto stripes = [](std::uint32_t i) { return i % 6 * 40 + i / 48 % 7; };

/// A program beside IDX files of 6 x 8 values.
void write_files(const Program& program) {
  program.write("train.idx", data::idx_images(40, 6, 8, stripes));
  program.write("test.idx", data::idx_images(8, 6, 8, stripes));
  program.write("images.toml", config);
}

bool is_png(const std::string& bytes) { return bytes.starts_with("\x89PNG"); }

TEST(ImagesProgram, prints_bits_per_dimension_beside_tables_of_counts_and_draws_pictures) {
  const Program program("images-train");
  write_files(program);
  for (const Words& more : {Words{}, Words{"model.output=logistics", "model.tie=false"}}) {
    Words words{"train", "images.toml", "--run", "run", "--fresh"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome trained = program.run(words);
    ASSERT_EQ(trained.code, 0) << trained.err;
    for (const char* part : {"bits per dimension by tables of counts: each place", "left and up",
                             "bits per dimension (±", "this model", "samples/12.png"})
      EXPECT_NE(trained.out.find(part), std::string::npos) << part << " in " << trained.out;
    for (const char* name : {"6.png", "12.png"})
      EXPECT_TRUE(is_png(read_text(program.directory() / "run/samples" / name))) << name;
    EXPECT_NE(read_text(program.directory() / "run/metrics.jsonl").find("baseline_bits_each_place"),
              std::string::npos);
    const Outcome scored = program.run({"eval", "run", "--split", "test", "--json"});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_NE(scored.out.find("\"unit\": \"dimension\""), std::string::npos);
    EXPECT_NE(scored.out.find("\"bits_baselines\""), std::string::npos);
    EXPECT_NE(scored.out.find("\"tokens\": 384"), std::string::npos) << "8 images of 48 values";
  }
}

TEST(ImagesProgram, generates_pictures_also_without_the_data) {
  const Program program("images-generate");
  write_files(program);
  ASSERT_EQ(program.run({"train", "images.toml", "--run", "run"}).code, 0);
  const Outcome completed = program.run(
      {"generate", "run", "--image", "3", "--rows", "2", "--count", "2", "-o", "a.png"});
  ASSERT_EQ(completed.code, 0) << completed.err;
  const std::string picture = read_text(program.directory() / "a.png");
  EXPECT_TRUE(is_png(picture));
  EXPECT_EQ(program.run({"generate", "run", "--image", "3", "-o", "a.png"}).code, 2)
      << "it would replace a file";
  ASSERT_EQ(
      program.run({"generate", "run", "--image", "3", "--rows", "2", "--count", "2", "-o", "b.png"})
          .code,
      0);
  EXPECT_EQ(read_text(program.directory() / "b.png"), picture) << "one seed, one picture";
  EXPECT_EQ(program.run({"generate", "run", "--image", "99", "-o", "c.png"}).code, 2);
  EXPECT_EQ(program.run({"generate", "run", "--image", "1", "--rows", "9", "-o", "c.png"}).code, 2);
  std::filesystem::remove(program.directory() / "train.idx");
  const Outcome drawn = program.run({"generate", "run", "-o", "d.png"});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_TRUE(is_png(read_text(program.directory() / "d.png")));
}

TEST(ImagesProgram, verify_resume_finds_every_bit_equal) {
  const Program program("images-resume");
  write_files(program);
  const Outcome outcome = program.run({"verify-resume", "images.toml", "--at", "6", "--steps", "12",
                                       "model.output=logistics", "model.tie=false"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST(ImagesProgram, classifies_with_labels_of_their_own) {
  const Program program("images-classify");
  write_files(program);
  std::vector<int> labels;
  for (int i = 0; i < 40; ++i) labels.push_back(i % 3);
  program.write("labels.idx", data::idx_labels(labels));
  const Words words{"train",
                    "images.toml",
                    "--run",
                    "run",
                    "data.form=classify",
                    "model.task=classify",
                    "sample.tokens=0",
                    "data.labels_path=labels.idx",
                    "model.attention=dense",
                    "data.test_path="};
  const Outcome trained = program.run(words);
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("3 classes: 0, 1, 2"), std::string::npos) << trained.out;
}

TEST(ImagesProgram, refuses_bad_files_with_exit_code_4_and_bad_settings_with_2) {
  const Program program("images-refused");
  write_files(program);
  program.write("cut.idx", data::idx_images(40, 6, 8, stripes).substr(0, 100));
  struct Case {
    std::string setting;
    int code;
    std::string says;
  };
  for (const Case& c : {Case{"data.train_path=cut.idx", 4, "inside image 1"},
                        {"data.train_path=none.idx", 4, "does not exist"},
                        {"data.length=47", 2, "set data.length = 48"},
                        {"data.shrink=5", 4, "data.shrink = 5"},
                        {"model.output=logistics", 2, "model.tie"},
                        {"model.task=classify", 2, "data.form"}}) {
    const Outcome outcome = program.run({"train", "images.toml", "--run", "run", c.setting});
    EXPECT_EQ(outcome.code, c.code) << c.setting << outcome.err;
    EXPECT_NE(outcome.err.find(c.says), std::string::npos) << c.setting << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(program.directory() / "run")) << "nothing was started";
  }
  program.write("text.toml", tiny_config);
  for (const std::string setting : {"model.positions=image", "model.output=logistics"}) {
    const Outcome outcome = program.run({"train", "text.toml", setting});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("data.kind"), std::string::npos) << outcome.err;
  }
}

TEST(ImagesProgram, report_shows_the_samples_of_a_sweep) {
  const Program program("images-report");
  write_files(program);
  program.write("s.toml",
                "base = \"images.toml\"\nseeds = 2\n[grid]\n"
                "model.attention = [\"strided\", \"local\"]\n");
  const Outcome swept = program.run({"sweep", "s.toml", "--dir", "sweep"});
  ASSERT_EQ(swept.code, 0) << swept.err;
  ASSERT_EQ(program.run({"report", "sweep", "-o", "page.html,table.md"}).code, 0);
  const std::string page = read_text(program.directory() / "page.html");
  EXPECT_NE(page.find("src=\"data:image/png;base64,iVBOR"), std::string::npos);
  EXPECT_NE(page.find("samples of strided"), std::string::npos);
  EXPECT_NE(read_text(program.directory() / "table.md").find("by tables of counts"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::experiments::images_program_test
