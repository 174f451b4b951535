#include "rollout/check_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "backplane/channels.hpp"
#include "backplane/module.h"
#include "rollout/failure.hpp"
#include "rollout/readable.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMaxParams = uint64_t{1} << 50;  // trainable numbers
constexpr uint64_t kKnownLearnerFlags =
    BP_LEARNER_OBS_MOMENTS | BP_LEARNER_ROW_EXACT | BP_LEARNER_HELD_OUT_ANY | BP_LEARNER_STATE_LARGE | BP_LEARNER_GROUPS;
// Names that the host itself binds or delivers.
constexpr std::string_view kHostNames[] = {"final_index", "obs_count", "obs_mean", "obs_m2"};

bool Is(const bp_channel& c, int code, int bits) { return c.dtype.code == code && c.dtype.bits == bits; }

std::string Found(const bp_channel& c) {
  return fmt::format("type code {} of {} bits with {} elements a row, scope {}", c.dtype.code, c.dtype.bits, Elements(c),
                     c.scope);
}

void CheckReservedName(const SpecPlace& place, const bp_channel& c) {
  const std::string_view name = c.name;
  const auto refuse = [&] {
    place.Refuse("a different name, because the host uses this one", fmt::format("it for role {}", c.role));
  };
  if (std::find(std::begin(kHostNames), std::end(kHostNames), name) != std::end(kHostNames)) refuse();
  if (name == "truncated" && c.role != BP_ROLE_TRUNCATED) refuse();
  if (name == "final_obs" && c.role != BP_ROLE_FINAL_OBS) refuse();
  if (name == "final_state" && c.role != BP_ROLE_FINAL_STATE) refuse();
}

bool IsOneFloat(const bp_channel& c) { return c.dtype.code == BP_DTYPE_FLOAT && Elements(c) == 1; }

bool IsOneFlag(const bp_channel& c, uint16_t scope) { return Is(c, BP_DTYPE_UINT, 8) && Elements(c) == 1 && c.scope == scope; }

bool FitsActionSpace(const bp_channel& c) {
  return c.space == BP_SPACE_BOX || c.space == BP_SPACE_BYTES || c.dtype.code != BP_DTYPE_FLOAT;
}

// Checks the form of channels that the host itself reads or writes.
void CheckRole(const SpecPlace& place, const bp_channel& c) {
  const auto want = [&](bool ok, const char* wanted) {
    if (!ok) place.Refuse(wanted, Found(c));
  };
  switch (c.role) {
    case BP_ROLE_REWARD: want(IsOneFloat(c) && c.dtype.bits == 32, "one float32"); break;
    case BP_ROLE_TERMINATED:
    case BP_ROLE_TRUNCATED: want(IsOneFlag(c, BP_SCOPE_ROW), "one uint8 in row scope"); break;
    case BP_ROLE_ACTION_MASK: want(Is(c, BP_DTYPE_UINT, 8), "uint8"); break;
    case BP_ROLE_ALIVE: want(IsOneFlag(c, BP_SCOPE_AGENT), "one uint8 in agent scope"); break;
    case BP_ROLE_LENGTH: want(Is(c, BP_DTYPE_INT, 32), "int32"); break;
    case BP_ROLE_ACTION: want(FitsActionSpace(c), "whole numbers, because its space has choices"); break;
    case BP_ROLE_INFO: want(!IsEpisodeInfo(c) || (IsOneFloat(c) && c.dtype.bits >= 32), "one float"); break;
    default: break;
  }
}

void CheckAgents(const SpecPlace& spec, const CheckedEnvSpec& env) {
  const uint64_t agents = env.view.max_agents;
  if (agents < 1 || agents > kMaxAgents) spec.Refuse(fmt::format("max_agents 1 to {}", kMaxAgents), std::to_string(agents));
  const auto& channels = env.table.channels();
  const bool any = std::any_of(channels.begin(), channels.end(), [](const bp_channel& c) { return c.scope == BP_SCOPE_AGENT; });
  if (!any && agents != 1) spec.Refuse("max_agents 1, because no channel is in agent scope", std::to_string(agents));
}

