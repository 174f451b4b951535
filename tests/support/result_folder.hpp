// A results folder on disk, as a batch leaves it, with only the files that a test adds.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "store/event_log.hpp"

namespace backplane {

class ResultFolder {
 public:
  explicit ResultFolder(const std::string& name = "results")
      : folder_{std::filesystem::path(testing::TempDir()) / (name + "_" + std::to_string(getpid()))} {
    std::filesystem::remove_all(folder_.out);
    std::filesystem::create_directories(folder_.out);
    Write("run.json", R"({"schema":1,"host":{"hostname":"here"},"versions":{"torch":"2"}})");
    Write("config.yaml",
          "experiment: walk\nenv: {plugin: walker}\nlearner: {plugin: learns, options: {lr: 0.1, hidden: [64,64]}}\n"
          "rollout: {num_env_runners: 1, num_envs_per_env_runner: 1}\nseed: 0\nresources: {gpus: 0.0, memory: null}\n"
          "sweep:\n  list:\n    - {\"name\":\"one\",\"rollout.num_env_runners\":1}\n"
          "    - {\"name\":\"two\",\"rollout.num_env_runners\":2,\"learner.options.lr\":0.2}\n");
  }
  ~ResultFolder() { std::filesystem::remove_all(folder_.out); }
  ResultFolder(const ResultFolder&) = delete;

  const std::filesystem::path& out() const { return folder_.out; }

  void Write(const std::filesystem::path& relative, const std::string& text) {
    std::filesystem::create_directories((folder_.out / relative).parent_path());
    std::ofstream(folder_.out / relative, std::ios::binary) << text;
  }
  // Belongs to the latest attempt.
  void WriteAttempt(const std::string& trial_id, const std::string& file, const std::string& text, unsigned attempt = 1) {
    Write(std::filesystem::path("trials") / trial_id / ("attempt-" + std::to_string(attempt)) / file, text);
  }

  void Plan(const std::string& trial_id, const std::string& point, const nlohmann::json& values, uint64_t seed = 0,
            std::optional<Budget> budget = {}) {
    PlanLine line;
    line.budget = budget;
    line.trial_id = trial_id;
    line.point_id = "p-" + point;
    line.name = point;
    line.seed = seed;
    for (const auto& [path, value] : values.items()) line.values.emplace_back(path, value);
    line.files = {{"env.plugin", "aaaa"}, {"learner.plugin", "bbbb"}};
    plan_.push_back(line);
    WritePlanFile(folder_.plan(), plan_);
  }
  void PlanDropped(const nlohmann::json& values, const std::string& rule, const std::string& why) {
    PlanLine line;
    for (const auto& [path, value] : values.items()) line.values.emplace_back(path, value);
    line.dropped = true;
    line.rule = rule;
    line.why = why;
    plan_.push_back(line);
    WritePlanFile(folder_.plan(), plan_);
  }

  void Start(const std::string& trial_id, unsigned attempt = 1, bool resumed = false) {
    EventLog(folder_.events()).Append(AttemptStart{{0, 1}, {}, resumed}, trial_id, attempt);
  }
  void End(const std::string& trial_id, const std::string& state, const std::string& outcome, const std::string& why = "",
           unsigned attempt = 1) {
    AttemptEnd end;
    end.state = FromWord<TrialState>(state).value();
    end.outcome = FromWord<Outcome>(outcome);
    end.why = why;
    end.wall_s = 9.5;
    end.peak_rss_bytes = 200 * 1024 * 1024;
    EventLog(folder_.events()).Append(end, trial_id, attempt);
  }

 private:
  ResultsFolder folder_;
  std::vector<PlanLine> plan_;
};

}  // namespace backplane
