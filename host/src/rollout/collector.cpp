#include "rollout/collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace backplane {
namespace {

// A chunk goes back to the others after so many steps, so that an idle runner can take it over.
constexpr uint64_t kUnitSteps = 8;

}  // namespace

Collector::Collector(EnvInstance& env, LearnerInstance& learner, RunnerPool& pool, const CollectorConfig& config,
                     const std::atomic<bool>& cancelled, std::function<void()> beat)
    : env_(env), learner_(learner), pool_(pool), config_(config), cancelled_(cancelled), beat_(std::move(beat)),
      rows_(env.rows(), config.seed, BP_PURPOSE_ENV_EPISODE) {
  wants_moments_ = (learner_.spec().flags & BP_LEARNER_OBS_MOMENTS) != 0;
  time_limit_ = (env_.flags() & BP_FLAG_OWNS_TIME_LIMIT) ? 0 : env_.spec().max_episode_steps;
  MakeChunks();
}

void Collector::MakeChunks() {
  const uint64_t n = (rows_.size() + config_.chunk_rows - 1) / config_.chunk_rows;
  chunks_ = std::vector<Chunk>(n);
  for (uint64_t i = 0; i < n; ++i) {
    chunks_[i].begin = i * config_.chunk_rows;
    chunks_[i].end = std::min(chunks_[i].begin + config_.chunk_rows, rows_.size());
    chunks_[i].owner = static_cast<unsigned>(i * pool_.threads() / n);
  }
}

void Collector::Bind(uint64_t horizon) {
  auto old = std::move(buffers_);
  const uint64_t old_horizon = horizon_;
  buffers_.clear();
  horizon_ = horizon;
  const auto add = [&](const bp_channel& c) {
    buffers_[c.name] = std::make_unique<ChannelBuffer>(c, env_.Lead(c), IsStateRole(c.role) ? horizon + 1 : horizon);
  };
  for (const bp_channel* c : env_.channels()) add(*c);
  for (const bp_channel* c : learner_.act_out())
    if (buffers_.count(c->name) == 0) add(*c);
  if (env_.FindRole(BP_ROLE_TRUNCATED) == nullptr) {
    const bp_channel truncated{sizeof(bp_channel), BP_ROLE_TRUNCATED, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 0, {BP_DTYPE_UINT, 8, 1},
                               "truncated", nullptr, nullptr, nullptr, nullptr, 0};
    add(truncated);
  }
  CarryStates(old, old_horizon);

  slot_tensors_.assign(horizon + 1, {});
  frames_.clear();
  for (uint64_t slot = 0; slot <= horizon; ++slot) {
    for (const bp_channel* c : env_.channels()) {
      ChannelBuffer& b = *buffers_[c->name];
      bp_tensor* tensor = IsStateRole(c->role) ? b.entry(slot == horizon ? 0 : slot + 1) : slot == horizon ? nullptr : b.entry(slot);
      slot_tensors_[slot].push_back(tensor);
    }
    frames_.push_back({sizeof(bp_frame), static_cast<uint32_t>(slot), slot_tensors_[slot].data(), nullptr});
  }
  act_in_.assign(horizon, {});
  act_out_.assign(horizon, {});
  for (uint64_t t = 0; t < horizon; ++t) {
    for (const std::string& name : learner_.act_in()) act_in_[t].push_back(buffers_[name]->entry(t));
    for (const bp_channel* c : learner_.act_out()) act_out_[t].push_back(buffers_[c->name]->entry(t));
  }
  const auto role = [&](uint16_t r) { return env_.FindRole(r) ? buffers_[env_.FindRole(r)->name].get() : nullptr; };
  obs_ = role(BP_ROLE_OBS);
  state_ = role(BP_ROLE_STATE);
  reward_ = role(BP_ROLE_REWARD);
  terminated_ = role(BP_ROLE_TERMINATED);
  truncated_ = role(BP_ROLE_TRUNCATED) ? role(BP_ROLE_TRUNCATED) : buffers_["truncated"].get();
  const auto per_row = [&](uint16_t r) { return env_.FindRole(r) ? env_.Lead(*env_.FindRole(r)) / rows_.size() : 1; };
  reward_per_row_ = per_row(BP_ROLE_REWARD);
  obs_lead_ = per_row(BP_ROLE_OBS);
  state_lead_ = per_row(BP_ROLE_STATE);
  infos_.clear();
  info_names_.clear();
  for (const bp_channel* c : env_.channels()) {
    if (!IsEpisodeInfo(*c)) continue;
    infos_.push_back(buffers_[c->name].get());
    info_names_.push_back(c->name);
  }
  for (Chunk& chunk : chunks_) {
    const uint64_t most = (chunk.end - chunk.begin) * horizon;
    chunk.final_obs = AllocateAligned(most * obs_lead_ * obs_->row_bytes(), false);
    if (state_) chunk.final_state = AllocateAligned(most * state_lead_ * state_->row_bytes(), false);
    chunk.episodes.reserve(most);
    chunk.final_index.reserve(most);
    chunk.infos.reserve(most * infos_.size());
  }
  env_.Bind(frames_);
}