// True if a group of agents has a channel of this role to itself.
bool IsOfGroup(uint16_t role) {
  return role == BP_ROLE_OBS || role == BP_ROLE_ACTION || role == BP_ROLE_ACTION_MASK || role == BP_ROLE_FINAL_OBS;
}

void CheckGroup(const SpecPlace& place, const bp_channel& c, uint64_t n_groups) {
  const bool grouped = n_groups > 0 && c.scope == BP_SCOPE_AGENT && IsOfGroup(c.role);
  if (grouped && (c.group < 1 || c.group > n_groups))
    place.Refuse(fmt::format("group 1 to {}, because the agents form {} groups", n_groups, n_groups), std::to_string(c.group));
  if (!grouped && c.group != 0)
    place.Refuse(n_groups == 0
                     ? "group 0, because the spec has no groups"
                     : "group 0, because only OBS, ACTION, ACTION_MASK and FINAL_OBS in agent scope belong to a group",
                 std::to_string(c.group));
}

// Each agent belongs to one group, and each group observes and acts.
void CheckGroups(const SpecPlace& spec, const CheckedEnvSpec& env) {
  const std::vector<bp::AgentGroup> groups = bp::GroupsOf(env.view);
  uint64_t agents = 0;
  for (uint32_t g = 1; g <= groups.size(); ++g) {
    const SpecPlace place = spec.At(fmt::format("group '{}'", groups[g - 1].name));
    if (groups[g - 1].agents < 1) place.Refuse("1 agent or more", "0");
    agents += groups[g - 1].agents;
    for (const uint16_t role : {BP_ROLE_OBS, BP_ROLE_ACTION}) {
      const auto& channels = env.table.channels();
      if (std::none_of(channels.begin(), channels.end(),
                       [&](const bp_channel& c) { return c.role == role && bp::GroupOf(c) == g; }))
        place.Refuse(fmt::format("a channel of role {} ({}) with group {}", role, bp::RoleText(role), g), "none");
    }
  }
  if (!groups.empty() && agents != env.view.max_agents)
    spec.Refuse(fmt::format("max_agents {}, the agents of all groups", agents), std::to_string(env.view.max_agents));
  for (const bp_channel& c : env.table.channels()) CheckGroup(spec.At(fmt::format("channel '{}'", c.name)), c, groups.size());
}

// Limits the bytes of all rows, so that later products do not overflow.
void CheckBytes(const SpecPlace& spec, const CheckedEnvSpec& env, uint64_t rows) {
  for (const bp_channel& c : env.table.channels()) {
    const uint64_t agents = bp::AgentsIn(env.view, c);
    uint64_t bytes = Elements(c) * (c.dtype.bits / 8);
    const bool too_many = __builtin_mul_overflow(bytes, agents, &bytes) || __builtin_mul_overflow(bytes, rows, &bytes) ||
                          bytes > kMaxChannelBytes;
    if (too_many)
      spec.At(fmt::format("channel '{}'", c.name))
          .Refuse(fmt::format("at most {} bytes for all rows", kMaxChannelBytes),
                  fmt::format("{} elements of {} bytes for {} agents in {} rows", Elements(c), c.dtype.bits / 8, agents, rows));
  }
}

