// `tune`: changes that findings propose are measured, kept or dropped, checked and written.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "batch.hpp"
#include "places.hpp"
#include "toil.hpp"

namespace backplane::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kQuick = " --seconds 0.3 --seeds 3" + kWithFixtures;

class TuneCommand : public BatchTest {
 protected:
  // Programs that compete for the cores may hide a gain; the command is not checked then.
  static bool NoiseHidTheGain(const Finished& tune, const nlohmann::json& step) {
    return !step["kept"].get<bool>() && !step.value("taken_back", false) &&
           tune.out.find("other programs competed for the cores") != std::string::npos;
  }
  nlohmann::json Record(const std::string& experiment = "toil") const {
    return nlohmann::json::parse(ReadFile(dir_ / "outputs" / (experiment + "_tune") / "tune.json"));
  }
  size_t Attempts(size_t step) const {
    size_t starts = 0;
    for (const nlohmann::json& event : Lines(dir_ / "outputs/toil_tune/steps" / std::to_string(step) / "events.jsonl"))
      starts += event.value("kind", "") == "attempt.start" ? 1 : 0;
    return starts;
  }
};

TEST_F(TuneCommand, KeepsGainsChecksLearningAndWritesTheFile) {
  Write("toil.yaml", kToil);
  const Finished tune = Run("tune toil.yaml --check-steps 2000" + kQuick);
  ASSERT_EQ(tune.exit, 0) << tune.err << tune.out;
  const nlohmann::json result = Record()["result"];
  ASSERT_EQ(result["steps"].size(), 2u);
  if (NoiseHidTheGain(tune, result["steps"][0])) GTEST_SKIP() << "the machine is busy: " << tune.out;
  EXPECT_THAT(tune.out, AllOf(HasSubstr("step 1: learner.options.epochs: 2 -> 1"), HasSubstr("Updates take"),
                              HasSubstr("step 2: learner.options.batch: 64 -> 128"), HasSubstr("headroom of the updates: "),
                              HasSubstr("were measured."), HasSubstr("learning, eval/return over 5 and 5 seeds: ")));
  const nlohmann::json& epochs = result["steps"][0];
  EXPECT_EQ(epochs["finding"], "update_bound");
  EXPECT_TRUE(epochs["kept"].get<bool>());
  // 2 of 4 ms per update are gone, in addition to 16 steps of 16 cartpoles.
  EXPECT_GT(epochs.at("gain")["ratio"], 1.3);
  EXPECT_LT(epochs.at("gain")["ratio"], 3);
  EXPECT_GT(epochs.at("gain")["low"], 1);
  EXPECT_LT(epochs.at("gain")["low"], epochs.at("gain")["ratio"]);
  EXPECT_FALSE(result["steps"][1]["kept"].get<bool>()) << tune.out;
  EXPECT_LT(result["steps"].at(1).at("gain")["ratio"], 0.9);
  ASSERT_EQ(result["check"]["rounds"].size(), 1u);
  EXPECT_EQ(result["check"]["rounds"][0]["tuned"].size(), 5u);
  // Arms run in turn: now try, try now, now try.
  std::string order;
  for (const nlohmann::json& line : Lines(dir_ / "outputs/toil_tune/steps/1/plan.jsonl"))
    if (line.is_object() && line.contains("name")) order += line["name"].get<std::string>() + " ";
  EXPECT_EQ(order, "now try try now now try ");
  const std::string tuned = ReadFile(dir_ / "outputs/toil_tune/report/tuned.yaml");
  EXPECT_THAT(tuned, AllOf(HasSubstr("experiment: toil_tuned\n"), HasSubstr("epochs: 1\n"), HasSubstr("batch: 64\n"),
                           Not(HasSubstr("budget:\n")), HasSubstr("#   learner.options.epochs: 2 -> 1: "),
                           HasSubstr("# learning, eval/return")));
  // The printed command runs.
  const size_t next = tune.out.find("next:   "), end = tune.out.find('\n', next);
  ASSERT_NE(next, std::string::npos) << tune.out;
  const std::string line = tune.out.substr(next, end - next), run = line.substr(line.find(" run ") + 1);
  EXPECT_THAT(run, HasSubstr("--set budget.env_steps=8000"));
  const Finished trained = Run(run);
  EXPECT_EQ(trained.exit, 0) << trained.err;
  EXPECT_TRUE(std::filesystem::exists(dir_ / "outputs/toil_tuned/run.json"));
  // The same command runs no trial again.
  const Finished again = Run("tune toil.yaml --json --check-steps 2000" + kQuick);
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out), result);
  EXPECT_EQ(Attempts(1), 6u);
}

TEST_F(TuneCommand, UndoesStepsThatHarmLearning) {
  Write("toil.yaml", kToil);
  const Finished tune =
      Run("tune toil.yaml --set learner.options.needs_epochs=2 --set learner.options.most_batch=64 "
          "--check-steps 4000" +
          kQuick);
  ASSERT_EQ(tune.exit, 0) << tune.err << tune.out;
  const nlohmann::json result = Record()["result"];
  ASSERT_EQ(result["steps"].size(), 2u) << tune.out;
  if (NoiseHidTheGain(tune, result["steps"][0])) GTEST_SKIP() << "the machine is busy: " << tune.out;
  ASSERT_EQ(result["check"]["rounds"].size(), 1u) << tune.out;
  EXPECT_TRUE(result["steps"][0]["taken_back"].get<bool>()) << tune.out;
  EXPECT_TRUE(result["check"]["rounds"][0]["worse"].get<bool>());
  EXPECT_LT(result["check"]["rounds"][0]["high"], 0);
  EXPECT_THAT(tune.out, AllOf(HasSubstr("worse with the changes"), HasSubstr("taken back"), HasSubstr("3 of 3 trials: "),
                              HasSubstr("batch is above most_batch")))
      << "the report has the plugin's reason for rejecting a change";
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs/toil_tune/report/tuned.yaml")) << "nothing was kept";
}

