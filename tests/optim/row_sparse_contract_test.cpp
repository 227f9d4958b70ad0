#include <cmath>

#include "core/parallel.h"
#include "optim/gradient_norm.h"
#include "optim/take_step.h"
#include "tests/closeness.h"
#include "tests/optim/given_rule.h"

namespace weft::optim::row_sparse_contract_test {
namespace {

using autograd::Init;
using autograd::Parameter;
using autograd::ParameterArena;
using core::Index;
using core::Real;

/// A table of 50 rows, row-sparse or plain, between two ordinary parameters.
struct Tables {
  explicit Tables(bool sparse)
      : table(sparse ? Parameter({50, 5}, Init::normal(1), autograd::RowSparse{0.25})
                     : Parameter({50, 5}, Init::normal(1))),
        arena(listed(), ParameterArena::Use::training) {
    arena.initialise(core::Rng(1));
  }

  /// Adds drawn numbers to the gradients of these rows, and of what comes before and after.
  void pull_back(const std::vector<Index>& rows, std::uint64_t seed) {
    const core::Rng stream = core::Rng(seed);
    for (const Index row : rows)
      for (Index c = 0; c < 5; ++c)
        table.gradient()[std::size_t(5 * row + c)] +=
            Real(stream.fold(std::uint64_t(row)).normal(std::uint64_t(c)));
    table.touch(rows);
    for (const Parameter* other : {&first, &last})
      for (std::size_t i = 0; i < other->gradient().size(); ++i)
        other->gradient()[i] += Real(stream.normal(i));
  }

  std::vector<Real> values() const {
    return {table.value().read().begin(), table.value().read().end()};
  }
  const ParameterArena::Slot& slot() const { return arena.slots()[1]; }

  Parameter first{{3, 4}, Init::normal(1)}, table, last{{7}, Init::ones()};
  ParameterArena arena;

