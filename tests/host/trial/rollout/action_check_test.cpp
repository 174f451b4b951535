// The check finds a single invalid action among any number of rows, and reports none if all are valid.
#include "rollout/action_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "toy_plugins.hpp"

namespace backplane::toy {
namespace {

constexpr int64_t kThreeChoices[] = {3};

template <class T>
void ExpectFoundEverywhere(std::vector<T> good, std::vector<T> bad) {
  for (uint64_t rows = 1; rows <= 70; ++rows) {
    const ToyTrial trial(rows, 1);
    ChannelBuffer buffer(*bp::FindChannel(trial.env->spec(), "action"), rows, 2);
    ActionCheck check;
    check.Bind(*trial.env, [&](const std::string&) { return &buffer; });
    for (uint64_t r = 0; r < rows; ++r) *buffer.at<T>(1, r) = good[r % good.size()];
    EXPECT_TRUE(check.Allows(1, 0, rows)) << rows;
    for (uint64_t r = 0; r < rows; ++r) {
      *buffer.at<T>(1, r) = bad[r % bad.size()];
      EXPECT_FALSE(check.Allows(1, 0, rows)) << r << " of " << rows;
      EXPECT_EQ(check.Find(1, 0, rows).row, r);
      EXPECT_TRUE(check.Allows(1, 0, r) && check.Allows(1, r + 1, rows)) << "the neighbouring rows";
      *buffer.at<T>(1, r) = good[r % good.size()];
    }
  }
}

TEST(ActionCheck, FindsANumberThatIsNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kMax = std::numeric_limits<float>::max();
  ExpectFoundEverywhere<float>({0, -0.0f, 1, kMax, -kMax, 1e-42f}, {NAN, kInf, -kInf, -NAN});
}

TEST(ActionCheck, FindsAChoiceThatIsNone) {
  g_switches.edit = [](bp_channel* c) {
    c[1].space = BP_SPACE_DISCRETE, c[1].nvec = kThreeChoices, c[1].n_bounds = 0, c[1].low = c[1].high = nullptr;
    c[1].dtype = {BP_DTYPE_INT, 32, 1};
  };
  // The toy learner writes floats, so only the env has these channels.
  for (uint64_t rows : {1u, 7u, 8u, 9u, 33u}) {
    HostSinks sinks;
    const auto module = LoadedModule::FromTable(Module());
    EnvInstance env(*module, "env.toy", sinks, {nlohmann::json::object(), {}, ""}, rows);
    ChannelBuffer buffer(*bp::FindChannel(env.spec(), "action"), rows, 1);
    ActionCheck check;
    check.Bind(env, [&](const std::string&) { return &buffer; });
    for (uint64_t r = 0; r < rows; ++r) *buffer.at<int32_t>(0, r) = static_cast<int32_t>(r % 3);
    EXPECT_TRUE(check.Allows(0, 0, rows));
    for (const int32_t bad : {3, -1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
      *buffer.at<int32_t>(0, rows - 1) = bad;
      EXPECT_FALSE(check.Allows(0, 0, rows)) << bad;
      EXPECT_EQ(check.Find(0, 0, rows).text, "action[0] of row " + std::to_string(rows - 1) +
                                                 ": expected a whole number from 0 to 2, got " + std::to_string(bad));
    }
  }
  g_switches.edit = nullptr;
}

}  // namespace
}  // namespace backplane::toy
