// A small batch on disk: two trials of two points; one trial has a failed attempt before the successful one.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "store/event_log.hpp"
#include "sweep/plan_lines.hpp"

namespace backplane {

class BatchFixture : public testing::Test {
 protected:
  BatchFixture() {
    std::filesystem::create_directories(folder_.out);
    plan_.points = {{"p0", "small", {{"learner.options.lr", 0.5}, {"rollout.num_env_runners", 2}}},
                    {"p1", "a \"big\", one", {{"learner.options.lr", 1}, {"rollout.num_env_runners", 4}}}};
    plan_.trials = {{"t1", 1, 7, {}}, {"t0", 0, 7, {}}};
    plan_.dropped = {{{{"learner.options.lr", 2}}, "where #1", ""}};
    WritePlanFile(folder_.plan(), backplane::PlanLines(plan_));
  }
  ~BatchFixture() override { std::filesystem::remove_all(folder_.out); }

  void Put(const std::string& trial_id, unsigned attempt, const std::string& result, const std::string& metrics = "") {
    const AttemptFolder place = folder_.attempt(trial_id, attempt);
    std::filesystem::create_directories(place.folder);
    std::ofstream(place.result()) << result;
    std::ofstream(place.metrics()) << metrics;
  }
  void Run(EventLog& log, const std::string& trial_id, unsigned attempt, const std::string& outcome, const std::string& state) {
    log.Append(AttemptStart{}, trial_id, attempt);
    AttemptEnd end;
    end.outcome = FromWord<Outcome>(outcome);
    end.state = FromWord<TrialState>(state).value();
    end.why = outcome == "ok" ? "" : "died, it did";
    end.wall_s = 1.5;
    log.Append(end, trial_id, attempt);
  }
  void RunAll() {
    EventLog log(folder_.events());
    log.Append(SessionStart{"here", 1, 1, 2});
    Put("t0", 1, "torn {");
    Run(log, "t0", 1, "signal", "PLANNED");
    Put("t0", 2, kResult, kMetrics);
    Run(log, "t0", 2, "ok", "COMPLETED");
    Run(log, "t1", 1, "nan", "FAILED");
    log.Append(SessionEnd{"done"});
  }
  std::vector<PlanLine> PlanLines() const { return ReadPlanFile(folder_.plan()); }
  BatchRecord Record() const { return ReadBatchRecord(folder_.events()); }

  const std::string kResult = R"({"state":"COMPLETED","sps":1000.5,"sampling_sps":2000,"iterations":2,"env_steps":512,
    "return":{"mean":3.5,"sd":1,"se":0.5,"n":4},
    "metrics":{"ep/length":{"mean":null,"sd":null,"se":null,"n":4},"ep/never":{"mean":null,"sd":null,"se":null,"n":0}},
    "evaluation":{"return":{"mean":9,"sd":null,"se":null,"n":1},"metrics":{"ep/length":{"mean":5,"sd":0,"se":0,"n":2}}},
    "floor_zero":null})";
  const std::string kMetrics =
      R"({"iteration":1,"step":256,"episodes":0,"return":{"mean":null,"n":0},"ep":{},"metrics":{"train/loss":null},"time":{"t":0.5,"machine":{"m":2}}})"
      "\n"
      R"({"iteration":2,"step":512,"episodes":3,"return":{"mean":3.5,"n":3},"ep":{"ep/length":{"mean":7,"n":3}},"metrics":{"train/loss":0.25},"eval":{"return":{"mean":8,"n":1},"metrics":{"ep/length":{"mean":6,"n":1}}}})"
      "\ntorn";
  ResultsFolder folder_{std::filesystem::path(testing::TempDir()) / ("batch_fixture_" + std::to_string(getpid()))};
  Plan plan_;
};

}  // namespace backplane