TEST_F(TuneCommand, ACrashOfTheReportProgramLosesOnlyItsStep) {
  Write("toil.yaml", kToil);
  const std::string crashes_at_step_1 =
      "request=$(cat)\n"
      "case \"$1$request\" in --measures*steps/1*) kill -KILL $$;; esac\n"
      "printf %s \"$request\" | " BACKPLANE_BINARY_DIR "/bin/backplane-report \"$@\"";
  const Finished tune = RunBesideReportProgram(crashes_at_step_1, "tune toil.yaml --no-check" + kQuick);
  EXPECT_EQ(0, tune.exit) << tune.err;
  EXPECT_THAT(tune.out, HasSubstr("cannot read the measures: backplane-report was ended by: Killed"));
  const nlohmann::json steps = Record()["result"]["steps"];
  ASSERT_GE(steps.size(), 2u) << tune.out;
  EXPECT_FALSE(steps[0]["kept"].get<bool>());
}

TEST_F(TuneCommand, ResumesAfterAnInterruptWithoutRepeatingFinishedTrials) {
  Write("toil.yaml", kToil);
  const std::string command = "tune toil.yaml --no-check" + kQuick;
  const pid_t first = Start(command);
  ASSERT_TRUE(Until([&] { return Attempts(1) >= 3; })) << ErrorsOf(first);
  kill(first, SIGINT);
  const Finished stopped = Wait(first);
  EXPECT_EQ(stopped.exit, 130) << stopped.err;
  EXPECT_THAT(stopped.out, AllOf(HasSubstr("interrupted"), HasSubstr("resume: "), HasSubstr(" tune toil.yaml ")));
  const Finished done = Run(command);
  ASSERT_EQ(done.exit, 0) << done.err << done.out;
  EXPECT_EQ(Attempts(0), 2u);
  EXPECT_LE(Attempts(1), 7u) << "six trials, and the interrupted one again";
  EXPECT_EQ(Record()["result"]["steps"].size(), 2u);
  EXPECT_GT(Record()["times"][1]["seconds"], Record()["times"][0]["seconds"]);
}

TEST_F(TuneCommand, TunesTheOnlyTunablePointOfASweep) {
  Write("toil.yaml", R"(experiment: toil
env: {plugin: cartpole}
budget: {env_steps: 2000}
sweep:
  list:
    - {name: dull, learner: {plugin: random, options: {horizon: 16}}}
    - {name: toil, learner: {plugin: toils}}
)");
  const Finished plan = Run("tune toil.yaml --dry-run" + kWithFixtures);
  EXPECT_EQ(plan.exit, 0) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("note: point toil of the file is tuned"));
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("at most 10m"), HasSubstr("8 trials (4 per side, in turn)"), HasSubstr("nothing was started")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs")) << "a dry run writes nothing";
  const Finished typo = Run("tune toil.yaml --point tool" + kWithFixtures);
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, AllOf(HasSubstr("no point 'tool'; did you mean 'toil'?"), HasSubstr("dull, toil")));
}

TEST_F(TuneCommand, RejectsUntunableFilesBeforeTheStart) {
  Write("toil.yaml", kToil);
  const Finished time = Run("tune toil.yaml --budget soon" + kWithFixtures);
  EXPECT_EQ(time.exit, 2);
  EXPECT_THAT(time.err, AllOf(HasSubstr("--budget"), HasSubstr("expected a time such as 10m"), HasSubstr("soon")));
  Write("results/notes.txt", "mine");
  const Finished folder = Run("tune toil.yaml --out results" + kWithFixtures);
  EXPECT_EQ(folder.exit, 2);
  EXPECT_THAT(folder.err, HasSubstr("results is not empty and contains no tuning"));
  EXPECT_EQ(Run("tune toil.yaml --fresh --out results" + kWithFixtures).exit, 2);
  EXPECT_EQ(ReadFile(dir_ / "results/notes.txt"), "mine");
  const Finished check = Run("tune toil.yaml --no-check --check-steps 5" + kWithFixtures);
  EXPECT_EQ(check.exit, 2);
  const Finished key = Run("tune toil.yaml --set learner.options.epoch=1" + kWithFixtures);
  EXPECT_EQ(key.exit, 2);
  EXPECT_THAT(key.err, HasSubstr("epochs"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs"));
  const Finished refused = Run("tune toil.yaml --set learner.options.most_batch=1" + kQuick);
  EXPECT_EQ(refused.exit, 2) << refused.out;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("the unchanged toil has no SPS"), HasSubstr("batch is above most_batch")));
}

TEST_F(TuneCommand, RejectsTheFolderOfADifferentTuning) {
  Write("toil.yaml", kToil);
  const Finished typo = Run("tune toil.yaml --no-check --for sampling_spss" + kQuick);
  EXPECT_EQ(typo.exit, 2);
  EXPECT_THAT(typo.err, AllOf(HasSubstr("got 'sampling_spss'"), HasSubstr("--for sampling_sps\n")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "outputs")) << "before the first trial";
  const Finished measure = Run("tune toil.yaml --no-check --for train/absent" + kQuick);
  EXPECT_EQ(measure.exit, 1);
  EXPECT_THAT(measure.err, HasSubstr("--for train/absent: no trial has this measure"));
  const Finished other = Run("tune toil.yaml --no-check --set learner.options.epochs=4 --for train/absent" + kQuick);
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("learner.options.epochs: 2 then, 4 now"), HasSubstr("--fresh")));
}

}  // namespace
}  // namespace backplane::end_to_end
