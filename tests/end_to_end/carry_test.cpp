// Trials of a learner with a memory, under the real program. The learner itself compares every entry of its rollouts with the
// steps of each episode, and fails at the first difference.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstring>
#include <regex>

#include "batch.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class CarriedMemory : public ProgramTest {
 protected:
  // Three chunks of four envs.
  std::string CommandOf(const std::string& name, const std::string& more = "", const std::string& parts = kRows) {
    Write(name + ".yaml", "experiment: " + name + "\n" + parts +
                              "rollout: {num_env_runners: 3, num_envs_per_env_runner: 4}\nbudget: {iterations: 12}\n");
    return "run " + name + ".yaml " + more + kWithFixtures;
  }
  void RunIt(const std::string& name, const std::string& more = "", const std::string& parts = kRows) {
    const Finished run = Run(CommandOf(name, more, parts));
    ASSERT_EQ(run.exit, 0) << run.err;
  }
  void ExpectSameBits(const std::string& name, const std::string& whole, int attempt = 1) {
    EXPECT_EQ(Metrics(name, attempt).back(), Metrics(whole).back()) << name;
    EXPECT_EQ(CheckpointWithoutTimes(Attempt(name).parent_path()), CheckpointWithoutTimes(Attempt(whole).parent_path()))
        << name;
    EXPECT_EQ(ReadFile(Attempt(name, attempt) / "fingerprints.bin"), ReadFile(Attempt(whole) / "fingerprints.bin")) << name;
  }
  double Last(const std::string& name, const char* metric) const { return Metrics(name).back()["metrics"][metric]; }

  static constexpr char kRows[] = "env: {plugin: cartpole}\nlearner: {plugin: remembers}\n";
};

TEST_F(CarriedMemory, CountsTheStepsOfEveryEpisodeForAnyThreads) {
  for (const int threads : kThreads) {
    const std::string name = "threads" + std::to_string(threads);
    RunIt(name, "--set rollout.threads=" + std::to_string(threads));
    EXPECT_EQ(Last(name, "train/compared_entries"), 12 * (20 + 1) * 12);
    EXPECT_GT(Last(name, "train/compared_ends"), 30);
    ExpectSameBits(name, "threads" + std::to_string(kThreads.front()));
  }
}

TEST_F(CarriedMemory, CountsPerAgent) {
  RunIt("agents", "", "env: {plugin: couriers}\nlearner: {plugin: remembers, options: {per_agent: true}}\n");
  EXPECT_EQ(Last("agents", "train/compared_entries"), 12 * (20 + 1) * 12 * 3);
  EXPECT_GT(Last("agents", "train/compared_ends"), 30);
  RunIt("rows", "", "env: {plugin: couriers}\nlearner: {plugin: remembers}\n");
  EXPECT_EQ(Last("rows", "train/compared_entries"), 12 * (20 + 1) * 12);
}

// Steps of a long rollout are copied from one slot.
TEST_F(CarriedMemory, CountsInALongRollout) {
  RunIt("long", "--set learner.options.horizon=5000 --set budget.iterations=2");
  EXPECT_EQ(Last("long", "train/compared_entries"), 2 * (5000 + 1) * 12);
}

TEST_F(CarriedMemory, ContinuesAfterAKill) {
  RunIt("whole");
  const std::string slow = "--set learner.options.sleep_ms=100 --set checkpoint.every_iterations=3";
  const pid_t pid = Start(CommandOf("killed", slow));
  ASSERT_TRUE(Until([&] { return Metrics("killed").size() >= 5; })) << ErrorsOf(pid);
  for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
  Wait(pid);
  const Finished again = Run(CommandOf("killed", slow + " --only-failed"));
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(Metrics("killed", 2).back(), Metrics("whole").back());
  EXPECT_EQ(Run("compare --bits outputs/whole outputs/killed").exit, 0);
}

TEST_F(CarriedMemory, IsPlayedByRolloutWorkersWithTheSameBits) {
  RunIt("none", "--set evaluation.episodes=5");
  for (const int workers : kLooksForRaces ? std::vector{2} : std::vector{1, 2}) {
    const std::string name = "workers" + std::to_string(workers);
    RunIt(name, "--set evaluation.episodes=5 --set rollout.workers=" + std::to_string(workers));
    EXPECT_TRUE(std::filesystem::exists(Attempt(name) / "worker-1.log"));
    ExpectSameBits(name, "none");
  }
}

