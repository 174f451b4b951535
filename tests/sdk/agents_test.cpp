// bp::MultiEnv: rows of several agents, compared with numbers computed by hand.
#include <gmock/gmock.h>

#include <array>

#include "backplane/env.hpp"
#include "places.hpp"
#include "support/env_harness.hpp"

namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

template <class... Plugins>
const bp_module* ModuleOf() {
  using All = bp::Module<Plugins...>;
  static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR,    0,       0, "", "{}", nullptr, nullptr,
                                   All::Count,        All::Descriptor, All::Api};
  return &module;
}

template <class T>
std::vector<T> Of(const harness::Env& env, const char* channel, uint64_t row = 0, uint32_t slot = 0) {
  const T* const first = env.At<T>(channel, row, slot);
  return {first, first + env.Size(channel)};
}

// The three-agent env of the guide, through the function table of its file.
class CouriersTest : public ::testing::Test {
 protected:
  using Places = std::array<int32_t, 6>;  // per courier: its position, its house

  // In a row's state, the struct follows the key and the random stream.
  void Put(uint64_t row, const Places& places) {
    std::vector<char> bytes(env_.snapshot()->row_bytes(env_.get()));
    ASSERT_EQ(env_.snapshot()->get(env_.get(), row, bytes.data()), BP_OK);
    std::memcpy(bytes.data() + sizeof(uint64_t) + sizeof(bp_rng), places.data(), sizeof places);
    ASSERT_EQ(env_.snapshot()->set(env_.get(), row, bytes.data()), BP_OK);
  }
  void Act(uint64_t row, std::array<int32_t, 3> moves) { std::ranges::copy(moves, env_.At<int32_t>("action", row)); }
  void SetUp() override { ASSERT_EQ(env_.Reset(0, {3, 4}), BP_OK) << env_.error(); }

