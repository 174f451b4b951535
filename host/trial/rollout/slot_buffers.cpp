#include "rollout/slot_buffers.hpp"

#include <cstring>

namespace backplane {

SlotBuffers::SlotBuffers(EnvInstance& env, const LearnerInstance& learner,
                         const std::function<bool(const bp_channel&)>& mirrored)
    : env_(env), learner_(learner) {
  const EnvMemory memory(env, learner);
  for (const bp_channel* c : env.channels()) {
    auto& buffer = buffers_[c->name] = std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1, memory, mirrored(*c));
    tensors_.push_back(buffer->entry(0));
  }
  for (const bp_channel* c : learner.act_out()) {
    auto& buffer = buffers_[c->name];
    if (!buffer) buffer = std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1, memory);
    if (c->role == BP_ROLE_CARRY)
      memories_.push_back(
          {buffer.get(), std::make_unique<ChannelBuffer>(*c, env.Lead(*c), 1, memory), env.Lead(*c) / env.rows()});
    act_out_.push_back(Written(c->name).entry(0));
  }
  for (const std::string& name : learner.act_in()) act_in_.push_back(buffers_.at(name)->entry(0));
  frames_.push_back({sizeof(bp_frame), 0, tensors_.data(), nullptr});
}

void SlotBuffers::Memory::Advance(uint64_t begin, uint64_t end) const {
  std::memcpy(read->row(0, begin * per_row), written->row(0, begin * per_row), (end - begin) * per_row * read->row_bytes());
}

void SlotBuffers::Memory::Forget(uint64_t begin, uint64_t end) const {
  std::memset(read->row(0, begin * per_row), 0, (end - begin) * per_row * read->row_bytes());
}

ChannelBuffer& SlotBuffers::Written(const std::string& name) const {
  for (const Memory& memory : memories_)
    if (memory.read->name() == name) return *memory.written;
  return *buffers_.at(name);
}

CallChannels SlotBuffers::OfAct() const {
  CallChannels out;
  for (const std::string& name : learner_.act_in()) out.reads.push_back(Seen(*buffers_.at(name)));
  for (const bp_channel* c : learner_.act_out()) out.writes.push_back(Seen(Written(c->name)));
  return out;
}

CallChannels SlotBuffers::OfStep() const {
  CallChannels out;
  for (const bp_channel* c : env_.channels())
    (c->role == BP_ROLE_ACTION ? out.reads : out.writes).push_back(Seen(*buffers_.at(c->name)));
  return out;
}

CallChannels SlotBuffers::OfReset() const {
  CallChannels out;
  for (const bp_channel* c : env_.channels())
    (IsStateRole(c->role) ? out.writes : out.reads).push_back(Seen(*buffers_.at(c->name)));
  return out;
}

void SlotBuffers::CheckGuards() const {
  for (const auto& [name, buffer] : buffers_) CheckGuard(*buffer, env_, learner_);
  for (const Memory& memory : memories_) CheckGuard(*memory.written, env_, learner_);
}

ChannelBuffer* SlotBuffers::OfRole(uint16_t role) {
  const bp_channel* channel = bp::FindChannel(env_.spec(), role);
  return channel ? buffers_.at(channel->name).get() : nullptr;
}

}  // namespace backplane
