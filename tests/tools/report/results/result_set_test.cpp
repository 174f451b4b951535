#include "results/result_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/parallel_efficiency.hpp"
#include "support/result_folder.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kResult = R"({"schema":1,"state":"COMPLETED","outcome":"ok","sps":1000,"sampling_sps":2000,"iterations":3,
  "env_steps":3000,"episodes":6,"wall_s":3.5,"trial_s":3.5,"threads":2,"learner_threads":2,"rollout":{"balance":0.9},
  "monitors":{"cpu_s":0.01,"process_cpu_s":5},"facts":{"learner.learns":{"update_path":"fused","cores":2}},
  "phases":[{"name":"env_step","seconds":6,"share":0.75},{"name":"idle","seconds":2,"share":0.25}],
  "time":{"environment":{"seconds":6,"share":0.75,"cpu_use":0.9,"machine":{"resources/gpu_util_pct":12.5,"x":1}},
    "idle":{"seconds":2,"share":0.25,"cpu_use":null,"machine":{}},"unnamed":{"seconds":0,"share":0}},
  "measures":{"train/loss":{"unit":"nats","direction":-1,"doc":"of it"}},
  "return":{"mean":3.5,"sd":1,"se":0.5,"n":4},"metrics":{"ep/length":{"mean":null,"sd":null,"se":null,"n":4},
  "ep/never":{"mean":null,"n":0}},"evaluation":{"return":{"mean":9,"n":1},"metrics":{}}})";

std::string Iteration(int number, double sps, double loss) {
  return nlohmann::json{{"iteration", number},
                        {"step", 1000 * number},
                        {"episodes", 2 * number},
                        {"return", {{"mean", number}, {"n", 2}}},
                        {"metrics", {{"train/loss", loss}}},
                        {"time", {{"t", number * 1.1}, {"iteration_s", 1.0}, {"sps", sps}, {"sampling_sps", 2 * sps}}}}
             .dump() +
         "\n";
}

const std::string kMetrics = Iteration(1, 500, 3) + Iteration(2, 900, 2) + Iteration(3, 1100, 1) + R"({"iteration":4,"ti)";

class ResultSetTest : public testing::Test {
 protected:
  void Complete(const std::string& id) {
    folder_.Start(id);
    folder_.WriteAttempt(id, "result.json", kResult);
    folder_.WriteAttempt(id, "metrics.jsonl", kMetrics);
    folder_.End(id, "COMPLETED", "ok");
  }
  ResultSet Read() const { return ReadResultSet(folder_.out()); }
  TrialData Trial() const { return Read().trials.at(0); }
  std::string ErrorOfReading() const {
    try {
      Read();
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  ResultFolder folder_;
};

TEST_F(ResultSetTest, ReadsTheFieldsOfAResult) {
  folder_.Plan("t1", "one", {{"rollout.num_env_runners", 1}}, 7);
  Complete("t1");
  const ResultSet set = Read();
  EXPECT_EQ("walk", set.experiment);
  EXPECT_EQ("here", set.run.host.hostname);
  EXPECT_FALSE(set.config.contains("sweep"));
  const TrialData& trial = set.trials.at(0);
  EXPECT_TRUE(trial.usable());
  EXPECT_EQ("one", trial.point);
  EXPECT_EQ(7u, trial.seed);
  EXPECT_GT(trial.ended, 0);
  EXPECT_THAT(trial.cores, ElementsAre(0, 1));
  EXPECT_THAT(trial.facts, ElementsAre("learner.learns cores 2", "learner.learns update_path fused"));
  const std::map<std::string, double> expected = {{"wall_s", 3.5},
                                                  {"attempt_s", 9.5},
                                                  {"iterations", 3},
                                                  {"env_steps", 3000},
                                                  {"episodes", 6},
                                                  {"threads", 2},
                                                  {"learner_threads", 2},
                                                  {"balance", 0.9},
                                                  {"monitor_cpu_pct", 0.2},
                                                  {"phase/env_step", 75},
                                                  {"phase/idle", 25},
                                                  {"phase/update_optim", 0},
                                                  {"rss_peak_mb", 200},
                                                  {"minutes", 3.5 / 60},
                                                  {"seconds_per_episode", 3.5 / 6},
                                                  {"steps_per_episode", 500},
                                                  {"eval/return", 9},
                                                  {"measured_s", 2},
                                                  {"time/environment_pct", 75},
                                                  {"time/environment_s", 6},
                                                  {"time/environment_cpu_pct", 90},
                                                  {"time/environment_gpu_pct", 12.5},
                                                  {"time/idle_pct", 25},
                                                  {"time/unnamed_pct", 0}};
  EXPECT_EQ(nullptr, trial.Find("time/idle_cpu_pct")) << "not measured";
  EXPECT_EQ("nats", trial.registered.at("train/loss").unit);
  EXPECT_EQ(-1, trial.registered.at("train/loss").direction);
  for (const auto& [name, value] : expected) {
    ASSERT_NE(nullptr, trial.Find(name)) << name;
    EXPECT_DOUBLE_EQ(value, trial.Find(name)->value) << name;
  }
}

TEST_F(ResultSetTest, SpeedHasTheSpreadOfTheIterationsAfterTheFirst) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  const TrialData trial = Trial();
  EXPECT_EQ(1000, trial.Find("SPS")->value);
  EXPECT_EQ(2u, trial.Find("SPS")->n);
  EXPECT_EQ("iterations", trial.Find("SPS")->of);
  EXPECT_DOUBLE_EQ(std::sqrt(20000), *trial.Find("SPS")->sd);
  EXPECT_DOUBLE_EQ(2 * std::sqrt(20000), *trial.Find("sampling_sps")->sd);
}

TEST_F(ResultSetTest, EpisodesCountBehindTheReturn) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  const TrialData trial = Trial();
  EXPECT_EQ(3.5, trial.Find("return")->value);
  EXPECT_EQ(4u, trial.Find("return")->n);
  EXPECT_EQ("episodes", trial.Find("return")->of);
  EXPECT_TRUE(std::isnan(trial.Find("ep/length")->value));  // measured, and not finite
  EXPECT_EQ(nullptr, trial.Find("ep/never"));
}

