#include "screen/batch_view.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <optional>

#include "store/out_folder.hpp"
#include "support/batch_fixture.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

class BatchViewTest : public BatchFixture {
 protected:
  void PutStatus(const std::string& trial_id, unsigned attempt, double progress, double own_s = 0, uint64_t iteration = 0) {
    std::filesystem::create_directories(folder_.attempt(trial_id, attempt).folder);
    StatusFile status{};
    std::memcpy(status.magic, kStatusMagic, 8);
    status.progress = progress;
    status.own_s = own_s;
    status.iteration = iteration;
    status.sps = 77;
    status.episode_return = 1.5;
    std::strcpy(status.live[0].name, "ep/length");
    std::strcpy(status.live[1].name, "train/loss");
    status.live[0].value = 11, status.live[1].value = 0.5;
    std::ofstream(folder_.attempt(trial_id, attempt).status(), std::ios::binary)
        .write(reinterpret_cast<const char*>(&status), sizeof status);
  }
};

TEST_F(BatchViewTest, RejectsAFolderWithoutAPlan) {
  std::filesystem::remove(folder_.plan());
  try {
    BatchView view(folder_.out);
    FAIL() << "accepted as results";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a results folder, got one without plan.jsonl"));
  }
}

TEST_F(BatchViewTest, ShowsMeasuredValuesAfterTheEnd) {
  RunAll();
  const BatchView view(folder_.out);
  EXPECT_FALSE(view.running());
  ASSERT_EQ(2u, view.rows().size()) << "dropped points are no trials";
  EXPECT_EQ(TrialState::kFailed, view.rows()[0].state);
  EXPECT_EQ("died, it did", view.rows()[0].why);
  EXPECT_EQ(TrialState::kCompleted, view.rows()[1].state);
  EXPECT_EQ(1000.5, view.rows()[1].sps);
  EXPECT_EQ(3.5, view.rows()[1].episode_return);
  EXPECT_EQ(1.5, view.rows()[1].elapsed_s);
  const BatchProgress progress = view.Progress();
  EXPECT_EQ("done", progress.head.state);
  EXPECT_EQ(folder_.out.filename().string(), progress.head.experiment);
  EXPECT_EQ(2u, progress.trials[1].attempt);
  EXPECT_FALSE(progress.head.eta_s);
}

TEST_F(BatchViewTest, FollowsEventsAndStatusWhileItRuns) {
  BatchView view(folder_.out);
  EXPECT_EQ(TrialState::kPlanned, view.rows()[1].state);
  const OutLock lock(folder_.out);
  EventLog log(folder_.events());
  log.Append(SessionStart{});
  PutStatus("t0", 1, 0.25);
  log.Append(AttemptStart{}, "t0", 1);
  view.Refresh();
  EXPECT_TRUE(view.running());
  EXPECT_EQ(TrialState::kRunning, view.rows()[1].state);
  EXPECT_EQ(0.25, view.rows()[1].progress);
  EXPECT_EQ(77, view.rows()[1].sps);
  ASSERT_EQ(2u, view.rows()[1].live.size());
  EXPECT_EQ("ep/length", view.rows()[1].live[0].name);
  EXPECT_EQ(11, view.rows()[1].live[0].value);
  EXPECT_TRUE(view.totals().left_s) << "a trial at a quarter gives an estimate";
  EXPECT_EQ("running", view.Progress().head.state);
  Put("t0", 1, kResult);
  AttemptEnd end;
  end.state = TrialState::kCompleted;
  end.wall_s = 8;
  log.Append(end, "t0", 1);
  view.Refresh();
  EXPECT_EQ(TrialState::kCompleted, view.rows()[1].state);
  EXPECT_EQ(1, view.rows()[1].progress);
  EXPECT_EQ(1000.5, view.rows()[1].sps) << "from the result, not from the status";
  EXPECT_EQ(0.5, view.rows()[1].live[1].value) << "values missing in the result keep their last value";
}

TEST_F(BatchViewTest, NamesTheEvidenceOfTheExpectedDuration) {
  BatchView view(folder_.out);
  const OutLock lock(folder_.out);
  EventLog log(folder_.events());
  log.Append(SessionStart{});
  PutStatus("t0", 1, 0.004, 4, 1);
  log.Append(AttemptStart{}, "t0", 1);
  view.Refresh();
  EXPECT_EQ(std::nullopt, view.totals().left_s) << "the first iteration warms up";
  EXPECT_EQ("", view.totals().left_from);
  PutStatus("t0", 1, 0.008, 8, 2);
  view.Refresh();
  EXPECT_EQ("after 2 iterations", view.totals().left_from);
  ASSERT_TRUE(view.totals().left_s);
  EXPECT_NEAR(2 * 1000 - 8, *view.totals().left_s, 1e-6) << "this trial, and one that waits";
  // A trial of an earlier plan in this folder serves until one of this plan has finished.
  AttemptEnd end;
  end.state = TrialState::kCompleted;
  end.wall_s = 50;
  log.Append(AttemptStart{}, "of_an_earlier_plan", 1);
  log.Append(end, "of_an_earlier_plan", 1);
  view.Refresh();
  EXPECT_EQ("from 1 finished trial", view.totals().left_from);
}

