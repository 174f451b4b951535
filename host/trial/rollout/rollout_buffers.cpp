#include "rollout/rollout_buffers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace backplane {

namespace {

constexpr uint64_t kMostSlots = 4096;   // slots that a rollout may always bind, whatever their size
constexpr uint64_t kBytesOfSlot = 384;  // estimate per channel, in host and env; only decides when to copy

// Calls function(bytes) for each channel, with its bytes per step.
template <class Function>
void ForEachChannelBytes(const EnvInstance& env, const LearnerInstance& learner, Function&& function) {
  const auto bytes = [&](const bp_channel& c) { return env.Lead(c) * Elements(c) * (c.dtype.bits / 8); };
  for (const bp_channel* c : env.channels()) function(*c, bytes(*c));
  for (const bp_channel* c : learner.act_out()) function(*c, bytes(*c));
}

}  // namespace

bool CopiesSteps(uint64_t horizon, const EnvInstance& env, const LearnerInstance& learner) {
  if (horizon < kMostSlots || env.on_device() || env.resets_itself()) return false;
  uint64_t numbers = 0, slot = 0;
  ForEachChannelBytes(env, learner, [&](const bp_channel&, uint64_t bytes) { numbers += bytes, slot += kBytesOfSlot; });
  return numbers < slot;
}

void CheckHorizon(uint64_t horizon, const EnvInstance& env, const LearnerInstance& learner) {
  if (horizon == 0) throw TrialFailure(BP_E_INTERNAL, learner.id(), "asks for a rollout of 0 steps");
  // A step's share of host memory: the buffers or, for an env on a device, their mirrors, and the tensors and lists that point
  // into them.
  const uint64_t slot = CopiesSteps(horizon, env, learner) ? 0 : 256;
  uint64_t step = 0;
  ForEachChannelBytes(env, learner, [&](const bp_channel& c, uint64_t bytes) {
    step += slot + (!env.on_device() || TellsOfAStep(c) ? bytes : 0);
  });
  const auto memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (horizon > memory / step)
    throw TrialFailure(
        BP_E_OOM_HOST, learner.id(),
        fmt::format("asks for a rollout of {} steps: expected at most {}, because a step of all envs takes {} bytes and "
                    "the machine has {}",
                    horizon, memory / step, step, memory));
}

void CheckParts(const bp_request& request, const EnvInstance& env, const LearnerInstance& learner) {
  const RolloutPart part(request.u.rollout.horizon, request.u.rollout.part, 0);
  CheckHorizon(part.room, env, learner);
  constexpr uint64_t kMostParts = UINT32_MAX;  // bp_delivery.count
  if (part.count > kMostParts)
    throw TrialFailure(BP_E_UNSUPPORTED, learner.id(),
                       fmt::format("asks for a rollout of {} steps in parts of {}: expected at most {} parts, got {}",
                                   request.u.rollout.horizon, part.room, kMostParts, part.count));
}

template <class Function>
void RolloutBuffers::ForEachState(Function&& function) {
  const auto call = [&](const bp_channel& c) {
    ChannelBuffer& b = *buffers_[c.name];
    function(c, b, env_.Lead(c) * b.row_bytes());
  };
  for (const bp_channel* c : env_.channels())
    if (IsStateRole(c->role)) call(*c);
  for (const bp_channel* c : learner_.carry()) call(*c);
}

void RolloutBuffers::Bind(uint64_t room, bool carry) {
  const bool copies = CopiesSteps(room, env_, learner_);
  auto old = std::move(buffers_);
  const uint64_t old_horizon = horizon_;
  buffers_.clear();
  room_ = horizon_ = room;
  first_ = 0;
  ++bindings_;
  if (shared_) shared_->BeginBlock();
  const auto add = [&](const bp_channel& c) {
    buffers_[c.name] = std::make_unique<ChannelBuffer>(
        c, env_.Lead(c), IsStateRole(c.role) ? room + 1 : room, memory_.In(shared_), TellsOfAStep(c),
        copies ? ChannelBuffer::Entries::kDense : ChannelBuffer::Entries::kBound);
  };
  for (const bp_channel* c : env_.channels()) add(*c);
  for (const bp_channel* c : learner_.act_out())
    if (buffers_.count(c->name) == 0) add(*c);
  if (bp::FindChannel(env_.spec(), BP_ROLE_TRUNCATED) == nullptr) {
    const bp_channel by_host{sizeof(bp_channel),
                             BP_ROLE_TRUNCATED,
                             BP_SPACE_MULTI_BINARY,
                             BP_SCOPE_ROW,
                             0,
                             {BP_DTYPE_UINT, 8, 1},
                             "truncated",
                             nullptr,
                             nullptr,
                             nullptr,
                             nullptr,
                             0};
    add(by_host);
  }
  if (carry && old_horizon > 0)
    ForEachState([&](const bp_channel& c, ChannelBuffer& b, uint64_t bytes) {
      memory_.Copy(b.place(horizon_, 0), old[c.name]->place(old_horizon, 0), bytes);
    });
  if (shared_) shared_->EndBlock();

  FindRoles();
  copies ? BindOneSlot() : BindSlots();
}

