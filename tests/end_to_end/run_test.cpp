// A run from file to result, and repeated commands.
#include <gmock/gmock.h>

#include <sstream>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kRandom[] = R"(experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
budget: {env_steps: 20000}
evaluation: {episodes: 5}
)";

class RunCommand : public ProgramTest {};

TEST_F(RunCommand, TrainsRecordsAndSummarises) {
  Write("walk.yaml", kRandom);
  const Finished run = Run("run walk.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const nlohmann::json result = Result("walk");
  EXPECT_EQ(result["state"], "COMPLETED");
  EXPECT_GE(result["env_steps"], 20000);
  EXPECT_NEAR(result["return"]["mean"], 22, 6) << "uniform actions balance the pole for about 22 steps";
  EXPECT_EQ(result["evaluation"]["return"]["n"], 5);
  EXPECT_NEAR(result["floor_zero"]["return"]["mean"], 9.4, 1.5) << "always pushing left ends after 8 to 11 steps";
  EXPECT_EQ(result["floor_zero"]["return"]["n"], 5);
  EXPECT_EQ(result["floor_uniform"], result["evaluation"]) << "the random learner draws the same actions on the same seeds";
  EXPECT_THAT(run.out, HasSubstr("steps/s"));
  EXPECT_THAT(run.out, HasSubstr("outputs/walk"));
}

TEST_F(RunCommand, PhaseSharesSumToOne) {
  Write("walk.yaml", kRandom);
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  const nlohmann::json result = Result("walk");
  double sum = result["unnamed_share"];
  for (const auto& phase : result["phases"]) sum += phase["share"].get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

TEST_F(RunCommand, NamesTheThreadsThatCollectAndThoseThatShareTheLearnersWork) {
  Write("walk.yaml", kRandom);
  ASSERT_EQ(Run("run walk.yaml --set rollout.threads=3").exit, 0);
  EXPECT_EQ(Result("walk")["threads"], 3);
  EXPECT_EQ(Result("walk")["learner_threads"], 3);
}

TEST_F(RunCommand, EndsWithTheIterationThatCompletesItsEpisodes) {
  Write("walk.yaml", kRandom);
  const Finished run =
      Run("run walk.yaml --set budget.env_steps=null --set budget.episodes=200 --set checkpoint.every_episodes=60");
  ASSERT_EQ(run.exit, 0) << run.err;
  std::vector<uint64_t> episodes;
  std::istringstream lines(ReadFile(Attempt("walk") / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) episodes.push_back(nlohmann::json::parse(line)["episodes"]);
  ASSERT_GT(episodes.size(), 1u);
  EXPECT_GE(episodes.back(), 200u);
  EXPECT_LT(episodes[episodes.size() - 2], 200u);
  EXPECT_EQ(Result("walk")["episodes"], episodes.back());
}

TEST_F(RunCommand, RejectsEpisodesAsTheBudgetOfACommand) {
  Write("walk.yaml", "experiment: walk\nlearner: {command: [echo, hello]}\nbudget: {episodes: 5}\n");
  const Finished run = Run("run walk.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("budget.episodes: a command does not report its episodes"));
}

TEST_F(RunCommand, RecordsHowWellTheThreadsWereUsed) {
  Write("walk.yaml", kRandom);
  ASSERT_EQ(Run("run walk.yaml --set rollout.threads=1 --set rollout.pin_threads=true").exit, 0);
  const nlohmann::json last = Result("walk")["rollout"];
  EXPECT_EQ(last["balance"], 1.0) << "one thread is as busy as the busiest";
  EXPECT_GT(last["wall_eff"], 0);
  EXPECT_LE(last["wall_eff"], 1.01);
  const std::string lines = ReadFile(Attempt("walk") / "metrics.jsonl");
  const auto line = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(line["time"]["machine"]["rollout/balance"], 1.0);
}

TEST_F(RunCommand, AFinishedRunIsShownAgainAndNotRepeated) {
  Write("walk.yaml", kRandom);
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  const std::string before = ReadFile(Attempt("walk") / "result.json");
  const Finished second = Run("run walk.yaml");
  EXPECT_EQ(second.exit, 0);
  EXPECT_THAT(second.out + second.err, HasSubstr("--fresh"));
  EXPECT_EQ(ReadFile(Attempt("walk") / "result.json"), before);
  EXPECT_FALSE(std::filesystem::exists(Attempt("walk", 2)));
}

TEST_F(RunCommand, ItsSuggestedCommandSetsEachSeedOnce) {
  Write("walk.yaml", kRandom);
  const Finished run = Run("run walk.yml seed=4 seed=1");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("walk.yml does not exist; reading walk.yaml"));
  EXPECT_THAT(run.out, HasSubstr("run walk.yaml --set seed=2\n"));
  const Finished swept = Run("run walk.yaml seed=3 --set '+sweep={seeds: {n: 2}}' --dry-run");
  EXPECT_EQ(swept.exit, 2);
  EXPECT_THAT(swept.err, HasSubstr("seed: expected none next to sweep.seeds, which sets the seeds from 0 on, got 3; set "
                                   "sweep.seeds.first instead"));
}

TEST_F(RunCommand, EachSessionLeavesALog) {
  Write("walk.yaml", kRandom);
  const Finished quiet = Run("run walk.yaml");
  ASSERT_EQ(quiet.exit, 0) << quiet.err;
  const std::filesystem::path logs = dir_ / "outputs/walk/logs";
  const std::string id = Attempt("walk").parent_path().filename(), first = ReadFile(logs / "session-1.log");
  EXPECT_THAT(first, testing::ContainsRegex("[0-9]+:[0-9]+:[0-9]+\\.[0-9]+ debug   begin: [^\n]*backplane run walk.yaml\n"));
  EXPECT_THAT(first, HasSubstr(" ended: attempt 1 of trial " + id + ", COMPLETED (ok)\n"));
  EXPECT_THAT(first, HasSubstr(" end: 1 of 1 trials completed, 1 attempts in "));
  EXPECT_THAT(quiet.err, Not(HasSubstr("of trial " + id)));
  EXPECT_FALSE(std::filesystem::exists(logs / "session-2.log"));
  const Finished verbose = Run("run walk.yaml --set seed=1 --verbose");
  EXPECT_THAT(verbose.err, HasSubstr(" ended: attempt 1 of trial "));
  EXPECT_THAT(ReadFile(logs / "session-2.log"), HasSubstr("run walk.yaml --set seed=1 --verbose\n"));
  EXPECT_EQ(ReadFile(logs / "session-1.log"), first);
}

TEST_F(RunCommand, FreshKeepsTheOldResultsInAFolderOfTheirOwn) {
  Write("walk.yaml", kRandom);
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  ASSERT_EQ(Run("run walk.yaml --fresh").exit, 0);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/walk.1"));
  EXPECT_EQ(Result("walk")["state"], "COMPLETED");
}

// Options that a plugin rejects move no folder. They are errors of the file even if other points have run before.
TEST_F(RunCommand, FreshMovesNoResultsIfAPluginRejectsTheOptions) {
  if (!HasPlugin("learner_ars.so")) GTEST_SKIP() << "built without this learner";
  Write("walk.yaml", "env: cartpole\nlearner: {plugin: ars, options: {num_dirs: 2}}\nbudget: {iterations: 1}\n");
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  for (const char* fresh : {" --fresh", ""}) {
    const Finished refused = Run("run walk.yaml learner.options.top_dirs=3" + std::string(fresh));
    EXPECT_EQ(refused.exit, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("nothing was started"));
    EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/walk.1"));
    EXPECT_EQ(Result("walk")["state"], "COMPLETED");
  }
}

TEST_F(RunCommand, ALearnerWithoutASavedStateWarnsAtTheStart) {
  if (!HasPlugin("learner_uav_scripted.so")) GTEST_SKIP() << "built without this learner";
  Write("fly.yaml", "env: uav_grid\nlearner: uav_scripted\nbudget: {iterations: 1}\n");
  EXPECT_THAT(Run("run fly.yaml").err,
              HasSubstr("learner.uav_scripted saves no state, so a stopped trial starts from scratch"));
  Write("walk.yaml", kRandom);
  EXPECT_THAT(Run("run walk.yaml").err, Not(HasSubstr("saves no state")));
}

TEST_F(RunCommand, WithoutATerminalThereAreNoEscapes) {
  Write("walk.yaml", kRandom);
  const Finished run = Run("run walk.yaml");
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("\x1b")));
}

TEST_F(RunCommand, ListAndHelpRunWithoutLibraries) {
  EXPECT_EQ(Run("--help").exit, 0);
  const Finished list = Run("plugin list");
  EXPECT_EQ(list.exit, 0);
  for (const char* id : {"cartpole", "pendulum", "random", "resources"}) EXPECT_THAT(list.out, HasSubstr(id));
  EXPECT_THAT(Run("plugin describe env.cartpole").out, HasSubstr("1.0.0"));
}

TEST_F(RunCommand, TheProgramsAreLinkedToNeitherLibTorchNorMuJoCo) {
  const std::string folder = BACKPLANE_BINARY_DIR "/bin/";
  ASSERT_EQ(std::system(("ldd " + folder + "backplane " + folder + "backplane-trial > " + (dir_ / "ldd.txt").string()).c_str()),
            0);
  EXPECT_THAT(ReadFile(dir_ / "ldd.txt"),
              Not(testing::AnyOf(HasSubstr("libtorch"), HasSubstr("libmujoco"), HasSubstr("libc10"))));
}

TEST_F(RunCommand, EveryShippedConfigIsValid) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BACKPLANE_SOURCE_DIR "/configs")) {
    // Presets are parts of experiments (preset_test.cpp).
    if (entry.path().extension() != ".yaml" || entry.path().parent_path().filename() == "presets") continue;
    Finished check = Run("config check " + entry.path().string());
    // Excludes a corpus that is built from other sources first, and Python envs, which need packages.
    const bool lacks_parts = check.err.find("/build_corpus --out") != std::string::npos ||
                             check.err.find("env.gymnasium: create: ") != std::string::npos ||
                             check.err.find("env.pettingzoo: create: ") != std::string::npos;
    if (check.exit != 0 && lacks_parts) check = Run("config check --file-only " + entry.path().string());
    const auto not_built = [&](const std::string& name) {  // without LibTorch
      return !HasPlugin("learner_" + name + ".so") && check.err.find("there is no learner '" + name + "'") != std::string::npos;
    };
    if (not_built("ppo") || not_built("mappo") || not_built("seq2seq")) continue;
    EXPECT_EQ(check.exit, 0) << check.err;
  }
}

}  // namespace
}  // namespace backplane::end_to_end
