#include "actor.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "gradient.hpp"
#include "on_policy/gaussian.hpp"
#include "on_policy/parts.hpp"

namespace backplane::ppo {

Actor::Actor(const Net& net, const EnvShape& shape, uint64_t rows, const ObsNormalizer* obs_norm, uint64_t sde_steps)
    : net_(net),
      obs_channels_(shape.observed),
      actions_(shape.actions),
      masked_(!shape.mask_name.empty()),
      low_(shape.low),
      high_(shape.high),
      obs_norm_(obs_norm),
      sde_steps_(sde_steps) {
  if (net_.sde) noise_functions_.resize(rows);
}

void Actor::Refresh(const float* params) {
  params_ = params;
  weights_.Pack(net_, params, false);
  std_.resize(net_.log_stds());
  for (size_t i = 0; i < std_.size(); ++i)
    std_[i] = std::exp(static_cast<double>(params[net_.log_std + static_cast<int64_t>(i)]));
}

void Actor::Act(const bp_act& act) {
  static thread_local Buffers buffers;
  const auto n = static_cast<int64_t>(act.end - act.begin);
  size_t in = 0;
  buffers.observed.Bind(obs_channels_, [&](const ObsChannel&) { return act.in[in++]; });
  const auto size = static_cast<size_t>(n * net_.obs);
  if (buffers.obs.size() < size) buffers.obs.resize(size);
  for (int64_t i = 0; i < n; ++i) {
    float* const to = buffers.obs.data() + i * net_.obs;
    const float* const from = buffers.observed.At(static_cast<int64_t>(act.begin) + i);
    obs_norm_ ? obs_norm_->Apply(from, to) : (void)std::copy_n(from, net_.obs, to);
  }
  buffers.work.Reserve(net_, n, false);
  if (net_.carry() > 0) ReadMemory(act, &buffers);
  if (net_.sees()) FindPixels(act, &buffers);
  const float* const inputs = Inputs(net_, weights_, params_, buffers.obs.data(), n, &buffers.work);
  Forward(net_, weights_, params_, inputs, n, &buffers.work);
  if (net_.carry() > 0) WriteMemory(act, buffers);
  for (int64_t i = 0; i < n; ++i) {
    ActRow(act, static_cast<int64_t>(act.begin) + i, &buffers.work.actor.head[i * net_.actions], buffers.work.critic.head[i],
           buffers.work.actor.latent + i * net_.latent(), &buffers);
  }
}

namespace {

// All rows are first entries.
void StartSequences(const int64_t* rows, Workspace<float>* work) {
  work->actor.sequences = work->critic.sequences = {{rows, 1}};
}

}  // namespace

void Actor::FindPixels(const bp_act& act, Buffers* buffers) const {
  const std::vector<Pixels> images = buffers->observed.Images();
  for (size_t i = 0; i < images.size(); ++i)
    for (uint64_t row = act.begin; row < act.end; ++row)
      buffers->work.pixels[i][row - act.begin] = images[i].At(static_cast<int64_t>(row));
}

void Actor::ReadMemory(const bp_act& act, Buffers* buffers) const {
  const bp::View<const float> carry(act.in[obs_channels_.size() + (masked_ ? 1 : 0)], "memory");
  const int64_t of_actor = net_.actor.memory.size, of_critic = net_.critic.memory.size;
  buffers->rows = static_cast<int64_t>(act.end - act.begin);
  for (int64_t i = 0; i < buffers->rows; ++i) {
    const float* const from = carry.At(static_cast<int64_t>(act.begin) + i);
    std::copy_n(from, of_actor, &buffers->work.actor.memory.before[i * of_actor]);
    if (of_critic > 0) std::copy_n(from + of_actor, of_critic, &buffers->work.critic.memory.before[i * of_critic]);
  }
  StartSequences(&buffers->rows, &buffers->work);
}

void Actor::WriteMemory(const bp_act& act, const Buffers& buffers) const {
  const bp::View<float> carry(Out(act, net_.discrete ? kRawAction : kRawAction + 1), "memory");
  const int64_t of_actor = net_.actor.memory.size, of_critic = net_.critic.memory.size;
  for (int64_t i = 0; i < buffers.rows; ++i) {
    float* const to = carry.At(static_cast<int64_t>(act.begin) + i);
    std::copy_n(&buffers.work.actor.memory.state[i * of_actor], of_actor, to);
    if (of_critic > 0) std::copy_n(&buffers.work.critic.memory.state[i * of_critic], of_critic, to + of_actor);
  }
}

void Actor::ActRow(const bp_act& act, int64_t row, const float* head, float value, const float* latent, Buffers* buffers) {
  const auto absolute_row = static_cast<uint32_t>(act.row_base + static_cast<uint64_t>(row));
  const uint64_t key = bp_seed(act.seed, BP_PURPOSE_ACT, absolute_row, act.step);
  const ActEntry entry{act, key, row, head, masked_ ? MaskOf(act, row) : nullptr};
  if (net_.action.numbers > 0 && !net_.sde) {
    buffers->noise.resize(net_.action.numbers);
    if (!entry.greedy()) FillNormals(key, net_.action.numbers, buffers->noise.data());
  }
  const double logp = DrawAction(entry, actions_, net_.action, [&](const Distribution& part, const bp_tensor* out) {
    return DrawNumbers(act, out, row, part, head + part.output, latent, buffers);
  });
  *bp::View<float>(Out(act, kLogp), "logp").At(row) = static_cast<float>(logp);
  *bp::View<float>(Out(act, kValue), "value").At(row) = value;
}

double Actor::DrawNumbers(const bp_act& act, const bp_tensor* out, int64_t row, const Distribution& part, const float* mean,
                          const float* latent, Buffers* buffers) {
  float* const raw = bp::View<float>(Out(act, kRawAction), "raw_action").At(row) + part.number;
  float* const action = bp::View<float>(out, "action").At(row);
  const double* const noise = act.flags & BP_ACT_GREEDY ? nullptr : buffers->noise.data() + part.number;
  const double logp = net_.sde ? DrawSde(act, row, mean, latent, buffers, raw)
                               : DrawGaussian(mean, std_.data() + part.number, noise, part.n, raw);
  for (int64_t i = 0; i < part.n; ++i) action[i] = std::clamp(raw[i], low_[part.number + i], high_[part.number + i]);
  return logp;
}

// Noise is latent * (std o normals); its variance over the normals determines the log-probability.
double Actor::DrawSde(const bp_act& act, int64_t row, const float* mean, const float* latent, Buffers* b, float* out) {
  const int64_t n = net_.actions;
  const double* normals = act.flags & BP_ACT_GREEDY ? nullptr : Noise(act, row, b);
  b->noise.assign(n, 0), b->std.assign(n, kSdeVariance);
  for (int64_t i = 0; i < net_.latent(); ++i) {
    for (int64_t k = 0; k < n; ++k) {
      const double part = latent[i] * std_[i * n + k];
      b->std[k] += part * part;
      if (normals) b->noise[k] += part * normals[i * n + k];
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    b->std[k] = std::sqrt(b->std[k]);
    out[k] = static_cast<float>(mean[k] + b->noise[k]);
  }
  return GaussianLogp(out, mean, b->std.data(), n);
}

const double* Actor::Noise(const bp_act& act, int64_t row, Buffers* buffers) {
  const uint64_t key = bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base + static_cast<uint64_t>(row)),
                               act.step - act.step % sde_steps_);
  const bool kept = static_cast<size_t>(row) < noise_functions_.size();  // an evaluation may have more rows
  std::vector<double>& normals = kept ? noise_functions_[row].normals : buffers->normals;
  if (kept && !normals.empty() && noise_functions_[row].key == key) return normals.data();
  normals.resize(net_.log_stds());
  FillNormals(key, net_.log_stds(), normals.data());
  if (kept) noise_functions_[row].key = key;
  return normals.data();
}

