// Sweeps and their events.
#pragma once

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {

inline const std::string kWithFixtures = " --plugin-path " BACKPLANE_BINARY_DIR "/tests/fixtures/plugins";

// Two rows on one thread of an env whose behavior is set by env.options.how.
inline constexpr char kMisbehaving[] = R"(
env: {plugin: misbehaves}
learner: {plugin: random, options: {horizon: 32}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 4}
monitors: []
)";

class BatchTest : public ProgramTest {
 protected:
  struct State {
    std::string state, outcome, why;
    int attempts = 0;
  };

  std::vector<nlohmann::json> Events(const std::string& experiment) const { return Lines(Out(experiment) / "events.jsonl"); }

  // Each planned trial's state according to the events, keyed by its value of `path`.
  std::map<std::string, State> States(const std::string& experiment, const std::string& path) const {
    std::map<std::string, State> by_id;
    for (const nlohmann::json& event : Events(experiment)) {
      if (!event.contains("trial_id") || event["trial_id"] == "") continue;
      State& trial = by_id[event["trial_id"]];
      if (event["kind"] == "attempt.start") ++trial.attempts;
      if (event.contains("state")) trial.state = event["state"];
      if (event.contains("outcome")) trial.outcome = event["outcome"];
      if (event.contains("why")) trial.why = event["why"];
    }
    std::map<std::string, State> by_value;
    for (const nlohmann::json& line : Lines(Out(experiment) / "plan.jsonl")) {
      if (!line.is_object() || line.contains("dropped")) continue;
      const nlohmann::json& value = line["values"][path];
      by_value[value.is_string() ? value.get<std::string>() : value.dump()] = by_id[line["trial_id"]];
    }
    return by_value;
  }
  int Attempts(const std::string& experiment, const std::string& path) const {
    int sum = 0;
    for (const auto& [value, trial] : States(experiment, path)) sum += trial.attempts;
    return sum;
  }
};

}  // namespace backplane::end_to_end
