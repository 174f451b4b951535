// progress.json: the progress of a batch, for external programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/trial_state.hpp"

namespace backplane {

struct TrialProgress {
  std::string id, name;
  uint64_t seed = 0;
  TrialState state = TrialState::kPlanned;
  unsigned attempt = 0;                                 // the latest; 0: none yet
  std::optional<double> progress, sps, episode_return;  // progress: 0 to 1
  std::string why;

  bool operator==(const TrialProgress&) const = default;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("name", self.name);
    visit("seed", self.seed);
    visit("state", self.state);
    visit("attempt", self.attempt);
    visit("progress", NullIfAbsent(self.progress));
    visit("sps", NullIfAbsent(self.sps));
    visit("return", NullIfAbsent(self.episode_return));
    visit("why", self.why);
  }
};

inline constexpr int kProgressSchema = 1;

// Everything before the list of trials.
struct ProgressHead {
  int schema = kProgressSchema;
  std::string experiment;
  double started = 0, updated = 0;         // seconds since 1970
  std::string state;                       // running, done, interrupted, paused, refused
  std::map<std::string, uint64_t> counts;  // trial state (or QUEUED, LOST) -> count
  uint64_t done = 0, total = 0;
  double elapsed_s = 0;
  std::optional<double> eta_s;         // remaining seconds; absent until there is evidence
  std::string waits_for;               // the scheduler's reason for queued trials
  std::optional<uint64_t> disk_bytes;  // of the results folder; only in `status --json`

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema", self.schema);
    visit("experiment", self.experiment);
    visit("started", self.started);
    visit("updated", self.updated);
    visit("state", self.state);
    visit("counts", self.counts);
    visit("done", self.done);
    visit("total", self.total);
    visit("elapsed_s", self.elapsed_s);
    visit("eta_s", NullIfAbsent(self.eta_s));
    visit("waits_for", LeftOutIfEmpty(self.waits_for));
    visit("disk_bytes", self.disk_bytes);
  }
};

}  // namespace backplane