void Actor::Values(int64_t n, const float* obs, const std::vector<Pixels>& images, const float* carry, float* out) {
  value_work_.Reserve(net_, kBlock, false);
  // The critic's memory is the last part of a row's; shared layers have one memory.
  TowerWork<float>& critic = value_work_.critic;
  const int64_t size = net_.actor.memory.size, before = net_.carry() - size;
  nn::GruWork<float>& memory = net_.shared ? value_work_.actor.memory : critic.memory;
  ForBlocks({0, n}, [&](int64_t at, int64_t rows) {
    const float* x = obs + at * net_.obs;
    for (int64_t i = 0; i < rows && size > 0; ++i)
      std::copy_n(carry + (at + i) * net_.carry() + before, size, &memory.before[i * size]);
    StartSequences(&rows, &value_work_);
    for (size_t k = 0; k < images.size(); ++k)
      for (int64_t i = 0; i < rows; ++i) value_work_.pixels[k][i] = images[k].At(at + i);
    x = Inputs(net_, weights_, params_, x, rows, &value_work_);
    if (net_.shared) {
      ForwardHidden(net_.actor, weights_.actor, params_, x, rows, &value_work_.actor);
      x = value_work_.actor.latent;
    }
    Forward(net_.critic, weights_.critic, params_, x, rows, &critic);
    std::copy_n(critic.head.data(), rows, out + at);
  });
}

}  // namespace backplane::ppo