 private:
  autograd::Inventory listed() {
    autograd::Inventory names;
    names.add("first", first);
    names.add("table", table);
    names.add("last", last);
    return names;
  }
};

GivenRule rule_of(const std::string& kind) {
  // The table must not feel the decay.
  return {.kind = kind, .lr = 0.25, .weight_decay = kind == "adam" ? 0.1 : 0, .clip = 0};
}

TEST(RowSparse, rows_that_every_step_reads_move_as_those_of_an_ordinary_table_without_decay) {
  std::vector<Index> all(50);
  for (Index i = 0; i < 50; ++i) all[std::size_t(i)] = i;
  for (const std::string kind : {"adamw", "sgd"}) {
    Tables sparse(true), plain(false);
    const auto one = make_optimizer(rule_of(kind), sparse.arena);
    const auto other = make_optimizer(rule_of(kind), plain.arena);
    for (Index step = 0; step < 4; ++step) {
      for (Tables* tables : {&sparse, &plain}) {
        tables->arena.zero_gradients();
        tables->pull_back(all, std::uint64_t(step));
      }
      one->step(sparse.arena, {.step = step, .rate = 0.25});
      other->step(plain.arena, {.step = step, .rate = 0.25});
      // To rounding: a row of five numbers is not cut into vectors as a whole table is.
      tests::expect_close(sparse.values(), tests::in_double(plain.values()), 1e-6);
    }
  }
}

TEST(RowSparse, rows_move_by_adam_with_moments_that_stand_still_between_reads) {
  Tables tables(true);
  const GivenRule settings = rule_of("adam");
  const auto optimizer = make_optimizer(settings, tables.arena);
  std::vector<double> p(5), m(5, 0), v(5, 0);
  for (std::size_t c = 0; c < 5; ++c) p[c] = double(tables.values()[15 + c]);
  const std::vector<std::vector<Index>> reads{{3, 9}, {9}, {0, 3}, {3, 49}};
  for (std::size_t step = 0; step < reads.size(); ++step) {
    const std::vector<Real> before = tables.values();
    tables.arena.zero_gradients();
    tables.pull_back(reads[step], step);
    const bool read = reads[step][0] == 3 || reads[step].back() == 3;
    for (std::size_t c = 0; c < 5 && read; ++c) {
      const double g = double(tables.table.gradient()[15 + c]), t = double(step + 1);
      m[c] = settings.beta1 * m[c] + (1 - settings.beta1) * g;
      v[c] = settings.beta2 * v[c] + (1 - settings.beta2) * g * g;
      p[c] -= 0.25 * (m[c] / (1 - std::pow(settings.beta1, t))) /
              (std::sqrt(v[c] / (1 - std::pow(settings.beta2, t))) + settings.eps);
    }
    optimizer->step(tables.arena, {.step = Index(step), .rate = 0.001});
    for (Index row = 0; row < 50; ++row)
      for (Index c = 0; c < 5; ++c) {
        const std::size_t i = std::size_t(5 * row + c);
        if (std::ranges::find(reads[step], row) == reads[step].end())
          EXPECT_EQ(tables.values()[i], before[i]) << "row " << row << " was not read";
        else
          EXPECT_NE(tables.values()[i], before[i]);
      }
    for (std::size_t c = 0; c < 5; ++c) EXPECT_NEAR(double(tables.values()[15 + c]), p[c], 1e-5);
  }
}

TEST(RowSparse, a_step_passes_over_the_rows_that_were_read_and_no_others) {
  Tables tables(true);
  const auto optimizer = make_optimizer(rule_of("adamw"), tables.arena);
  const Index others = 12 + 7;
  for (const std::vector<Index>& rows :
       {std::vector<Index>{}, std::vector<Index>{4}, std::vector<Index>{0, 7, 8, 49}}) {
    tables.arena.zero_gradients();
    tables.pull_back(rows, 1);
    const StepReport report =
        take_step(*optimizer, tables.arena, settings_of(rule_of("adamw")), 0, 10);
    EXPECT_EQ(report.moved, others + 5 * Index(rows.size()));
  }
}

TEST(RowSparse, clipping_counts_the_rows_that_were_read) {
  Tables sparse(true), plain(false);
  for (Tables* tables : {&sparse, &plain}) {
    tables->pull_back({2, 30}, 1);
    tables->pull_back({2, 31}, 2);  // of a second micro-batch
  }
  EXPECT_EQ(*sparse.slot().touched, (std::vector<Index>{2, 30, 31}));
  const double whole = gradient_norm(plain.arena);
  EXPECT_NEAR(gradient_norm(sparse.arena), whole, 1e-6 * whole);
  EXPECT_EQ(gradient_norm(plain.arena), gradient_norm(plain.arena.gradients()));
  sparse.arena.zero_gradients();
  EXPECT_EQ(gradient_norm(sparse.arena), 0);
  for (const Real g : sparse.arena.gradients()) EXPECT_EQ(g, 0);
  EXPECT_TRUE(sparse.slot().touched->empty());
}

TEST(RowSparse, any_number_of_threads_and_moments_that_were_saved_give_the_same_bits) {
  const auto run = [](Index threads, bool resumed) {
    core::set_threads(threads);
    Tables tables(true);
    auto optimizer = make_optimizer(rule_of("adamw"), tables.arena);
    for (Index step = 0; step < 6; ++step) {
      if (resumed && step == 3) {
        auto fresh = make_optimizer(rule_of("adamw"), tables.arena);
        const auto saved = optimizer->moments();
        auto restored = fresh->moments();
        for (std::size_t i = 0; i < saved.size(); ++i)
          std::ranges::copy(saved[i].values, restored[i].values.begin());
        optimizer = std::move(fresh);
      }
      tables.arena.zero_gradients();
      tables.pull_back({step, 2 * step + 3}, std::uint64_t(step));
      take_step(*optimizer, tables.arena, settings_of(rule_of("adamw")), step, 6);
    }
    return tables.values();
  };
  const std::vector<Real> alone = run(1, false);
  EXPECT_EQ(run(3, false), alone);
  EXPECT_EQ(run(0, true), alone);
  core::set_threads(0);
}

}  // namespace
}  // namespace weft::optim::row_sparse_contract_test