TEST_F(BatchViewTest, CountsOnlyTrialsThatANodeRuns) {
  const OutLock lock(folder_.out);
  EventLog log(folder_.events());
  log.Append(SessionStart{});
  log.Append(AttemptStart{{}, {}, false, /*queued=*/true}, "t0", 1);
  log.Append(AttemptStart{{}, {}, false, /*queued=*/true}, "t1", 1);
  log.Append(EngineWait{"Slurm: Resources"});
  BatchView view(folder_.out);
  const auto state = [&](size_t row) {
    view.Refresh();
    return view.rows()[row].state;
  };
  EXPECT_EQ(TrialState::kQueued, state(1));
  EXPECT_EQ("0:00 in the queue", view.rows()[1].why);
  EXPECT_EQ("Slurm: Resources", view.totals().waits_for);
  EXPECT_EQ(std::nullopt, view.totals().left_s) << "the length of the queue is unknown";
  const std::string json = ProgressText().Of(view.Progress());
  EXPECT_THAT(json, HasSubstr("\"counts\":{\"QUEUED\":2}"));
  EXPECT_THAT(json, HasSubstr("\"waits_for\":\"Slurm: Resources\""));

  log.Append(EngineWait{});
  log.Append(AttemptMove{}, "t0", 1);
  EXPECT_EQ(TrialState::kRunning, state(1));
  EXPECT_EQ("", view.totals().waits_for);
  log.Append(AttemptMove{TrialState::kLost, "its node node1 has given no sign of life for 34 s"}, "t0", 1);
  EXPECT_EQ(TrialState::kLost, state(1));
  EXPECT_EQ("its node node1 has given no sign of life for 34 s", view.rows()[1].why);
  log.Append(AttemptMove{}, "t0", 1);
  EXPECT_EQ(TrialState::kRunning, state(1)) << "it is back";

  AttemptEnd lost;
  lost.outcome = Outcome::kStale;
  lost.state = TrialState::kPlanned;
  lost.why = "its node was lost: Slurm's job 12.0 has ended";
  log.Append(lost, "t0", 1);
  EXPECT_EQ(TrialState::kLost, state(1));
  log.Append(AttemptStart{{}, {}, false, /*queued=*/true}, "t0", 2);
  EXPECT_EQ(TrialState::kLost, state(1)) << "until another node runs it";
  EXPECT_EQ("its node was lost: Slurm's job 12.0 has ended; 0:00 in the queue", view.rows()[1].why);
  log.Append(AttemptMove{}, "t0", 2);
  EXPECT_EQ(TrialState::kRunning, state(1));
}

TEST_F(BatchViewTest, ShowsForgottenTrials) {
  RunAll();
  BatchView view(folder_.out);
  const std::string before = ProgressText().Of(view.Progress());
  view.ForgetEnded();
  EXPECT_TRUE(view.record().trials.empty());
  view.Refresh();
  EXPECT_EQ(TrialState::kFailed, view.rows()[0].state);
  EXPECT_EQ("died, it did", view.rows()[0].why);
  BatchProgress after = view.Progress();
  EXPECT_EQ(2u, after.trials[1].attempt);
  const auto without_time = [](std::string text) { return text.substr(text.find("\"trials\"")); };
  EXPECT_EQ(without_time(before), without_time(ProgressText().Of(after)));
}

TEST_F(BatchViewTest, KeepsRunningTrials) {
  const OutLock lock(folder_.out);
  EventLog log(folder_.events());
  log.Append(SessionStart{});
  log.Append(AttemptStart{}, "t0", 1);
  Run(log, "t1", 1, "signal", "PLANNED");
  BatchView view(folder_.out);
  view.ForgetEnded();
  EXPECT_EQ(2u, view.record().trials.size()) << "one runs, one is tried again";
}

