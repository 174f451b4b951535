// Vector envs written in Python: their numbers compared with single envs and with hand-made ones, and their failures. The
// interpreter is .venv-oracle's, which scripts/test makes.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backplane/ext/render.h"
#include "backplane/ext/state.h"
#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kPlugin = BACKPLANE_PLUGIN_DIR "/env_gymnasium.so";
const std::string kPython = BACKPLANE_SOURCE_DIR "/.venv-oracle/bin/python";

// Row r ends episode k after 2 + r steps, by truncation if r is odd. Its observation is [r, k, steps].
constexpr const char* kCounters = R"py(
import gymnasium, numpy
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

class Counters(gymnasium.vector.VectorEnv):
    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, num_envs, bad="", mode=None, **metadata):
        self.metadata = {**self.metadata, **({"autoreset_mode": mode} if mode else {}), **metadata}
        self.num_envs, self.bad = num_envs, bad
        self.single_observation_space = gymnasium.spaces.Box(0, numpy.inf, (3,), numpy.float64)
        self.single_action_space = gymnasium.spaces.Discrete(2, start=5)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.rows = numpy.arange(num_envs)
        self.max_episode_steps = 50

    def observed(self):
        return numpy.stack([self.rows, self.episode, self.steps], axis=1).astype(float)

    def reset(self, *, seed=None, options=None):
        if options and self.metadata.get("reset_mask"):
            self.start(options["reset_mask"])
        else:
            self.episode, self.steps = numpy.zeros((2, self.num_envs), int)
        return self.observed(), {"seed": seed}

    def start(self, rows):
        self.episode[rows] += 1
        self.steps[rows] = 0

    def step(self, actions):
        assert self.action_space.contains(actions), actions
        self.steps += 1
        over = self.steps == 2 + self.rows
        odd = self.rows % 2 == 1
        rewards, terminated, truncated, infos = self.steps / 2, over & ~odd, over & odd, {}
        if self.metadata["autoreset_mode"] in (AutoresetMode.SAME_STEP, "same_step") and over.any():
            if self.bad != "no_final":
                infos["final_obs"] = self.observed()
            self.start(over)
        if self.bad == "scalar":
            truncated = bool(over.all())
        if self.bad == "rows":
            rewards = rewards[1:]
        observed = self.observed()
        return observed[:, :2] if self.bad == "shape" else observed, rewards, terminated, truncated, infos

class Silent(Counters):
    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "final_obs": False}

    def __init__(self, num_envs):
        super().__init__(num_envs, bad="no_final")

class Disabled(Counters):
    metadata = {"autoreset_mode": "Disabled", "reset_mask": True}

class NextStep(Counters):
    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

class Undeclared(Counters):
    metadata = {"autoreset_mode": None}

class Double(gymnasium.vector.VectorWrapper):
    def step(self, actions):
        observations, rewards, *rest = self.env.step(actions)
        return observations, 2 * rewards, *rest
)py";

