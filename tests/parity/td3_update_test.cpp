// Gradient steps of learner.td3, from the stored transitions to the weights, compared with td3_oracle.py: 20 from one buffer
// and one seed, in float32 against float64.
#include "replay_update_case.hpp"

namespace backplane::parity {
namespace {

const Settings kBase = {{"hidden", "[16, 12]"}, {"batch_size", "16"}, {"learning_starts", "40"}, {"horizon", "20"}};

class Td3Update : public ::testing::TestWithParam<ReplayCase> {};

TEST_P(Td3Update, EqualsTheOracle) { ExpectTheOraclesSteps(GetParam(), kBase); }

const ReplayCase kCases[] = {
    {"Base", {}, {}, false},
    {"Lr", {{"lr", "0.003"}}},
    {"CriticLr", {{"critic_lr", "0.0001"}}},
    {"Gamma", {{"gamma", "0.5"}}},
    {"Tau", {{"tau", "0.5"}}},
    {"PolicyDelay", {{"policy_delay", "3"}}},
    {"NoDelay", {{"policy_delay", "1"}}},
    {"TargetNoise", {{"target_noise", "0"}}, {{"tau", "0.5"}}},
    {"TargetNoiseClip", {{"target_noise_clip", "0.1"}}, {{"tau", "0.5"}}},
    {"ActionNoise", {{"action_noise", "0.7"}}, {}, false},
    {"BatchSize", {{"batch_size", "5"}}},
    {"WholeBlocks", {{"batch_size", "300"}}, {{"learning_starts", "70"}}},
    {"BufferSize", {{"buffer_size", "30"}}},
    {"TrainFreq", {{"train_freq", "4"}, {"gradient_steps", "3"}}, {}, false},
    {"NStep", {{"n_step", "3"}}},
    {"GradClip", {{"grad_clip", "0.05"}}},
    {"Tanh", {{"activation", "tanh"}}, {}, false},
    {"CriticHidden", {{"critic_hidden", "[9]"}}, {}, false},
    {"Prioritized", {{"prioritized_replay", "true"}}},
    {"PrioritizedNStep", {{"prioritized_replay", "true"}, {"n_step", "4"}, {"buffer_size", "36"}}},
    {"Torch", {{"update_path", "torch"}}, {}, false},
    {"TorchNoDelay",
     {{"update_path", "torch"}},
     {{"policy_delay", "1"}, {"grad_clip", "0.05"}, {"critic_hidden", "[9]"}},
     false},
    {"TorchEverything",
     {{"update_path", "torch"}},
     {{"prioritized_replay", "true"},
      {"n_step", "4"},
      {"buffer_size", "36"},
      {"activation", "tanh"},
      {"target_noise_clip", "0.1"}},
     false},
};
INSTANTIATE_TEST_SUITE_P(, Td3Update, ::testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace backplane::parity
