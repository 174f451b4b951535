// An experiment with something to gain.
#pragma once

namespace backplane::end_to_end {

// Each update takes 4 ms, of which the finding `update_bound` proposes to save half; a larger batch costs time.
inline constexpr char kToil[] = R"(experiment: toil
env: {plugin: cartpole}
learner: {plugin: toils}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 16}
budget: {env_steps: 8000}
evaluation: {episodes: 4}
)";

}  // namespace backplane::end_to_end
