#include <cmath>
#include <set>

#include "experiments/sweep/file.h"
#include "experiments/sweep/trials.h"
#include "tests/experiments/config/config_scratch.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::sweep_file_test {
namespace {

class Sweep : public ConfigScratch {
 public:
  Sweep() { write("base.toml", sweep_base); }

  std::vector<Trial> trials(const std::string& text,
                            const std::vector<std::string>& arguments = {}) const {
    return trials_of(SweepFile::load(write("s.toml", "base = \"base.toml\"\n" + text)), arguments);
  }
  std::vector<std::string> labels(const std::string& text) const {
    std::vector<std::string> all;
    for (const Trial& trial : trials(text)) all.push_back(trial.label());
    return all;
  }
  std::string refused(const std::string& text,
                      const std::vector<std::string>& arguments = {}) const {
    return strip(refusal([&] { trials(text, arguments); }));
  }
};

using Labels = std::vector<std::string>;

TEST(SweepFile, a_grid_takes_every_value_with_every_other_and_seeds_vary_fastest) {
  const Sweep sweep;
  EXPECT_EQ(sweep.labels("seeds = 2\n[grid]\nmodel.attention = [\"dense\", \"local\"]\n"
                         "optim.lr = [1e-3, 2e-3]\n"),
            (Labels{"attention=dense lr=0.001 seed=1", "attention=dense lr=0.001 seed=2",
                    "attention=dense lr=0.002 seed=1", "attention=dense lr=0.002 seed=2",
                    "attention=local lr=0.001 seed=1", "attention=local lr=0.001 seed=2",
                    "attention=local lr=0.002 seed=1", "attention=local lr=0.002 seed=2"}));
}

TEST(SweepFile, a_zip_goes_through_its_lists_together_and_a_list_through_its_tables) {
  const Sweep sweep;
  EXPECT_EQ(sweep.labels("[zip]\nmodel.width = [8, 16]\nmodel.heads = [2, 4]\n"),
            (Labels{"heads=2 width=8", "heads=4 width=16"}));
  EXPECT_EQ(sweep.labels("[[list]]\nmodel.attention = \"dense\"\n[[list]]\n"
                         "model.attention = \"local\"\nattention.local.window = 4\n"),
            (Labels{"attention=dense", "attention=local"}));
}

TEST(SweepFile, a_key_in_quotes_means_the_same_as_one_without) {
  const Sweep sweep;
  const std::string bare =
      "[grid]\nmodel.attention = [\"dense\", \"local\"]\n"
      "[zip]\noptim.lr = [1e-3, 2e-3]\ntrain.batch = [1, 2]\n"
      "[[list]]\nattention.local.window = 4\n[[list]]\nattention.local.window = 8\n"
      "[random]\nn = 2\noptim.clip = { linear = [1, 2] }\n"
      "[[exclude]]\nmodel.attention = \"dense\"\n";
  std::string quoted = bare;
  for (const std::string key :
       {"model.attention", "optim.lr", "train.batch", "attention.local.window", "optim.clip"})
    for (auto at = quoted.find(key); at != quoted.npos; at = quoted.find(key, at + key.size() + 2))
      quoted.replace(at, key.size(), '"' + key + '"');
  std::vector<std::string> ids, same;
  for (const Trial& trial : sweep.trials(bare)) ids.push_back(trial.id);
  for (const Trial& trial : sweep.trials(quoted)) same.push_back(trial.id);
  EXPECT_EQ(ids.size(), 8u);
  EXPECT_EQ(same, ids);
  EXPECT_NE(sweep.refused("[grid]\n\"optim.lrr\" = [1e-3]\n")
                .find("s.toml:3: unknown key optim.lrr; did you mean optim.lr?"),
            std::string::npos);
}

TEST(SweepFile, a_list_may_begin_with_an_empty_table) {
  const Sweep sweep;
  EXPECT_EQ(sweep.labels("[[list]]\n[[list]]\nmodel.attention = \"local\"\n").size(), 2u);
  EXPECT_NE(sweep.refused("[[list]]\n[[list]]\nseed = 2\n[grid]\nseed = [3, 4]\n")
                .find("s.toml:6: seed is varied in two places"),
            std::string::npos)
      << sweep.refused("[[list]]\n[[list]]\nseed = 2\n[grid]\nseed = [3, 4]\n");
}

TEST(SweepFile, random_whole_numbers_reach_the_largest_there_is) {
  const Sweep sweep;
  const std::string end = "9223372036854775807";
  const SweepFile file = SweepFile::load(sweep.write(
      "s.toml", "base = \"base.toml\"\n[random]\nn = 20\nseed = 3\ntrain.steps = { linear = [" +
                    end + ", " + end + "] }\n"));
  for (const Assignments& draw : file.axes.at(0).alternatives)
    EXPECT_EQ(std::get<Index>(draw.at(0).value.value), 9223372036854775807);
}

TEST(SweepFile, random_draws_stay_in_range_and_come_again_with_the_seed) {
  const Sweep sweep;
  const std::string text =
      "[random]\nn = 40\nseed = 3\noptim.lr = { log = [1e-4, 1e-1] }\n"
      "train.batch = { linear = [1, 3] }\n";
  int below = 0;
  std::set<Index> batches;
  for (const Trial& trial : sweep.trials(text)) {
    const double lr = trial.config.optim.lr;
    EXPECT_GE(lr, 1e-4);
    EXPECT_LE(lr, 1e-1);
    below += lr < std::sqrt(1e-4 * 1e-1);
    batches.insert(trial.config.train.batch);
  }
  EXPECT_GT(below, 10);  // half of the draws lie below the geometric mean
  EXPECT_LT(below, 30);
  EXPECT_EQ(batches, (std::set<Index>{1, 2, 3}));
  EXPECT_EQ(sweep.labels(text), sweep.labels(text));
  EXPECT_NE(sweep.labels(text), sweep.labels("[random]\nn = 40\nseed = 4\n"
                                             "optim.lr = { log = [1e-4, 1e-1] }\n"
                                             "train.batch = { linear = [1, 3] }\n"));
}

TEST(SweepFile, an_exclude_leaves_out_what_it_matches_however_values_are_spelt) {
  const Sweep sweep;
  EXPECT_EQ(
      sweep.labels("[grid]\nmodel.attention = [\"dense\", \"local\"]\n"
                   "optim.lr = [1e-3, 2e-3]\n[[exclude]]\nmodel.attention = \"dense\"\n"
                   "optim.lr = 0.001\n"),
      (Labels{"attention=dense lr=0.002", "attention=local lr=0.001", "attention=local lr=0.002"}));
}

TEST(SweepFile, a_trial_is_named_by_the_hash_of_its_resolved_config) {
  const Sweep sweep;
  const auto trials = sweep.trials("seeds = [7]\n[grid]\noptim.lr = [1e-3]\n");
  const RunConfig same =
      RunConfig::load(sweep.path("base.toml"), {"seed=7", "optim.lr=0.001", "threads=1"});
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].id, same.identity().substr(0, 8));
}

