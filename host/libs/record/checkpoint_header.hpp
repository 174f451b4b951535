// The header of a checkpoint: its trial, the trial's progress, and the sizes and hashes of the parts that follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/attempt_files.hpp"
#include "record/best_score.hpp"
#include "record/data_position.hpp"
#include "record/fields.hpp"
#include "record/iteration.hpp"

namespace backplane {

// An episode that ended. Its numbers may be NaN.
struct SavedEpisode {
  double episode_return = 0, length = 0;
  std::vector<double> infos;

  static void Fields(auto& self, auto&& visit) {
    visit("return", self.episode_return);
    visit("length", self.length);
    visit("infos", self.infos);
  }
};

// The last episodes, of which the metrics are means.
struct SavedWindow {
  uint64_t total = 0;              // episodes of the trial
  std::vector<std::string> names;  // of each episode's infos
  std::vector<SavedEpisode> episodes;

  static void Fields(auto& self, auto&& visit) {
    visit("total", self.total);
    visit("names", self.names);
    visit("episodes", self.episodes);
  }
};

struct CheckpointPart {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("bytes", self.bytes);
    visit("sha256", self.sha256);
  }
};

// The cost of a warm-up iteration (number 0). It does not count towards the budget.
struct WarmUp {
  uint64_t env_steps = 0;
  double seconds = 0, epochs = 0;
  uint64_t episodes = 0;

  static void Fields(auto& self, auto&& visit) {
    visit("env_steps", self.env_steps);
    visit("seconds", self.seconds);
    visit("epochs", self.epochs);
    visit("episodes", DefaultIfMissing(self.episodes));
  }
};

// Parts: the learner's state and, in some checkpoints, the description of its files. The best checkpoint of a learner with a
// large state has the policy instead.
inline constexpr char kLearnerPart[] = "learner", kFilesPart[] = "files", kPolicyPart[] = "policy";

inline constexpr std::string_view kCheckpointMagic = "BPCKPT2\n";  // the file's first bytes
inline constexpr uint64_t kCheckpointVersion = 2;

struct CheckpointHeader : MetricsRecord {  // the lines before
  uint64_t version = kCheckpointVersion;
  std::string trial_id;
  bool at_end = false;  // of the trial: the next stage can start from it
  uint64_t iterations = 0, env_steps = 0;
  uint64_t policy_steps = 0;      // of each row; 0: before the first rollout
  double seconds = 0;             // of all attempts, for the wall-time budget
  std::optional<WarmUp> warm_up;  // absent: there is none, or it has not ended
  SavedWindow window;
  std::optional<DataPosition> data;    // of a learner of a data set
  std::optional<Iteration> unwritten;  // that is counted and not in the metrics yet
  std::optional<BestScore> best;       // so far; its iteration is this checkpoint's own if this is the best one
  bool only_best = false;              // written for a new best between two others; the next one replaces it
  std::vector<CheckpointPart> parts;   // in the order of the file

  bool HasPart(std::string_view name) const {
    return std::any_of(parts.begin(), parts.end(), [&](const CheckpointPart& part) { return part.name == name; });
  }
  // The part from which another trial starts; NULL: there is none.
  const CheckpointPart* StartPart() const {
    for (const std::string_view name : {kPolicyPart, kLearnerPart})
      for (const CheckpointPart& part : parts)
        if (part.name == name) return &part;
    return nullptr;
  }
  static void Fields(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("trial_id", self.trial_id);
    visit("at_end", self.at_end);
    visit("iterations", self.iterations);
    visit("env_steps", self.env_steps);
    visit("policy_steps", self.policy_steps);
    visit("seconds", self.seconds);
    visit("warm_up", self.warm_up);
    visit("window", self.window);
    MetricsRecord::Fields(self, visit);
    visit("data", self.data);
    visit("unwritten", self.unwritten);
    visit("best", self.best);
    visit("only_best", DefaultIfMissing(self.only_best));
    visit("parts", self.parts);
  }
};

}  // namespace backplane
