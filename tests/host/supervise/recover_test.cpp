#include "supervise/recover.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/files.hpp"
#include "store/damage.hpp"

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
  // What becomes of a trial whose supervisor died while attempt 1 ran.
  TrialRecord Recover(const std::string& trial, const OnFailure& rules = {}) {
    EventLog log(out_ / "events.jsonl");
    log.Append("attempt.start", trial, 1, nlohmann::json::object());
    Consequences consequences(rules);
    EndOpenAttempts(out_, &log, &consequences);
    return *log.record().Find(trial);
  }

  std::filesystem::path out_ = std::filesystem::path(testing::TempDir()) / ("recover_test_" + std::to_string(getpid()));
};

TEST_F(RecoverTest, AWholeResultCounts) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok", "wall_s": 2.5})");
  const TrialRecord trial = Recover("a");
  EXPECT_EQ(trial.state, "COMPLETED");
  EXPECT_EQ(trial.attempts.back().end_body["adopted"], true);
  EXPECT_EQ(trial.attempts.back().end_body["wall_s"], 2.5);
}

TEST_F(RecoverTest, WithoutAResultTheAttemptIsStaleAndTheTrialStillToDo) {
  std::filesystem::create_directories(out_ / "trials/a/attempt-1");
  const TrialRecord trial = Recover("a");
  EXPECT_EQ(trial.state, "PLANNED");
  EXPECT_EQ(trial.outcome, "stale");
  EXPECT_EQ(nlohmann::json::parse(*ReadFile(out_ / "trials/a/attempt-1/result.json"))["outcome"], "stale");
}

TEST_F(RecoverTest, ATornResultIsNone) {
  Result("a", R"({"state": "COMPL)");
  EXPECT_EQ(Recover("a").outcome, "stale");
}

TEST_F(RecoverTest, AStoppedTrialIsStillToDo) {
  Result("a", R"({"state": "KILLED", "outcome": "killed", "error": "stopped on request"})");
  EXPECT_EQ(Recover("a").state, "PLANNED");
}

TEST_F(RecoverTest, OutOfDeviceMemoryIsJudgedByItsOwnRule) {
  OnFailure rules;
  rules.device_oom = {FailureAction::kFail};
  Result("a", R"({"state": "FAILED", "outcome": "oom", "on_device": true})");
  Result("b", R"({"state": "FAILED", "outcome": "oom", "on_device": false})");
  EXPECT_EQ(Recover("a", rules).state, "FAILED");
  EXPECT_EQ(Recover("b", rules).state, "INFEASIBLE");
}

TEST_F(RecoverTest, KeysOfAnotherTypeAreNoReasonToGiveUp) {
  Result("a", R"({"state": "FAILED", "outcome": 7, "error": null, "wall_s": "long"})");
  EXPECT_EQ(Recover("a").state, "FAILED");
}

TEST_F(RecoverTest, ACompleteResultWithoutAnyEventIsTakenOver) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok"})");
  Result("b", R"({"state": "FAILED", "outcome": "nan"})");
  EventLog log(out_ / "events.jsonl");
  Consequences consequences{OnFailure()};
  EndOpenAttempts(out_, &log, &consequences);
  EXPECT_EQ(log.record().Find("a")->state, "COMPLETED");
  EXPECT_EQ(log.record().Find("b"), nullptr) << "it may run again";
}

// Whether its events were lost or its metrics: what it says it wrote is what must be there.
TEST_F(RecoverTest, APrunedTrialIsFinishedToo) {
  Result("a", R"({"state": "PRUNED", "outcome": "pruned"})");
  EventLog log(out_ / "events.jsonl");
  Consequences consequences{OnFailure()};
  EndOpenAttempts(out_, &log, &consequences);
  ASSERT_NE(log.record().Find("a"), nullptr);
  EXPECT_EQ(log.record().Find("a")->state, "PRUNED");
}

TEST_F(RecoverTest, AResultThatIsNestedTooDeeplyIsNone) {
  Result("a", R"({"state": "COMPLETED", "a": )" + std::string(100000, '[') + std::string(100000, ']') + "}");
  EXPECT_EQ(Recover("a").outcome, "stale");
}

