// The option on_error: end_episode of envs in Python.
#include "python_errors.hpp"

namespace python_errors {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// [seed, steps] of two rows, their flags and rewards, for six steps. Rows are reset as the host does.
std::vector<std::string> Played(harness::Env& env) {
  std::vector<std::string> steps;
  std::vector<uint64_t> seeds = {2, 3};
  EXPECT_EQ(env.Reset(0, seeds), BP_OK) << env.error();
  for (int t = 0; t < 6; ++t) {
    EXPECT_EQ(env.Step(), BP_OK) << env.error();
    std::string text;
    uint8_t mask[2];
    for (int r = 0; r < 2; ++r) {
      const int ended = *env.At<uint8_t>("terminated", r), cut = *env.At<uint8_t>("truncated", r);
      char row[64];
      std::snprintf(row, sizeof row, "%s%g/%g %g%s%s", r ? ", " : "", env.Obs(r)[0], env.Obs(r)[1], *env.At<float>("reward", r),
                    ended ? " ends"
                    : cut ? " cut"
                          : "",
                    *env.At<float>("ep/error", r) != 0 ? " error" : "");
      text += row;
      mask[r] = static_cast<uint8_t>(ended | cut);
      seeds[r] += 2;
    }
    EXPECT_EQ(env.Reset(0, seeds, mask), BP_OK) << env.error();
    steps.push_back(text);
  }
  return steps;
}

TEST_F(PythonErrors, EndOnlyTheEpisodeOfTheirRow) {
  const auto options = [&](const std::string& how) {
    return Class(kRaising, "Walk", {{"kwargs", {{"how", how}}}, {"on_error", "end_episode"}});
  };
  for (const std::string how : {"raise", "nan_obs", "inf_reward", "library"}) {
    harness::Env env(kGymnasium, 2, 1, options(how));
    // The row with odd seeds is cut in its third step, where it keeps the observation of the second.
    EXPECT_THAT(Played(env), ElementsAre("2/1 1, 3/1 1", "2/2 1, 3/2 1", "2/3 1, 3/2 0 cut error", "2/4 1, 9/1 1",
                                         "2/5 1 ends, 9/2 1", "12/1 1, 9/2 0 cut error"))
        << how;
    ASSERT_EQ(env.warnings().size(), 1u) << "the first, then at powers of ten";
    EXPECT_THAT(env.warnings().front(),
                AllOf(StartsWith("row 1: on_error: end_episode: "), HasSubstr(": the episode is truncated")));
  }
  harness::Env none(kGymnasium, 2, 1, options("none"));
  EXPECT_THAT(Played(none)[2], "2/3 1, 3/3 1");
  EXPECT_THAT(none.warnings(), IsEmpty());
}

TEST_F(PythonErrors, EndTheTrialIfMemoryIsGoneOrAResetFailsTwice) {
  harness::Env memory(kGymnasium, 1, 1,
                      Class(kRaising, "Walk", {{"kwargs", {{"how", "memory"}}}, {"on_error", "end_episode"}}));
  ASSERT_EQ(memory.Reset(0, {1}), BP_OK);
  for (int t = 0; t < 2; ++t) ASSERT_EQ(memory.Step(), BP_OK);
  EXPECT_EQ(memory.Step(), BP_E_OOM_HOST);
  // Its sixth reset fails, so its env is created again.
  harness::Env stuck(kGymnasium, 1, 1, Class(kRaising, "Walk", {{"kwargs", {{"how", "reset"}}}, {"on_error", "end_episode"}}));
  for (uint64_t seed = 1; seed < 9; ++seed) ASSERT_EQ(stuck.Reset(0, {seed}), BP_OK) << stuck.error();
  EXPECT_EQ(stuck.Obs()[0], 8);
  harness::Env plain(kGymnasium, 1, 1, Class(kRaising, "Walk", {{"kwargs", {{"how", "reset"}}}}));
  for (uint64_t seed = 1; seed < 6; ++seed) ASSERT_EQ(plain.Reset(0, {seed}), BP_OK) << plain.error();
  EXPECT_EQ(plain.Reset(0, {6}), BP_E_INTERNAL);
  EXPECT_THAT(plain.error(), StartsWith("row 0: RuntimeError: stuck (walk.py:13)\n"));
}

TEST_F(PythonErrors, EndTheEpisodeOfAllAgentsOfTheirRow) {
  const json options = Class(R"py(
import numpy
from gymnasium import spaces
from pettingzoo import ParallelEnv
class Pair(ParallelEnv):
    metadata = {"name": "pair"}
    possible_agents = ["a", "b"]
    def observation_space(self, agent):
        return spaces.Box(-99, 99, (1,), numpy.float32)
    def action_space(self, agent):
        return spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        self.agents, self.t, self.seed = list(self.possible_agents), 0, seed
        return {a: numpy.zeros(1, numpy.float32) for a in self.agents}, {a: {} for a in self.agents}
    def step(self, actions):
        self.t += 1
        if self.t == 3 and self.seed == 1:
            raise ValueError("no third step")
        values = {a: numpy.full(1, self.t, numpy.float32) for a in self.agents}
        return values, {a: 1.0 for a in self.agents}, *({a: False for a in self.agents} for _ in range(2)), {a: {} for a in self.agents}
)py",
                             "Pair", {{"on_error", "end_episode"}});
  harness::Env env(kPettingZoo, 2, 1, options);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  for (int t = 0; t < 3; ++t) ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_EQ(env.Obs(0)[0], 2);
  EXPECT_EQ(env.Obs(1)[0], 3);
  EXPECT_EQ(*env.At<uint8_t>("truncated", 0) + 10 * *env.At<uint8_t>("truncated", 1), 1);
  EXPECT_EQ(env.At<float>("reward", 0)[1], 0);
  EXPECT_EQ(env.At<uint8_t>("alive", 0)[1], 1);
  ASSERT_EQ(env.Reset(0, {3, 3}, reinterpret_cast<const uint8_t*>("\1\0")), BP_OK) << env.error();
  ASSERT_EQ(env.Step(), BP_OK);
  EXPECT_EQ(env.Obs(0)[0], 1);
  EXPECT_EQ(env.Obs(1)[0], 4);
}

}  // namespace
}  // namespace python_errors
