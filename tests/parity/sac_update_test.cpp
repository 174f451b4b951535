// Gradient steps of learner.sac, from the stored transitions to the weights, compared with sac_oracle.py: 20 from one buffer
// and one seed, in float32 against float64.
#include "sac_trial.hpp"
#include "update_case.hpp"

namespace backplane::parity {
namespace {

using test_support::SacTrial;

struct Case {
  const char* name;
  Settings change;
  Settings beside = {};   // needed for an effect of the option; set in both runs
  bool different = true;  // from the same without `change`
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Settings kBase = {{"hidden", "[16, 12]"}, {"batch_size", "16"}, {"learning_starts", "40"}, {"horizon", "20"}};

// The frames stored at each gradient step of the trial.
nlohmann::json FramesOf(const nlohmann::json& options, uint64_t frames, uint64_t rows) {
  nlohmann::json all = nlohmann::json::array();
  const uint64_t freq = options["train_freq"], starts = options["learning_starts"];
  for (uint64_t at = freq; at <= frames; at += freq) {
    const int64_t steps = options["gradient_steps"];
    if (at * rows <= starts) continue;
    for (uint64_t i = 0; i < (steps < 0 ? freq * rows : static_cast<uint64_t>(steps)); ++i) all.push_back(at);
  }
  return all;
}

class SacUpdate : public ::testing::TestWithParam<Case> {};

TEST_P(SacUpdate, EqualsTheOracle) {
  const Case& c = GetParam();
  const Settings base = With(kBase, c.beside), options = With(base, c.change);
  SacTrial trial(options);
  ASSERT_EQ(trial.status(), BP_OK) << trial.error();
  const bp_descriptor& plugin = *bp_module_v1()->descriptor(0);
  nlohmann::json request = {{"seed", SacTrial::kSeed},
                            {"rows", trial.rows()},
                            {"before", Hex(trial.Saved())},
                            {"options", OptionsOf(plugin, options)},
                            {"base", nullptr}};
  if (c.different) request["base"] = OptionsOf(plugin, base);
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  ASSERT_EQ(trial.Iterate(), BP_OK) << trial.error();
  const SacTrial::Stored& stored = trial.stored();
  request["after"] = Hex(trial.Saved());
  request["frames"] = FramesOf(request["options"], trial.steps(), static_cast<uint64_t>(trial.rows()));
  request["stored"] = {{"obs", stored.obs},       {"action", stored.action},         {"next_obs", stored.next_obs},
                       {"reward", stored.reward}, {"terminated", stored.terminated}, {"truncated", stored.truncated}};
  for (const auto& [name, values] : trial.host().metrics)
    if (name.starts_with("train/")) request["losses"][name.substr(6)] = values;
  EXPECT_TRUE(trial.host().files.faults.empty());
  ExpectTheOraclesUpdate(request, c.different, 1e-5);
}

const Case kCases[] = {
    {"Base", {}, {}, false},
    {"Lr", {{"lr", "0.001"}}},
    {"CriticLr", {{"critic_lr", "0.001"}}},
    {"AlphaLr", {{"alpha_lr", "0.003"}}},
    {"Gamma", {{"gamma", "0.5"}}},
    {"Tau", {{"tau", "0.5"}}},
    {"TargetUpdateInterval", {{"target_update_interval", "3"}}, {{"tau", "0.1"}}},
    {"BatchSize", {{"batch_size", "5"}}},
    {"WholeBlocks", {{"batch_size", "300"}}, {{"learning_starts", "70"}}},
    {"BufferSize", {{"buffer_size", "30"}}},
    {"TrainFreq", {{"train_freq", "4"}, {"gradient_steps", "3"}}, {}, false},
    {"AsManyAsSteps", {{"gradient_steps", "-1"}}, {{"train_freq", "5"}}, false},
    {"NStep", {{"n_step", "3"}}},
    {"NStepFillsTheRing", {{"n_step", "3"}, {"buffer_size", "10"}}},
    {"FixedAlpha", {{"ent_coef", "0.2"}}},
    {"NoEntropy", {{"ent_coef", "0"}}, {}, false},
    {"AutoFrom", {{"ent_coef", "auto_0.1"}}, {}, false},
    {"InitialAlpha", {{"initial_alpha", "0.5"}}, {}, false},
    {"TargetEntropy", {{"target_entropy", "5"}}},
    {"GradClip", {{"grad_clip", "0.05"}}},
    {"Tanh", {{"activation", "tanh"}}, {}, false},
    {"CriticHidden", {{"critic_hidden", "[9]"}}, {}, false},
    {"NarrowCritic", {{"critic_hidden", "[2]"}}, {}, false},
    {"Prioritized", {{"prioritized_replay", "true"}}},
    {"PriorityAlpha", {{"priority_alpha", "0.2"}}, {{"prioritized_replay", "true"}}},
    {"PriorityBeta", {{"priority_beta", "1"}}, {{"prioritized_replay", "true"}}},
    {"PriorityEps", {{"priority_eps", "0.5"}}, {{"prioritized_replay", "true"}}},
    {"PrioritizedNStep", {{"prioritized_replay", "true"}, {"n_step", "4"}, {"buffer_size", "36"}}},
};
INSTANTIATE_TEST_SUITE_P(, SacUpdate, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace backplane::parity