TEST(SweepFile, what_varies_in_vain_is_an_error) {
  const Sweep sweep;
  EXPECT_NE(sweep.refused("[grid]\noptim.lr = [3e-3]\n").find("varying optim.lr changes nothing"),
            std::string::npos);
  EXPECT_NE(sweep.refused("[grid]\nthreads = [1, 2]\n").find("the same run"), std::string::npos);
  EXPECT_NE(sweep.refused("[grid]\noptim.lr = [1e-3, 0.001]\n").find("the same run"),
            std::string::npos);
  EXPECT_EQ(sweep.refused("[grid]\noptim.lr = [1e-3]\n[[exclude]]\noptim.lr = 5.0\n"),
            "s.toml:4: this exclude matches no trial; correct or remove it");
  EXPECT_NE(sweep.refused("[grid]\noptim.lr = [1e-3]\n[[exclude]]\noptim.lr = 1e-3\n")
                .find("leave no trial"),
            std::string::npos);
}

TEST(SweepFile, the_run_schema_refuses_a_trial_with_the_line_of_the_sweep) {
  const Sweep sweep;
  const std::string unknown = sweep.refused("[grid]\noptim.lrr = [1e-3]\n");
  EXPECT_NE(unknown.find("s.toml:3: unknown key optim.lrr; did you mean optim.lr?"),
            std::string::npos)
      << unknown;
  const std::string value = sweep.refused("[grid]\nmodel.attention = [\"dens\"]\n");
  EXPECT_NE(value.find("did you mean dense?"), std::string::npos) << value;
}

TEST(SweepFile, all_that_is_wrong_with_the_file_is_said_at_once) {
  const Sweep sweep;
  const std::string said = sweep.refused(
      "sedes = [1]\nseeds = 0\n[grid]\noptim.lr = 1e-3\n[zip]\nmodel.width = [8, 16]\n"
      "model.heads = [2]\n[random]\noptim.warmup = { log = [0, 5] }\n");
  for (const char* part : {"6 problems", "unknown key sedes in a sweep; did you mean seeds?",
                           "seeds = 0 must be", "optim.lr = 0.001 must be a list",
                           "model.width has 2 values", "[random] needs n", "with 0 < low <= high"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_NE(sweep.refused("[grid]\noptim.lr = [1e-3]\n[zip]\noptim.lr = [1e-3]\n")
                .find("varied in two places"),
            std::string::npos);
  EXPECT_NE(sweep.refused("[grid]\noptim.lr = [1e-3]\n", {"optim.lr=2e-3"}).find("cannot be set"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::experiments::sweep_file_test
