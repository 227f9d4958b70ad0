#include "data/windows.h"

#include "core/error.h"

namespace weft::data::windows_test {
namespace {

TEST(Windows, score_every_prediction_exactly_once) {
  for (const Index predictions : {1, 2, 7, 8, 9, 15, 16, 17, 100, 1001}) {
    for (const Index length : {1, 2, 8, 64}) {
      for (Index stride = 1; stride <= length; ++stride) {
        const Windows windows(predictions, length, stride);
        std::vector<int> scored(std::size_t(predictions), 0);
        for (Index i = 0; i < windows.count(); ++i) {
          const Window window = windows[i];
          ASSERT_LT(window.scored_from, window.end) << "a window that scores nothing";
          for (Index p = window.scored_from; p < window.end; ++p) ++scored[std::size_t(p)];
        }
        ASSERT_EQ(scored, std::vector<int>(std::size_t(predictions), 1))
            << predictions << " in windows of " << length << ", " << stride << " apart";
      }
    }
  }
}

TEST(Windows, give_every_later_prediction_at_least_length_minus_stride_of_context) {
  const Windows windows(1000, 64, 16);
  for (Index i = 1; i < windows.count(); ++i) {
    EXPECT_EQ(windows[i].scored_from - windows[i].begin, 48);
    EXPECT_LE(windows[i].end - windows[i].begin, 64);
  }
}

TEST(Windows, are_disjoint_when_the_stride_is_the_length) {
  const Windows windows(100, 32, 32);
  EXPECT_EQ(windows.count(), 4);
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(windows[i].begin, 32 * i);
    EXPECT_EQ(windows[i].scored_from, 32 * i);
  }
  EXPECT_EQ(windows[3].end, 100);
}

TEST(Windows, refuse_a_stride_that_would_skip_tokens) {
  EXPECT_THROW(Windows(100, 32, 33), core::Error);
  EXPECT_THROW(Windows(100, 32, 0), core::Error);
}

}  // namespace
}  // namespace weft::data::windows_test
