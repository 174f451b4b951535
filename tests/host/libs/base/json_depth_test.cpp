#include "base/json_depth.hpp"

#include <gtest/gtest.h>

#include <string>

namespace backplane {
namespace {

TEST(JsonDepth, SixtyFourLevelsAreEnough) {
  EXPECT_FALSE(IsNestedTooDeeply(std::string(64, '[') + std::string(64, ']')));
  EXPECT_TRUE(IsNestedTooDeeply(std::string(65, '[')));
  std::string row;
  for (int i = 0; i < 1000; ++i) row += "{},[],";
  EXPECT_FALSE(IsNestedTooDeeply("[" + row + "1]"));
}

TEST(JsonDepth, BracketsWithinTextsAreText) {
  EXPECT_FALSE(IsNestedTooDeeply("\"" + std::string(100, '[') + "\""));
  EXPECT_FALSE(IsNestedTooDeeply(R"("\"[[[")" + std::string(70, ' ') + "\""));
  EXPECT_TRUE(IsNestedTooDeeply(R"("\\")" + std::string(65, '{'))) << "the backslash is escaped, not the quote";
  EXPECT_FALSE(IsNestedTooDeeply("\"\\"));
}

}  // namespace
}  // namespace backplane