TEST_F(ResultSetTest, TheMeanIsOfTheFiniteOnesOfTheLastTenth) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  const auto measured = [this](const std::vector<double>& losses) {
    std::string lines;
    for (size_t i = 0; i < losses.size(); ++i) lines += Iteration(static_cast<int>(i + 1), 1000, losses[i]);
    folder_.WriteAttempt("t1", "metrics.jsonl", lines);
    return Trial();
  };
  std::vector<double> losses(40, 1);
  losses[37] = NAN, losses[39] = 4;
  TrialData trial = measured(losses);
  EXPECT_EQ(2, trial.Find("train/loss")->value) << "1, 1 and 4";
  EXPECT_EQ(3u, trial.Find("train/loss")->n);
  EXPECT_EQ(3u, trial.not_finite.at("train/loss").finite);
  EXPECT_EQ(4u, trial.not_finite.at("train/loss").last);
  EXPECT_EQ(3.5, measured({1, 3, 4, INFINITY}).Find("train/loss")->value) << "3 values at least";
  EXPECT_TRUE(std::isnan(measured({1, NAN, NAN, -INFINITY}).Find("train/loss")->value)) << "it diverged";
  trial = measured(std::vector<double>(20, NAN));
  EXPECT_EQ(nullptr, trial.Find("train/loss")) << "it never was finite";
  EXPECT_FALSE(trial.not_finite.at("train/loss").ever);
  EXPECT_TRUE(measured({NAN, 1, 2, 3}).not_finite.empty()) << "before the first episode ended";
}

TEST_F(ResultSetTest, AveragesPluginMeasuresOverTheLastTenth) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  EXPECT_EQ(1, Trial().Find("train/loss")->value);
  std::string many;
  for (int i = 1; i <= 20; ++i) many += Iteration(i, 1000, i);
  folder_.WriteAttempt("t1", "metrics.jsonl", many);
  EXPECT_EQ(19.5, Trial().Find("train/loss")->value);
  EXPECT_EQ(2u, Trial().Find("train/loss")->n);
}

TEST_F(ResultSetTest, APeakIsTheLargestOfAllIterations) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  std::string lines;
  for (const double value : {5.0, 9.0, 4.0})
    lines += nlohmann::json{{"iteration", 1}, {"metrics", {{"device/peak_mb", value}, {"speaker/loss", value}}}}.dump() + "\n";
  folder_.WriteAttempt("t1", "metrics.jsonl", lines);
  EXPECT_EQ(9, Trial().Find("device/peak_mb")->value);
  EXPECT_EQ(4, Trial().Find("speaker/loss")->value);
}

TEST_F(ResultSetTest, CurvesHaveStepsAndTime) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  const std::vector<CurvePoint> curve = Trial().curves.at("SPS");
  ASSERT_EQ(3u, curve.size());  // the torn last line is left out
  EXPECT_EQ(2u, curve[1].iteration);
  EXPECT_EQ(2000, curve[1].env_steps);
  EXPECT_EQ(2.2, curve[1].time_s);
  EXPECT_EQ(900, curve[1].value);
  EXPECT_EQ(1, Trial().curves.at("train/loss").back().value);
}

