#include "batch/recover.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "contract/checkpoint_files.hpp"
#include "store/damage.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {
namespace {

class RecoverTest : public testing::Test {
 protected:
  RecoverTest() { std::filesystem::create_directories(out_); }
  ~RecoverTest() override { std::filesystem::remove_all(out_); }

  void Result(const std::string& trial, const std::string& text) {
    std::filesystem::create_directories(out_ / "trials" / trial / "attempt-1");
    std::ofstream(out_ / "trials" / trial / "attempt-1/result.json") << text;
  }
  // The record of a trial whose supervisor died during attempt 1.
  TrialRecord Recover(const std::string& trial, const OnFailure& rules = {}) {
    EventLog log(out_ / "events.jsonl");
    log.Append(AttemptStart{}, trial, 1);
    FailurePolicy failure_policy(rules);
    EndOpenAttempts(out_, &log, &failure_policy);
    return *log.record().Find(trial);
  }

  std::filesystem::path out_ = std::filesystem::path(testing::TempDir()) / ("recover_test_" + std::to_string(getpid()));
};

TEST_F(RecoverTest, AWholeResultCounts) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok", "wall_s": 2.5})");
  const TrialRecord trial = Recover("a");
  EXPECT_EQ(trial.state, TrialState::kCompleted);
  EXPECT_TRUE(trial.attempts.back().end.adopted);
  EXPECT_EQ(trial.attempts.back().end.wall_s, 2.5);
}

TEST_F(RecoverTest, AttemptWithoutAResultIsStale) {
  std::filesystem::create_directories(out_ / "trials/a/attempt-1");
  const TrialRecord trial = Recover("a");
  EXPECT_EQ(trial.state, TrialState::kPlanned);
  EXPECT_EQ(trial.outcome, Outcome::kStale);
  EXPECT_EQ(nlohmann::json::parse(*ReadFile(out_ / "trials/a/attempt-1/result.json"))["outcome"], "stale");
}

TEST_F(RecoverTest, RejectedStartCountsAsNothingRun) {
  EventLog log(out_ / "events.jsonl");
  EXPECT_FALSE(AnythingRan(out_));
  log.Append(SessionEnd{"refused"});
  std::filesystem::create_directories(out_ / "trials");
  EXPECT_FALSE(AnythingRan(out_));
  log.Append(AttemptStart{}, "a", 1);
  EXPECT_TRUE(AnythingRan(out_));
  std::filesystem::remove(out_ / "events.jsonl");
  std::filesystem::create_directories(out_ / "trials/a");
  EXPECT_TRUE(AnythingRan(out_)) << "the events are lost, the results are not";
}

TEST_F(RecoverTest, SuggestionsWithoutATrialCountAsRun) {
  EventLog log(out_ / "events.jsonl");
  log.Append(SearchMessage{{{"op", "open"}}, {}});
  EXPECT_FALSE(AnythingRan(out_));
  log.Append(SearchMessage{{{"op", "ask"}}, {{"number", 0}, {"params", {{"lr", 1}}}}});
  EXPECT_TRUE(AnythingRan(out_)) << "otherwise --fresh keeps a search that has dropped all suggestions";
}

TEST_F(RecoverTest, IgnoresATornResult) {
  Result("a", R"({"state": "COMPL)");
  EXPECT_EQ(Recover("a").outcome, Outcome::kStale);
}

TEST_F(RecoverTest, StoppedTrialStaysPlanned) {
  Result("a", R"({"state": "KILLED", "outcome": "killed", "error": "stopped on request"})");
  EXPECT_EQ(Recover("a").state, TrialState::kPlanned);
}

TEST_F(RecoverTest, OutOfDeviceMemoryIsJudgedByItsOwnRule) {
  OnFailure rules;
  rules.device_oom = {FailureAction::kFail};
  Result("a", R"({"state": "FAILED", "outcome": "oom", "on_device": true})");
  Result("b", R"({"state": "FAILED", "outcome": "oom", "on_device": false})");
  EXPECT_EQ(Recover("a", rules).state, TrialState::kFailed);
  EXPECT_EQ(Recover("b", rules).state, TrialState::kInfeasible);
}

TEST_F(RecoverTest, ToleratesKeysOfADifferentType) {
  Result("a", R"({"state": "FAILED", "outcome": 7, "error": null, "wall_s": "long"})");
  EXPECT_EQ(Recover("a").state, TrialState::kFailed);
}

TEST_F(RecoverTest, AdoptsACompleteResultWithoutEvents) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok"})");
  Result("b", R"({"state": "FAILED", "outcome": "nan"})");
  EventLog log(out_ / "events.jsonl");
  FailurePolicy failure_policy{OnFailure()};
  EndOpenAttempts(out_, &log, &failure_policy);
  EXPECT_EQ(log.record().Find("a")->state, TrialState::kCompleted);
  EXPECT_EQ(log.record().Find("b"), nullptr) << "it may run again";
}