void RolloutBuffers::Begin(const RolloutPart& part) {
  first_ = part.first;
  if (std::exchange(horizon_, part.steps) == part.steps) return;
  for (auto& [name, buffer] : buffers_) buffer->SetEntries(IsStateRole(buffer->role()) ? part.steps + 1 : part.steps);
}

void RolloutBuffers::BindSlots() {
  slot_.reset();
  slot_tensors_.assign(room_ + 1, {});
  frames_.clear();
  for (uint64_t slot = 0; slot <= room_; ++slot) {
    for (const bp_channel* c : env_.channels()) {
      ChannelBuffer& b = *buffers_[c->name];
      bp_tensor* tensor = IsStateRole(c->role) ? b.entry(slot == room_ ? 0 : slot + 1)
                          : slot == room_      ? nullptr
                                               : b.entry(slot);
      slot_tensors_[slot].push_back(tensor);
    }
    frames_.push_back({sizeof(bp_frame), static_cast<uint32_t>(slot), slot_tensors_[slot].data(), nullptr});
  }
  act_in_.assign(room_, {});
  act_out_.assign(room_, {});
  for (uint64_t t = 0; t < room_; ++t) {
    for (const std::string& name : learner_.act_in()) act_in_[t].push_back(buffers_[name]->entry(t));
    for (const bp_channel* c : learner_.act_out())
      act_out_[t].push_back(buffers_[c->name]->entry(IsStateRole(c->role) ? t + 1 : t));
  }
  env_.Bind(frames_);
}

void RolloutBuffers::BindOneSlot() {
  slot_.emplace(env_, learner_, [](const bp_channel&) { return false; });
  of_act_.clear(), of_carry_.clear(), of_step_.clear(), of_states_.clear();
  const auto taken = [this](const std::string& name) {
    ChannelBuffer& to = *buffers_.at(name);
    return Taken{&slot_->Written(name), &to, to.lead() / env_.rows()};
  };
  for (const bp_channel* c : env_.channels())
    if (c->role != BP_ROLE_ACTION) (IsStateRole(c->role) ? of_states_ : of_step_).push_back(taken(c->name));
  for (const bp_channel* c : learner_.act_out()) (IsStateRole(c->role) ? of_carry_ : of_act_).push_back(taken(c->name));
  slot_->Bind();
  slot_tensors_ = {}, frames_ = {}, act_in_ = {}, act_out_ = {};
}

void RolloutBuffers::Take(const std::vector<Taken>& channels, uint64_t entry, uint64_t begin, uint64_t end) {
  for (const Taken& c : channels)
    std::memcpy(c.to->row(entry, begin * c.lead), c.from->row(0, begin * c.lead), (end - begin) * c.lead * c.to->row_bytes());
}

void RolloutBuffers::Release() {
  buffers_.clear();
  slot_.reset();
  room_ = horizon_ = first_ = 0;
  ++bindings_;
  if (shared_ && shared_->owner()) shared_->BeginBlock(), shared_->EndBlock();
}