void CheckRoles(const SpecPlace& spec, const CheckedEnvSpec& env) {
  const std::pair<uint16_t, const char*> needed[] = {
      {BP_ROLE_OBS, "obs"}, {BP_ROLE_ACTION, "action"}, {BP_ROLE_REWARD, "reward"}, {BP_ROLE_TERMINATED, "terminated"}};
  for (const auto& [role, name] : needed)
    if (bp::FindChannel(env.view, role) == nullptr)
      throw TrialFailure(BP_E_INTERNAL, spec.plugin(), fmt::format("declares no channel with the role of '{}'", name));
  for (const bp_channel& c : env.table.channels()) {
    const SpecPlace place = spec.At(fmt::format("channel '{}'", c.name));
    if (c.role == BP_ROLE_EXTRA || c.role == BP_ROLE_CARRY)
      place.Refuse("a role of an env", fmt::format("{} ({}), a learner's", c.role, bp::RoleText(c.role)));
    // The host reads only one flag channel, so a second one would be ignored silently.
    const bp_channel* first = bp::FindChannel(env.view, c.role);
    if (first != &c && (c.role == BP_ROLE_TERMINATED || c.role == BP_ROLE_TRUNCATED))
      place.Refuse(fmt::format("one channel of role {}", c.role), fmt::format("a second one in addition to '{}'", first->name));
    CheckReservedName(place, c);
    if (c.role == BP_ROLE_OBS || c.role == BP_ROLE_STATE) {
      const std::string last = bp::FinalName(env.view, c);
      const bp_channel* taken = bp::FindChannel(env.view, last);
      if (taken != nullptr && taken->role != BP_ROLE_FINAL_OBS && taken->role != BP_ROLE_FINAL_STATE)
        spec.At(fmt::format("channel '{}'", taken->name))
            .Refuse(fmt::format("a different name, because the last observations of '{}' have this one", c.name),
                    fmt::format("it for role {}", taken->role));
    }
    CheckRole(place, c);
  }
}

void CheckFlags(const std::string& id, const CheckedEnvSpec& env, uint64_t flags) {
  const auto refuse = [&](bool bad, const char* what) {
    if (bad) throw TrialFailure(BP_E_UNSUPPORTED, id, fmt::format("{}, which this version of the host does not support", what));
  };
  refuse(flags & BP_FLAG_SINGLETON, "allows only one instance (SINGLETON)");
  refuse((flags & BP_FLAG_OWNS_TIME_LIMIT) && bp::FindChannel(env.view, BP_ROLE_TRUNCATED) == nullptr,
         "owns its time limit, but has no channel 'truncated'");
}

// The names in a NULL-terminated list; empty if the list is NULL.
std::vector<std::string> ReadNames(const SpecPlace& spec, const char* list_name, const char* const* said) {
  std::vector<std::string> out;
  if (said == nullptr) return out;
  for (;; ++said) {
    const SpecPlace place = spec.At(fmt::format("{}[{}]", list_name, out.size()));
    const char* name = nullptr;
    if (out.size() > kMaxChannels) place.Refuse(fmt::format("NULL after at most {} names", kMaxChannels), "one more");
    if (!CopyReadable(&name, said, sizeof name))
      place.Refuse("a name, or NULL at the end of the list", "memory that cannot be read");
    if (name == nullptr) return out;
    out.push_back(ReadSpecName(place, name));
  }
}

void CheckMoments(const std::string& id, const CheckedLearnerSpec& learner, const std::string& env_id,
                  const CheckedEnvSpec& env) {
  if ((learner.flags & BP_LEARNER_OBS_MOMENTS) == 0) return;
  if (env.view.device.type > BP_DEVICE_CPU)
    throw TrialFailure(
        BP_E_UNSUPPORTED, id,
        fmt::format("needs observation moments, which the host cannot compute because {} keeps observations on a device",
                    env_id));
  const bp_channel& obs = *bp::FindChannel(env.view, BP_ROLE_OBS);
  if (!Is(obs, BP_DTYPE_FLOAT, 32) && !Is(obs, BP_DTYPE_UINT, 8))
    throw TrialFailure(BP_E_UNSUPPORTED, id,
                       fmt::format("needs observation moments, so {} must have float32 or uint8 observations", env_id));
}

const bp_channel* FindIn(const std::vector<bp_channel>& channels, std::string_view name) {
  const auto it = std::find_if(channels.begin(), channels.end(), [&](const bp_channel& c) { return name == c.name; });
  return it == channels.end() ? nullptr : &*it;
}

