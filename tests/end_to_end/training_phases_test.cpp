// `phases:` through the real program: each goes on with what the one before has learned.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kPpo[] = R"(
env: {plugin: cartpole}
learner: {plugin: ppo, options: {train_batch_size: 256, minibatch_size: 64, num_epochs: 2, normalize_obs: true}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
evaluation: {episodes: 4}
checkpoint: {every_iterations: 2}
phases:
  - {name: first, budget.iterations: 6}
  - {name: second, budget.iterations: 8, learner.options.lr: 1.0e-4}
  - {name: third, budget.iterations: 4}
)";

struct TrialFiles {
  std::string state, why, metrics, weights;
};

class TrainingPhases : public ProgramTest {
 protected:
  std::filesystem::path Out(const std::string& experiment) { return dir_ / "outputs" / experiment; }

  static std::vector<nlohmann::json> Lines(const std::filesystem::path& file) {
    std::vector<nlohmann::json> lines;
    std::istringstream text(ReadFile(file));
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line, nullptr, false));
    return lines;
  }

  std::map<std::string, std::string> IdsByName(const std::string& experiment) {
    std::map<std::string, std::string> ids;
    for (const nlohmann::json& line : Lines(Out(experiment) / "plan.jsonl")) {
      if (!line.contains("dropped")) ids[line["name"].get<std::string>() + " " + line["seed"].dump()] = line["trial_id"];
    }
    return ids;
  }

  // By name and seed. Of the metrics each iteration as the attempt that reached it last has it, without times; of the
  // checkpoint what the learner saved.
  std::map<std::string, TrialFiles> Trials(const std::string& experiment) {
    std::map<std::string, TrialFiles> trials;
    std::map<std::string, nlohmann::json> last_event;
    for (const nlohmann::json& event : Lines(Out(experiment) / "events.jsonl")) {
      if (event.is_object() && event.contains("state")) last_event[event["trial_id"]] = event;
    }
    for (const auto& [name, id] : IdsByName(experiment)) {
      TrialFiles& trial = trials[name];
      const nlohmann::json& event = last_event[id];
      if (event.is_object()) trial.state = event["state"], trial.why = event.value("why", "");
      const std::filesystem::path folder = Out(experiment) / "trials" / id;
      std::map<int, std::string> iterations;
      for (int n = 1; std::filesystem::exists(folder / ("attempt-" + std::to_string(n))); ++n) {
        for (nlohmann::json& line : Lines(folder / ("attempt-" + std::to_string(n)) / "metrics.jsonl")) {
          if (!line.is_object()) continue;  // torn by a kill
          line.erase("time");
          iterations[line["iteration"]] = line.dump();
        }
      }
      for (const auto& [iteration, line] : iterations) trial.metrics += line + "\n";
      const std::string checkpoint = ReadFile(folder / "checkpoint/checkpoint.bin");
      const size_t seconds = checkpoint.find("\"seconds\":");
      trial.weights = seconds == std::string::npos ? "" : checkpoint.substr(checkpoint.find('}', seconds));
    }
    return trials;
  }

  void ExpectSame(const std::string& one, const std::string& other) {
    const auto a = Trials(one), b = Trials(other);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, trial] : a) {
      EXPECT_EQ(trial.state, "COMPLETED") << name << ": " << trial.why;
      EXPECT_EQ(b.at(name).state, "COMPLETED") << name << ": " << b.at(name).why;
      EXPECT_GT(trial.weights.size(), 1000u) << name;
      EXPECT_EQ(trial.metrics, b.at(name).metrics) << name;
      EXPECT_TRUE(trial.weights == b.at(name).weights) << name;
    }
  }

  bool Reached(const std::string& experiment, const std::string& name, size_t iterations) {
    const auto ids = IdsByName(experiment);
    const auto found = ids.find(name);
    if (found == ids.end()) return false;
    return Lines(Out(experiment) / "trials" / found->second / "attempt-1/metrics.jsonl").size() >= iterations;
  }
};

