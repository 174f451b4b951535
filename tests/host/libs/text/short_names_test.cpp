#include "text/short_names.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(ShortNames, AmbiguousNamesAreWholePaths) {
  EXPECT_EQ((std::vector<std::string>{"env.options.lr", "learner.options.lr", "gamma", "learner.options.seed"}),
            ShortNames({"env.options.lr", "learner.options.lr", "learner.options.gamma", "learner.options.seed"}, {"seed"}));
}

}  // namespace
}  // namespace backplane
