#include "player.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "places.hpp"
#include "support/env_harness.hpp"

namespace backplane::parity {
namespace {

const bp_descriptor& Descriptor(const LoadedModule& module) {
  const std::string stem = module.file().stem();  // "env_ant"
  return module.descriptor("env." + stem.substr(4));
}

}  // namespace

const LoadedModule* FindModule(const std::string& plugin) {
  static std::map<std::string, std::unique_ptr<LoadedModule>> loaded;
  const std::filesystem::path file = BACKPLANE_PLUGIN_DIR "/env_" + plugin + ".so";
  if (!std::filesystem::exists(file)) return nullptr;
  auto& module = loaded[plugin];
  if (!module) module = LoadedModule::Load(file, "");
  return module.get();
}

nlohmann::json Defaults(const LoadedModule& module) { return harness::Defaults(Descriptor(module)); }

Player::Player(const LoadedModule& module, const nlohmann::json& options, Drive drive) : drive_(drive) {
  const bp_descriptor& descriptor = Descriptor(module);
  nlohmann::json all = Defaults(module);
  for (const auto& [name, value] : options.items()) {
    if (!all.contains(name)) throw std::runtime_error(std::string(descriptor.id) + " has no option '" + name + "'");
    all[name] = value;
  }
  env_ = std::make_unique<EnvInstance>(module, descriptor.id, sinks_, InstanceOptions{all, {}, ""}, 1);
  for (const bp_channel* channel : env_->channels()) {
    auto& buffer = buffers_[channel->name] = std::make_unique<ChannelBuffer>(*channel, 1, 1);
    tensors_.push_back(buffer->entry(0));
    if (channel->role == BP_ROLE_INFO && !IsEpisodeInfo(*channel)) info_channels_.push_back(channel->name);
  }
  frames_.push_back({sizeof(bp_frame), 0, tensors_.data(), nullptr});
  env_->Bind(frames_);
}

std::vector<std::string> Player::InfoNames() const {
  std::vector<std::string> names;
  for (const std::string& channel : info_channels_) names.insert(names.end(), buffers_.at(channel)->row_elements(), channel);
  return names;
}

Episode Player::Play(uint64_t seed, size_t steps, size_t skip, size_t state_size) {
  Episode out;
  bp_rng rng{bp_seed(seed, BP_PURPOSE_ACT, 0, 0), 0};
  if (bp_status s = env_->Reset(0, 0, 1, nullptr, &seed); s != BP_OK) env_->Fail(s, "reset");
  out.state = State(skip, state_size);
  out.obs.push_back(Read("obs"));
  while (out.steps() < steps) {
    out.actions.push_back(DrawAction(&rng, out.obs.back()));
    if (bp_status s = env_->Step(0, 0, 1); s != BP_OK) env_->Fail(s, "step");
    out.obs.push_back(Read("obs"));
    out.reward.push_back(Read("reward")[0]);
    std::vector<float>& info = out.info.emplace_back();
    for (const std::string& channel : info_channels_) {
      const std::vector<float> values = Read(channel);
      info.insert(info.end(), values.begin(), values.end());
    }
    out.terminated.push_back(*buffers_.at("terminated")->at<uint8_t>(0, 0));
    out.truncated.push_back(static_cast<int64_t>(out.steps()) >= max_episode_steps());  // as the host does after each step
    if (out.terminated.back() || out.truncated.back()) break;
  }
  return out;
}

std::vector<double> Player::State(size_t skip, size_t state_size) const {
  const auto* snapshot = env_->Extension<bp_env_snapshot_1>(BP_ENV_SNAPSHOT_1);
  if (!snapshot) throw std::runtime_error(env_->id() + " offers no snapshots, so its state cannot be given to the oracle");
  std::vector<char> row(snapshot->row_bytes(env_->handle()));
  if (bp_status s = snapshot->get(env_->handle(), 0, row.data()); s != BP_OK) throw std::runtime_error("no snapshot");
  const size_t at = sizeof(uint64_t) + sizeof(bp_rng) + skip * sizeof(double);
  std::vector<double> state(state_size);
  if (at + state_size * sizeof(double) > row.size())
    throw std::runtime_error(env_->id() + " has a smaller state than the oracle");
  std::memcpy(state.data(), row.data() + at, state_size * sizeof(double));
  return state;
}

// A fifth beyond the bounds, because envs clip actions but charge for the unclipped ones.
std::vector<float> Player::DrawAction(bp_rng* rng, const std::vector<float>& obs) {
  const bp_channel& channel = *bp::FindChannel(env_->spec(), BP_ROLE_ACTION);
  ChannelBuffer& buffer = *buffers_.at(channel.name);
  if (channel.space == BP_SPACE_DISCRETE) {
    auto choice = static_cast<int32_t>(bp_rng_below(rng, static_cast<uint64_t>(channel.nvec[0])));
    // Choices around the middle one are pushes to either side.
    if (drive_ == Drive::kAlongSpeed && choice != 1) choice = obs.back() < 0 ? 0 : 2;
    *buffer.at<int32_t>(0, 0) = choice;
    return {static_cast<float>(choice)};
  }
  std::vector<float> action(buffer.row_elements());
  for (size_t i = 0; i < action.size(); ++i) {
    const size_t bound = channel.n_bounds > 1 ? i : 0;
    double value = 1.2 * bp_rng_range(rng, channel.low[bound], channel.high[bound]);
    if (drive_ == Drive::kAlongSpeed) value = std::copysign(value, obs.back());
    action[i] = static_cast<float>(value);
  }
  std::memcpy(buffer.row(0, 0), action.data(), action.size() * sizeof(float));
  return action;
}

std::vector<float> Player::Read(const std::string& channel) const {
  ChannelBuffer& buffer = *buffers_.at(channel);
  const auto* values = buffer.at<float>(0, 0);
  return {values, values + buffer.row_elements()};
}

}  // namespace backplane::parity
