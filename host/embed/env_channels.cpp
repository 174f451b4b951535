#include "embed/env_channels.hpp"

#include <cstring>

namespace backplane {
namespace {

bp_channel PerRowNumber(uint16_t space, uint8_t code, uint8_t bits) {
  return {sizeof(bp_channel), 0, space, BP_SCOPE_ROW, 0, {code, bits, 1}, nullptr, nullptr, nullptr, nullptr, nullptr, 0};
}

}  // namespace

EnvChannels::EnvChannels(EnvInstance& env) : rows_(env.rows()) {
  for (const bp_channel* c : env.channels()) {
    auto& buffer = buffers_[c->name] = std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1);
    all_.push_back({*c, buffer.get(), false});
    tensors_.push_back(buffer->entry(0));
    if (TellsOfAStep(*c) || c->role == BP_ROLE_INFO) of_step_.push_back(buffer.get());
  }
  obs = OfRole(BP_ROLE_OBS), state = OfRole(BP_ROLE_STATE);
  reward = OfRole(BP_ROLE_REWARD), terminated = OfRole(BP_ROLE_TERMINATED), truncated = OfRole(BP_ROLE_TRUNCATED);
  final_obs = OfRole(BP_ROLE_FINAL_OBS), final_state = OfRole(BP_ROLE_FINAL_STATE);
  keeps_obs_ = final_obs == nullptr, keeps_state_ = state != nullptr && final_state == nullptr;
  if (truncated == nullptr) {
    truncated = AddOwn(env, BP_ROLE_TRUNCATED, "truncated", PerRowNumber(BP_SPACE_MULTI_BINARY, BP_DTYPE_UINT, 8));
    of_step_.push_back(truncated);
  }
  if (keeps_obs_) final_obs = AddOwn(env, BP_ROLE_FINAL_OBS, "final_obs", *bp::FindChannel(env.spec(), BP_ROLE_OBS));
  if (keeps_state_) final_state = AddOwn(env, BP_ROLE_FINAL_STATE, "final_state", *bp::FindChannel(env.spec(), BP_ROLE_STATE));
  ep_return = AddOwn(env, kReturn, "ep_return", PerRowNumber(BP_SPACE_BOX, BP_DTYPE_FLOAT, 64));
  ep_length = AddOwn(env, kLength, "ep_length", PerRowNumber(BP_SPACE_BOX, BP_DTYPE_INT, 64));
  frames_.push_back({sizeof(bp_frame), 0, tensors_.data(), nullptr});
  env.Bind(frames_);
}

ChannelBuffer* EnvChannels::AddOwn(const EnvInstance& env, uint16_t role, const char* name, const bp_channel& like) {
  bp_channel about = like;
  about.role = role, about.name = name;
  auto& buffer = buffers_[name];
  if (buffer)
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(), std::string("has a channel '") + name + "', which is the host's name");
  buffer = std::make_unique<ChannelBuffer>(about, env.Lead(about), 1);
  all_.push_back({about, buffer.get(), true});
  return buffer.get();
}

ChannelBuffer* EnvChannels::OfRole(uint16_t role) const {
  for (const Channel& channel : all_)
    if (channel.about.role == role) return channel.buffer;
  return nullptr;
}

ChannelBuffer* EnvChannels::Find(const std::string& name) const {
  const auto found = buffers_.find(name);
  return found == buffers_.end() ? nullptr : found->second.get();
}

void EnvChannels::KeepFinal(uint64_t row) {
  const auto keep = [&](const ChannelBuffer* from, ChannelBuffer* to) {
    const uint64_t each = PerRow(*from);
    std::memcpy(to->place(0, row * each), from->place(0, row * each), each * from->row_bytes());
  };
  if (keeps_obs_) keep(obs, final_obs);
  if (keeps_state_) keep(state, final_state);
}

void EnvChannels::ClearStep(uint64_t row) {
  for (ChannelBuffer* buffer : of_step_) {
    const uint64_t each = PerRow(*buffer);
    std::memset(buffer->place(0, row * each), 0, each * buffer->row_bytes());
  }
}

}  // namespace backplane