TEST_F(ResultSetTest, AResumedAttemptExtendsThePreviousCurve) {
  folder_.Plan("t1", "one", {});
  folder_.Start("t1");
  folder_.WriteAttempt("t1", "metrics.jsonl", Iteration(1, 10, 1) + Iteration(2, 20, 1) + Iteration(3, 30, 1));
  folder_.End("t1", "PLANNED", "killed");
  folder_.Start("t1", 2, /*resumed=*/true);
  folder_.WriteAttempt("t1", "metrics.jsonl", Iteration(3, 33, 1) + Iteration(4, 44, 1), 2);
  folder_.WriteAttempt("t1", "result.json", kResult, 2);
  folder_.End("t1", "COMPLETED", "ok", "", 2);
  std::vector<double> values;
  const TrialData trial = Trial();
  for (const CurvePoint& point : trial.curves.at("SPS")) values.push_back(point.value);
  EXPECT_THAT(values, ElementsAre(10, 20, 33, 44));
  EXPECT_EQ(1u, trial.Find("SPS")->n);  // the first iteration of the new process warms up again
}

// The line of the evaluation before it also has the number 0.
TEST_F(ResultSetTest, AnIterationZeroWarmsUpAndTheFirstOneIsMeasured) {
  folder_.Plan("t1", "one", {});
  folder_.Start("t1");
  std::string zero = Iteration(0, 500, 3);
  zero.replace(zero.find("\"step\":0"), 8, "\"step\":64");
  folder_.WriteAttempt("t1", "metrics.jsonl",
                       R"({"iteration":0,"step":0,"eval":{"return":{"mean":1,"n":1}},"time":{"t":0.1}})"
                       "\n" +
                           zero + Iteration(1, 900, 2) + Iteration(2, 1100, 1));
  folder_.WriteAttempt("t1", "result.json", kResult);
  folder_.End("t1", "COMPLETED", "ok");
  const TrialData trial = Trial();
  EXPECT_EQ(2u, trial.Find("SPS")->n);
  EXPECT_EQ(2, trial.Find("measured_s")->value);
  std::vector<bool> warm;
  for (const CurvePoint& point : trial.curves.at("SPS")) warm.push_back(point.warms_up);
  EXPECT_THAT(warm, ElementsAre(true, false, false));
  EXPECT_EQ(0, trial.curves.at("eval/return").at(0).env_steps) << "before it learned anything";
  EXPECT_EQ(64, trial.curves.at("SPS").at(0).env_steps);
}

TEST_F(ResultSetTest, ReadsThePrecisionOfTheResult) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  nlohmann::json result = nlohmann::json::parse(kResult);
  EXPECT_EQ(nullptr, Trial().Find("precision/missed"));
  result["precision"] = {{"wanted_pct", 5}, {"reached_pct", 8.25}, {"iterations", 4}, {"seconds", 8}, {"reached", false}};
  folder_.WriteAttempt("t1", "result.json", result.dump());
  EXPECT_EQ(8.25, Trial().Find("precision/reached_pct")->value);
  EXPECT_EQ(1, Trial().Find("precision/missed")->value);
}

TEST_F(ResultSetTest, ResourcesAreReadByTheirHeaderWithoutTheWarmUp) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  folder_.WriteAttempt("t1", "resources.csv",
                       "time_s,iteration,cpu_quota_pct,rss_peak_mb,gpu_util_pct,new_column\n1,0,5,300,,1\n2,1,10,310,,\n"
                       "3,2,20,320,,4\n4,3,3");
  const TrialData trial = Trial();
  const Number cpu = *trial.Find("resources/cpu_quota_pct");
  EXPECT_EQ(15, cpu.value);
  EXPECT_EQ(20, *cpu.max);
  EXPECT_EQ(20, *cpu.p95);
  EXPECT_EQ(2u, cpu.n);
  EXPECT_EQ("samples", cpu.of);
  EXPECT_EQ(4, trial.Find("resources/new_column")->value);
  EXPECT_EQ(nullptr, trial.Find("resources/gpu_util_pct"));  // empty throughout
  EXPECT_EQ(nullptr, trial.Find("resources/iteration"));
  EXPECT_EQ(nullptr, trial.Find("vram_peak_mb"));
  EXPECT_EQ(320, trial.Find("rss_peak_mb")->value);  // larger than the supervisor's value
}