  harness::Env env_{BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_couriers.so", 2};
};

TEST_F(CouriersTest, DeclareWhatAgentsHave) {
  EXPECT_EQ(env_.spec().max_agents, 3u);
  EXPECT_EQ(env_.spec().max_episode_steps, 36);
  std::vector<std::string> per_agent, per_row;
  for (uint64_t c = 0; c < env_.spec().n_channels; ++c) {
    const bp_channel& channel = env_.spec().channels[c];
    (channel.scope == BP_SCOPE_AGENT ? per_agent : per_row).push_back(channel.name);
  }
  EXPECT_THAT(per_agent, ElementsAre("obs", "action", "action_mask", "alive", "reward"));
  EXPECT_THAT(per_row, ElementsAre("state", "ep/arrived", "terminated"));
}

TEST_F(CouriersTest, ActEarnAndAreOut) {
  Put(0, {2, 4, 8, 7, 0, 5});
  Act(0, {2, 1, 0});  // right, left, stay
  ASSERT_EQ(env_.Step(), BP_OK) << env_.error();
  EXPECT_THAT(Of<float>(env_, "obs"), ElementsAre(3 / 8.f, 1 / 8.f, 7 / 8.f, 0, 0, 5 / 8.f));
  EXPECT_THAT(Of<float>(env_, "state"), ElementsAre(3 / 8.f, 1 / 8.f, 7 / 8.f, 0, 0, 5 / 8.f));
  EXPECT_THAT(Of<float>(env_, "reward"), ElementsAre(-0.125f, 0.875f, -0.125f));
  EXPECT_THAT(Of<uint8_t>(env_, "alive"), ElementsAre(1, 0, 1));
  EXPECT_THAT(Of<uint8_t>(env_, "action_mask"), ElementsAre(1, 1, 1, 1, 0, 0, 1, 0, 1));
  EXPECT_THAT(Of<float>(env_, "ep/arrived"), ElementsAre(1 / 3.f));
  EXPECT_THAT(Of<uint8_t>(env_, "terminated"), ElementsAre(0));

  Act(0, {2, 2, 2});  // a courier that is out does not move
  ASSERT_EQ(env_.Step(), BP_OK) << env_.error();
  EXPECT_THAT(Of<float>(env_, "obs"), ElementsAre(4 / 8.f, 0, 7 / 8.f, 0, 1 / 8.f, 4 / 8.f));
  EXPECT_THAT(Of<float>(env_, "reward"), ElementsAre(0.875f, 0, -0.125f));
  EXPECT_THAT(Of<uint8_t>(env_, "alive"), ElementsAre(0, 0, 1));
}

TEST_F(CouriersTest, EndTheEpisodeOfTheirRowTogether) {
  Put(0, {3, 4, 7, 7, 5, 5});
  Put(1, {3, 4, 7, 6, 5, 1});
  Act(0, {2, 0, 0});
  Act(1, {2, 1, 0});
  ASSERT_EQ(env_.Step(), BP_OK) << env_.error();
  EXPECT_THAT(Of<uint8_t>(env_, "terminated", 0), ElementsAre(1));
  EXPECT_THAT(Of<float>(env_, "ep/arrived", 0), ElementsAre(1));
  EXPECT_THAT(Of<uint8_t>(env_, "terminated", 1), ElementsAre(0));
  EXPECT_THAT(Of<float>(env_, "ep/arrived", 1), ElementsAre(2 / 3.f));
  EXPECT_THAT(Of<float>(env_, "reward", 1), ElementsAre(0.875f, 0.875f, -0.125f));
}

TEST_F(CouriersTest, StartAnEpisodeOnlyFromTheSeedOfTheirRow) {
  const std::vector<float> first = Of<float>(env_, "state", 0), second = Of<float>(env_, "state", 1);
  EXPECT_NE(first, second);
  const uint8_t only_second[] = {0, 1};
  ASSERT_EQ(env_.Reset(0, {9, 3}, only_second), BP_OK);
  EXPECT_EQ(Of<float>(env_, "state", 0), first) << "its mask is 0";
  EXPECT_EQ(Of<float>(env_, "state", 1), first) << "the seed that the first row had";
}

// Two agents with one shared reward, numbers as actions and a channel of the env.
struct Team {
  static constexpr bp::About kAbout{"env.team", "1.0.0", "A team."};
  struct Model {
    bp::Handle<int32_t> distance;
    bp::Handle<float> plain, listed;
  };
  static bp::EnvSpec Spec(Model& model) {
    bp::EnvSpec spec = bp::EnvSpec().MaxAgents(2).AgentObs(1).AgentActionBox(2, -1, 1).Info("a").Info("b");
    model.listed = spec.Get<float>("b");
    model.plain = spec.Add<float>({.role = BP_ROLE_INFO, .name = "plain"});
    model.distance = spec.Add<int32_t>({.role = BP_ROLE_INFO, .name = "distance", .shape = {2}, .scope = BP_SCOPE_AGENT});
    return spec;
  }
  void Reset(const Model&, bp::Rng&, const bp::RowView& out) {
    EXPECT_TRUE(out.mask.empty() && out.alive.empty() && out.state.empty()) << "not declared";
    Show(out);
  }
  bp::StepResult Step(const Model& model, bp::Rng&, const bp::RowStep<float>& row) {
    EXPECT_TRUE(row.reward.empty()) << "the team's";
    for (size_t a = 0; a < 2; ++a)
      for (size_t i = 0; i < 2; ++i) sum += (a + 1) * row.action[a][i];
    Show(row);
    row.info[1] = 7;
    row[model.plain][0] = 8;
    if (sum < -100) row[model.listed][0] = 9;
    std::ranges::copy(std::array{1, 2, 3, 4}, row[model.distance].begin());
    if (sum > 100) throw bp::Error(BP_E_NUMERIC, "is too far");
    return {.reward = sum, .terminated = sum > 5};
  }
  void Show(const bp::RowView& out) const { out.obs[0][0] = static_cast<float>(sum), out.obs[1][0] = -1; }
  static std::vector<bp::StatePart> StateParts(const Model&) { return {{"sum", 1}}; }
  void GetState(const Model&, double* out) const { *out = sum; }
  void SetState(const Model&, const double* in, const bp::RowView& out) {
    sum = *in;
    Show(out);
  }
  double sum = 0;
};

TEST(MultiEnv, MayPayTheTeam) {
  harness::Env env(ModuleOf<bp::MultiEnv<Team>>(), 2);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  EXPECT_EQ(env.Size("reward"), 1);
  std::ranges::copy(std::array{0.25f, 0.5f, 1.f, -0.5f}, env.At<float>("action", 0));
  std::ranges::copy(std::array{1.f, 1.f, 1.f, 1.f}, env.At<float>("action", 1));
  ASSERT_EQ(env.Step(), BP_OK) << env.error();
  EXPECT_THAT(Of<float>(env, "reward", 0), ElementsAre(1.75f));
  EXPECT_THAT(Of<float>(env, "reward", 1), ElementsAre(6));
  EXPECT_THAT(Of<uint8_t>(env, "terminated", 1), ElementsAre(1));
  EXPECT_THAT(Of<float>(env, "obs", 1), ElementsAre(6, -1));
  EXPECT_THAT(Of<float>(env, "a", 1), ElementsAre(0)) << "never written";
  EXPECT_THAT(Of<float>(env, "b", 1), ElementsAre(7));
  EXPECT_THAT(Of<int32_t>(env, "distance", 1), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Of<float>(env, "plain", 1), ElementsAre(8));
  env.At<float>("action", 0)[0] = -1000;
  EXPECT_EQ(env.Step(), BP_E_INTERNAL);
  EXPECT_EQ(env.error(), "row 0: 'b' is from Info(): write it through `info`, not through a handle");
}

TEST(MultiEnv, NamesTheRowOfAnError) {
  harness::Env env(ModuleOf<bp::MultiEnv<Team>>(), 2);
  ASSERT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
  env.At<float>("action", 1)[0] = 1000;
  EXPECT_EQ(env.Step(), BP_E_NUMERIC);
  EXPECT_EQ(env.error(), "row 1: is too far");
}

TEST(MultiEnv, SetsStatesByName) {
  harness::Env env(ModuleOf<bp::MultiEnv<Team>>(), 2);
  const auto* inject = static_cast<const bp_env_inject_1*>(env.api().get_extension(env.get(), BP_ENV_INJECT_1));
  ASSERT_NE(inject, nullptr);
  const double sum = 2.5;
  ASSERT_EQ(inject->set(env.get(), 1, &sum), BP_OK) << env.error();
  EXPECT_THAT(Of<float>(env, "obs", 1), ElementsAre(2.5f, -1));
}

// A row writes a number that its spec does not declare.
struct OneInfoTooMany {
  static constexpr bp::About kAbout{"env.one_too_many", "1.0.0", "Writes info[1] of one."};
  static bp::EnvSpec Spec(const auto&) { return bp::EnvSpec().Obs(1).ActionBox(1, -1, 1).Info("ep/only"); }
  void Reset(const auto&, bp::Rng&, float* obs) { *obs = 0; }
  bp::StepResult Step(const auto&, bp::Rng&, const float* action, float* obs, float* info) {
    *obs = 0, info[0] = 1;
    if (*action > 0) info[1] = 0;
    return {};
  }
};
struct OneInfoTooManyOfAgents {
  static constexpr bp::About kAbout{"env.one_too_many_of_agents", "1.0.0", "Writes info[2] of none."};
  static bp::EnvSpec Spec(const auto&) { return bp::EnvSpec().MaxAgents(2).AgentObs(1).AgentActionBox(1, -1, 1); }
  void Reset(const auto&, bp::Rng&, const bp::RowView& out) { std::ranges::fill(out.obs.all(), 0.f); }
  bool Step(const auto&, bp::Rng&, const bp::RowStep<float>& row) {
    std::ranges::fill(row.obs.all(), 0.f), std::ranges::fill(row.reward, 0.f);
    if (row.action[0][0] > 0) row.info.data()[2] = 1;
    return false;
  }
};

TEST(SingleRows, MayNotWriteInfoThatTheSpecDoesNotDeclare) {
  const auto step = [](harness::Env& env) {
    EXPECT_EQ(env.Reset(0, {1, 2}), BP_OK) << env.error();
    EXPECT_EQ(env.Step(), BP_OK) << env.error();
    env.At<float>("action", 1)[0] = 1;
    EXPECT_EQ(env.Step(), BP_E_INTERNAL);
    return env.error();
  };
  harness::Env one(ModuleOf<bp::Env<OneInfoTooMany>>(), 2), agents(ModuleOf<bp::MultiEnv<OneInfoTooManyOfAgents>>(), 2);
  EXPECT_EQ(step(one), "Step wrote info[1], but the spec declares 1 Info(...); declare one per number");
  EXPECT_EQ(step(agents), "Step wrote info[2], but the spec declares no Info(...); declare one per number");
}

// Specs whose declarations for agents do not fit the row.
enum class Lack { kObsOfRow, kRewardOfRow, kActionOfNumbers, kMaskFirst };
template <Lack kLack>
struct Lacking {
  static constexpr bp::About kAbout{"env.lacking", "1.0.0", "Declares something else."};
  using Action = int32_t;
  static bp::EnvSpec Spec(const auto&) {
    bp::EnvSpec spec;
    spec.MaxAgents(2);
    if (kLack == Lack::kMaskFirst) spec.ActionMask();
    kLack == Lack::kObsOfRow ? spec.Obs(1) : spec.AgentObs(1);
    kLack == Lack::kActionOfNumbers ? spec.AgentActionBox(1, -1, 1) : spec.AgentActionDiscrete(2);
    if (kLack == Lack::kRewardOfRow) spec.Reward();
    return spec;
  }
  void Reset(const auto&, bp::Rng&, const bp::RowView&) {}
  bool Step(const auto&, bp::Rng&, const bp::RowStep<int32_t>&) { return false; }
};
template <Lack kLack>
std::string Refusal() {
  try {
    harness::Env(ModuleOf<bp::MultiEnv<Lacking<kLack>>>(), 1);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}

TEST(MultiEnv, ReportsMissingPartsOfASpecOfAgents) {
  EXPECT_THAT(Refusal<Lack::kObsOfRow>(), HasSubstr("should declare OBS of float32 per agent, AgentObs(n)"));
  EXPECT_THAT(Refusal<Lack::kRewardOfRow>(), HasSubstr("should declare REWARD of float32 per agent, as Step writes it"));
  EXPECT_THAT(Refusal<Lack::kActionOfNumbers>(), HasSubstr("should declare ACTION of T::Action per agent"));
  EXPECT_THAT(Refusal<Lack::kMaskFirst>(), HasSubstr("ActionMask() should stand after the DISCRETE action"));
}

// Two groups, through the function table of their file.
class HuntersTest : public ::testing::Test {
 protected:
  harness::Env env_{BACKPLANE_BINARY_DIR "/tests/fixtures/plugins/env_hunters.so", 2};
};

TEST_F(HuntersTest, DeclareTheirGroups) {
  const std::vector<bp::AgentGroup> groups = bp::GroupsOf(env_.spec());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "hunters");
  EXPECT_EQ(groups[0].agents, 2u);
  EXPECT_EQ(groups[1].name, "prey");
  EXPECT_EQ(groups[1].first, 2u);
  EXPECT_EQ(env_.spec().max_agents, 3u);
  std::vector<std::string> text;
  bp::ForEachChannel(env_.spec(), [&](const bp_channel& c) {
    text.push_back(std::string(c.name) + " " + std::to_string(bp::GroupOf(c)) + " " +
                   std::to_string(bp::AgentsIn(env_.spec(), c)));
  });
  EXPECT_THAT(text, ElementsAre("hunters/obs 1 2", "hunters/action 1 2", "prey/obs 2 1", "prey/action 2 1",
                                "prey/action_mask 2 1", "alive 0 3", "state 0 1", "reward 0 3", "terminated 0 1"));
}

TEST_F(HuntersTest, SeeAndEarnByGroup) {
  ASSERT_EQ(env_.Reset(0, {3, 4}), BP_OK) << env_.error();
  const auto before = Of<float>(env_, "state", 1);
  env_.At<float>("hunters/action", 1)[0] = 0.5f, env_.At<float>("hunters/action", 1)[1] = -0.5f;
  *env_.At<int32_t>("prey/action", 1) = 0;  // stays
  ASSERT_EQ(env_.Step(), BP_OK) << env_.error();
  const auto at = Of<float>(env_, "state", 1);
  EXPECT_NEAR(at[0], std::min(1.f, before[0] + 0.1f), 1e-6);
  EXPECT_NEAR(at[1], std::max(-1.f, before[1] - 0.1f), 1e-6);
  EXPECT_EQ(at[2], before[2]);
  const auto sight = Of<float>(env_, "hunters/obs", 1), reward = Of<float>(env_, "reward", 1);
  ASSERT_EQ(sight.size(), 6u);
  EXPECT_NEAR(sight[3], at[0] - at[1], 1e-6);
  EXPECT_EQ(sight[4], at[1]);
  EXPECT_NEAR(reward[1], -std::abs(at[1] - at[2]), 1e-6);
  EXPECT_NEAR(reward[2], std::min(-reward[0], -reward[1]), 1e-6);
}

}  // namespace