TEST_F(BatchViewTest, OmitsHoursWithoutARun) {
  const double now = static_cast<double>(time(nullptr)), day = 86400;
  std::ofstream events(folder_.events());
  int seq = 0;
  const auto put = [&](double t, const std::string& rest) {
    events << "{\"v\":1,\"boot_id\":\"\",\"seq\":" << ++seq << ",\"t\":" << std::fixed << t << "," << rest << "}\n";
  };
  put(now - 3 * day, R"("kind":"session.start")");
  put(now - 3 * day + 40, R"("kind":"session.end","why":"interrupted")");
  put(now - 2 * day, R"("kind":"session.start")");  // killed
  put(now - 2 * day + 1, R"("kind":"attempt.start","trial_id":"t0","attempt":1)");
  put(now - day, R"("kind":"session.start")");
  put(now - day + 7, R"("kind":"session.end","why":"done")");
  events.close();
  PutStatus("t0", 1, 0.5, /*own_s=*/20);
  EXPECT_NEAR(BatchView(folder_.out).totals().elapsed_s, 40 + 21 + 7, 0.01);
}

// Two suggestions of one seed, then a third that repeats the first point. 8 of 10 are to come, and 3 trials confirm.
TEST_F(BatchViewTest, CountsTrialsToComeUntilASearchConfirms) {
  EventLog log(folder_.events());
  log.Append(SessionStart{"here", 1, 1, 13});
  log.Append(SearchMessage{{{"op", "open"}}, {}});
  const auto suggest = [&](uint64_t number, const char* point) {
    log.Append(SearchMessage{{{"op", "ask"}}, {{"number", number}, {"params", {{"lr", 1}}}}});
    log.Append(SearchPoint{number, point, ""});
  };
  suggest(0, "p0");
  suggest(1, "p1");
  EXPECT_EQ(11u, BatchView(folder_.out).totals().to_come) << "also without a supervisor";
  suggest(2, "p0");
  EXPECT_EQ(10u, BatchView(folder_.out).totals().to_come) << "a known point runs no trial";
  EXPECT_EQ(10u, BatchView(folder_.out).Progress().to_come);
  plan_.trials.push_back({"t0c", 0, 1007, {}});
  plan_.trials.back().confirms = true;
  WritePlanFile(folder_.plan(), backplane::PlanLines(plan_));
  EXPECT_EQ(0u, BatchView(folder_.out).totals().to_come) << "a search confirms when it is over";
}

TEST_F(BatchViewTest, ReportsTheBestOfASearch) {
  EventLog log(folder_.events());
  log.Append(SessionStart{"here", 1, 1, 13});
  log.Append(SearchMessage{{{"op", "open"}, {"metric", "score"}, {"direction", "minimize"}}, {}});
  const auto tell = [&](uint64_t number, const char* state, double value) {
    log.Append(SearchMessage{{{"op", "ask"}}, {{"number", number}, {"params", {{"lr", 1}}}}});
    log.Append(SearchPoint{number, number == 1 ? plan_.points[0].id : "gone", ""});
    log.Append(SearchMessage{{{"op", "tell"}, {"number", number}, {"state", state}, {"value", value}}, {}});
  };
  EXPECT_EQ("", BatchView(folder_.out).totals().best);
  tell(0, "complete", 3.5);
  EXPECT_EQ("score 3.5, number 0", BatchView(folder_.out).totals().best) << "for a point missing in this plan";
  tell(1, "complete", 2.25);
  tell(2, "complete", 2.75);
  tell(3, "pruned", 1);
  EXPECT_EQ("score 2.25, number 1: " + plan_.points[0].name, BatchView(folder_.out).totals().best);
  tell(4, "complete", 2.25);
  log.Append(SearchMessage{{{"op", "tell"}, {"number", 4}, {"state", "pruned"}, {"at_end", 2}}, {}});
  EXPECT_EQ("score 2, number 4", BatchView(folder_.out).totals().best) << "it was pruned too late to stop it";
}

TEST_F(BatchViewTest, FinishedSearchAddsNothing) {
  EventLog log(folder_.events());
  log.Append(SessionStart{"here", 1, 1, 13});
  log.Append(SearchMessage{{{"op", "open"}}, {}});
  log.Append(SessionEnd{"done"});
  EXPECT_EQ(0u, BatchView(folder_.out).totals().to_come);
}

TEST_F(BatchViewTest, TrialOfADeadSupervisorRunsAgain) {
  EventLog log(folder_.events());
  log.Append(SessionStart{});
  log.Append(AttemptStart{}, "t0", 1);
  const BatchView view(folder_.out);
  EXPECT_EQ(TrialState::kPlanned, view.rows()[1].state);
  EXPECT_THAT(view.rows()[1].why, HasSubstr("`run` ended before this trial did"));
  EXPECT_EQ("interrupted", view.Progress().head.state);
}

}  // namespace
}  // namespace backplane
