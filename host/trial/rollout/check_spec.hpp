// CheckSpec: validates the spec of an env or a learner before its first use. All callers share it: the trial, its evaluation,
// the check of options before a run, a replay, a film. Reads memory only after checking that it is readable. An error names the
// plugin, the channel, the expected and the actual value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backplane/learner.h"
#include "rollout/channel_table.hpp"

namespace backplane {

// The host's own copy of an env's spec. Later changes of the plugin's copy have no effect.
struct CheckedEnvSpec {
  ChannelTable table;
  GroupTable groups;
  bp_env_spec view{};  // points into `table` and `groups`; bp::FindChannel works on it
  uint64_t flags = 0;  // of the descriptor
};

struct CheckedLearnerSpec {
  ChannelTable act_out;
  std::vector<std::string> act_in, keep;
  uint64_t n_params = 0, flags = 0, evaluation_rows = 0;
};

// Both throw TrialFailure. `flags`: from the env's descriptor; `rows`: of the instance.
CheckedEnvSpec CheckSpec(const std::string& id, const bp_env_spec* said, uint64_t flags, uint64_t rows);
// `env_id`: the id of the env with the spec `env`.
CheckedLearnerSpec CheckSpec(const std::string& id, const bp_learner_spec* said, const std::string& env_id,
                             const CheckedEnvSpec& env);

// A sentence about the first difference between two specs of one instance; absent if they are equal.
std::optional<std::string> Difference(const CheckedEnvSpec& before, const CheckedEnvSpec& now);
std::optional<std::string> Difference(const CheckedLearnerSpec& before, const CheckedLearnerSpec& now);

// True for an INFO channel that is averaged over ended episodes.
bool IsEpisodeInfo(const bp_channel& channel);
// True for channels that the host reads after a step: reward, flags, infos of an episode.
bool TellsOfAStep(const bp_channel& channel);
// "2 groups of agents: chasers (3), runners (1)"; empty: no groups.
std::string GroupsText(const bp_env_spec& env);
// "[3x2] of type code 2, 32 bits, scope 1"
std::string Layout(const bp_channel& channel);

}  // namespace backplane