void CheckLists(const std::string& id, const CheckedLearnerSpec& learner, const std::string& env_id,
                const CheckedEnvSpec& env) {
  for (const std::string& name : learner.act_in) {
    const bp_channel* own = FindIn(learner.act_out.channels(), name);
    if (bp::FindChannel(env.view, name) == nullptr && (own == nullptr || own->role != BP_ROLE_CARRY))
      throw TrialFailure(BP_E_UNSUPPORTED, id, fmt::format("reads the channel '{}', which {} does not have", name, env_id));
  }
  for (const std::string& name : learner.keep) {
    const bool by_host = name == "truncated" && bp::FindChannel(env.view, BP_ROLE_TRUNCATED) == nullptr;
    if (bp::FindChannel(env.view, name) == nullptr && FindIn(learner.act_out.channels(), name) == nullptr && !by_host)
      throw TrialFailure(BP_E_UNSUPPORTED, id,
                         fmt::format("keeps the channel '{}', which neither it nor {} writes", name, env_id));
  }
}

// Outputs go into the env's buffers, so their layout must match.
void CheckOutput(const SpecPlace& spec, const bp_channel& c, const std::string& env_id, const CheckedEnvSpec& env) {
  const SpecPlace place = spec.At(fmt::format("channel '{}'", c.name));
  if (c.role != BP_ROLE_ACTION && c.role != BP_ROLE_EXTRA && c.role != BP_ROLE_CARRY)
    place.Refuse("role 3 (ACTION), 18 (EXTRA) or 19 (CARRY) of what `act` writes", std::to_string(c.role));
  const bp_channel* of_env = bp::FindChannel(env.view, c.name);
  if (bp::GroupOf(c) > env.view.n_groups)
    place.Refuse(fmt::format("group 0 to {}, as many as {} has", env.view.n_groups, env_id), std::to_string(c.group));
  if (c.role != BP_ROLE_ACTION) {
    if (of_env != nullptr) place.Refuse("a name that no channel of the env has", fmt::format("one of {}", env_id));
    CheckReservedName(place, c);
    return;
  }
  if (of_env == nullptr || of_env->role != BP_ROLE_ACTION)
    place.Refuse(fmt::format("an ACTION channel of {}", env_id),
                 of_env ? fmt::format("role {}", of_env->role) : "none of that name");
  if (c.scope != of_env->scope) place.Refuse(fmt::format("scope {}, as in {}", of_env->scope, env_id), std::to_string(c.scope));
  if (bp::GroupOf(c) != bp::GroupOf(*of_env))
    place.Refuse(fmt::format("group {}, as in {}", bp::GroupOf(*of_env), env_id), std::to_string(c.group));
}

// A memory is read and written by `act`, and delivered with the values at the ends of episodes.
void CheckMemory(const std::string& id, const CheckedLearnerSpec& learner, const std::string& env_id,
                 const CheckedEnvSpec& env) {
  std::set<std::string> taken(std::begin(kHostNames), std::end(kHostNames));
  for (const bp_channel& c : learner.act_out.channels()) taken.insert(c.name);
  for (const bp_channel& c : env.table.channels()) {
    taken.insert(c.name);
    if (c.role == BP_ROLE_OBS || c.role == BP_ROLE_STATE) taken.insert(bp::FinalName(env.view, c));
  }
  for (const bp_channel& c : learner.act_out.channels()) {
    if (c.role != BP_ROLE_CARRY) continue;
    const SpecPlace place = SpecPlace(id, "spec").At(fmt::format("channel '{}'", c.name));
    if (std::find(learner.act_in.begin(), learner.act_in.end(), c.name) == learner.act_in.end())
      place.Refuse("its name in act_in as well, because `act` reads a CARRY channel", "none");
    if (const std::string last = std::string("final_") + c.name; taken.contains(last))
      place.Refuse("a name X for which 'final_X' is free, because the host keeps the last values of episodes there",
                   fmt::format("one for which '{}' is taken", last));
    if ((env.flags & BP_FLAG_NATIVE_AUTORESET) != 0)
      throw TrialFailure(BP_E_UNSUPPORTED, id,
                         fmt::format("keeps a memory of each episode ('{}', CARRY), but {} starts episodes itself "
                                     "(NATIVE_AUTORESET), so the host cannot clear the memory in time",
                                     c.name, env_id));
  }
}

