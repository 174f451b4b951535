// `stages:` through the real program: each stage resumes with the previous stage's learner.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <map>

#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

// A learner without LibTorch, and an env whose returns change with every change of the weights. An iteration plays 16
// candidates for 200 steps.
constexpr char kStaged[] = R"(
env: {plugin: pendulum}
learner: {plugin: ars, options: {num_dirs: 8, top_dirs: 4, hidden: [32]}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 4}
evaluation: {episodes: 4, at_start: true}
checkpoint: {every_iterations: 2}
stages:
  - {name: first, budget.iterations: 6}
  - {name: second, budget.iterations: 8, learner.options.step_size: 0.01}
  - {name: third, budget.iterations: 4}
)";

// A poll every 5 ms notices a stage that lasts some tenths of a second. Sanitizers reach that with fewer iterations.
std::string Iterations(int n) { return "iterations=" + std::to_string(kSanitized ? n / 6 : n); }
const std::string kPlays = "learner.options.episodes_per_dir=" + std::string(kSanitized ? "1" : "4");

struct TrialFiles {
  std::string state, why, metrics, weights;
};

class TrainingStages : public ProgramTest {
 protected:
  std::map<std::string, std::string> IdsByName(const std::string& experiment) {
    std::map<std::string, std::string> ids;
    for (const nlohmann::json& line : Lines(Out(experiment) / "plan.jsonl")) {
      if (!line.contains("dropped")) ids[line["name"].get<std::string>() + " " + line["seed"].dump()] = line["trial_id"];
    }
    return ids;
  }

  std::filesystem::path Folder(const std::string& experiment, const std::string& name) {
    return Out(experiment) / "trials" / IdsByName(experiment)[name];
  }
  // The trial's last evaluation, if it ended in its first attempt.
  nlohmann::json EvaluationAtEnd(const std::string& experiment, const std::string& name) {
    return nlohmann::json::parse(ReadFile(Folder(experiment, name) / "attempt-1/result.json")).at("evaluation");
  }

  // Files by trial name and seed. Metrics hold each iteration from the last attempt that reached it, without times. The
  // checkpoint holds only the learner's saved state.
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
      trial.weights = CheckpointWithoutTimes(folder);
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

  // Waits until the trial's first attempt gets so far.
  bool Reaches(const std::string& experiment, const std::string& name, size_t iterations) {
    return Until(
        [&] {
          const auto ids = IdsByName(experiment);
          const auto found = ids.find(name);
          if (found == ids.end()) return false;
          const auto lines = Lines(Out(experiment) / "trials" / found->second / "attempt-1/metrics.jsonl");
          return lines.size() > iterations;  // the first line is the evaluation at the start
        },
        kSanitized ? 240 : 60);
  }
  bool EndedInAttempt(int number, const std::string& experiment, const std::string& name) {
    return std::filesystem::exists(Folder(experiment, name) / ("attempt-" + std::to_string(number)) / "result.json");
  }
  bool HasCheckpoint(const std::string& experiment, const std::string& name) {
    return std::filesystem::exists(Folder(experiment, name) / "checkpoint/checkpoint.bin");
  }

  // Simulates a power failure: no process saves any more. If only the supervisor died, its trials would write a checkpoint
  // first.
  Finished CutPower(pid_t supervisor) {
    kill(supervisor, SIGSTOP);  // otherwise it would record how its trial ended
    for (const pid_t trial : TrialProcesses()) kill(trial, SIGKILL);
    kill(supervisor, SIGKILL);
    return Wait(supervisor);
  }
};

