// trial.json: the input of `run-trial`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/results_folder.hpp"
#include "record/trial_result.hpp"

namespace backplane {

struct TrialPlugin {
  std::filesystem::path file;  // absolute
  std::string id;              // "env.name"
  bool operator==(const TrialPlugin&) const = default;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("file", self.file);
    visit("id", self.id);
  }
};

struct TrialPlugins {
  TrialPlugin env, learner;
  std::vector<TrialPlugin> wrappers;  // of env, the innermost first, as in the configuration
  std::vector<TrialPlugin> monitors;  // same order as in the configuration

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("env", self.env);
    visit("learner", self.learner);
    visit("wrappers", LeftOutIfEmpty(self.wrappers));
    visit("monitors", self.monitors);
  }
};

// A finished trial whose learner state initializes this one, or a kept policy. Counters and budget start at 0.
struct StartFrom {
  std::string trial_id;                  // empty: a kept file of arrays
  std::filesystem::path checkpoint_dir;  // of a kept policy: its folder
  bool may_be_broken_off = false;        // the trial need not have ended; the check decides whether its state is used
  // Of a kept policy (`learner.start_from`) only. Its sha256 is not empty.
  std::string sha256, source;
  uint64_t iterations = 0;  // of the other trial
  bool optimizer = false;   // the whole state, not only the policy

  bool is_kept() const { return !sha256.empty(); }
  // Follows a results folder that was moved.
  void MoveTo(const ResultsFolder& folder) {
    checkpoint_dir = is_kept() ? folder.start(sha256) : folder.trial(trial_id).checkpoint();
  }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("trial_id", self.trial_id);
    visit("checkpoint_dir", self.checkpoint_dir);
    visit("may_be_broken_off", DefaultIfMissing(self.may_be_broken_off));
    visit("sha256", LeftOutIfEmpty(self.sha256));
    visit("source", LeftOutIfEmpty(self.source));
    visit("iterations", LeftOutIfEmpty(self.iterations));
    visit("optimizer", LeftOutIfEmpty(self.optimizer));
  }
};

struct TrialFile : TrialPlugins {
  std::string trial_id;
  uint64_t attempt = 1;
  nlohmann::json config;                      // of the experiment, resolved: options complete
  std::map<std::string, std::string> origin;  // path of a key -> "file:line:col", for messages
  std::filesystem::path attempt_dir, checkpoint_dir;
  std::filesystem::path experiment_dir;  // folder of the file that contains its command; empty: no command
  std::filesystem::path torch_lib;       // directory with libtorch.so; empty: none known
  bool resume = false;                   // from checkpoint_dir
  std::optional<StartFrom> start_from;
  uint64_t seeds = 1;  // trials of its point, including this one: they share report.max_time

  static constexpr void Fields(auto& self, auto&& visit) {
    int schema = kTrialSchema;
    visit("schema", schema);
    if (schema != kTrialSchema)
      throw RecordError("schema " + std::to_string(schema) + ", this program reads " + std::to_string(kTrialSchema));
    visit("trial_id", self.trial_id);
    visit("attempt", self.attempt);
    visit("config", self.config);
    visit("plugins", Base<TrialPlugins>(self));
    visit("origin", self.origin);
    visit("attempt_dir", self.attempt_dir);
    visit("checkpoint_dir", self.checkpoint_dir);
    visit("experiment_dir", LeftOutIfEmpty(self.experiment_dir));
    visit("torch_lib", self.torch_lib);
    visit("resume", self.resume);
    visit("start_from", NullIfAbsent(self.start_from));
    visit("seeds", DefaultIfMissing(self.seeds));
  }
};

}  // namespace backplane