TEST_F(ResultSetTest, WeighsASampleByItsDuration) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  folder_.WriteAttempt("t1", "resources.csv",
                       "time_s,iteration,cpu_cores_used,run_queue_wait_pct\n2,0,9,9\n2.5,1,2,30\n3.5,1,0.5,60\n");
  const TrialData trial = Trial();
  const Number cores = *trial.Find("resources/cpu_cores_used"), wait = *trial.Find("resources/run_queue_wait_pct");
  EXPECT_DOUBLE_EQ(1, cores.value) << "0.5 s of 2 and 1 s of 0.5: the row before the first one counts as its beginning";
  EXPECT_DOUBLE_EQ(40, wait.value) << "1 s of CPU time of 30 and 0.5 s of 60";
  EXPECT_DOUBLE_EQ(1, *cores.sd);
  EXPECT_EQ(2u, cores.n);
  EXPECT_FALSE(cores.low || cores.high) << "successive samples are not independent";
}

TEST_F(ResultSetTest, WeighsSamplesEquallyWithoutTimes) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  folder_.WriteAttempt("t1", "resources.csv", "cpu_cores_used,run_queue_wait_pct\n2,30\n0.5,60\n");
  EXPECT_DOUBLE_EQ(36, Trial().Find("resources/run_queue_wait_pct")->value) << "of CPU time: 2 of 30 and 0.5 of 60";
}

TEST_F(ResultSetTest, SamplesOfTheWarmUpCountIfThereAreNoOthers) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  folder_.WriteAttempt("t1", "resources.csv", "time_s,iteration,cpu_quota_pct\n1,0,5\n2,0,7\n");
  EXPECT_EQ(6, Trial().Find("resources/cpu_quota_pct")->value);
  EXPECT_EQ("samples, warm-up included", Trial().Find("resources/cpu_quota_pct")->of);
  folder_.WriteAttempt("t1", "resources.csv", "time_s,cpu_quota_pct\n1,5\n2,9\n");
  EXPECT_EQ(7, Trial().Find("resources/cpu_quota_pct")->value);
}

TEST_F(ResultSetTest, ReadsTheTrialsConfiguration) {
  folder_.Plan("t1", "one", {});
  folder_.Write("trials/t1/trial.json", R"({"config":{"learner":{"options":{"lr":0.5,"dotted.name":1}}}})");
  const TrialData trial = Trial();
  EXPECT_EQ(0.5, trial.At("learner.options.lr"));
  EXPECT_EQ(1, trial.At("learner.options.dotted.name"));
  EXPECT_TRUE(trial.At("learner.options.other").is_null());
}

TEST_F(ResultSetTest, ATrialThatNeverStartedHasTheConfigurationOfItsPoint) {
  folder_.Plan("t1", "one", {{"rollout.num_env_runners", 1}});
  folder_.Plan("t2", "two", {{"rollout.num_env_runners", 2}}, 3);
  const TrialData trial = Read().trials.at(1);
  EXPECT_EQ(TrialState::kPlanned, trial.state);
  EXPECT_EQ(0, trial.ended);
  EXPECT_TRUE(trial.measures.empty());
  EXPECT_EQ(2, trial.At("rollout.num_env_runners"));
  EXPECT_EQ(1, trial.At("rollout.num_envs_per_env_runner"));
  EXPECT_EQ(0.2, trial.At("learner.options.lr"));
  EXPECT_EQ((nlohmann::json{64, 64}), trial.At("learner.options.hidden"));
  EXPECT_EQ(3, trial.At("seed"));
}

TEST_F(ResultSetTest, FailedAndInterruptedTrialsAreRowsWithReasons) {
  for (const char* id : {"oom", "killed", "running", "planned"}) folder_.Plan(id, id, {});
  folder_.Start("oom");
  folder_.WriteAttempt("oom", "metrics.jsonl", kMetrics);
  folder_.End("oom", "FAILED", "oom", "no memory left");
  folder_.Start("killed");
  folder_.End("killed", "PLANNED", "killed", "stopped");
  folder_.Start("running");
  const ResultSet set = Read();
  EXPECT_EQ(TrialState::kFailed, set.trials[0].state);
  EXPECT_EQ(Outcome::kOom, set.trials[0].outcome);
  EXPECT_EQ("no memory left", set.trials[0].why);
  EXPECT_EQ(1, set.trials[0].Find("train/loss")->value);  // measured values stay
  EXPECT_EQ(nullptr, set.trials[0].Find("SPS"));
  EXPECT_EQ(Outcome::kKilled, set.trials[1].outcome);
  EXPECT_EQ(TrialState::kRunning, set.trials[2].state);
  EXPECT_EQ(TrialState::kPlanned, set.trials[3].state);
}