TEST_F(RecoverTest, AResultWithoutItsMetricsIsTakenOverAndFoundDamaged) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok", "iterations": 3,
                  "metrics_parts": [{"attempt": 1, "lines": 3, "bytes": 48, "crc32c": 7}]})");
  EventLog log(out_ / "events.jsonl");
  Consequences consequences{OnFailure()};
  EndOpenAttempts(out_, &log, &consequences);
  EXPECT_EQ(log.record().Find("a")->attempts.back().end_body.at("files").at("metrics_lines"), 3);
  const std::vector<Damage> found = DamageOf(ResultsFolder{out_}, *log.record().Find("a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].found, "no such file");
}

TEST(OnlyFailed, MeansWhatFailedAndWhatWasUnderWayAgainAfterIt) {
  TrialRecord trial;
  trial.state = "FAILED";
  trial.outcome = "nan";
  EXPECT_TRUE(MeantByOnlyFailed(trial, {}));
  EXPECT_TRUE(MeantByOnlyFailed(trial, {"nan"}));
  EXPECT_FALSE(MeantByOnlyFailed(trial, {"signal"}));
  trial.state = "PLANNED";
  EXPECT_FALSE(MeantByOnlyFailed(trial, {})) << "it never ran";
  trial.attempts = {{1, 0, 1, "nan", ""}, {2, 2, 3, "killed", ""}};
  EXPECT_TRUE(MeantByOnlyFailed(trial, {}));
  trial.attempts.erase(trial.attempts.begin());
  EXPECT_FALSE(MeantByOnlyFailed(trial, {})) << "it was only stopped";
}

TEST(OnlyDamaged, MeansWhatWasFinishedAndIsNotAnyMore) {
  TrialRecord trial;
  trial.attempts = {{1, 0, 1, "ok", ""}};
  trial.state = "COMPLETED";
  EXPECT_FALSE(MeantByOnlyDamaged(trial));
  trial.state = "PLANNED";
  EXPECT_TRUE(MeantByOnlyDamaged(trial));
  trial.attempts.push_back({2, 2, 3, "killed", ""});
  EXPECT_TRUE(MeantByOnlyDamaged(trial)) << "the same command still means it after a stop";
  trial.attempts.erase(trial.attempts.begin());
  EXPECT_FALSE(MeantByOnlyDamaged(trial)) << "it was never finished";
}

TEST_F(RecoverTest, ACheckpointSetAsideIsNoneAndStaysReadable) {
  const TrialFolder folder = TrialFolderOf(out_, "a");
  std::filesystem::create_directories(folder.attempt(2));
  SetCheckpointAside(folder);  // none: nothing to do
  std::filesystem::create_directories(folder.checkpoint());
  std::ofstream(folder.checkpoint() / "checkpoint.bin") << "bytes";
  ASSERT_TRUE(folder.HasCheckpoint());
  SetCheckpointAside(folder);
  EXPECT_FALSE(folder.HasCheckpoint());
  EXPECT_EQ(ReadFile(folder.folder / "checkpoint.before-attempt-3/checkpoint.bin"), "bytes");
}

TEST_F(RecoverTest, TheEndSaysWhatStandsOnTheDisk) {
  Result("a", R"({"state": "COMPLETED", "outcome": "ok"})");
  std::ofstream(out_ / "trials/a/attempt-1/metrics.jsonl") << "{}\n{}\ntorn";
  const nlohmann::json whole = Recover("a").attempts.back().end_body.at("files");
  EXPECT_EQ(whole["metrics_lines"], 2);
  EXPECT_EQ(whole["result"]["sha256"], Sha256OfFile(out_ / "trials/a/attempt-1/result.json"));
  std::filesystem::create_directories(out_ / "trials/b/attempt-1");
  const nlohmann::json stale = Recover("b").attempts.back().end_body.at("files");
  EXPECT_EQ(stale["metrics_lines"], 0);
  EXPECT_EQ(stale["result"]["sha256"], Sha256OfFile(out_ / "trials/b/attempt-1/result.json")) << "the one written for it";
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
  record.trials["old1"].state = "COMPLETED";
  record.trials["old2"].state = "FAILED";
  const auto changes = ChangedFiles(PlanLines(TwoTrials("old")), now, record);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].key, "env.plugin");
  EXPECT_THAT(changes[0].trials, testing::ElementsAre("old1"));
  record.trials["new1"].state = "COMPLETED";
  EXPECT_THAT(ChangedFiles(PlanLines(TwoTrials("old")), now, record), testing::IsEmpty()) << "it ran with these files before";
}

}  // namespace
}  // namespace backplane