TEST_F(TrainingStages, EachResumesThePreviousOneWithCountersOfItsOwn) {
  Write("chain.yaml", std::string("experiment: chain") + kStaged);
  const Finished run = Run("run chain.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("second"));
  for (const auto& [before, stage] : {std::pair("first 0", "second 0"), std::pair("second 0", "third 0")}) {
    const std::vector<nlohmann::json> lines = Lines(Folder("chain", stage) / "attempt-1/metrics.jsonl");
    ASSERT_GE(lines.size(), 2u);
    EXPECT_EQ(lines[0].at("iteration"), 0);
    EXPECT_EQ(lines[0].at("eval"), EvaluationAtEnd("chain", before))
        << stage << " starts from what " << before << " has learned";
    EXPECT_EQ(lines[1].at("iteration"), 1);
    EXPECT_EQ(lines[1].at("step"), 16 * 200);
  }
  EXPECT_NE(EvaluationAtEnd("chain", "first 0"), EvaluationAtEnd("chain", "second 0")) << "they differ";
}

TEST_F(TrainingStages, AChainKilledInEachStageEqualsAnUninterruptedOne) {
  Write("calm.yaml", std::string("experiment: calm") + kStaged + "sweep: {seeds: {n: 2}}\n");
  Write("killed.yaml", std::string("experiment: killed") + kStaged + "sweep: {seeds: {n: 2}}\n");
  // Long enough that a busy machine's kill comes before the end.
  const std::string longer = " --jobs 2 --set budget." + Iterations(kSanitized ? 150 : 60) + " --set " + kPlays;
  const Finished calm = Run("run calm.yaml" + longer);
  ASSERT_EQ(calm.exit, 0) << calm.err;
  for (const char* name : {"first 0", "second 0", "third 0"}) {
    const pid_t pid = Start("run killed.yaml" + longer);
    const bool reached = Reaches("killed", name, 3);
    kill(pid, SIGKILL);
    const Finished killed = Wait(pid);
    ASSERT_TRUE(reached) << name << ": " << killed.err;
  }
  const Finished last = Run("run killed.yaml" + longer);
  ASSERT_EQ(last.exit, 0) << last.err;
  for (const char* name : {"first 0", "second 0", "third 0"}) {
    EXPECT_TRUE(EndedInAttempt(2, "killed", name)) << name << " ended before the kill";
  }
  ExpectSame("calm", "killed");
}

TEST_F(TrainingStages, AStageKilledWithoutACheckpointRestartsFromThePreviousOne) {
  Write("calm.yaml", std::string("experiment: calm") + kStaged);
  Write("cut.yaml", std::string("experiment: cut") + kStaged);
  // The second stage writes a checkpoint only at its end.
  const std::string longer =
      " --set checkpoint.every_iterations=0 --set stages.second.budget." + Iterations(60) + " --set stages.second." + kPlays;
  const Finished calm = Run("run calm.yaml" + longer);
  ASSERT_EQ(calm.exit, 0) << calm.err;
  const pid_t pid = Start("run cut.yaml" + longer);
  const bool reached = Reaches("cut", "second 0", 3);
  const Finished cut = CutPower(pid);
  ASSERT_TRUE(reached) << cut.err;
  EXPECT_EQ(Trials("cut").at("first 0").state, "COMPLETED");
  EXPECT_TRUE(HasCheckpoint("cut", "first 0"));
  ASSERT_FALSE(HasCheckpoint("cut", "second 0")) << "it ended before the kill";
  const Finished last = Run("run cut.yaml" + longer);
  ASSERT_EQ(last.exit, 0) << last.err;
  EXPECT_FALSE(EndedInAttempt(2, "cut", "first 0"));
  EXPECT_TRUE(EndedInAttempt(2, "cut", "second 0"));
  EXPECT_EQ(Lines(Folder("cut", "second 0") / "attempt-2/metrics.jsonl").at(0).at("iteration"), 0) << "from scratch";
  ExpectSame("calm", "cut");
}

TEST_F(TrainingStages, AChainIsSkippedUntilItsFailedFirstStageIsFixed) {
  Write("fails.yaml", std::string("experiment: fails") + kStaged);
  const std::string longer = "run fails.yaml --set stages.second.budget." + Iterations(360) + " --set stages.second." + kPlays;
  const std::string hurried = longer + " --set stages.second.resources.wall_time=200ms";
  EXPECT_EQ(Run(hurried).exit, 3);
  auto trials = Trials("fails");
  EXPECT_EQ(trials.at("first 0").state, "COMPLETED");
  EXPECT_EQ(trials.at("second 0").state, "FAILED");
  EXPECT_EQ(trials.at("third 0").state, "SKIPPED");
  EXPECT_EQ(trials.at("third 0").why, "the stage before it, second, is FAILED");
  EXPECT_THAT(Run("status outputs/fails").out, HasSubstr("skipped    the stage before it, second, is FAILED"));
  const size_t events = Lines(Out("fails") / "events.jsonl").size();
  EXPECT_EQ(Run(hurried).exit, 3) << "the same command starts no trial again";
  EXPECT_EQ(Lines(Out("fails") / "events.jsonl").size(), events);
  // Resources are not part of a trial's identity: with more time it is the same trial.
  const Finished mended = Run(longer + " --only-failed");
  EXPECT_EQ(mended.exit, 0) << mended.err;
  trials = Trials("fails");
  EXPECT_EQ(trials.at("second 0").state, "COMPLETED");
  EXPECT_EQ(trials.at("third 0").state, "COMPLETED") << trials.at("third 0").why;
}

TEST_F(TrainingStages, RejectALearnerWithoutStateBeforeTheRun) {
  if (!HasPlugin("learner_uav_scripted.so")) GTEST_SKIP() << "built without it";
  Write("scripted.yaml", R"(experiment: forgets
env: {plugin: uav_grid}
learner: {plugin: uav_scripted}
stages: [{name: a, budget.iterations: 2}, {name: b, budget.iterations: 2}]
)");
  const Finished check = Run("config check scripted.yaml");
  EXPECT_EQ(check.exit, 2);
  EXPECT_THAT(check.err, HasSubstr("cannot resume from a different stage, because it does not offer bp.learner.state/1"));
  EXPECT_EQ(Run("run scripted.yaml").exit, 2);
  EXPECT_TRUE(std::filesystem::is_empty(Out("forgets") / "trials"));
}

TEST_F(TrainingStages, RejectStatesThatDoNotFitBeforeTheRun) {
  Write("wide.yaml", std::string("experiment: wide") + kStaged);
  const Finished check = Run("config check wide.yaml --set stages.second.learner.options.hidden=\"[16]\"");
  EXPECT_EQ(check.exit, 2);
  EXPECT_THAT(check.err, HasSubstr("the state of the stage before"));
  EXPECT_THAT(check.err, HasSubstr("does not fit this one: learner.ars: load: "));
  const Finished other = Run("config check wide.yaml --set stages.third.env.plugin=cartpole");
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("does not fit"));
  EXPECT_EQ(Run("config check wide.yaml").exit, 0);
}