TEST_F(ResultSetTest, AMissingOrTornResultCostsItsNumbersOnly) {
  folder_.Plan("t1", "one", {});
  Complete("t1");
  folder_.WriteAttempt("t1", "result.json", R"({"sps": 10)");
  const TrialData trial = Trial();
  EXPECT_EQ(nullptr, trial.Find("SPS"));
  EXPECT_EQ(nullptr, trial.Find("phase/idle"));
  EXPECT_EQ(nullptr, trial.Find("resources/cpu_quota_pct"));
  EXPECT_NE(nullptr, trial.Find("train/loss"));
}

TEST_F(ResultSetTest, DroppedPointsAreReportedWithTheirReason) {
  folder_.Plan("t1", "one", {});
  folder_.PlanDropped({{"learner.options.lr", 0.5}, {"env.plugin", "walker"}}, "where #1", "");
  folder_.PlanDropped({{"learner.options.lr", 2}}, "check", "lr is too large");
  EXPECT_THAT(Read().dropped, ElementsAre(std::pair("plugin=walker lr=0.5", "where #1"), std::pair("lr=2", "lr is too large")));
}

TEST_F(ResultSetTest, ErrorsNameTheFile) {
  EXPECT_THAT(ErrorOfReading(), HasSubstr("expected a results folder, got one without plan.jsonl"));
  folder_.Plan("t1", "one", {});
  folder_.Write("run.json", R"({"schema":2})");
  EXPECT_EQ((folder_.out() / "run.json").string() + ": schema: expected 1, got 2", ErrorOfReading());
  folder_.Write("run.json", R"({"schema_version":"x"})");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("run.json: schema_version: expected 1, got \"x\""));
  folder_.Write("run.json", "{}");
  EXPECT_EQ("", ErrorOfReading());
  folder_.Write("config.yaml", "experiment: [\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("config.yaml"));
  folder_.Write("config.yaml", "seed: 1\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("config.yaml: expected \"experiment\" with the experiment's name"));
}

TEST_F(ResultSetTest, ABrokenPlanOrRecordIsAnError) {
  folder_.Plan("t1", "one", {});
  folder_.Write("events.jsonl", "no event\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("events.jsonl:1: not an event"));
  folder_.Write("events.jsonl", "");
  folder_.Write("plan.jsonl", "{}\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("plan.jsonl:1: neither a trial nor a dropped point"));
}

TEST_F(ResultSetTest, AFolderCanBeScored) {
  folder_.Plan("t1", "one", {{"rollout.num_env_runners", 1}});
  folder_.Plan("t2", "one", {{"rollout.num_env_runners", 1}}, 1);
  Complete("t1");
  const ParallelEfficiency found = AnalyseParallelEfficiency(Combine({Read()}), {{"rollout.num_env_runners", 1}});
  ASSERT_EQ(1u, found.settings.size());
  EXPECT_EQ(1u, found.settings[0].usable);
  EXPECT_EQ("1 of 2 seeds not started", found.settings[0].failure);
  EXPECT_EQ(2u, found.settings[0].cores);
  EXPECT_TRUE(found.settings[0].is_short);
  EXPECT_EQ(100, *found.settings[0].efficiency_pct);
}

TEST_F(ResultSetTest, CutsALongerTrialAtTheBudgetOfThePlan) {
  folder_.Plan("t1", "one", {{"rollout.num_env_runners", 1}}, 7, Budget{.iterations = 2});
  folder_.Write("trials/t1/trial.json",
                R"({"config":{"budget":{"iterations":3,"wall_time":null},"schedule_budget":{"iterations":1}}})");
  Complete("t1");
  const TrialData trial = Trial();
  EXPECT_EQ(trial.cut_at, 2u);
  EXPECT_EQ(trial.Find("iterations")->value, 2);
  EXPECT_EQ(trial.Find("env_steps")->value, 2000);
  EXPECT_EQ(trial.Find("return")->value, 2);
  EXPECT_EQ(trial.Find("train/loss")->value, 2) << "the last tenth of the curve";
  EXPECT_EQ(trial.Find("eval/return"), nullptr) << "only its end was evaluated";
  EXPECT_EQ(trial.Find("phase/env_step"), nullptr);
  ASSERT_EQ(trial.curves.at("train/loss").size(), 2u);
  EXPECT_EQ(trial.At("budget.iterations"), 2) << "the plan's";
  EXPECT_TRUE(trial.At("schedule_budget").is_null());
}

}  // namespace
}  // namespace backplane
