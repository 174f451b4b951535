#include "off_policy/experience.hpp"

#include <algorithm>
#include <string>

namespace backplane::off_policy {
namespace {

bp_replay_shape ReplayShape(const Options& options, const bp::LearnerSetup& setup, const rl::EnvShape& shape, int64_t width) {
  const uint64_t obs_bytes = bp::NeedChannel(*setup.env, BP_ROLE_OBS).dtype.bits / 8;
  const uint64_t parts = (options.horizon + options.train_freq - 1) / options.train_freq;
  return {.rows = setup.rows,
          .obs_bytes = static_cast<uint64_t>(shape.obs) * obs_bytes,
          .action_bytes = static_cast<uint64_t>(width) * sizeof(float),
          .capacity = options.buffer_size,
          .iteration_frames = parts * options.train_freq};
}

void CheckLastObservations(const bp_env_spec& env) {
  const bp_channel* lost = bp::FindChannel(env, "no_final_obs");
  if (lost != nullptr && lost->role == BP_ROLE_INFO)
    throw bp::Unsupported("needs the last observations of truncated episodes, which the env does not have");
}

// Observations are stored as the env writes them, float32 or bytes.
float* CopyObs(const void* obs, bool are_bytes, int64_t n, float* out) {
  return are_bytes ? std::copy_n(static_cast<const uint8_t*>(obs), n, out)
                   : std::copy_n(static_cast<const float*>(obs), n, out);
}

}  // namespace

Experience::Experience(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape,
                       const StoredAction& action)
    : batch_size_(options.batch_size),
      obs_(shape.obs),
      width_(action.width),
      obs_are_bytes_(bp::NeedChannel(*setup.env, BP_ROLE_OBS).dtype.bits == 8),
      weighted_(options.prioritized_replay),
      follows_(action.follows),
      replay_(setup.host, ReplayShape(options, setup, shape, action.width), {.obs = shape.obs_name, .action = action.name}),
      sampler_(&replay_, SamplerOptionsOf(options, action.follows), setup.seed) {
  CheckLastObservations(*setup.env);
  const uint64_t needed = static_cast<uint64_t>(options.n_step) + (follows_ ? 1 : 0);
  if (replay_.capacity() < needed)
    throw bp::ConfigError("buffer_size: expected at least " + std::to_string(needed * setup.rows) + " transitions (n_step" +
                          (follows_ ? " + 1" : "") + ", of " + std::to_string(setup.rows) + " envs), got " +
                          std::to_string(options.buffer_size));
}

uint64_t Experience::Store(const bp::Delivery& part) {
  const uint64_t frames = replay_.Store(part);
  sampler_.OnStored(frames);
  return frames;
}

bool Experience::Draw(uint64_t number, Batch<float>* out) {
  if (!sampler_.Draw(number, batch_size_, &starts_)) return false;
  const int64_t n = batch_size_;
  const auto size = [](int64_t count) { return static_cast<size_t>(count); };
  out->n = n;
  out->obs.resize(size(n * obs_)), out->next_obs.resize(size(n * obs_)), out->action.resize(size(n * width_));
  out->reward.resize(size(n)), out->discount.resize(size(n));
  if (weighted_) out->weight.resize(size(n));
  if (follows_) out->next_action.assign(size(n * width_), 1);
  for (int64_t i = 0; i < n; ++i) {
    const replay::Window window = sampler_.At(starts_[i]);
    CopyObs(window.obs, obs_are_bytes_, obs_, &out->obs[i * obs_]);
    CopyObs(window.next_obs, obs_are_bytes_, obs_, &out->next_obs[i * obs_]);
    std::copy_n(static_cast<const float*>(window.action), width_, &out->action[i * width_]);
    out->reward[i] = static_cast<float>(window.reward), out->discount[i] = static_cast<float>(window.discount);
    if (weighted_) out->weight[i] = starts_[i].weight;
    if (window.next_action != nullptr)
      std::copy_n(static_cast<const float*>(window.next_action), width_, &out->next_action[i * width_]);
  }
  return true;
}

}  // namespace backplane::off_policy