// A pruned trial is finished, even if its events were lost.
TEST_F(RecoverTest, PrunedTrialIsFinished) {
  Result("a", R"({"state": "PRUNED", "outcome": "pruned"})");
  EventLog log(out_ / "events.jsonl");
  FailurePolicy failure_policy{OnFailure()};
  EndOpenAttempts(out_, &log, &failure_policy);
  ASSERT_NE(log.record().Find("a"), nullptr);
  EXPECT_EQ(log.record().Find("a")->state, TrialState::kPruned);
}

TEST_F(RecoverTest, IgnoresAResultNestedTooDeeply) {
  Result("a", R"({"state": "COMPLETED", "a": )" + std::string(100000, '[') + std::string(100000, ']') + "}");
  EXPECT_EQ(Recover("a").outcome, Outcome::kStale);
}

TEST_F(RecoverTest, ReportsDamageOfAResultWithoutItsMetrics) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok", "iterations": 3,
                  "metrics_parts": [{"attempt": 1, "lines": 3, "bytes": 48, "crc32c": 7}]})");
  EventLog log(out_ / "events.jsonl");
  FailurePolicy failure_policy{OnFailure()};
  EndOpenAttempts(out_, &log, &failure_policy);
  EXPECT_EQ(log.record().Find("a")->attempts.back().end.files.value().metrics_lines, 3u);
  const std::vector<Damage> found = DamageOf(ResultsFolder{out_}, *log.record().Find("a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found, "no such file");
}

AttemptRecord Ended(unsigned number, Outcome outcome) {
  AttemptRecord attempt{number, 0, 1, {}, {}};
  attempt.end.outcome = outcome;
  return attempt;
}

TEST(OnlyFailed, SelectsFailedTrialsAndTheirRetries) {
  TrialRecord trial;
  trial.state = TrialState::kFailed;
  trial.outcome = Outcome::kNan;
  EXPECT_TRUE(MeantByOnlyFailed(trial, {}));
  EXPECT_TRUE(MeantByOnlyFailed(trial, {"nan"}));
  EXPECT_FALSE(MeantByOnlyFailed(trial, {"signal"}));
  trial.state = TrialState::kPlanned;
  EXPECT_FALSE(MeantByOnlyFailed(trial, {})) << "it never ran";
  trial.attempts = {Ended(1, Outcome::kNan), Ended(2, Outcome::kKilled)};
  EXPECT_TRUE(MeantByOnlyFailed(trial, {}));
  trial.attempts.erase(trial.attempts.begin());
  EXPECT_FALSE(MeantByOnlyFailed(trial, {})) << "it was only stopped";
}

TEST(OnlyDamaged, SelectsTrialsThatWereFinishedOnce) {
  TrialRecord trial;
  trial.attempts = {Ended(1, Outcome::kOk)};
  trial.state = TrialState::kCompleted;
  EXPECT_FALSE(MeantByOnlyDamaged(trial));
  trial.state = TrialState::kPlanned;
  EXPECT_TRUE(MeantByOnlyDamaged(trial));
  trial.attempts.push_back(Ended(2, Outcome::kKilled));
  EXPECT_TRUE(MeantByOnlyDamaged(trial)) << "the same command still selects it after a stop";
  trial.attempts.erase(trial.attempts.begin());
  EXPECT_FALSE(MeantByOnlyDamaged(trial)) << "it was never finished";
}

TEST_F(RecoverTest, CheckpointSetAsideStaysReadable) {
  const TrialFolder folder = TrialFolderOf(out_, "a");
  std::filesystem::create_directories(folder.attempt(2).folder);
  SetCheckpointAside(folder);  // no checkpoint: does nothing
  std::filesystem::create_directories(folder.checkpoint());
  std::ofstream(folder.checkpoint() / "checkpoint.bin") << "bytes";
  ASSERT_TRUE(HasCheckpoint(folder.checkpoint()));
  SetCheckpointAside(folder);
  EXPECT_FALSE(HasCheckpoint(folder.checkpoint()));
  EXPECT_EQ(ReadFile(folder.folder / "checkpoint.before-attempt-3/checkpoint.bin"), "bytes");
}

TEST_F(RecoverTest, EndRecordsFilesOnDisk) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok"})");
  std::ofstream(out_ / "trials/a/attempt-1/metrics.jsonl") << "{}\n{}\ntorn";
  const AttemptFiles whole = Recover("a").attempts.back().end.files.value();
  EXPECT_EQ(whole.metrics_lines, 2u);
  EXPECT_EQ(whole.result.value().sha256, Sha256OfFile(out_ / "trials/a/attempt-1/result.json"));
  std::filesystem::create_directories(out_ / "trials/b/attempt-1");
  const AttemptFiles stale = Recover("b").attempts.back().end.files.value();
  EXPECT_EQ(stale.metrics_lines, 0u);
  EXPECT_EQ(stale.result.value().sha256, Sha256OfFile(out_ / "trials/b/attempt-1/result.json")) << "the one written for it";
}

