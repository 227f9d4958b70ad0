#include "core/scope.h"

#include <thread>

namespace weft::core::scope_test {
namespace {

TEST(Scope, joins_the_names_of_enclosing_scopes) {
  EXPECT_EQ(Scope::path(), "");
  {
    const Scope layer("layers", 2);
    EXPECT_EQ(Scope::path(), "layers.2");
    {
      const Scope attention("attention");
      EXPECT_EQ(Scope::path(), "layers.2.attention");
    }
    EXPECT_EQ(Scope::path(), "layers.2");
  }
  EXPECT_EQ(Scope::path(), "");
}

TEST(Scope, belongs_to_one_thread) {
  const Scope here("here");
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = Scope::path(); }).join();
  EXPECT_EQ(elsewhere, "");
}

TEST(Scope, can_be_resumed_by_its_whole_path) {
  const Scope outer("training");
  {
    const ResumedScope op("layers.2.attention");
    EXPECT_EQ(Scope::path(), "layers.2.attention");
    const Scope inner("heads");
    EXPECT_EQ(Scope::path(), "layers.2.attention.heads");
  }
  EXPECT_EQ(Scope::path(), "training");
}

}  // namespace
}  // namespace weft::core::scope_test