class GymnasiumVector : public testing::Test {
 protected:
  void SetUp() override {
    static const bool has = std::system(("'" + kPython + "' -c 'import gymnasium' 2>/dev/null").c_str()) == 0;
    if (!has) GTEST_SKIP() << "no gymnasium in .venv-oracle: run scripts/test";
    folder_ = fs::temp_directory_path() / ("gymnasium_vector_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "counters.py") << kCounters;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  json Counters(const std::string& name, const json& kwargs = json::object(), const json& more = json::object()) {
    json options = {{"file", (folder_ / "counters.py").string()}, {"vector", name}, {"kwargs", kwargs}, {"python", kPython}};
    options.update(more);
    return options;
  }
  static std::string Refusal(const json& options) {
    try {
      harness::Env env(kPlugin, 3, 1, options);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "accepted";
  }
  // The error of the first call that fails within three steps.
  std::string Failure(const json& options) {
    harness::Env env(kPlugin, 3, 1, options);
    if (env.Reset(0, {1, 2, 3}) != BP_OK) return env.error();
    for (int t = 0; t < 3; ++t)
      if (env.Step() != BP_OK) return env.error();
    return "played";
  }

  fs::path folder_;
};

// All outputs of 60 steps of 5 rows, which the caller resets.
std::vector<char> Played(const json& options) {
  harness::Env env(kPlugin, 5, 1, options);
  std::vector<uint64_t> seeds = {3, 1234567890123, 17, 0, 5};
  EXPECT_EQ(env.Reset(0, seeds), BP_OK) << env.error();
  std::vector<char> all = env.Bytes();
  for (int t = 0; t < 60; ++t) {
    for (int r = 0; r < 5; ++r) *env.At<int32_t>("action", r) = (t * 7 + r) % 2;
    EXPECT_EQ(env.Step(), BP_OK) << env.error();
    std::vector<uint8_t> mask;
    for (int r = 0; r < 5; ++r) mask.push_back(*env.At<uint8_t>("terminated", r) | *env.At<uint8_t>("truncated", r));
    for (uint64_t& seed : seeds) ++seed;
    const std::vector<char> last = env.Bytes();
    EXPECT_EQ(env.Reset(0, seeds, mask.data()), BP_OK) << env.error();
    const std::vector<char> first = env.Bytes();
    all.insert(all.end(), last.begin(), last.end());
    all.insert(all.end(), first.begin(), first.end());
  }
  return all;
}

// Gymnasium's own vector envs accept a seed per row, so their rows equal single envs.
TEST_F(GymnasiumVector, EqualsSingleEnvsBitForBit) {
  const std::vector<char> single = Played({{"id", "CartPole-v1"}, {"python", kPython}});
  for (const char* how : {"sync", "async"})
    for (const char* mode : {"Disabled", "NextStep"})
      EXPECT_EQ(Played({{"vector", "CartPole-v1"},
                        {"kwargs", {{"vectorization_mode", how}, {"vector_kwargs", {{"autoreset_mode", mode}}}}},
                        {"python", kPython}}),
                single)
          << how << " " << mode;
}

std::vector<float> Seen(const harness::Env& env, int row) {
  return {env.Obs(row)[0],
          env.Obs(row)[1],
          env.Obs(row)[2],
          *env.At<float>("reward", row),
          static_cast<float>(*env.At<uint8_t>("terminated", row)),
          static_cast<float>(*env.At<uint8_t>("truncated", row))};
}

// The ends of rows 0 and 1 are at different steps. An ended row shows its last observation, and its first one after the reset.
TEST_F(GymnasiumVector, EveryModeShowsTheLastAndTheFirstObservation) {
  for (const json& options : {Counters("Counters"), Counters("Disabled"), Counters("NextStep", {{"reset_mask", true}}),
                              Counters("Counters", {{"mode", "same_step"}})}) {
    SCOPED_TRACE(options.dump());
    harness::Env env(kPlugin, 2, 1, options);
    EXPECT_EQ(env.spec().max_episode_steps, 50);
    ASSERT_EQ(env.Reset(0, {7, 8}), BP_OK) << env.error();
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_THAT(Seen(env, 0), ElementsAre(0, 0, 1, .5, 0, 0));
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_THAT(Seen(env, 0), ElementsAre(0, 0, 2, 1, 1, 0));
    EXPECT_THAT(Seen(env, 1), ElementsAre(1, 0, 2, 1, 0, 0));
    const uint8_t first[] = {1, 0}, second[] = {0, 1};
    ASSERT_EQ(env.Reset(0, {9, 10}, first), BP_OK) << env.error();
    EXPECT_THAT(Seen(env, 0), ElementsAre(0, 1, 0, 1, 1, 0));
    EXPECT_THAT(Seen(env, 1), ElementsAre(1, 0, 2, 1, 0, 0));
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_THAT(Seen(env, 0), ElementsAre(0, 1, 1, .5, 0, 0));
    EXPECT_THAT(Seen(env, 1), ElementsAre(1, 0, 3, 1.5, 0, 1));
    ASSERT_EQ(env.Reset(0, {9, 10}, second), BP_OK) << env.error();
    EXPECT_THAT(Seen(env, 1), ElementsAre(1, 1, 0, 1.5, 0, 1));
    ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();  // both from scratch
    EXPECT_THAT(Seen(env, 0), ElementsAre(0, 0, 0, .5, 0, 0));
  }
}

TEST_F(GymnasiumVector, StepsOnlyTheRowsOfTheLastReset) {
  harness::Env env(kPlugin, 3, 1, Counters("Disabled"));
  const std::vector<uint64_t> seeds = {1, 2, 3};
  ASSERT_EQ(env.api().reset(env.get(), 0, 0, 2, nullptr, seeds.data()), BP_OK) << env.error();
  for (int t = 0; t < 5; ++t) ASSERT_EQ(env.api().step(env.get(), 0, 0, 2), BP_OK) << env.error();
  ASSERT_EQ(env.api().reset(env.get(), 0, 2, 3, nullptr, seeds.data()), BP_OK) << env.error();
  EXPECT_EQ(env.Obs(2)[2], 0);
  ASSERT_EQ(env.api().step(env.get(), 0, 2, 3), BP_OK) << env.error();
  EXPECT_EQ(env.Obs(2)[2], 1);
  EXPECT_EQ(env.api().step(env.get(), 0, 0, 3), BP_E_CONFIG);
  EXPECT_THAT(env.error(), HasSubstr("expected a learner that plays all rows together, got one that steps rows 0 to 2 after a "
                                     "reset of rows 2 to 2"));
}

TEST_F(GymnasiumVector, DeclaresLostLastObservations) {
  harness::Env env(kPlugin, 2, 1, Counters("Silent"));
  EXPECT_EQ(env.Size("no_final_obs"), 1);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(*env.At<uint8_t>("no_final_obs", 1), 0) << t;
    ASSERT_EQ(env.Step(), BP_OK) << env.error();
    EXPECT_EQ(*env.At<uint8_t>("no_final_obs", 0), 0) << "a terminated episode needs none";
  }
  EXPECT_EQ(*env.At<uint8_t>("no_final_obs", 1), 1);
}

TEST_F(GymnasiumVector, WarnsAndOffersNeitherStateNorPictures) {
  harness::Env env(kPlugin, 2, 1, Counters("Counters"));
  EXPECT_THAT(env.warnings(), ElementsAre(AllOf(HasSubstr("not exact for any number of threads"), HasSubstr("new episodes"))));
  EXPECT_EQ(env.api().get_extension(env.get(), BP_ENV_STATE_1), nullptr);
  EXPECT_EQ(env.api().get_extension(env.get(), BP_ENV_RENDER_1), nullptr);
}

TEST_F(GymnasiumVector, WrappersAreApplied) {
  harness::Env env(kPlugin, 2, 1, Counters("Counters", json::object(), {{"wrappers", {"Double"}}}));
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_EQ(*env.At<float>("reward", 1), 1);
}

TEST_F(GymnasiumVector, RejectsAnEnvThatCannotBeUsedWithItsReason) {
  const std::pair<json, std::string> cases[] = {
      {{{"vector", "CartPole-v1"}, {"id", "CartPole-v1"}}, "expected neither `id` nor `class`, got `id` (test.yaml:id)"},
      {Counters("Counters", json::object(), {{"class", "Counters"}}),
       "expected neither `id` nor `class`, got `class` (test.yaml:class)"},
      {Counters("Counters", json::object(), {{"num_env_runners", 4}}),
       "expected rollout.num_env_runners: 1, because all rows are one batch, got 4"},
      {Counters("Counters", json::object(), {{"num_envs_per_env_runner", 3}, {"chunk_rows", 2}}),
       "expected rollout.chunk_rows: auto or 3, because all rows are one batch, got 2"},
      {Counters("Nothing"), "vector: 'Nothing' is not in"},
      {{{"vector", "gymnasium.vector:Nothing"}, {"python", kPython}}, "vector: 'Nothing' is not in gymnasium.vector"},
      {{{"vector", "Nothing-v3"}, {"python", kPython}}, "vector: Environment `Nothing` doesn't exist"},
      {Counters("Undeclared"),
       "expected the env's metadata['autoreset_mode'], one of gymnasium.vector.AutoresetMode, got None"},
      {Counters("NextStep"),
       "expected an env that starts single rows by reset(options={'reset_mask': mask}), got one that does not"},
      {{{"vector", "gymnasium:Env"}, {"python", kPython}}, "Env"},
  };
  for (const auto& [options, sentence] : cases) EXPECT_THAT(Refusal(options), HasSubstr(sentence)) << options.dump();
  EXPECT_EQ(Refusal(Counters("Counters", json::object(), {{"num_envs_per_env_runner", 3}, {"chunk_rows", 3}})), "accepted");
}

TEST_F(GymnasiumVector, RejectsAStepWithAWrongPart) {
  EXPECT_THAT(Failure(Counters("Counters", {{"bad", "scalar"}})),
              HasSubstr("expected truncations of shape (3,), one per row, got ()"));
  EXPECT_THAT(Failure(Counters("Counters", {{"bad", "rows"}})),
              HasSubstr("expected rewards of shape (3,), one per row, got (2,)"));
  EXPECT_THAT(Failure(Counters("Counters", {{"bad", "shape"}})),
              HasSubstr("expected observations of shape (3, 3), one per row, got (3, 2)"));
  EXPECT_THAT(Failure(Counters("Counters", {{"bad", "no_final"}})),
              HasSubstr("expected infos['final_obs'] in a step that ends an episode"));
}

}  // namespace
