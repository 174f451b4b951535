// A trained policy and its actions in evaluation episodes, for programs that rebuild and check it (`backplane export policy`).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "contract/trial_spec.hpp"
#include "rollout/evaluator.hpp"
#include "trial/threads.hpp"

namespace backplane {

// Rows of the env that PolicyRecord plays, and the most steps of an episode: they bound its time.
inline constexpr uint64_t kRecordedEpisodes = 100, kRecordedSteps = 100;
inline constexpr uint64_t kRecordedActs = 1000;

// A line of JSON (record/policy_file.hpp), then the bytes of the policy, then the acts, channel by channel. An act is of one
// agent; at most kRecordedActs, spread evenly over the GREEDY steps of all episodes, with the observations that the learner
// acted on. A CARRY channel comes as the learner read it and, after the actions, as "next_NAME" that it wrote. `env` is bound
// here. `iterations`: of the checkpoint that `learner` has loaded. Calls `beat` like the Evaluator. Throws TrialFailure
// (BP_E_UNSUPPORTED) if the learner does not offer its policy. [control]
std::string PolicyRecord(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, const TrialSpec& spec,
                         uint64_t iterations, const std::atomic<bool>& cancelled, const std::function<void()>& beat);

}  // namespace backplane
