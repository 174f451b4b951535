#include "embed/env_channels.hpp"

#include <cmath>
#include <cstring>

#include "rollout/non_finite.hpp"

namespace backplane {
namespace {

bp_channel PerRowNumber(uint16_t space, uint8_t code, uint8_t bits) {
  return {sizeof(bp_channel), 0, space, BP_SCOPE_ROW, 0, {code, bits, 1}, nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 0};
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
  if (truncated == nullptr) {
    truncated = AddOwn(env, BP_ROLE_TRUNCATED, "truncated", PerRowNumber(BP_SPACE_MULTI_BINARY, BP_DTYPE_UINT, 8));
    of_step_.push_back(truncated);
  }
  for (const auto& [seen_role, final_role] :
       {std::pair{BP_ROLE_OBS, BP_ROLE_FINAL_OBS}, {BP_ROLE_STATE, BP_ROLE_FINAL_STATE}}) {
    if (OfRole(final_role) != nullptr) continue;
    for (const bp_channel* c : bp::FindChannels(env.spec(), seen_role))
      kept_.push_back({buffers_[c->name].get(), AddOwn(env, final_role, bp::FinalName(env.spec(), *c), *c)});
  }
  ep_return = AddOwn(env, kReturn, "ep_return", PerRowNumber(BP_SPACE_BOX, BP_DTYPE_FLOAT, 64));
  ep_length = AddOwn(env, kLength, "ep_length", PerRowNumber(BP_SPACE_BOX, BP_DTYPE_INT, 64));
  frames_.push_back({sizeof(bp_frame), 0, tensors_.data(), nullptr});
  env.Bind(frames_);
}

ChannelBuffer* EnvChannels::AddOwn(const EnvInstance& env, uint16_t role, const std::string& name, const bp_channel& like) {
  bp_channel about = like;
  about.role = role, about.name = names_.emplace_back(name).c_str();
  auto& buffer = buffers_[name];
  if (buffer) throw TrialFailure(BP_E_UNSUPPORTED, env.id(), "has a channel '" + name + "', but the host reserves this name");
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
  for (const auto& [from, to] : kept_) {
    const uint64_t each = PerRow(*from);
    std::memcpy(to->place(0, row * each), from->place(0, row * each), each * from->row_bytes());
  }
}

void EnvChannels::RestoreKept(uint64_t row) {
  for (const auto& [from, to] : kept_) {
    const uint64_t each = PerRow(*from);
    std::memcpy(from->place(0, row * each), to->place(0, row * each), each * from->row_bytes());
  }
}

std::string EnvChannels::NotFinite(uint64_t row) const {
  for (const auto& [from, to] : kept_)
    if (const auto found = NonFiniteEntry(*from, 0, row, PerRow(*from), "row " + std::to_string(row))) return *found;
  const auto* const rewards = reward->at<float>(0, row * PerRow(*reward));
  for (uint64_t i = 0; i < PerRow(*reward); ++i)
    if (!std::isfinite(rewards[i])) return "the reward of row " + std::to_string(row) + " is not a finite number";
  return "";
}

void EnvChannels::ClearStep(uint64_t row) {
  for (ChannelBuffer* buffer : of_step_) {
    const uint64_t each = PerRow(*buffer);
    std::memset(buffer->place(0, row * each), 0, each * buffer->row_bytes());
  }
}

}  // namespace backplane
