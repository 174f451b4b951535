#include "base/suggest.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

TEST(Suggest, TheNearestNamesComeFirst) {
  const std::vector<Candidate> names = Candidates({"threads", "thread_affinity", "three", "seed"});
  EXPECT_THAT(Nearest("thread", names), testing::ElementsAre("threads", "three")) << "one and two letters apart";
  EXPECT_THAT(Nearest("Seed", names), testing::ElementsAre("seed")) << "letters' case does not count";
  EXPECT_THAT(Nearest("sede", names), testing::ElementsAre("seed")) << "swapped letters";
  EXPECT_THAT(Nearest("zzzz", names), testing::IsEmpty());
}

TEST(Suggest, ToleratesAThirdOfTheLetters) {
  const auto is_near = [](const std::string& word) { return Nearest("abcdefghi", Candidates({word})).size() == 1; };
  EXPECT_TRUE(is_near("abcdefXYZ"));
  EXPECT_FALSE(is_near("abcdeWXYZ"));
  EXPECT_TRUE(is_near("abcdefghixyz"));
  EXPECT_FALSE(is_near("abcdefghiwxyz"));
  EXPECT_TRUE(is_near("abcdef"));
  EXPECT_FALSE(is_near("abcde"));
  EXPECT_TRUE(is_near("xaBcdEfhi")) << "one too many, one too few";
}

// Comparing them would take 10^12 steps.
TEST(Suggest, SkipsMuchLongerNames) {
  const std::string word(1000000, 'x');
  EXPECT_THAT(Nearest(word, Candidates({word, "x"})), testing::IsEmpty());
  EXPECT_THAT(Nearest("xx", Candidates({word, "xy"})), testing::ElementsAre("xy"));
}

TEST(Suggest, AtMostThreeNearestFirst) {
  std::vector<Candidate> names;
  for (const char* name : {"gamma", "lambda", "beta1", "beta2", "beta3", "beta4"}) names.push_back({name, name});
  EXPECT_EQ(Nearest("gama", names), std::vector<std::string>{"gamma"});
  EXPECT_EQ(Nearest("beta5", names).size(), 3u);
  EXPECT_EQ(DidYouMean({"a", "b", "c"}), "; did you mean 'a', 'b' or 'c'?");
}

TEST(Suggest, AbbreviationMatchesTheLongerNameIfNoneIsNear) {
  const std::vector<Candidate> names =
      Candidates({"elite_fraction", "entropy_coeff", "gamma", "num_envs_per_env_runner", "num_env_runners", "clip"});
  const auto meant = [&](const char* name) { return NearestOrLonger(name, names); };
  EXPECT_THAT(meant("elite_frac"), testing::ElementsAre("elite_fraction"));
  EXPECT_THAT(meant("ent_coef"), testing::ElementsAre("entropy_coeff")) << "each word";
  EXPECT_THAT(meant("gam"), testing::ElementsAre("gamma"));
  EXPECT_THAT(meant("gmma"), testing::ElementsAre("gamma")) << "a letter apart";
  EXPECT_THAT(meant("Num_Env"), testing::ElementsAre("num_env_runners", "num_envs_per_env_runner")) << "the shortest first";
  EXPECT_THAT(meant("el"), testing::IsEmpty()) << "the prefix is too short";
  EXPECT_THAT(meant("ent_frac"), testing::IsEmpty());
  EXPECT_THAT(meant("elite_fraction_and_more"), testing::IsEmpty());
  EXPECT_THAT(meant("ety_cf"), testing::IsEmpty()) << "less than half of it";
  EXPECT_THAT(Nearest("elite_frac", names), testing::IsEmpty()) << "a single misspelt name";
}

}  // namespace
}  // namespace backplane
