// An experiment that can be tuned.
#pragma once

namespace backplane::end_to_end {

// Each update takes 4 ms. The finding `update_bound` proposes to save half of it; a larger batch is slower.
inline constexpr char kToil[] = R"(experiment: toil
env: {plugin: cartpole}
learner: {plugin: toils}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 16}
budget: {env_steps: 8000}
evaluation: {episodes: 4}
)";

}  // namespace backplane::end_to_end
