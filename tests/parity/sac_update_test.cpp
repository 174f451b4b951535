// Gradient steps of learner.sac, from the stored transitions to the weights, compared with sac_oracle.py: 20 from one buffer
// and one seed, in float32 against float64.
#include "replay_update_case.hpp"

namespace backplane::parity {
namespace {

const Settings kBase = {{"hidden", "[16, 12]"}, {"batch_size", "16"}, {"learning_starts", "40"}, {"horizon", "20"}};

class SacUpdate : public ::testing::TestWithParam<ReplayCase> {};

TEST_P(SacUpdate, EqualsTheOracle) { ExpectTheOraclesSteps(GetParam(), kBase); }

const ReplayCase kCases[] = {
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
    {"Torch", {{"update_path", "torch"}}, {}, false},
    {"TorchFixedAlpha",
     {{"update_path", "torch"}},
     {{"ent_coef", "0.2"}, {"grad_clip", "0.05"}, {"critic_hidden", "[9]"}},
     false},
    {"TorchEverything",
     {{"update_path", "torch"}},
     {{"prioritized_replay", "true"},
      {"n_step", "4"},
      {"buffer_size", "36"},
      {"activation", "tanh"},
      {"target_update_interval", "3"}},
     false},
};
INSTANTIATE_TEST_SUITE_P(, SacUpdate, ::testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace backplane::parity
