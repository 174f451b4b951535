#include "export/optuna_export.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "results/study_of_sweep.hpp"
#include "support/result_folder.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::vector<json> LinesOf(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

class OptunaExportTest : public testing::Test {
 protected:
  StudyTrial& Add(StudyState state, json params) {
    StudyTrial trial;
    trial.number = study_.trials.size();
    trial.state = state;
    trial.params = std::move(params);
    trial.started = 1000;
    study_.trials.push_back(trial);
    return study_.trials.back();
  }
  std::vector<json> Export() const { return LinesOf(FormatOptunaJournal(study_, ResultsFolder{folder_.out()}, {})); }
  json TrialLine(size_t i) const { return Export().at(4 + i); }

  ResultFolder folder_;
  Study study_{.name = "walk", .method = "tpe", .metric = "return", .maximize = false, .space = {}, .trials = {}};
};

TEST_F(OptunaExportTest, BeginsWithTheStudy) {
  const std::vector<json> lines = Export();
  EXPECT_EQ(lines.at(0), json::parse(R"({"op_code":0,"worker_id":"backplane","study_name":"walk","directions":[1]})"));
  EXPECT_EQ(lines.at(1)["system_attr"]["study:metric_names"], json::array({"return"}));
  EXPECT_EQ(lines.size(), 4u);
}

TEST_F(OptunaExportTest, DistributionsAreOptunas) {
  study_.space = ReadSearchSpace({{"a", {{"log_uniform", {1e-5, 1e-2}}}},
                                  {"b", {{"int", {1, 9}}, {"step", 2}}},
                                  {"c", {{"choice", {json{{"plugin", "ppo"}}, nullptr, 3}}}},
                                  {"d", {{"uniform", {0, 1}}, {"step", 0.25}}}});
  Add(StudyState::kFailed, {{"a", 1e-3}, {"b", 3}, {"c", {{"plugin", "ppo"}}}, {"d", 0.5}});
  const json line = TrialLine(0);
  const auto distribution = [&](const char* name) { return json::parse(line["distributions"][name].get<std::string>()); };
  EXPECT_EQ(distribution("a"),
            json::parse(R"({"name":"FloatDistribution","attributes":{"low":1e-5,"high":0.01,"step":null,"log":true}})"));
  EXPECT_EQ(distribution("b"),
            json::parse(R"({"name":"IntDistribution","attributes":{"low":1,"high":9,"step":2,"log":false}})"));
  EXPECT_EQ(distribution("c"),
            json::parse(R"({"name":"CategoricalDistribution","attributes":{"choices":["{\"plugin\":\"ppo\"}",null,3]}})"));
  EXPECT_EQ(distribution("d")["attributes"]["step"], 0.25);
  EXPECT_EQ(line["params"], json::parse(R"({"a":0.001,"b":3.0,"c":0,"d":0.5})"));
}

TEST_F(OptunaExportTest, TrialsMeetOptunasRulesForTheirState) {
  study_.space = ReadSearchSpace({{"a", {{"uniform", {0, 1}}}}});
  Add(StudyState::kComplete, {{"a", 0.5}}).value = 7;
  Add(StudyState::kPruned, {{"a", 0.5}}).steps = {{1, 3}, {2, 4}};
  Add(StudyState::kFailed, {{"a", 0.5}}).steps = {{1, 3}};
  Add(StudyState::kRunning, {{"a", 0.5}});
  StudyTrial& waits = Add(StudyState::kWaiting, {{"a", 0.5}});
  waits.started = 0;
  EXPECT_EQ(TrialLine(0)["state"], 1);
  EXPECT_EQ(TrialLine(0)["value"], 7);
  EXPECT_EQ(TrialLine(1)["state"], 2);
  EXPECT_EQ(TrialLine(1)["value"], 4) << "the last that it reported, as Optuna's own tell() leaves it";
  EXPECT_EQ(TrialLine(1)["intermediate_values"], json::parse(R"({"1":3.0,"2":4.0})"));
  EXPECT_EQ(TrialLine(2)["state"], 3);
  EXPECT_FALSE(TrialLine(2).contains("value"));
  EXPECT_EQ(TrialLine(3)["state"], 0);
  EXPECT_FALSE(TrialLine(3).contains("datetime_complete"));
  EXPECT_EQ(TrialLine(4)["state"], 4);
  EXPECT_EQ(TrialLine(4)["params"], json::object());
  EXPECT_EQ(TrialLine(4)["system_attrs"]["fixed_params"], json::parse(R"({"a":0.5})"));
  EXPECT_TRUE(TrialLine(4)["datetime_start"].is_null());
}

// A sweep of two points with two seeds each; the second point's second seed failed.
TEST_F(OptunaExportTest, ASweepWithoutASearchIsAStudyOfMeansOverSeeds) {
  const auto result = [](double mean) {
    return json{
        {"schema", 1}, {"return", {{"mean", mean}, {"n", 3}}}, {"measures", {{"return", {{"unit", ""}, {"direction", 1}}}}}}
        .dump();
  };
  for (const int lr : {1, 2})
    for (const uint64_t seed : {0, 1}) {
      const std::string id = "t" + std::to_string(lr) + std::to_string(seed);
      folder_.Plan(id, "lr=" + std::to_string(lr), {{"lr", lr}}, seed);
      folder_.Start(id);
      folder_.WriteAttempt(id, "result.json", result(10 * lr + static_cast<double>(seed)));
      folder_.WriteAttempt(
          id, "metrics.jsonl",
          json{{"iteration", 1}, {"return", {{"mean", lr + static_cast<double>(seed)}, {"n", 1}}}}.dump() + "\n");
      const bool fails = lr == 2 && seed == 1;
      folder_.End(id, fails ? "FAILED" : "COMPLETED", fails ? "nan" : "ok", fails ? "not finite" : "");
    }
  const ResultsFolder folder{folder_.out()};
  const Study study = StudyOfSweep(folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events()), "", {});
  EXPECT_EQ(study.metric, "return");
  ASSERT_EQ(study.trials.size(), 2u);
  EXPECT_EQ(study.trials[0].value, 10.5);
  EXPECT_THAT(study.trials[0].seeds, testing::ElementsAre(0, 1));
  EXPECT_THAT(study.trials[0].steps, testing::ElementsAre(testing::Pair(1, 1.5)));
  EXPECT_EQ(study.trials[1].state, StudyState::kFailed);
  EXPECT_EQ(study.trials[1].why, "not finite");
  EXPECT_EQ(study.space.at(0).high, 2);
  EXPECT_TRUE(study.maximize);
}

}  // namespace
}  // namespace backplane
