// The JSON of bp_embed_spec and bp_embed_envs.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "backplane/ext/clock.h"
#include "embed/embedded_env.hpp"
#include "rollout/row_snapshots.hpp"

namespace backplane {
namespace {

using nlohmann::json;

const char* WordOfRole(uint16_t role) {
  static constexpr const char* kWords[] = {"?",          "obs",       "state",     "action",      "action_mask", "reward",
                                           "terminated", "truncated", "final_obs", "final_state", "alive",       "length",
                                           "label",      "loss_mask", "weight",    "info"};
  if (role == EnvChannels::kReturn) return "ep_return";
  if (role == EnvChannels::kLength) return "ep_length";
  return role < std::size(kWords) ? kWords[role] : kWords[0];
}

const char* WordOfSpace(uint16_t space) {
  static constexpr const char* kWords[] = {"?", "box", "discrete", "multi_discrete", "multi_binary", "tokens", "bytes"};
  return space < std::size(kWords) ? kWords[space] : kWords[0];
}

std::string WordOfType(bp_dtype dtype) {
  const char* const code = dtype.code == BP_DTYPE_FLOAT ? "float" : dtype.code == BP_DTYPE_UINT ? "uint" : "int";
  return code + std::to_string(dtype.bits);
}

json Bounds(const double* values, uint64_t n) {
  json bounds = json::array();
  for (uint64_t i = 0; i < n; ++i) bounds.push_back(std::isfinite(values[i]) ? json(values[i]) : json(nullptr));
  return bounds;
}

json ChannelText(const EnvChannels::Channel& channel) {
  const bp_channel& c = channel.about;
  const bp_tensor& tensor = *channel.buffer->entry(0);
  json choices = json::array();
  const uint64_t n_choices = c.nvec == nullptr ? 0 : c.space == BP_SPACE_MULTI_DISCRETE ? Elements(c) : 1;
  for (uint64_t i = 0; i < n_choices; ++i) choices.push_back(c.nvec[i]);
  return {{"name", c.name},
          {"role", WordOfRole(c.role)},
          {"scope", c.scope == BP_SCOPE_AGENT ? "agent" : "row"},
          {"group", bp::GroupOf(c)},
          {"space", WordOfSpace(c.space)},
          {"dtype", WordOfType(c.dtype)},
          {"shape", channel.buffer->shape()},
          {"tensor", std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim)},
          {"low", Bounds(c.low, c.n_bounds)},
          {"high", Bounds(c.high, c.n_bounds)},
          {"nvec", choices},
          {"by", channel.by_host ? "host" : "env"}};
}

// The default of the option max_episode_steps, or null if it is not a number.
json DefaultLimit(const PluginInfo& env) {
  int64_t steps = 0;
  for (const OptionInfo& option : env.options)
    if (option.path == "max_episode_steps" && option.def) {
      const char* const end = option.def->data() + option.def->size();
      if (std::from_chars(option.def->data(), end, steps).ptr == end && steps > 0) return steps;
    }
  return nullptr;
}

std::vector<std::string> OnlyOnce(std::vector<std::string> texts) {
  std::vector<std::string> once;
  for (std::string& text : texts)
    if (std::find(once.begin(), once.end(), text) == once.end()) once.push_back(std::move(text));
  return once;
}

}  // namespace

std::string EmbeddedEnv::SpecText() {
  static constexpr const char* kModes[] = {"same_step", "next_step", "disabled"};
  json channels = json::array(), state = json::array();
  for (const EnvChannels::Channel& channel : channels_.all()) channels.push_back(ChannelText(channel));
  for (const StatePart& part : state_parts_) state.push_back({{"name", part.name}, {"size", part.size}});
  EnvInstance& inner = env_.innermost();
  const auto* const clock = inner.Extension<bp_env_clock_1>(BP_ENV_CLOCK_1);
  const auto* const render = inner.Extension<bp_env_render_1>(BP_ENV_RENDER_1);
  const int64_t limit = tracker_.env_cuts() ? env_.spec().max_episode_steps : tracker_.limit();
  json options = about_.options;
  if (about_.ends_episodes) options[kOnError] = kEndEpisode;
  json wrappers = json::array();
  for (const EnvToOpen::Wrapper& w : about_.wrappers) wrappers.push_back({{"id", w.info.id}, {"options", w.options}});
  if (!wrappers.empty()) options[kWrapperChain] = std::move(wrappers);
  json groups = json::array();
  for (const bp::AgentGroup& group : bp::GroupsOf(env_.spec()))
    groups.push_back({{"name", group.name}, {"agents", group.agents}});
  const json spec = {
      {"id", about_.info.id},
      {"version", about_.info.version},
      {"summary", about_.info.summary},
      {"file", about_.info.file.string()},
      {"rows", env_.rows()},
      {"agents", env_.agents()},
      {"groups", groups},
      {"threads", row_threads_.threads()},
      {"seed", seed_},
      {"max_episode_steps", limit > 0 && limit < EpisodeTracker::kNoLimit ? json(limit) : json(nullptr)},
      {"step_s", clock ? json(inner.Call("step_s", [&](const bp_env* env) { return clock->step_s(env); })) : json(nullptr)},
      {"resets_itself", env_.resets_itself()},
      {"autoreset", kModes[static_cast<int32_t>(mode_)]},
      {"snapshot", HasSnapshots(env_)},
      {"picture", render == nullptr ? json(nullptr) : json(render->format == BP_RENDER_PNG ? "png" : "svg")},
      {"state", state},
      {"options", options},
      {"warnings", OnlyOnce(warnings_)},
      {"channels", channels}};
  return spec.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string EnvListText() {
  Catalog catalog;
  AddPluginFolders(&catalog);
  json list = json::array();
  for (const PluginInfo& info : catalog.plugins()) {
    if (info.kind != BP_KIND_ENV || (info.flags & BP_FLAG_WRAPPER) != 0) continue;
    const std::string refused = WhyNotHere(info);
    list.push_back({{"id", info.id},
                    {"version", info.version},
                    {"summary", info.summary},
                    {"aliases", info.aliases},
                    {"file", info.file.string()},
                    {"rows", std::max<uint64_t>(info.rows, 1)},
                    {"max_episode_steps", DefaultLimit(info)},
                    {"refused", refused.empty() ? json(nullptr) : json(refused)}});
  }
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace backplane