TEST_F(TrainingStages, EveryCommandShowsThem) {
  Write("chain.yaml",
        std::string("experiment: chain") + kStaged +
            "sweep: {grid: {stages.second.learner.options.noise_std: [0.02, 0.05]}}\nreport: {kind: comparison}\n");
  EXPECT_THAT(Run("config check chain.yaml").out, HasSubstr("stages: first, then second, then third"));
  EXPECT_THAT(Run("config show chain.yaml").out, HasSubstr("# stage second"));
  EXPECT_THAT(Run("run chain.yaml --dry-run").out, HasSubstr("first, second, third"));
  const nlohmann::json dry = nlohmann::json::parse(Run("run chain.yaml --dry-run --json").out);
  ASSERT_EQ(dry["trials"].size(), 5u) << "the first stage is trained once";
  EXPECT_EQ(dry["trials"][1]["after"], dry["trials"][0]["trial_id"]);
  EXPECT_EQ(dry["trials"][3]["after"], dry["trials"][0]["trial_id"]);
  ASSERT_EQ(Run("run chain.yaml --jobs 2").exit, 0);
  const std::string second = "noise_std=0.05 second";
  EXPECT_THAT(Run("status outputs/chain").out, HasSubstr("second"));
  EXPECT_THAT(ReadFile(Out("chain") / "report/comparison_report.md"), HasSubstr("second"));
  const Finished replay = Run("replay outputs/chain '" + second + "'");
  EXPECT_EQ(replay.exit, 0) << replay.out << replay.err;
  EXPECT_THAT(replay.out, HasSubstr("equal bit for bit"));
  // The folder's copy of the file plans the same trials.
  const nlohmann::json again = nlohmann::json::parse(Run("run outputs/chain/config.yaml --dry-run --json").out);
  ASSERT_EQ(again["trials"].size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(again["trials"][i]["trial_id"], dry["trials"][i]["trial_id"]) << i;
}

TEST_F(TrainingStages, AStageStartsOnlyFromAWholePreviousState) {
  Write("chain.yaml", std::string("experiment: chain") + kStaged);
  ASSERT_EQ(Run("run chain.yaml").exit, 0);
  const std::filesystem::path folder = Folder("chain", "first 0") / "checkpoint";
  ASSERT_TRUE(std::filesystem::exists(folder / "checkpoint.1.bin"));
  const auto refusal = [&](int number) {
    EXPECT_EQ(Run("replay outputs/chain second").exit, 1);
    return ReadFile(Folder("chain", "second 0") / ("replay-" + std::to_string(number)) / "stderr.log");
  };
  const std::string whole = ReadFile(folder / "checkpoint.bin");
  std::ofstream(folder / "checkpoint.bin") << whole.substr(0, whole.size() - 1) << static_cast<char>(~whole.back());
  EXPECT_THAT(refusal(1),
              testing::AllOf(HasSubstr("has no complete checkpoint: "), HasSubstr("is damaged: its checksum differs"),
                             HasSubstr("and `backplane run` trains it again")));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.bin.damaged")) << "files of a different trial stay unchanged";
  std::filesystem::copy_file(folder / "checkpoint.1.bin", folder / "checkpoint.bin",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refusal(2), HasSubstr("had not ended when it wrote")) << "an older state would give different numbers";
  std::filesystem::remove(folder / "checkpoint.bin");
  EXPECT_THAT(refusal(3), HasSubstr("has no checkpoint in"));
  std::ofstream(folder / "checkpoint.bin") << whole;
  EXPECT_EQ(Run("replay outputs/chain second").exit, 0);
}

TEST_F(TrainingStages, RunsOneStage) {
  Write("chain.yaml", kStaged);
  const Finished early = Run("run chain.yaml --stage second");
  EXPECT_EQ(early.exit, 2);
  EXPECT_THAT(early.err,
              HasSubstr("--stage second: expected a completed trial of the stage before, first, got none in outputs/chain"));
  EXPECT_THAT(early.err, HasSubstr("run chain.yaml --stage first"));
  EXPECT_THAT(Run("run chain.yaml --stage thrid").err, HasSubstr("--stage: expected first or second or third, got 'thrid'"));
  const auto states = [&] {
    std::string text;
    for (const auto& [name, trial] : Trials("chain")) text += name + " " + trial.state + "\n";
    return text;
  };
  const Finished first = Run("run chain.yaml --stage first");
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("run chain.yaml\n")) << "the command for the rest";
  EXPECT_TRUE(std::filesystem::exists(Folder("chain", "first 0") / "attempt-1"));
  EXPECT_FALSE(std::filesystem::exists(Folder("chain", "second 0") / "attempt-1")) << states();
  const Finished second = Run("run chain.yaml --stage second");
  EXPECT_EQ(second.exit, 0) << second.err;
  EXPECT_TRUE(std::filesystem::exists(Folder("chain", "second 0") / "attempt-1"));
  EXPECT_FALSE(std::filesystem::exists(Folder("chain", "third 0") / "attempt-1")) << states();
  EXPECT_FALSE(std::filesystem::exists(Folder("chain", "first 0") / "attempt-2"));
  EXPECT_EQ(Run("run chain.yaml").exit, 0);
  EXPECT_EQ(EvaluationAtEnd("chain", "third 0").contains("return"), true);
}

}  // namespace
}  // namespace backplane::end_to_end