void Collector::CarryStates(std::map<std::string, std::unique_ptr<ChannelBuffer>>& old, uint64_t old_horizon) {
  if (!started_) return;
  for (const bp_channel* c : env_.channels()) {
    if (!IsStateRole(c->role)) continue;
    ChannelBuffer& b = *buffers_[c->name];
    // Entry 0 is filled from the last one at the start of every rollout.
    std::memcpy(b.row(horizon_, 0), old[c->name]->row(old_horizon, 0), env_.Lead(*c) * b.row_bytes());
  }
}

void Collector::StartRollout(uint64_t horizon, PhaseClock& clock) {
  {
    const PhaseSpan span(clock, Phase::kBatchBuild);
    Prepare(horizon);
  }
  if (!started_) {
    const PhaseSpan span(clock, Phase::kEnvReset);
    for (uint64_t r = 0; r < rows_.size(); ++r) rows_.StartEpisode(r);
    const bp_status status = env_.Reset(static_cast<uint32_t>(horizon_), 0, rows_.size(), nullptr, rows_.seeds.data());
    if (status != BP_OK) env_.Fail(status, "reset");
    started_ = true;
  } else {
    const PhaseSpan span(clock, Phase::kObsTransfer);
    for (auto& [name, buffer] : buffers_)
      if (IsStateRole(buffer->role())) buffer->CopyEntry(horizon_, 0);
  }
  for (Chunk& chunk : chunks_) {
    chunk.t = 0;
    chunk.taken = false;
    chunk.episodes.clear();
    chunk.infos.clear();
    chunk.final_index.clear();
    if (wants_moments_) chunk.moments.Reset(obs_->row_elements());
  }
}

bool Collector::Collect(uint64_t horizon, std::vector<PhaseClock>& clocks) {
  StartRollout(horizon, clocks[0]);
  failure_ = nullptr;
  abort_ = false;
  const Phase before = clocks[0].current();
  const std::function<void(unsigned)> job = [&](unsigned thread) {
    if (thread > 0) clocks[thread].Start(Phase::kIdle);
    try {
      RunChunks(thread, clocks[thread]);
    } catch (...) {
      Abort(std::current_exception());
    }
    if (thread > 0) clocks[thread].Stop();
  };
  pool_.Run(job, [&] {
    clocks[0].Switch(Phase::kIdle);
    tls_running_plugin = "";
  });
  clocks[0].Switch(before);
  if (failure_) std::rethrow_exception(failure_);
  if (abort_) return false;
  policy_steps_ += horizon_;
  const PhaseSpan span(clocks[0], Phase::kBatchBuild);
  MergeChunks();
  return true;
}

Chunk* Collector::Take(unsigned thread) {
  std::lock_guard lock(mutex_);
  Chunk* best = nullptr;
  for (Chunk& chunk : chunks_) {
    if (chunk.taken || chunk.t >= horizon_) continue;
    const bool mine = chunk.owner == thread, best_mine = best && best->owner == thread;
    if (best == nullptr || (mine && !best_mine) || (mine == best_mine && chunk.t < best->t)) best = &chunk;
  }
  if (best != nullptr) best->taken = true, best->owner = thread;
  return best;
}

void Collector::GiveBack(Chunk* chunk) {
  std::lock_guard lock(mutex_);
  chunk->taken = false;
}

void Collector::RunChunks(unsigned thread, PhaseClock& clock) {
  while (Chunk* chunk = Take(thread)) {
    const uint64_t until = std::min(chunk->t + kUnitSteps, horizon_);
    while (chunk->t < until) {
      if (cancelled_.load(std::memory_order_relaxed)) abort_ = true;
      if (abort_.load(std::memory_order_relaxed)) return;
      StepChunk(*chunk, clock);
      ++chunk->t;
    }
    beat_();
    GiveBack(chunk);
  }
}