void CheckActions(const std::string& id, const CheckedLearnerSpec& learner, const std::string& env_id,
                  const CheckedEnvSpec& env) {
  for (const bp_channel& want : env.table.channels()) {
    if (want.role != BP_ROLE_ACTION) continue;
    const bp_channel* given = FindIn(learner.act_out.channels(), want.name);
    if (given == nullptr)
      throw TrialFailure(BP_E_UNSUPPORTED, id, fmt::format("does not write the channel '{}' that {} needs", want.name, env_id));
    if (Elements(*given) != Elements(want) || given->dtype.code != want.dtype.code || given->dtype.bits != want.dtype.bits)
      throw TrialFailure(BP_E_UNSUPPORTED, id,
                         fmt::format("writes '{0}' with {1} elements of {2} bits, but {3} expects {4} of {5}", want.name,
                                     Elements(*given), given->dtype.bits, env_id, Elements(want), want.dtype.bits));
  }
}

std::string Values(const bp_channel& c) {
  std::string text = fmt::format("{}, role {}, space {}", Layout(c), c.role, c.space);
  for (uint64_t i = 0; i < c.n_bounds; ++i) text += fmt::format(", {} to {}", c.low[i], c.high[i]);
  const uint64_t choices = c.nvec == nullptr ? 0 : c.space == BP_SPACE_MULTI_DISCRETE ? Elements(c) : 1;
  for (uint64_t i = 0; i < choices; ++i) text += fmt::format(", {} choices", c.nvec[i]);
  return text;
}

std::optional<std::string> Difference(const std::vector<bp_channel>& before, const std::vector<bp_channel>& now) {
  if (before.size() != now.size()) return fmt::format("expected {} channels as before, got {}", before.size(), now.size());
  for (size_t i = 0; i < now.size(); ++i) {
    if (std::string_view(before[i].name) != now[i].name)
      return fmt::format("channel {}: expected '{}' as before, got '{}'", i, before[i].name, now[i].name);
    if (Values(before[i]) != Values(now[i]))
      return fmt::format("channel '{}': expected {} as before, got {}", now[i].name, Values(before[i]), Values(now[i]));
  }
  return std::nullopt;
}

}  // namespace

bool IsEpisodeInfo(const bp_channel& channel) {
  return channel.role == BP_ROLE_INFO && channel.scope == BP_SCOPE_ROW && std::string_view(channel.name).starts_with("ep/");
}

bool TellsOfAStep(const bp_channel& c) {
  return c.role == BP_ROLE_REWARD || c.role == BP_ROLE_TERMINATED || c.role == BP_ROLE_TRUNCATED || IsEpisodeInfo(c);
}

std::string Layout(const bp_channel& c) {
  std::string shape;
  for (uint16_t i = 0; i < c.ndim; ++i) shape += (i ? "x" : "") + std::to_string(c.shape[i]);
  return fmt::format("[{}] of type code {}, {} bits, scope {}{}", shape, c.dtype.code, c.dtype.bits, c.scope,
                     c.group > 0 ? fmt::format(", group {}", c.group) : "");
}

std::string GroupsText(const bp_env_spec& env) {
  const std::vector<bp::AgentGroup> groups = bp::GroupsOf(env);
  if (groups.empty()) return "";
  std::string text;
  for (const bp::AgentGroup& group : groups)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", group.name, group.agents);
  return fmt::format("{} group{} of agents: {}", groups.size(), groups.size() > 1 ? "s" : "", text);
}

CheckedEnvSpec CheckSpec(const std::string& id, const bp_env_spec* said, uint64_t flags, uint64_t rows) {
  const SpecPlace spec(id, "spec");
  CheckedEnvSpec out;
  out.view = ReadSpecStruct(spec, said);
  if (out.view.n_channels < 1 || out.view.n_channels > kMaxChannels)
    spec.Refuse(fmt::format("n_channels 1 to {}", kMaxChannels), std::to_string(out.view.n_channels));
  out.table.Read(spec, out.view.channels, out.view.n_channels);
  out.view.channels = out.table.channels().data();
  if (out.view.n_groups > kMaxChannels)
    spec.Refuse(fmt::format("n_groups 0 to {}", kMaxChannels), std::to_string(out.view.n_groups));
  out.groups.Read(spec, out.view.groups, out.view.n_groups);
  out.view.groups = out.groups.groups().data();
  CheckRoles(spec, out);
  CheckAgents(spec, out);
  CheckGroups(spec, out);
  if (out.view.max_episode_steps < 0)
    spec.Refuse("max_episode_steps 0 (no limit) or more", std::to_string(out.view.max_episode_steps));
  if (out.view.device.type < 0 || out.view.device.id < 0)
    spec.Refuse("a device of type and id 0 or more", fmt::format("type {}, id {}", out.view.device.type, out.view.device.id));
  CheckBytes(spec, out, rows);
  CheckFlags(id, out, flags);
  out.flags = flags;
  return out;
}

