// CheckSpec: what an env or a learner says about itself, checked in one place before anything uses it, whoever asks: the trial,
// its evaluation, the check of options before a run, a replay, a film. Nothing is followed before it is known to be readable.
// A refusal is a sentence with the plugin, the channel, what was wanted and what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "rollout/channel_table.hpp"

namespace backplane {

// The host's own copy of an env's spec: what a plugin does to its own afterwards changes nothing here.
struct CheckedEnvSpec {
  ChannelTable table;
  bp_env_spec view{};  // points into `table`; bp::FindChannel finds one there
};

struct CheckedLearnerSpec {
  ChannelTable act_out;
  std::vector<std::string> act_in, keep;
  uint64_t n_params = 0, flags = 0, evaluation_rows = 0;
};

// Both throw TrialFailure. `flags`: the env's, of its descriptor; `rows`: of the instance.
CheckedEnvSpec CheckSpec(const std::string& id, const bp_env_spec* said, uint64_t flags, uint64_t rows);
// `env_id` names the env that `env` is of.
CheckedLearnerSpec CheckSpec(const std::string& id, const bp_learner_spec* said, const std::string& env_id,
                             const CheckedEnvSpec& env);

// Two specs that one instance gave at different times: the first thing in which they differ, as a sentence.
std::optional<std::string> Difference(const CheckedEnvSpec& before, const CheckedEnvSpec& now);
std::optional<std::string> Difference(const CheckedLearnerSpec& before, const CheckedLearnerSpec& now);

// An INFO channel that is averaged over the episodes that end.
bool IsEpisodeInfo(const bp_channel& channel);
// What the host reads after a step: its reward, how it ended, what it tells of an episode.
bool TellsOfAStep(const bp_channel& channel);
// "[3x2] of type code 2, 32 bits, scope 1"
std::string Layout(const bp_channel& channel);

}  // namespace backplane