void RolloutBuffers::FindRoles() {
  const auto role = [&](uint16_t r) {
    return bp::FindChannel(env_.spec(), r) ? buffers_[bp::FindChannel(env_.spec(), r)->name].get() : nullptr;
  };
  obs = role(BP_ROLE_OBS);
  state = role(BP_ROLE_STATE);
  reward = role(BP_ROLE_REWARD);
  terminated = role(BP_ROLE_TERMINATED);
  truncated = role(BP_ROLE_TRUNCATED) ? role(BP_ROLE_TRUNCATED) : buffers_["truncated"].get();
  const auto per_row = [&](uint16_t r) {
    return bp::FindChannel(env_.spec(), r) ? env_.Lead(*bp::FindChannel(env_.spec(), r)) / env_.rows() : 1;
  };
  reward_lead = per_row(BP_ROLE_REWARD);
  obs_lead = per_row(BP_ROLE_OBS);
  observed.clear();
  for (const auto& [seen_role, final_role] :
       {std::pair{BP_ROLE_OBS, BP_ROLE_FINAL_OBS}, {BP_ROLE_STATE, BP_ROLE_FINAL_STATE}}) {
    const std::vector<const bp_channel*> seen = bp::FindChannels(env_.spec(), seen_role),
                                         last = bp::FindChannels(env_.spec(), final_role);
    for (size_t i = 0; i < seen.size(); ++i)
      observed.push_back({buffers_[seen[i]->name].get(), env_.resets_itself() ? buffers_[last[i]->name].get() : nullptr,
                          env_.Lead(*seen[i]) / env_.rows(), bp::FinalName(env_.spec(), *seen[i])});
  }
  for (const bp_channel* c : learner_.carry())
    observed.push_back({buffers_[c->name].get(), nullptr, env_.Lead(*c) / env_.rows(), std::string("final_") + c->name});
  infos.clear();
  info_names.clear();
  for (const bp_channel* c : env_.channels()) {
    if (!IsEpisodeInfo(*c)) continue;
    infos.push_back(buffers_[c->name].get());
    info_names.push_back(c->name);
  }
}

SlotChannel RolloutBuffers::Seen(const std::string& name, uint64_t entry) const {
  ChannelBuffer& buffer = *buffers_.at(name);
  return {&buffer, entry, buffer.lead() / env_.rows()};
}

CallChannels RolloutBuffers::OfAct(uint64_t t) const {
  if (slot_) return slot_->OfAct();
  CallChannels out;
  for (const std::string& name : learner_.act_in()) out.reads.push_back(Seen(name, t));
  for (const bp_channel* c : learner_.act_out()) out.writes.push_back(Seen(c->name, IsStateRole(c->role) ? t + 1 : t));
  return out;
}

CallChannels RolloutBuffers::OfStep(uint64_t t) const {
  if (slot_) return slot_->OfStep();
  CallChannels out;
  for (const bp_channel* c : env_.channels()) {
    if (c->role == BP_ROLE_ACTION)
      out.reads.push_back(Seen(c->name, t));
    else
      out.writes.push_back(Seen(c->name, IsStateRole(c->role) ? t + 1 : t));
  }
  return out;
}

CallChannels RolloutBuffers::OfReset(uint64_t t) const {
  if (slot_) return slot_->OfReset();
  CallChannels out;
  for (const bp_channel* c : env_.channels()) {
    if (IsStateRole(c->role))
      out.writes.push_back(Seen(c->name, t == room_ ? 0 : t + 1));
    else if (t < room_)
      out.reads.push_back(Seen(c->name, t));
  }
  return out;
}

void RolloutBuffers::Forget(uint64_t entry, uint64_t begin, uint64_t end) {
  for (const Observed& seen : observed)
    if (seen.buffer->role() == BP_ROLE_CARRY)
      std::memset(seen.buffer->row(entry, begin * seen.lead), 0, (end - begin) * seen.lead * seen.buffer->row_bytes());
  if (slot_) slot_->Forget(begin, end);
}

void RolloutBuffers::CheckGuards() const {
  if (slot_) slot_->CheckGuards();
  for (const auto& [name, buffer] : buffers_) CheckGuard(*buffer, env_, learner_);
}

std::optional<std::string> RolloutBuffers::GuardBreak() const {
  for (const auto& [name, buffer] : buffers_)
    if (auto found = buffer->GuardBreak()) return found;
  return std::nullopt;
}

void RolloutBuffers::Continue() {
  ForEachState([&](const bp_channel& c, ChannelBuffer& b, uint64_t bytes) {
    if (!shared() || shared_->owner()) b.CopyEntry(horizon_, 0);
    if (slot_) std::memcpy((*slot_)[c.name].row(0, 0), b.row(0, 0), bytes);
  });
}