// A learner that acts by the step of the evaluation plays the same episodes as one that counts steps from zero.
TEST_F(CarriedMemory, StartsFromZeroInEvaluationsAndFilms) {
  const std::string episodes = "--set evaluation.episodes=7 --set evaluation.every_iterations=4";
  RunIt("counts", episodes);
  RunIt("knows", episodes, "env: {plugin: cartpole}\nlearner: {plugin: flips}\n");
  int evaluations = 0;
  const auto counts = Metrics("counts"), knows = Metrics("knows");
  for (size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i].contains("eval")) continue;
    EXPECT_EQ(counts[i]["eval"], knows.at(i)["eval"]) << i;
    ++evaluations;
  }
  EXPECT_GE(evaluations, 3);
  // A row plays two episodes here, and one in the training.
  const Finished again = Run("evaluate outputs/counts --episodes 7 --seed 0 --json");
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["rows"][0]["return"]["mean"], counts.back()["eval"]["return"]["mean"]);
  std::string films[2];
  for (const std::string name : {"counts", "knows"}) {
    const Finished film = Run("render outputs/" + name + " --episode 3 --to " + name + ".svg");
    ASSERT_EQ(film.exit, 0) << film.err;
    films[name == "knows"] = std::regex_replace(ReadFile(dir_ / (name + ".svg")), std::regex(name), "NAME");
  }
  EXPECT_GT(films[0].size(), 10000u);
  EXPECT_TRUE(films[0] == films[1]);
}

// An export compares its net with the memory that each act read and wrote.
TEST_F(CarriedMemory, IsRecordedWithThePolicy) {
  RunIt("exported");
  const std::filesystem::path trial = Attempt("exported").parent_path();
  const Finished run = Run("run-trial " + (trial / "trial.json").string() + " --policy record");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string record = ReadFile(dir_ / "record");
  const size_t end = record.find('\n');
  const nlohmann::json about = nlohmann::json::parse(record.substr(0, end));
  std::vector<std::string> names;
  for (const auto& channel : about["channels"]) names.push_back(channel["name"]);
  ASSERT_THAT(names, testing::ElementsAre("count", "action", "next_count"));
  const size_t acts = about["acts"];
  ASSERT_GT(acts, 100u);
  const char* const first = record.data() + end + 1 + about["policy_bytes"].get<size_t>();
  ASSERT_EQ(record.data() + record.size() - first, static_cast<std::ptrdiff_t>(acts * (8 + 4 + 8)));
  float most = 0;
  for (size_t i = 0; i < acts; ++i) {
    float before[2], after[2];
    int32_t action;
    std::memcpy(before, first + 8 * i, 8), std::memcpy(&action, first + 8 * acts + 4 * i, 4);
    std::memcpy(after, first + 12 * acts + 8 * i, 8);
    EXPECT_EQ(after[0], before[0] + 1);
    EXPECT_EQ(after[1], -2 * after[0]);
    EXPECT_EQ(action, static_cast<int32_t>(before[0]) % 2);
    most = std::max(most, before[0]);
  }
  EXPECT_GT(most, 8);
  EXPECT_THAT(Run("export policy outputs/exported --to policy").err, HasSubstr("got 'count', which has no export"));
}

TEST_F(CarriedMemory, IsRejectedBeforeTheStartWithAnEnvThatResetsItself) {
  CommandOf("refused", "", "env: {plugin: resets_itself}\nlearner: {plugin: remembers}\n");
  const Finished run = Run("run refused.yaml --plugin-path " BACKPLANE_BINARY_DIR "/tests/plugins" + kWithFixtures);
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("learner.remembers: keeps a memory of each episode ('count', CARRY), but env.resets_itself starts "
                        "episodes itself (NATIVE_AUTORESET), so the host cannot clear the memory in time"));
  EXPECT_TRUE(std::filesystem::is_empty(Out("refused") / "trials"));
}

}  // namespace
}  // namespace backplane::end_to_end
