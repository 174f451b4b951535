// env.gymnasium starts a row's next episode within the step that ends one, if it knows the seed.
#include "backplane/ext/autoreset.h"
#include "python_errors.hpp"

namespace python_errors {
namespace {

using ::testing::ElementsAre;

// Ends in each second step. Its observation is [seed, steps, resets so far].
constexpr char kCountsResets[] = R"py(
import gymnasium, numpy

class Row(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, numpy.inf, (3,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)
    resets = 0
    def reset(self, *, seed=None, options=None):
        self.seed, self.steps, self.resets = seed, 0, self.resets + 1
        return self.observation(), {}
    def step(self, action):
        self.steps += 1
        return self.observation(), 1, self.steps == 2, False, {}
    def observation(self):
        return numpy.array([self.seed, self.steps, self.resets], numpy.float32)
)py";

class NextSeeds : public PythonErrors {
 protected:
  void Begin(const json& more = json::object()) {
    env_ = std::make_unique<harness::Env>(kGymnasium, 2, 1, Class(kCountsResets, "Row", more));
    autoreset_ = static_cast<const bp_env_autoreset_1*>(env_->api().get_extension(env_->get(), BP_ENV_AUTORESET_1));
    ASSERT_NE(autoreset_, nullptr);
    ASSERT_EQ(env_->Reset(0, {1, 2}), BP_OK) << env_->error();
  }
  // Ends both episodes and starts the next ones with these seeds; returns the rows' observations.
  std::vector<std::string> Next(const std::vector<uint64_t>& seeds) {
    for (int t = 0; t < 2; ++t) EXPECT_EQ(env_->Step(), BP_OK) << env_->error();
    EXPECT_EQ(env_->Obs(0)[1], 2) << "the last observation of the ended episode";
    EXPECT_EQ(*env_->At<uint8_t>("terminated", 0), 1);
    const uint8_t both[] = {1, 1};
    EXPECT_EQ(env_->Reset(0, seeds, both), BP_OK) << env_->error();
    std::vector<std::string> rows;
    for (int r = 0; r < 2; ++r) {
      char text[64];
      std::snprintf(text, sizeof text, "%g/%g/%g", env_->Obs(r)[0], env_->Obs(r)[1], env_->Obs(r)[2]);
      rows.push_back(text);
    }
    return rows;
  }
  void Tell(uint64_t per_row, const std::vector<uint64_t>& seeds) {
    ASSERT_EQ(autoreset_->next_seeds(env_->get(), per_row, seeds.data()), BP_OK) << env_->error();
  }

  std::unique_ptr<harness::Env> env_;
  const bp_env_autoreset_1* autoreset_ = nullptr;
};

TEST_F(NextSeeds, StartEpisodesEarlyButOnlyTheirOwn) {
  Begin();
  EXPECT_THAT(Next({3, 4}), ElementsAre("3/0/2", "4/0/2")) << "no seed is known";
  Tell(2, {11, 12, 21, 22});
  EXPECT_THAT(Next({11, 99}), ElementsAre("11/0/3", "99/0/4")) << "row 1 had begun with 21 and begins again with 99";
  EXPECT_THAT(Next({12, 21}), ElementsAre("12/0/4", "21/0/5")) << "21 is still the next seed of row 1";
  EXPECT_THAT(Next({13, 22}), ElementsAre("13/0/5", "22/0/6")) << "row 0 has no seed left";
  EXPECT_THAT(Next({14, 23}), ElementsAre("14/0/6", "23/0/7"));
  Tell(1, {31, 32});
  Tell(1, {41, 42});
  EXPECT_THAT(Next({41, 42}), ElementsAre("41/0/7", "42/0/8")) << "the later seeds replace the earlier ones";
}

TEST_F(NextSeeds, AreDroppedByAResetOfAllRows) {
  Begin();
  Tell(1, {11, 21});
  ASSERT_EQ(env_->Reset(0, {5, 6}), BP_OK) << env_->error();
  EXPECT_THAT(Next({98, 99}), ElementsAre("98/0/3", "99/0/3"));
}

TEST_F(NextSeeds, AreNotUsedWhereErrorsEndEpisodes) {
  Begin({{"on_error", "end_episode"}});
  Tell(1, {11, 21});
  EXPECT_THAT(Next({98, 99}), ElementsAre("98/0/2", "99/0/2"));
}

}  // namespace
}  // namespace python_errors