std::vector<std::byte> RolloutBuffers::SaveFirstStates(uint64_t begin, uint64_t end) {
  std::vector<std::byte> out;
  ForEachState([&](const bp_channel&, ChannelBuffer& b, uint64_t all) {
    const uint64_t row = all / env_.rows();
    const std::byte* const from = b.row(0, 0) + begin * row;
    out.insert(out.end(), from, from + (end - begin) * row);
  });
  return out;
}

bool RolloutBuffers::RestoreFirstStates(uint64_t begin, uint64_t end, const std::vector<std::byte>& bytes) {
  uint64_t wanted = 0;
  ForEachState([&](const bp_channel&, ChannelBuffer&, uint64_t all) { wanted += all / env_.rows() * (end - begin); });
  if (bytes.size() != wanted) return false;
  const std::byte* from = bytes.data();
  ForEachState([&](const bp_channel& c, ChannelBuffer& b, uint64_t all) {
    const uint64_t row = all / env_.rows(), n = (end - begin) * row;
    std::memcpy(b.row(0, 0) + begin * row, from, n);
    if (slot_) std::memcpy((*slot_)[c.name].row(0, 0) + begin * row, from, n);
    from += n;
  });
  return true;
}

template <class Function>
void RolloutBuffers::ForEachStepOf(uint64_t begin, uint64_t end, Function&& function) {
  for (auto& [name, buffer] : buffers_) {
    if (std::find(infos.begin(), infos.end(), buffer.get()) != infos.end()) continue;
    const uint64_t lead = buffer->lead() / env_.rows(), entries = horizon_ + (IsStateRole(buffer->role()) ? 1 : 0);
    for (uint64_t t = 0; t < entries; ++t) function(buffer->row(t, begin * lead), (end - begin) * lead * buffer->row_bytes());
  }
}

std::vector<std::byte> RolloutBuffers::SaveSteps(uint64_t begin, uint64_t end) {
  uint64_t size = 0;
  ForEachStepOf(begin, end, [&](const std::byte*, uint64_t bytes) { size += bytes; });
  std::vector<std::byte> out;
  out.reserve(size);
  ForEachStepOf(begin, end, [&](const std::byte* at, uint64_t bytes) { out.insert(out.end(), at, at + bytes); });
  return out;
}

bool RolloutBuffers::RestoreSteps(uint64_t begin, uint64_t end, const std::vector<std::byte>& bytes) {
  uint64_t size = 0;
  ForEachStepOf(begin, end, [&](const std::byte*, uint64_t n) { size += n; });
  if (bytes.size() != size) return false;
  const std::byte* from = bytes.data();
  ForEachStepOf(begin, end, [&](std::byte* at, uint64_t n) {
    std::memcpy(at, from, n);
    from += n;
  });
  return true;
}

void RolloutBuffers::AwaitDevice() {
  for (auto& [name, buffer] : buffers_) {
    if (buffer->AwaitDevice()) return;
  }
}

void RolloutBuffers::FetchForHost() {
  for (auto& [name, buffer] : buffers_) buffer->Fetch();  // only those have a mirror
}

ChannelBuffer* RolloutBuffers::Find(const std::string& name) {
  const auto it = buffers_.find(name);
  return it == buffers_.end() ? nullptr : it->second.get();
}

std::vector<std::byte> RolloutBuffers::SaveStates() {
  std::vector<std::byte> out;
  ForEachState([&](const bp_channel&, ChannelBuffer& b, uint64_t bytes) {
    out.insert(out.end(), b.row(horizon_, 0), b.row(horizon_, 0) + bytes);
  });
  return out;
}

void RolloutBuffers::RestoreStates(const std::vector<std::byte>& bytes) {
  uint64_t wanted = 0;
  ForEachState([&](const bp_channel&, ChannelBuffer&, uint64_t n) { wanted += n; });
  if (bytes.size() != wanted)
    throw TrialFailure(
        BP_E_IO, "", "expected " + std::to_string(wanted) + " bytes of saved row states, got " + std::to_string(bytes.size()));
  const std::byte* from = bytes.data();
  ForEachState([&](const bp_channel&, ChannelBuffer& b, uint64_t n) {
    std::memcpy(b.row(horizon_, 0), from, n);
    from += n;
  });
}

}  // namespace backplane