TEST_F(TrainingPhases, EachGoesOnFromTheOneBeforeWithCountersOfItsOwn) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  Write("chain.yaml", std::string("experiment: chain") + kPpo);
  const Finished run = Run("run chain.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("second"));
  // The same rate and budget again in one piece: weights differ by where the optimiser began, counters by the phase.
  const auto trials = Trials("chain");
  const auto first_line = [](const std::string& text) { return nlohmann::json::parse(text.substr(0, text.find('\n'))); };
  EXPECT_EQ(first_line(trials.at("second 0").metrics)["iteration"], 1);
  EXPECT_EQ(first_line(trials.at("second 0").metrics)["step"], 256);
  Write("alone.yaml", std::string("experiment: alone") + kPpo);
  ASSERT_EQ(Run("run alone.yaml --set phases=\"[{name: third, budget.iterations: 4}]\"").exit, 0);
  EXPECT_NE(Trials("alone").at("third 0").weights, trials.at("third 0").weights) << "it starts from what was learned";
}

TEST_F(TrainingPhases, KilledInAndBetweenPhasesItEndsAsTheUndisturbedRun) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  Write("calm.yaml", std::string("experiment: calm") + kPpo + "sweep: {seeds: {n: 2}}\n");
  Write("killed.yaml", std::string("experiment: killed") + kPpo + "sweep: {seeds: {n: 2}}\n");
  ASSERT_EQ(Run("run calm.yaml").exit, 0);
  // In the first phase, as soon as the second begins, and in the third.
  for (const auto& [name, iterations] : {std::pair("first 0", 3), std::pair("second 0", 1), std::pair("third 0", 2)}) {
    const pid_t pid = Start("run killed.yaml --jobs 2");
    for (int i = 0; i < 2400 && !Reached("killed", name, static_cast<size_t>(iterations)); ++i) usleep(10'000);
    ASSERT_TRUE(Reached("killed", name, static_cast<size_t>(iterations))) << name;
    kill(pid, SIGKILL);
    Wait(pid);
  }
  const Finished last = Run("run killed.yaml --jobs 2");
  ASSERT_EQ(last.exit, 0) << last.err;
  ExpectSame("calm", "killed");
}

TEST_F(TrainingPhases, AChainWhoseBeginningFailedIsSkippedAndRunWhenThatIsMended) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  Write("fails.yaml", std::string("experiment: fails") + kPpo);
  const std::string longer = "run fails.yaml --set phases.second.budget.iterations=200";
  const std::string hurried = longer + " --set phases.second.resources.wall_time=200ms";
  EXPECT_EQ(Run(hurried).exit, 3);
  auto trials = Trials("fails");
  EXPECT_EQ(trials.at("first 0").state, "COMPLETED");
  EXPECT_EQ(trials.at("second 0").state, "FAILED");
  EXPECT_EQ(trials.at("third 0").state, "SKIPPED");
  EXPECT_EQ(trials.at("third 0").why, "the phase before it, second, is FAILED");
  EXPECT_THAT(Run("status outputs/fails").out, HasSubstr("skipped    the phase before it, second, is FAILED"));
  const size_t events = Lines(Out("fails") / "events.jsonl").size();
  EXPECT_EQ(Run(hurried).exit, 3) << "the same command starts nothing again";
  EXPECT_EQ(Lines(Out("fails") / "events.jsonl").size(), events);
  // Resources are no part of a trial's identity: with more time it is the same trial.
  const Finished mended = Run(longer + " --only-failed");
  EXPECT_EQ(mended.exit, 0) << mended.err;
  trials = Trials("fails");
  EXPECT_EQ(trials.at("second 0").state, "COMPLETED");
  EXPECT_EQ(trials.at("third 0").state, "COMPLETED") << trials.at("third 0").why;
}

