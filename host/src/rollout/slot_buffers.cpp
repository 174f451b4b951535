#include "rollout/slot_buffers.hpp"

namespace backplane {

SlotBuffers::SlotBuffers(EnvInstance& env, const LearnerInstance& learner,
                         const std::function<bool(const bp_channel&)>& mirrored)
    : env_(env) {
  const EnvMemory memory(env);
  for (const bp_channel* c : env.channels()) {
    auto& buffer = buffers_[c->name] = std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1, memory, mirrored(*c));
    tensors_.push_back(buffer->entry(0));
  }
  for (const bp_channel* c : learner.act_out()) {
    auto& buffer = buffers_[c->name];
    if (!buffer) buffer = std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1, memory);
    act_out_.push_back(buffer->entry(0));
  }
  for (const std::string& name : learner.act_in()) act_in_.push_back(buffers_.at(name)->entry(0));
  frames_.push_back({sizeof(bp_frame), 0, tensors_.data(), nullptr});
}

ChannelBuffer* SlotBuffers::OfRole(uint16_t role) {
  const bp_channel* channel = env_.FindRole(role);
  return channel ? buffers_.at(channel->name).get() : nullptr;
}

}  // namespace backplane