void Collector::StepChunk(Chunk& chunk, PhaseClock& clock) {
  const uint64_t t = chunk.t;
  bp_act act{sizeof(bp_act), BP_ACT_EXPLORE, chunk.begin, chunk.end, 0, config_.seed, policy_steps_ + t,
             act_in_[t].data(), act_out_[t].data(), nullptr, nullptr};
  clock.Switch(Phase::kInfer);
  bp_status status = learner_.Act(act);
  if (status != BP_OK) learner_.Fail(status, "act");
  clock.Switch(Phase::kEnvStep);
  status = env_.Step(static_cast<uint32_t>(t), chunk.begin, chunk.end);
  if (status != BP_OK) env_.Fail(status, "step");
  if (!KeepBooks(chunk)) return;
  clock.Switch(Phase::kEnvReset);
  status = env_.Reset(static_cast<uint32_t>(t), chunk.begin, chunk.end, rows_.mask.data(), rows_.seeds.data());
  if (status != BP_OK) env_.Fail(status, "reset");
  std::memset(rows_.mask.data() + chunk.begin, 0, chunk.end - chunk.begin);
}

// Everything the host owes a transition. True if some episode ended.
bool Collector::KeepBooks(Chunk& chunk) {
  const uint64_t t = chunk.t;
  const float* reward = reward_->at<float>(t, chunk.begin * reward_per_row_);
  const uint8_t* terminated = terminated_->at<uint8_t>(t, 0);
  uint8_t* truncated = truncated_->at<uint8_t>(t, 0);
  const bool env_truncates = (env_.flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0;
  bool ended = false;
  for (uint64_t r = chunk.begin; r < chunk.end; ++r) {
    RowState& row = rows_.state[r];
    for (uint64_t a = 0; a < reward_per_row_; ++a) row.episode_return += *reward++;
    ++row.episode_length;
    if (!std::isfinite(row.episode_return))
      throw TrialFailure(BP_E_NUMERIC, env_.id(), fmt::format("the reward of row {} is not a finite number", r));
    if (!env_truncates) truncated[r] = time_limit_ > 0 && row.episode_length >= time_limit_;
    if (terminated[r] || truncated[r]) {
      EndEpisode(chunk, r);
      ended = true;
    }
  }
  if (wants_moments_)
    for (uint64_t r = chunk.begin * obs_lead_; r < chunk.end * obs_lead_; ++r) chunk.moments.Add(obs_->at<float>(t, r));
  return ended;
}

void Collector::EndEpisode(Chunk& chunk, uint64_t r) {
  const uint64_t t = chunk.t, place = chunk.final_index.size();
  const double* info = chunk.infos.data() + chunk.infos.size();
  for (ChannelBuffer* buffer : infos_) chunk.infos.push_back(buffer->Number(t, r));
  chunk.episodes.push_back({t, r, rows_.state[r].episode_return, rows_.state[r].episode_length, info});
  chunk.final_index.push_back(t * rows_.size() + r);
  const auto keep = [&](ChannelBuffer* source, uint64_t lead, AlignedBytes& out) {
    if (source) std::memcpy(out.get() + place * lead * source->row_bytes(), source->row(t + 1, r * lead), lead * source->row_bytes());
  };
  keep(obs_, obs_lead_, chunk.final_obs);
  keep(state_, state_lead_, chunk.final_state);
  rows_.StartEpisode(r);
  rows_.mask[r] = 1;
}

void Collector::MergeChunks() {
  episodes_.clear();
  finals_.clear();
  if (wants_moments_) moments_.Reset(obs_->row_elements());
  for (const Chunk& chunk : chunks_) {
    episodes_.insert(episodes_.end(), chunk.episodes.begin(), chunk.episodes.end());
    for (uint64_t i = 0; i < chunk.final_index.size(); ++i) finals_.push_back({chunk.final_index[i], {&chunk, i}});
    if (wants_moments_) moments_.Merge(chunk.moments);
  }
  std::sort(episodes_.begin(), episodes_.end(), [](const Episode& a, const Episode& b) { return a.t != b.t ? a.t < b.t : a.row < b.row; });
  std::sort(finals_.begin(), finals_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

void Collector::GatherFinals(const ChannelBuffer* source, AlignedBytes Chunk::* from, AlignedBytes* out, Tensor* tensor) {
  const uint64_t lead = source == obs_ ? obs_lead_ : state_lead_, bytes = lead * source->row_bytes();
  *out = AllocateAligned(finals_.size() * bytes);
  for (uint64_t e = 0; e < finals_.size(); ++e)
    std::memcpy(out->get() + e * bytes, (finals_[e].second.first->*from).get() + finals_[e].second.second * bytes, bytes);
  std::vector<int64_t> dims{static_cast<int64_t>(finals_.size() * lead)};
  dims.insert(dims.end(), source->shape().begin(), source->shape().end());
  tensor->Set(out->get(), source->dtype(), dims, static_cast<int64_t>(source->row_elements()));
}

bp_delivery Collector::Delivery() {
  delivery_names_.clear();
  delivery_tensors_.clear();
  const auto give = [&](const char* name, bp_tensor* tensor) {
    delivery_names_.push_back(name);
    delivery_tensors_.push_back(tensor);
  };
  for (const std::string& name : learner_.keep()) {
    ChannelBuffer* buffer = Buffer(name);
    if (buffer == nullptr)
      throw TrialFailure(BP_E_UNSUPPORTED, learner_.id(), fmt::format("wants to keep the channel '{}', which nobody writes", name));
    give(name.c_str(), buffer->whole());
  }
  GatherFinals(obs_, &Chunk::final_obs, &final_obs_data_, &final_obs_);
  give("final_obs", &final_obs_.view);
  if (state_) {
    GatherFinals(state_, &Chunk::final_state, &final_state_data_, &final_state_);
    give("final_state", &final_state_.view);
  }
  final_index_.clear();
  for (const auto& [index, place] : finals_) final_index_.push_back(static_cast<int64_t>(index));
  final_index_tensor_.Set(final_index_.data(), {BP_DTYPE_INT, 64, 1}, {static_cast<int64_t>(final_index_.size())}, 1);
  give("final_index", &final_index_tensor_.view);
  if (wants_moments_) {
    const bp_dtype f64{BP_DTYPE_FLOAT, 64, 1};
    const int64_t n = static_cast<int64_t>(moments_.mean.size());
    moment_count_.Set(&moments_.count, f64, {1}, 1);
    moment_mean_.Set(moments_.mean.data(), f64, {n}, 1);
    moment_m2_.Set(moments_.m2.data(), f64, {n}, 1);
    give("obs_count", &moment_count_.view);
    give("obs_mean", &moment_mean_.view);
    give("obs_m2", &moment_m2_.view);
  }
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = BP_REQ_ROLLOUT;
  delivery.count = 1;
  delivery.n_tensors = delivery_names_.size();
  delivery.names = delivery_names_.data();
  delivery.tensors = delivery_tensors_.data();
  delivery.env_steps = env_steps();
  return delivery;
}

ChannelBuffer* Collector::Buffer(const std::string& name) {
  const auto it = buffers_.find(name);
  return it == buffers_.end() ? nullptr : it->second.get();
}

std::vector<std::byte> Collector::SaveStateEntries() {
  std::vector<std::byte> out;
  for (const bp_channel* c : env_.channels()) {
    if (!IsStateRole(c->role) || !started_) continue;
    ChannelBuffer& b = *buffers_[c->name];
    const std::byte* from = b.row(horizon_, 0);
    out.insert(out.end(), from, from + env_.Lead(*c) * b.row_bytes());
  }
  return out;
}

void Collector::Restore(std::vector<RowState> rows, uint64_t policy_steps, const std::vector<std::byte>& state_entries, uint64_t horizon) {
  Bind(horizon);
  rows_.state = std::move(rows);
  policy_steps_ = policy_steps;
  started_ = true;
  const std::byte* from = state_entries.data();
  for (const bp_channel* c : env_.channels()) {
    if (!IsStateRole(c->role)) continue;
    ChannelBuffer& b = *buffers_[c->name];
    std::memcpy(b.row(horizon_, 0), from, env_.Lead(*c) * b.row_bytes());
    from += env_.Lead(*c) * b.row_bytes();
  }
}

void Collector::Abort(std::exception_ptr failure) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  abort_ = true;
}

}  // namespace backplane