CheckedLearnerSpec CheckSpec(const std::string& id, const bp_learner_spec* said, const std::string& env_id,
                             const CheckedEnvSpec& env) {
  const SpecPlace spec(id, "spec");
  const bp_learner_spec view = ReadSpecStruct(spec, said);
  CheckedLearnerSpec out;
  if (view.n_act_out < 1 || view.n_act_out > kMaxChannels)
    spec.Refuse(fmt::format("n_act_out 1 to {}", kMaxChannels), std::to_string(view.n_act_out));
  out.act_out.Read(spec, view.act_out, view.n_act_out);
  out.act_in = ReadNames(spec, "act_in", view.act_in);
  out.keep = ReadNames(spec, "keep", view.keep);
  if (view.n_params > kMaxParams) spec.Refuse(fmt::format("n_params at most {}", kMaxParams), std::to_string(view.n_params));
  if ((view.flags & ~kKnownLearnerFlags) != 0)
    spec.Refuse(fmt::format("flags among {:#x}", kKnownLearnerFlags), fmt::format("{:#x}", view.flags));
  out.n_params = view.n_params;
  out.flags = view.flags;
  out.evaluation_rows = view.evaluation_rows;
  if (env.view.n_groups > 0 && (view.flags & BP_LEARNER_GROUPS) == 0)
    throw TrialFailure(
        BP_E_UNSUPPORTED, id,
        fmt::format("does not support groups of agents (BP_LEARNER_GROUPS), but {} has {}", env_id, GroupsText(env.view)));
  for (const bp_channel& c : out.act_out.channels()) CheckOutput(spec, c, env_id, env);
  CheckActions(id, out, env_id, env);
  CheckLists(id, out, env_id, env);
  CheckMemory(id, out, env_id, env);
  CheckMoments(id, out, env_id, env);
  return out;
}

std::optional<std::string> Difference(const CheckedEnvSpec& before, const CheckedEnvSpec& now) {
  if (auto found = Difference(before.table.channels(), now.table.channels())) return found;
  const auto differ = [](const char* what, auto a, auto b) {
    return fmt::format("expected {} {} as before, got {}", what, a, b);
  };
  if (before.view.max_agents != now.view.max_agents) return differ("max_agents", before.view.max_agents, now.view.max_agents);
  if (GroupsText(before.view) != GroupsText(now.view))
    return fmt::format("expected '{}' as before, got '{}'", GroupsText(before.view), GroupsText(now.view));
  if (before.view.max_episode_steps != now.view.max_episode_steps)
    return differ("max_episode_steps", before.view.max_episode_steps, now.view.max_episode_steps);
  if (before.view.device.type != now.view.device.type || before.view.device.id != now.view.device.id)
    return differ("device", before.view.device.type, now.view.device.type);
  return std::nullopt;
}

std::optional<std::string> Difference(const CheckedLearnerSpec& before, const CheckedLearnerSpec& now) {
  if (auto found = Difference(before.act_out.channels(), now.act_out.channels())) return found;
  if (before.act_in != now.act_in) return "expected act_in as before, got a different list";
  if (before.keep != now.keep) return "expected keep as before, got a different list";
  if (before.flags != now.flags) return fmt::format("expected flags {:#x} as before, got {:#x}", before.flags, now.flags);
  if (before.evaluation_rows != now.evaluation_rows)
    return fmt::format("expected evaluation_rows {} as before, got {}", before.evaluation_rows, now.evaluation_rows);
  return std::nullopt;
}

}  // namespace backplane
