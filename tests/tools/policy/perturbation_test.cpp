#include "policy/perturbation.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace backplane {
namespace {

TEST(Perturbation, ListsTheUnchangedEnvAndEachValueOfEachParameter) {
  const std::vector<Factors> all = ParsePerturbations("mass=0.5..1.5:3,gravity=-1,friction=2..4");
  ASSERT_EQ(all.size(), 1u + 3 + 1 + 5);
  EXPECT_EQ(all[0], Factors{});
  EXPECT_EQ(all[1], (Factors{{"mass", 0.5}}));
  EXPECT_EQ(all[2], (Factors{{"mass", 1.0}}));
  EXPECT_EQ(all[3], (Factors{{"mass", 1.5}}));
  EXPECT_EQ(all[4], (Factors{{"gravity", -1}}));
  EXPECT_EQ(all[9], (Factors{{"friction", 4}}));
  EXPECT_EQ(ParsePerturbations(""), std::vector<Factors>(1));
}

TEST(Perturbation, RejectsMalformedRanges) {
  for (const char* text : {"mass", "=1", "mass=", "mass=a..b", "mass=2..1", "mass=1..2:0", "mass=1..2:x", "mass=1..inf",
                           "mass=1,,", "mass=1..2:101"})
    EXPECT_THROW(ParsePerturbations(text), std::runtime_error) << text;
}

}  // namespace
}  // namespace backplane
