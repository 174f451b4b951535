// Gradient steps of a learner with a replay buffer, from the stored transitions to the weights, as input of its oracle.
#pragma once

#include "replay_trial.hpp"
#include "update_case.hpp"

namespace backplane::parity {

using test_support::ReplayTrial;

struct ReplayCase {
  const char* name;
  Settings change;
  Settings beside = {};   // needed for an effect of the option; set in both runs
  bool different = true;  // from the same without `change`
  bool masked = false;    // some choices are forbidden
};
inline void PrintTo(const ReplayCase& c, std::ostream* out) { *out << c.name; }
inline std::string NameOf(const ::testing::TestParamInfo<ReplayCase>& tested) { return tested.param.name; }

// The frames stored at each gradient step of the trial.
inline nlohmann::json FramesOf(const nlohmann::json& options, uint64_t frames, uint64_t rows) {
  nlohmann::json all = nlohmann::json::array();
  const uint64_t freq = options["train_freq"], starts = options["learning_starts"];
  for (uint64_t at = freq; at <= frames; at += freq) {
    const int64_t steps = options["gradient_steps"];
    if (at * rows <= starts) continue;
    for (uint64_t i = 0; i < (steps < 0 ? freq * rows : static_cast<uint64_t>(steps)); ++i) all.push_back(at);
  }
  return all;
}

// Two iterations of the learner, in float32, against the oracle's in float64: losses and parameters within 1e-5.
inline void ExpectTheOraclesSteps(const ReplayCase& c, const Settings& always) {
  const Settings base = With(always, c.beside), options = With(base, c.change);
  ReplayTrial trial(options, 2, {.masked = c.masked});
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  const bp_descriptor& plugin = *bp_module_v1()->descriptor(0);
  nlohmann::json request = {{"seed", ReplayTrial::kSeed},
                            {"rows", trial.rows()},
                            {"before", Hex(trial.Saved())},
                            {"options", OptionsOf(plugin, options)},
                            {"base", nullptr}};
  if (c.different) request["base"] = OptionsOf(plugin, base);
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  const ReplayTrial::Stored& stored = trial.stored();
  request["after"] = Hex(trial.Saved());
  request["frames"] = FramesOf(request["options"], trial.steps(), static_cast<uint64_t>(trial.rows()));
  request["stored"] = {{"obs", stored.obs},       {"action", stored.action},         {"next_obs", stored.next_obs},
                       {"reward", stored.reward}, {"terminated", stored.terminated}, {"truncated", stored.truncated},
                       {"mask", stored.mask}};
  for (const auto& [name, values] : trial.host().metrics)
    if (name.starts_with("train/")) request["losses"][name.substr(6)] = values;
  EXPECT_TRUE(trial.host().files.faults.empty());
  ExpectTheOraclesUpdate(request, c.different, 1e-5);
}

}  // namespace backplane::parity
