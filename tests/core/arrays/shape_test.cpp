#include "core/arrays/shape.h"

#include <sstream>

#include "core/error.h"

namespace weft::core::shape_test {
namespace {

TEST(Shape, counts_elements_and_rows_of_the_last_axis) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.front(), 2);
  EXPECT_EQ(shape.back(), 5);
  EXPECT_EQ(shape.size(), 30);
  EXPECT_EQ(shape.rows(), 6);
}

TEST(Shape, of_rank_zero_is_a_scalar) {
  EXPECT_EQ(Shape{}.rank(), 0);
  EXPECT_EQ(Shape{}.size(), 1);
}

TEST(Shape, with_an_empty_axis_has_no_elements) {
  EXPECT_EQ((Shape{4, 0}.size()), 0);
  EXPECT_EQ((Shape{4, 0}.rows()), 0);
  EXPECT_EQ((Shape{0, 4}.rows()), 0);
}

TEST(Shape, compares_by_extents_and_rank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
}

TEST(Shape, prints_its_extents) {
  std::ostringstream text;
  text << Shape{2, 3} << Shape{} << Shape{7};
  EXPECT_EQ(text.str(), "[2, 3][][7]");
}

TEST(Shape, refuses_to_count_more_elements_than_a_number_holds) {
  const Index half = Index(1) << 31;
  EXPECT_EQ((Shape{half, half}.size()), half * half);
  for (const Shape& shape : {Shape{half, half, 2}, Shape{2, half, half}}) {
    EXPECT_THROW(shape.size(), Error) << shape;
    EXPECT_THROW(shape.rows(), Error) << shape;
  }
  try {
    Shape{half, half, 2}.size();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("[2147483648, 2147483648, 2]"), std::string::npos);
  }
}

TEST(Shape, refuses_negative_extents_and_too_many_axes) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
}

}  // namespace
}  // namespace weft::core::shape_test
