#include "data/prefetch.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "data/tasks/recall.h"
#include "tests/data/batch_equality.h"
#include "tests/data/refusal.h"

namespace weft::data::prefetch_test {
namespace {

/// A dataset whose batches hold their own number and that fails at one of them.
class Counting : public Dataset {
 public:
  explicit Counting(Index fails_at = -1) : fails_at_(fails_at) {}

  Index length() const override { return 1; }
  Index vocabulary() const override { return 1000; }
  Index batch() const override { return 1; }
  Batch read_training(Index number, core::Stretch) const override {
    ++made;
    pthread_sigmask(SIG_SETMASK, nullptr, &signals);
    if (number == fails_at_) throw core::Error(core::Fault::data, "the disk is gone");
    Batch batch;
    batch.inputs = core::Tokens({1, 1}, {Token(number)});
    return batch;
  }
  std::optional<Index> training_tokens() const override { return {}; }
  Index evaluation_batches(Split, Index) const override { return 0; }
  Batch evaluation(Split, Index, Index) const override { return {}; }
  std::vector<Token> encode(std::string_view) const override { return {}; }
  std::string decode(std::span<const Token>) const override { return {}; }
  std::string unit() const override { return "number"; }
  std::string fingerprint() const override { return ""; }

  mutable std::atomic<Index> made = 0;
  mutable sigset_t signals = {};

 private:
  Index fails_at_;
};

TEST(Prefetch, gives_what_direct_reading_gives_in_the_same_order) {
  const auto dataset = std::make_unique<Recall>(RecallSettings{}, 64, 2, 1);
  for (const Index depth : {1, 2, 7}) {
    Prefetch prefetch(*dataset, 5, depth);
    for (Index i = 5; i < 30; ++i) EXPECT_TRUE(same(prefetch.next(), dataset->training(i))) << i;
  }
}

TEST(Prefetch, prepares_no_more_than_its_depth) {
  const Counting dataset;
  Prefetch prefetch(dataset, 0, 3);
  for (Index taken = 1; taken <= 50; ++taken) {
    EXPECT_EQ(prefetch.next().inputs.read()[0], taken - 1);
    EXPECT_LE(dataset.made, taken + 3);
  }
}

TEST(Prefetch, a_failure_comes_out_where_the_batch_is_asked_for) {
  const Counting dataset(4);
  Prefetch prefetch(dataset, 2, 8);
  EXPECT_EQ(prefetch.next().inputs.read()[0], 2);
  EXPECT_EQ(prefetch.next().inputs.read()[0], 3);
  for (int again = 0; again < 2; ++again) {
    expect_says(refusal_of([&] { prefetch.next(); }), core::Fault::data, "the disk is gone");
  }
}

TEST(Prefetch, ends_whether_or_not_its_batches_were_taken) {
  const Counting dataset, failing(0);
  for (int i = 0; i < 100; ++i) {
    Prefetch idle(dataset, 0, 2), broken(failing, 0, 2), busy(dataset, 0, 2);
    busy.next();
  }
}

TEST(Prefetch, its_thread_takes_no_signals_and_leaves_the_others_theirs) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const Counting dataset;
  {
    Prefetch prefetch(dataset, 0, 1);
    prefetch.next();
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP}) {
    EXPECT_TRUE(sigismember(&dataset.signals, signal));
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal));
  }
}

TEST(Prefetch, refuses_a_depth_of_nothing) {
  const Counting dataset;
  EXPECT_THROW(Prefetch(dataset, 0, 0), core::Error);
}

}  // namespace
}  // namespace weft::data::prefetch_test