TEST_F(TrainingPhases, ALearnerThatKeepsNothingIsRefusedBeforeTheRun) {
  if (!HasPlugin("learner_uav_scripted.so")) GTEST_SKIP() << "built without it";
  Write("scripted.yaml", R"(experiment: forgets
env: {plugin: uav_grid}
learner: {plugin: uav_scripted}
phases: [{name: a, budget.iterations: 2}, {name: b, budget.iterations: 2}]
)");
  const Finished check = Run("config check scripted.yaml");
  EXPECT_EQ(check.exit, 2);
  EXPECT_THAT(check.err, HasSubstr("cannot go on from another phase: it does not offer bp.learner.state/1"));
  EXPECT_EQ(Run("run scripted.yaml").exit, 1);
  EXPECT_FALSE(std::filesystem::exists(Out("forgets") / "trials"));
}

TEST_F(TrainingPhases, StatesThatDoNotFitAreRefusedBeforeTheRun) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  Write("wide.yaml", std::string("experiment: wide") + kPpo);
  const Finished check = Run("config check wide.yaml --set phases.second.learner.options.hidden=\"[32]\"");
  EXPECT_EQ(check.exit, 2);
  EXPECT_THAT(check.err, HasSubstr("the state of the phase before"));
  EXPECT_THAT(check.err, HasSubstr("does not fit this one: learner.ppo: load: "));
  const Finished other = Run("config check wide.yaml --set phases.third.env.plugin=pendulum");
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("does not fit"));
  EXPECT_EQ(Run("config check wide.yaml").exit, 0);
}

TEST_F(TrainingPhases, EveryCommandShowsThem) {
  if (!HasPlugin("learner_ppo.so")) GTEST_SKIP() << "built without LibTorch";
  Write("chain.yaml", std::string("experiment: chain") + kPpo +
                          "sweep: {grid: {phases.second.learner.options.gamma: [0.9, 0.99]}}\nreport: {kind: comparison}\n");
  EXPECT_THAT(Run("config check chain.yaml").out, HasSubstr("phases: first, then second, then third"));
  EXPECT_THAT(Run("config show chain.yaml").out, HasSubstr("# phase second"));
  EXPECT_THAT(Run("run chain.yaml --dry-run").out, HasSubstr("first, second, third"));
  const nlohmann::json dry = nlohmann::json::parse(Run("run chain.yaml --dry-run --json").out);
  ASSERT_EQ(dry["trials"].size(), 5u) << "the first phase is trained once";
  EXPECT_EQ(dry["trials"][1]["after"], dry["trials"][0]["trial_id"]);
  EXPECT_EQ(dry["trials"][3]["after"], dry["trials"][0]["trial_id"]);
  ASSERT_EQ(Run("run chain.yaml --jobs 2").exit, 0);
  const std::string second = "gamma=0.9 second";
  EXPECT_THAT(Run("status outputs/chain").out, HasSubstr("second"));
  EXPECT_THAT(ReadFile(Out("chain") / "report/comparison_report.md"), HasSubstr("second"));
  const Finished replay = Run("replay outputs/chain '" + second + "'");
  EXPECT_EQ(replay.exit, 0) << replay.out << replay.err;
  EXPECT_THAT(replay.out, HasSubstr("equal bit for bit"));
  // What the folder keeps of the file stands for the same trials.
  const nlohmann::json again = nlohmann::json::parse(Run("run outputs/chain/config.yaml --dry-run --json").out);
  ASSERT_EQ(again["trials"].size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(again["trials"][i]["trial_id"], dry["trials"][i]["trial_id"]) << i;
  std::filesystem::remove(Out("chain") / "trials" / dry["trials"][0]["trial_id"].get<std::string>() /
                          "checkpoint/checkpoint.bin");
  EXPECT_EQ(Run("replay outputs/chain '" + second + "'").exit, 1);
}

}  // namespace
}  // namespace backplane::end_to_end
