// Compares every env with the official one: the same states and actions give the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>

#include "cases.hpp"
#include "episode.hpp"
#include "oracle.hpp"
#include "places.hpp"
#include "player.hpp"

namespace backplane::parity {

void PrintTo(const Case& c, std::ostream* out) { *out << c.ours << " compared with " << c.official; }
void PrintTo(const Task& task, std::ostream* out) { *out << task.official; }

namespace {

using Json = nlohmann::json;

// The options with paths of model files: "assets/x.xml" of Gymnasium, "models/x.xml" of this folder.
Json WithModels(Json options) {
  for (auto& value : options) {
    if (!value.is_string()) continue;
    const std::string text = value;
    if (text.starts_with("models/")) value = BACKPLANE_SOURCE_DIR "/tests/parity/" + text;
    if (!text.starts_with("assets/")) continue;
    const std::string folder = TheOracle().Ask({{"do", "assets"}})["folder"];
    value = folder + text.substr(text.find('/'));
  }
  return options;
}

struct Outcome {
  size_t steps = 0, episodes = 0;
  std::optional<std::string> difference;  // the first one
};

Outcome Compare(const LoadedModule& module, const Case& c) {
  const Task& task = FindTask(c.plugin);
  Player player(module, WithModels(c.ours), c.drive);
  const Json theirs = TheOracle().Ask(
      {{"do", "open"}, {"env", task.official}, {"kwargs", WithModels(c.official)}, {"info", player.info_channels()}});
  Outcome out;
  for (int seed = 1; seed <= c.seeds && !out.difference; ++seed) {
    for (size_t steps = 0; steps < c.steps && !out.difference;) {
      const uint64_t episode_seed = bp_seed(static_cast<uint64_t>(seed), BP_PURPOSE_ENV_EPISODE, 0, out.episodes++);
      const Episode ours = player.Play(episode_seed, c.steps - steps, task.state_skip, theirs["state_size"]);
      const auto bytes = TheOracle().AskBytes({{"do", "play"}, {"state", ours.state}, {"actions", ours.actions}});
      out.difference = FirstDifference(ours, FromBytes(bytes, ours), player.InfoNames());
      if (out.difference)
        out.difference = fmt::format("seed {}, {} steps done, then in a new episode {}", seed, steps, *out.difference);
      steps += ours.steps();
      out.steps += ours.steps();
    }
  }
  return out;
}

class Parity : public testing::TestWithParam<Case> {};

TEST_P(Parity, AgreesWithGymnasiumBitForBit) {
  const LoadedModule* module = FindModule(GetParam().plugin);
  if (!module) GTEST_SKIP() << "plugin not built: env_" << GetParam().plugin << ".so";
  const Outcome outcome = Compare(*module, GetParam());
  EXPECT_FALSE(outcome.difference) << *outcome.difference;
  EXPECT_EQ(outcome.steps, GetParam().seeds * GetParam().steps);
  std::printf("%zu steps in %zu episodes\n", outcome.steps, outcome.episodes);
}

INSTANTIATE_TEST_SUITE_P(Gymnasium, Parity, testing::ValuesIn(Cases()),
                         [](const auto& tested) { return std::string(tested.param.plugin) + "_" + tested.param.name; });

class Options : public testing::TestWithParam<Task> {};

TEST_P(Options, AreAllComparedAwayFromTheirDefaults) {
  const LoadedModule* module = FindModule(GetParam().plugin);
  if (!module) GTEST_SKIP() << "plugin not built: env_" << GetParam().plugin << ".so";
  const Json defaults = Defaults(*module);
  std::set<std::string> ours, official = {"render_mode", "default_camera_config"};  // these change no number
  for (const Case& c : Cases()) {
    if (c.plugin != std::string(GetParam().plugin)) continue;
    for (const auto& [name, value] : c.ours.items())
      if (value != defaults.at(name)) ours.insert(name);
    for (const auto& [name, value] : c.official.items()) official.insert(name);
  }
  ours.insert("observe");  // Gymnasium's tasks have no such option
  for (const auto& [name, value] : defaults.items()) EXPECT_TRUE(ours.contains(name)) << name << " is in no case of cases.cpp";
  const Json answer = TheOracle().Ask({{"do", "arguments"}, {"env", GetParam().official}});
  for (const std::string name : answer["arguments"])
    EXPECT_TRUE(official.contains(name)) << "Gymnasium's " << name << " is in no case of cases.cpp";
}

TEST_P(Options, KeepTheOfficialTimeLimit) {
  const LoadedModule* module = FindModule(GetParam().plugin);
  if (!module) GTEST_SKIP() << "plugin not built: env_" << GetParam().plugin << ".so";
  const Json open = {{"do", "open"}, {"env", GetParam().official}, {"kwargs", Json::object()}, {"info", Json::array()}};
  EXPECT_EQ(Player(*module, Json::object(), Drive::kUniform).max_episode_steps(), TheOracle().Ask(open)["max_episode_steps"]);
}

INSTANTIATE_TEST_SUITE_P(Gymnasium, Options, testing::ValuesIn(Tasks()),
                         [](const auto& tested) { return std::string(tested.param.plugin); });

// The comparison must be able to fail: one option differs slightly in one implementation.
class Control : public testing::TestWithParam<Case> {};

TEST_P(Control, ASmallDifferenceInOneOptionIsFound) {
  const LoadedModule* module = FindModule(GetParam().plugin);
  if (!module) GTEST_SKIP() << "plugin not built: env_" << GetParam().plugin << ".so";
  const Outcome outcome = Compare(*module, GetParam());
  ASSERT_TRUE(outcome.difference);
  EXPECT_NE(outcome.difference->find("step "), std::string::npos) << *outcome.difference;
  std::printf("%s\n", outcome.difference->c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Gymnasium, Control,
    testing::Values(
        Case{"ant", "ctrl_cost_weight", Json::object(), {{"ctrl_cost_weight", 0.5000001}}},
        Case{"ant", "max_episode_steps", {{"max_episode_steps", 30}}, {{"max_episode_steps", 31}}},
        Case{"cartpole", "sutton_barto_reward", Json::object(), {{"sutton_barto_reward", true}}},
        Case{"hopper", "healthy_reward", Json::object(), {{"healthy_reward", 1.0000001}}},
        Case{"humanoid_standup", "impact_cost_weight", Json::object(), {{"impact_cost_weight", 5.00001e-7}}},
        Case{"inverted_double_pendulum", "healthy_reward", Json::object(), {{"healthy_reward", 10.000001}}},
        Case{"mountain_car", "goal_velocity", Json::object(), {{"goal_velocity", 0.06}}, Drive::kAlongSpeed},
        Case{"mountain_car_continuous", "goal_velocity", Json::object(), {{"goal_velocity", 0.05}}, Drive::kAlongSpeed},
        Case{"pendulum", "g", Json::object(), {{"g", 10.000001}}},
        Case{"pusher", "reward_near_weight", Json::object(), {{"reward_near_weight", 0.5000001}}},
        Case{"reacher", "reward_dist_weight", Json::object(), {{"reward_dist_weight", 1.0000001}}},
        Case{"swimmer", "forward_reward_weight", Json::object(), {{"forward_reward_weight", 1.0000001}}},
        Case{"walker2d", "ctrl_cost_weight", Json::object(), {{"ctrl_cost_weight", 0.0010001}}}),
    [](const auto& tested) { return std::string(tested.param.plugin) + "_" + tested.param.name; });

// A library of the same version may be a different build.
TEST(Library, TheOracleRunsOnTheLibraryOfOurPlugins_ant) {
  if (!FindModule("ant")) GTEST_SKIP() << "plugin not built: env_ant.so";
  std::ifstream maps("/proc/self/maps");
  std::string ours;
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libmujoco") != std::string::npos) ours = line.substr(line.find('/'));
  ASSERT_FALSE(ours.empty());
  const Json hashes = TheOracle().Ask({{"do", "sha256"}, {"library", "libmujoco"}, {"file", ours}});
  EXPECT_EQ(hashes["ours"], hashes["theirs"]) << ours;
}

}  // namespace
}  // namespace backplane::parity
