// Gradient steps of learner.dqn, from the stored transitions to the weights, compared with dqn_oracle.py: 20 from one buffer
// and one seed, in float32 against float64.
#include "replay_update_case.hpp"

namespace backplane::parity {
namespace {

const Settings kBase = {{"hidden", "[16, 12]"}, {"batch_size", "16"}, {"learning_starts", "40"},       {"horizon", "20"},
                        {"train_freq", "1"},    {"lr", "0.003"},      {"target_update_interval", "12"}};

class DqnUpdate : public ::testing::TestWithParam<ReplayCase> {};

TEST_P(DqnUpdate, EqualsTheOracle) { ExpectTheOraclesSteps(GetParam(), kBase); }

const ReplayCase kCases[] = {
    {"Base", {}, {}, false},
    {"Lr", {{"lr", "0.001"}}},
    {"Gamma", {{"gamma", "0.5"}}},
    {"Tau", {{"tau", "0.5"}}},
    {"TargetUpdateInterval", {{"target_update_interval", "20"}}},
    {"TargetsBetweenParts", {{"target_update_interval", "20"}}, {{"train_freq", "3"}, {"gradient_steps", "4"}}},
    {"BatchSize", {{"batch_size", "5"}}},
    {"WholeBlocks", {{"batch_size", "300"}}, {{"learning_starts", "70"}}},
    {"BufferSize", {{"buffer_size", "30"}}},
    {"AsManyAsSteps", {{"gradient_steps", "-1"}}, {{"train_freq", "5"}}, false},
    {"GradClip", {{"grad_clip", "0.05"}}},
    {"Tanh", {{"activation", "tanh"}}, {}, false},
    {"Double", {{"double_q", "true"}}, {{"lr", "0.01"}, {"target_update_interval", "60"}}},
    {"Dueling", {{"dueling", "true"}}, {}, false},
    {"DoubleDueling", {{"double_q", "true"}}, {{"dueling", "true"}}},
    {"NStep", {{"n_step", "3"}}},
    {"Prioritized", {{"prioritized_replay", "true"}}},
    {"PriorityBeta", {{"priority_beta", "1"}}, {{"prioritized_replay", "true"}}},
    {"Masked", {}, {}, false, true},
    {"MaskedDoubleNStep", {{"double_q", "true"}, {"n_step", "3"}}, {}, true, true},
    {"Everything",
     {{"prioritized_replay", "true"}, {"n_step", "4"}, {"buffer_size", "36"}, {"double_q", "true"}},
     {{"dueling", "true"}},
     true,
     true},
    {"Torch", {{"update_path", "torch"}}, {}, false},
    {"TorchMasked", {{"update_path", "torch"}}, {{"grad_clip", "0.05"}, {"activation", "tanh"}}, false, true},
    {"TorchDoubleMasked", {{"update_path", "torch"}}, {{"double_q", "true"}}, false, true},
    {"TorchEverything",
     {{"update_path", "torch"}},
     {{"prioritized_replay", "true"}, {"n_step", "4"}, {"buffer_size", "36"}, {"double_q", "true"}, {"dueling", "true"}},
     false,
     true},
};
INSTANTIATE_TEST_SUITE_P(, DqnUpdate, ::testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace backplane::parity