Plan TwoTrials(const std::string& plugin) {
  Plan plan;
  plan.points.resize(1);
  plan.points[0].id = "p";
  for (const char* id : {"1", "2"}) {
    PlannedTrial trial;
    trial.id = plugin + id;
    trial.seed = id[0] - '0';
    trial.files = {{"env.plugin", plugin}};
    plan.trials.push_back(trial);
  }
  return plan;
}

TEST(ChangedFiles, CountOnlyUnderTrialsThatFinished) {
  BatchRecord record;
  const auto now = TwoTrials("new");
  EXPECT_THAT(ChangedFiles(PlanLines(TwoTrials("old")), now, record), testing::IsEmpty());
  record.trials["old1"].state = TrialState::kCompleted;
  record.trials["old2"].state = TrialState::kFailed;
  const auto changes = ChangedFiles(PlanLines(TwoTrials("old")), now, record);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].key, "env.plugin");
  EXPECT_THAT(changes[0].trials, testing::ElementsAre("old1"));
  record.trials["new1"].state = TrialState::kCompleted;
  EXPECT_THAT(ChangedFiles(PlanLines(TwoTrials("old")), now, record), testing::IsEmpty())
      << "an earlier attempt used these files";
}

// Results of a version without records of files, and deleted files.
TEST(ChangedFiles, IncludeFilesThatWereNotRecordedOrAreGone) {
  BatchRecord record;
  record.trials["old1"].state = TrialState::kCompleted;
  Plan before = TwoTrials("same"), now = TwoTrials("same");
  for (Plan* plan : {&before, &now}) plan->trials[0].id = plan == &before ? "old1" : "new1";
  before.trials[0].files["env.options.file/modules"] = std::string(64, 'a');
  now.trials[0].files["env.options.xml_path/references"] = std::string(64, 'b');
  const auto changes = ChangedFiles(PlanLines(before), now, record);
  ASSERT_EQ(changes.size(), 2u);
  const std::string text = FormatChanges(changes);
  EXPECT_THAT(text,
              testing::HasSubstr("env.options.file/modules         was aaaaaaaaaaaa, is gone: 1 finished trial (first: old1)"));
  EXPECT_THAT(text, testing::HasSubstr("env.options.xml_path/references  was not recorded, is bbbbbbbbbbbb: 1 finished trial"));
  EXPECT_THAT(text, testing::HasSubstr("an older version"));
  EXPECT_THAT(text, testing::HasSubstr("--accept-change"));
}

TEST_F(RecoverTest, StoppedTrialRestartsIfItsPluginChanged) {
  const auto stop = [&](const std::string& trial) {
    std::filesystem::create_directories(out_ / "trials" / trial / "checkpoint");
    std::ofstream(out_ / "trials" / trial / "checkpoint/checkpoint.bin") << "bytes";
  };
  const std::vector<PlanLine> before = PlanLines(TwoTrials("old"));
  const Plan now = TwoTrials("new");
  BatchRecord record;
  const auto changes = [&] { return ChangedUnderStopped(out_, before, now, record); };
  const auto sentence = [&] { return SayBegunAnew(out_, changes(), [](const ChangedFile&) { return "/x/env_a.so"; }); };
  record.trials["old1"].state = TrialState::kPlanned;
  EXPECT_THAT(changes(), testing::IsEmpty()) << "without a checkpoint nothing is lost";
  stop("old1");
  EXPECT_EQ(sentence(),
            "env.plugin (/x/env_a.so) changed since a trial was stopped, so a new trial starts from scratch; the "
            "old one stays in " +
                (out_ / "trials/old1").string() +
                "; to resume it, restore the file of SHA-256 old and repeat the command, with "
                "--accept-change after the new one has ended");
  record.trials["old2"].state = TrialState::kPlanned;
  stop("old2");
  EXPECT_THAT(sentence(),
              testing::AllOf(testing::HasSubstr("since 2 trials were stopped"), testing::HasSubstr("(first: old1)")));
  record.trials["old1"].state = TrialState::kCompleted;
  record.trials["new2"].state = TrialState::kPlanned;
  EXPECT_THAT(changes(), testing::IsEmpty()) << "one is finished, the other started with this file";
}

}  // namespace
}  // namespace backplane
