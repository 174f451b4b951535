#include "rollout/env_below.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "rollout/instance.hpp"

namespace backplane {
namespace {

bp_channel HostChannel(uint16_t role, uint16_t space, bp_dtype dtype, const char* name) {
  return {sizeof(bp_channel), role, space, BP_SCOPE_ROW, 0, dtype, name, nullptr, nullptr, nullptr, nullptr, 0, 0, 0};
}

bp_env_spec With(bp_env_spec view, const std::vector<bp_channel>& channels) {
  view.channels = channels.data();
  view.n_channels = channels.size();
  return view;
}

bool Contains(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// NULL: no such channel, or not in this slot.
uint8_t* DataOf(const CheckedEnvSpec& spec, const bp_frame& frame, const bp_channel* channel) {
  if (channel == nullptr) return nullptr;
  const bp_tensor* tensor = frame.tensors[channel - spec.view.channels];
  return tensor ? static_cast<uint8_t*>(tensor->data) : nullptr;
}

uint64_t PerRow(const CheckedEnvSpec& spec, const bp_channel& channel) { return bp::AgentsIn(spec.view, channel); }

}  // namespace

// The calls of wrappers.
class EnvBelow::Calls {
 public:
  static EnvBelow& Of(const bp_host* host) { return *static_cast<EnvBelow*>(HostServices::EnvImpl(host)); }
  static const bp_env_spec* Spec(const bp_host* host) noexcept { return &Of(host).spec_.view; }
  static bp_status Bind(const bp_host* host, const bp_frame** out_frames, uint64_t* out_n) noexcept {
    const std::vector<bp_frame>& frames = Of(host).frames_;
    *out_frames = frames.data();
    *out_n = frames.size();
    return frames.empty() ? BP_E_INVALID_ARG : BP_OK;
  }
  static bp_status Reset(const bp_host* host, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask,
                         const uint64_t* seeds) noexcept {
    EnvBelow& below = Of(host);
    return below.Serve("reset", [&] { return below.Reset(slot, begin, end, mask, seeds); });
  }
  static bp_status Step(const bp_host* host, uint32_t slot, uint64_t begin, uint64_t end) noexcept {
    EnvBelow& below = Of(host);
    return below.Serve("step", [&] { return below.Step(slot, begin, end); });
  }
};

const bp_host_env_1* EnvBelow::Api() {
  static constexpr bp_host_env_1 api = {sizeof(bp_host_env_1), 0, Calls::Spec, Calls::Bind, Calls::Reset, Calls::Step};
  return &api;
}

EnvBelow::EnvBelow(std::unique_ptr<EnvInstance> env) : env_(std::move(env)), rows_(env_->rows()) {
  const auto refuse = [&](const char* why) {
    throw TrialFailure(BP_E_CONFIG, env_->id(),
                       fmt::format("env.wrappers: expected an env that the host steps and resets row "
                                   "by row, got one that {}; leave out env.wrappers",
                                   why));
  };
  if (env_->on_device()) refuse("keeps its channels on a device");
  if (env_->resets_itself()) refuse("resets itself (NATIVE_AUTORESET)");
  if (env_->steps_whole()) refuse("steps all rows in one call (" BP_ENV_BATCH_1 ")");
  std::vector<bp_channel> channels = env_->checked_spec().table.channels();
  if (bp::FindChannel(env_->spec(), BP_ROLE_TRUNCATED) == nullptr)
    channels.push_back(HostChannel(BP_ROLE_TRUNCATED, BP_SPACE_MULTI_BINARY, {BP_DTYPE_UINT, 8, 1}, "truncated"));
  const bp_env_spec view = With(env_->spec(), channels);
  spec_ = CheckSpec(env_->id(), &view, env_->flags(), rows_);
  own_.resize(channels.size());
  own_rewards_per_row_ = PerRow(spec_, *bp::FindChannel(spec_.view, BP_ROLE_REWARD));
  own_limit_ = (env_->flags() & BP_FLAG_OWNS_TIME_LIMIT) == 0 ? env_->spec().max_episode_steps : 0;
  for (auto* sums : {&own_returns_, &learner_returns_}) sums->resize(rows_);
  own_steps_.resize(rows_);
  for (auto* counts : {&own_lengths_, &lengths_}) counts->resize(rows_);
}

EnvBelow::~EnvBelow() = default;

bool EnvBelow::innermost() const { return env_->below() == nullptr; }

CheckedEnvSpec EnvBelow::Join(const std::string& wrapper, const bp_env_spec* declared, uint64_t flags,
                              const std::function<bool(const char*)>& hides) {
  const SpecPlace place(wrapper, "spec");
  const bp_env_spec view = ReadSpecStruct(place, declared);
  if (view.n_channels > kMaxChannels)
    place.Refuse(fmt::format("n_channels at most {}", kMaxChannels), std::to_string(view.n_channels));
  ChannelTable own;
  if (view.n_channels > 0) own.Read(place, view.channels, view.n_channels);
  declared_.clear(), replaced_.clear(), hidden_.clear();
  replaces_states_ = false;
  for (const bp_channel& c : own.channels()) declared_.emplace_back(c.name);
  std::vector<bp_channel> channels;
  for (const bp_channel& c : spec_.table.channels()) {
    const auto instead = std::find_if(own.channels().begin(), own.channels().end(),
                                      [&](const bp_channel& o) { return std::string_view(o.name) == c.name; });
    if (instead != own.channels().end()) {
      channels.push_back(*instead);
      replaced_.emplace_back(c.name);
    } else if (hides(c.name)) {
      hidden_.emplace_back(c.name);
    } else {
      channels.push_back(c);
      continue;
    }
    replaces_states_ = replaces_states_ || IsStateRole(c.role);
  }
  for (const bp_channel& c : own.channels())
    if (!Contains(replaced_, c.name)) channels.push_back(c);
  if (innermost()) channels.push_back(HostChannel(BP_ROLE_INFO, BP_SPACE_BOX, {BP_DTYPE_FLOAT, 64, 1}, kLearnerReturn));
  bp_env_spec joined = With(spec_.view, channels);
  if (view.max_episode_steps != 0) joined.max_episode_steps = view.max_episode_steps;
  return CheckSpec(wrapper, &joined, flags, rows_);
}

// The buffer of a channel that the wrapper replaces or hides: one entry for all slots, which only the wrapper reads.
bp_tensor* EnvBelow::Own(size_t channel) {
  const bp_channel& c = spec_.table.channels()[channel];
  if (!own_[channel]) own_[channel] = std::make_unique<ChannelBuffer>(c, rows_ * PerRow(spec_, c), 1);
  return own_[channel]->entry(0);
}

const std::vector<bp_frame>& EnvBelow::Bind(const CheckedEnvSpec& joined, const std::vector<bp_frame>& frames) {
  const auto place_of = [&](const char* name) { return bp::FindChannel(joined.view, name) - joined.view.channels; };
  tensors_.assign(frames.size(), {}), wrapper_tensors_.assign(frames.size(), {});
  frames_.clear(), wrapper_frames_.clear();
  for (size_t i = 0; i < frames.size(); ++i) {
    const bool starts_rollout = frames.size() > 1 && frames[i].slot + 1 == frames.size();
    for (size_t c = 0; c < own_.size(); ++c) {
      const bp_channel& channel = spec_.table.channels()[c];
      const bool shared = !Contains(replaced_, channel.name) && !Contains(hidden_, channel.name);
      const bool absent = starts_rollout && !IsStateRole(channel.role);
      tensors_[i].push_back(shared ? frames[i].tensors[place_of(channel.name)] : absent ? nullptr : Own(c));
    }
    for (const std::string& name : declared_) wrapper_tensors_[i].push_back(frames[i].tensors[place_of(name.c_str())]);
    frames_.push_back({sizeof(bp_frame), frames[i].slot, tensors_[i].data(), frames[i].stream});
    wrapper_frames_.push_back({sizeof(bp_frame), frames[i].slot, wrapper_tensors_[i].data(), frames[i].stream});
  }
  FindPlaces(joined, frames);
  env_->Bind(frames_);
  return wrapper_frames_;
}

void EnvBelow::FindPlaces(const CheckedEnvSpec& joined, const std::vector<bp_frame>& frames) {
  rewards_per_row_ = PerRow(joined, *bp::FindChannel(joined.view, BP_ROLE_REWARD));
  limit_ = joined.view.max_episode_steps == spec_.view.max_episode_steps ? 0 : joined.view.max_episode_steps;
  places_.clear();
  for (size_t i = 0; i < frames.size(); ++i) {
    SlotPlaces& at = places_.emplace_back();
    at.own_reward.data = DataOf(spec_, frames_[i], bp::FindChannel(spec_.view, BP_ROLE_REWARD));
    at.own_truncated.data = DataOf(spec_, frames_[i], bp::FindChannel(spec_.view, BP_ROLE_TRUNCATED));
    at.reward.data = DataOf(joined, frames[i], bp::FindChannel(joined.view, BP_ROLE_REWARD));
    at.truncated.data = DataOf(joined, frames[i], bp::FindChannel(joined.view, BP_ROLE_TRUNCATED));
    at.learner_return.data = DataOf(joined, frames[i], bp::FindChannel(joined.view, kLearnerReturn));
  }
}

void EnvBelow::CheckGuards() const {
  for (const auto& buffer : own_)
    if (const auto found = buffer ? buffer->GuardBreak() : std::nullopt) throw TrialFailure(BP_E_INTERNAL, env_->id(), *found);
}

template <class Function>
bp_status EnvBelow::Serve(const char* doing, Function&& function) noexcept {
  const char* const caller = tls_running_plugin;
  bp_status status = BP_E_INTERNAL;
  try {
    try {
      status = function();
      if (status != BP_OK) env_->Fail(status, doing);
    } catch (const TrialFailure& failure) {
      status = failure.status();
      throw;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  tls_running_plugin = caller;
  return status;
}

void EnvBelow::ThrowFailure() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

bp_status EnvBelow::Step(uint32_t slot, uint64_t begin, uint64_t end) {
  if (slot >= places_.size() || places_[slot].own_reward.data == nullptr || begin > end || end > rows_)
    throw TrialFailure(BP_E_INVALID_ARG, env_->id(),
                       fmt::format("step below a wrapper: expected a bound slot and rows within "
                                   "0 .. {}, got slot {}, rows {} .. {}",
                                   rows_, slot, begin, end));
  const bp_status status = env_->Step(slot, begin, end);
  if (status == BP_OK && innermost()) CountStep(slot, begin, end);
  return status;
}

void EnvBelow::CountStep(uint32_t slot, uint64_t begin, uint64_t end) {
  const SlotPlaces& at = places_[slot];
  const float* reward = at.own_reward.as<float>() + begin * own_rewards_per_row_;
  uint8_t* const truncated = at.own_truncated.as<uint8_t>();
  const bool env_cuts = (env_->flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0;
  for (uint64_t r = begin; r < end; ++r) {
    double sum = own_returns_[r];
    for (uint64_t a = 0; a < own_rewards_per_row_; ++a) sum += *reward++;
    own_returns_[r] = sum;
    const int64_t length = ++own_lengths_[r];
    if (!env_cuts) truncated[r] = own_limit_ > 0 && length >= own_limit_;
    ++own_steps_[r];
  }
}

uint64_t EnvBelow::TakeOwnSteps(uint64_t begin, uint64_t end) {
  uint64_t sum = 0;
  for (uint64_t r = begin; r < end; ++r) sum += std::exchange(own_steps_[r], 0);
  return sum;
}

bp_status EnvBelow::Reset(uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
  if (slot >= places_.size() || begin > end || end > rows_)
    throw TrialFailure(BP_E_INVALID_ARG, env_->id(),
                       fmt::format("reset below a wrapper: expected a bound slot and rows within "
                                   "0 .. {}, got slot {}, rows {} .. {}",
                                   rows_, slot, begin, end));
  const bp_status status = env_->Reset(slot, begin, end, mask, seeds);
  for (uint64_t r = begin; r < end; ++r)
    if (mask == nullptr || mask[r] != 0) own_returns_[r] = 0, own_lengths_[r] = 0;
  return status;
}

void EnvBelow::EndStep(uint32_t slot, uint64_t begin, uint64_t end) {
  const SlotPlaces& at = places_[slot];
  const float* reward = at.reward.as<float>() + begin * rewards_per_row_;
  double* const learner_return = at.learner_return.as<double>();
  uint8_t* const truncated = at.truncated.as<uint8_t>();
  for (uint64_t r = begin; r < end; ++r) {
    double sum = learner_returns_[r];
    for (uint64_t a = 0; a < rewards_per_row_; ++a) sum += *reward++;
    learner_returns_[r] = sum;
    if (learner_return != nullptr) learner_return[r] = sum;
    if (limit_ > 0 && ++lengths_[r] >= limit_) truncated[r] = 1;
  }
}

void EnvBelow::EndReset(uint64_t begin, uint64_t end, const uint8_t* mask) {
  for (uint64_t r = begin; r < end; ++r)
    if (mask == nullptr || mask[r] != 0) learner_returns_[r] = 0, lengths_[r] = 0;
}

void EnvBelow::Get(uint64_t row, void* out) const {
  const double numbers[] = {own_returns_[row], learner_returns_[row], static_cast<double>(own_lengths_[row]),
                            static_cast<double>(lengths_[row])};
  static_assert(sizeof numbers == kRowBytes);
  std::memcpy(out, numbers, sizeof numbers);
}

void EnvBelow::Set(uint64_t row, const void* data) {
  double numbers[4];
  std::memcpy(numbers, data, sizeof numbers);
  own_returns_[row] = numbers[0], learner_returns_[row] = numbers[1];
  own_lengths_[row] = static_cast<int64_t>(numbers[2]), lengths_[row] = static_cast<int64_t>(numbers[3]);
}

}  // namespace backplane
