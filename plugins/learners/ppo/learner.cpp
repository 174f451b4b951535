#include "learner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/rng.h"
#include "gae.hpp"
#include "policy.hpp"

namespace backplane::ppo {

// Bound to the order of DescribeSpec.
enum Output { kAction, kLogp, kValue, kRawAction };

Learner::Learner(const bp::LearnerSetup& setup)
    : OnPolicy(setup),
      options_(setup.config),
      rows_(setup.rows),
      seed_(setup.seed),
      net_([&] {
        const EnvShape shape(setup.env);
        return Net(shape.obs, options_.hidden, shape.actions, shape.discrete, options_.activation);
      }()),
      update_(net_),
      obs_norm_(net_.obs),
      reward_norm_(static_cast<int64_t>(rows_), options_.gamma),
      metrics_(setup.host),
      adaptive_lr_(options_.lr) {
  InitParams(net_, seed_, options_.ortho_init, options_.log_std_init, update_.params());
  DescribeSpec(EnvShape(setup.env));
}

void Learner::DescribeSpec(const EnvShape& shape) {
  obs_name_ = shape.obs_name, action_name_ = shape.action_name, mask_name_ = shape.mask_name;
  low_ = shape.low, high_ = shape.high;
  spec_.ActIn(obs_name_);
  if (!mask_name_.empty()) spec_.ActIn(mask_name_), spec_.Keep(mask_name_);
  for (const char* name : {obs_name_.c_str(), "reward", "terminated", "truncated"}) spec_.Keep(name);
  spec_.ActOut(shape.action);
  spec_.Extra("logp");
  spec_.Extra("value");
  if (net_.discrete) {
    spec_.Keep(action_name_);
  } else {
    spec_.Extra("raw_action", {net_.actions});
  }
  spec_.set_params(static_cast<uint64_t>(net_.size));
  if (options_.normalize_obs) spec_.set_flags(BP_LEARNER_OBS_MOMENTS);
}

uint64_t Learner::Horizon() const {
  const auto total = static_cast<uint64_t>(options_.train_batch_size);
  return (total + rows_ - 1) / rows_;
}

void Learner::Normalize(const float* in, float* out) const {
  if (options_.normalize_obs) {
    obs_norm_.Apply(in, out);
  } else {
    std::copy_n(in, net_.obs, out);
  }
}

void Learner::Act(const bp_act& act) {
  struct Buffers {
    Scratch scratch;
    std::vector<float> obs, head, value;
  };
  static thread_local Buffers buffers;  // runners call this at the same time on disjoint rows
  const auto n = static_cast<int64_t>(act.end - act.begin), padded = PadRows(n);
  buffers.obs.assign(padded * net_.obs, 0.0f);
  buffers.head.resize(padded * net_.actions);
  buffers.value.resize(padded);
  const bp::View<const float> obs(act.in[0], "obs");
  for (int64_t i = 0; i < n; ++i) Normalize(obs.At(static_cast<int64_t>(act.begin) + i), &buffers.obs[i * net_.obs]);
  const float* params = update_.params();
  Forward(net_.actor, net_.activation, params, buffers.obs.data(), padded, &buffers.scratch, buffers.head.data());
  Forward(net_.critic, net_.activation, params, buffers.obs.data(), padded, &buffers.scratch, buffers.value.data());
  for (int64_t i = 0; i < n; ++i) {
    ActRow(act, static_cast<int64_t>(act.begin) + i, &buffers.head[i * net_.actions], buffers.value[i]);
  }
}

void Learner::ActRow(const bp_act& act, int64_t row, const float* head, float value) {
  bp_rng stream{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base + row), act.step), 0};
  bp_rng* rng = act.flags & BP_ACT_GREEDY ? nullptr : &stream;
  double logp = 0;
  if (net_.discrete) {
    const uint8_t* mask = mask_name_.empty() ? nullptr : bp::View<const uint8_t>(act.in[1], "action_mask").At(row);
    *bp::View<int32_t>(act.out[kAction], "action").At(row) = DrawCategorical(head, mask, net_.actions, rng, &logp);
  } else {
    float* raw = bp::View<float>(act.out[kRawAction], "raw_action").At(row);
    float* action = bp::View<float>(act.out[kAction], "action").At(row);
    logp = DrawGaussian(head, update_.params() + net_.log_std, net_.actions, rng, raw);
    for (int64_t i = 0; i < net_.actions; ++i) action[i] = std::clamp(raw[i], low_[i], high_[i]);
  }
  *bp::View<float>(act.out[kLogp], "logp").At(row) = static_cast<float>(logp);
  *bp::View<float>(act.out[kValue], "value").At(row) = value;
}

uint64_t Learner::OnRollout(const bp::Delivery& delivery) {
  const int64_t steps = delivery.Get<float>("reward").Size(0);
  batch_.n = steps * static_cast<int64_t>(rows_);
  if (batch_.n == 0) return 0;
  CopySteps(delivery);
  Advantages(delivery, steps);
  KeepMoments(delivery);
  order_.resize(batch_.n);
  kl_sum_ = 0, kl_count_ = 0;
  const int64_t minibatch = std::min(options_.minibatch_size, batch_.n);
  return static_cast<uint64_t>(options_.num_epochs * ((batch_.n + minibatch - 1) / minibatch));
}

void Learner::CopySteps(const bp::Delivery& delivery) {
  Batch& b = batch_;
  const auto obs = delivery.Get<float>(obs_name_.c_str()), logp = delivery.Get<float>("logp");
  const auto value = delivery.Get<float>("value");
  b.obs.resize(b.n * net_.obs), b.logp.resize(b.n), b.value.resize(b.n), b.advantage.resize(b.n), b.ret.resize(b.n);
  const auto rows = static_cast<int64_t>(rows_), width = net_.actions;
  bp::View<const float> raw;
  bp::View<const int32_t> choice;
  bp::View<const uint8_t> mask;
  if (net_.discrete) {
    choice = delivery.Get<int32_t>(action_name_.c_str()), b.choice.resize(b.n);
    if (!mask_name_.empty()) mask = delivery.Get<uint8_t>(mask_name_.c_str()), b.mask.resize(b.n * width);
  } else {
    raw = delivery.Get<float>("raw_action"), b.action.resize(b.n * width);
  }
  for (int64_t i = 0; i < b.n; ++i) {
    const int64_t t = i / rows, row = i % rows;
    Normalize(obs.At(t, row), &b.obs[i * net_.obs]);
    b.logp[i] = *logp.At(t, row), b.value[i] = *value.At(t, row);
    if (choice) b.choice[i] = *choice.At(t, row);
    if (mask) std::copy_n(mask.At(t, row), width, &b.mask[i * width]);
    if (raw) std::copy_n(raw.At(t, row), width, &b.action[i * width]);
  }
}

void Learner::Values(int64_t n, const float* obs, float* out) {
  const int64_t padded = PadRows(n);
  padded_.assign(padded * (net_.obs + 1), 0.0f);
  std::copy_n(obs, n * net_.obs, padded_.data());
  float* values = padded_.data() + padded * net_.obs;
  Forward(net_.critic, net_.activation, update_.params(), padded_.data(), padded, &scratch_, values);
  std::copy_n(values, n, out);
}

// V of what followed each step: the next entry's value, that of OBS[T] for the last step, and that of the final observation
// where an episode was cut. Terminated episodes get it too, but their discount is 0.
std::vector<float> Learner::NextValues(const bp::Delivery& delivery, int64_t steps) {
  const auto rows = static_cast<int64_t>(rows_);
  std::vector<float> next(batch_.value.begin() + rows, batch_.value.end()), obs(rows * net_.obs);
  next.resize(batch_.n);
  const auto last = delivery.Get<float>(obs_name_.c_str());
  for (int64_t row = 0; row < rows; ++row) Normalize(last.At(steps, row), &obs[row * net_.obs]);
  Values(rows, obs.data(), &next[batch_.n - rows]);

  const bp_tensor* index_tensor = delivery.Find("final_index");
  const int64_t ended = index_tensor ? index_tensor->shape[0] : 0;
  if (ended == 0) return next;
  const auto index = delivery.Get<int64_t>("final_index");
  const auto final_obs = delivery.Get<float>("final_obs");
  obs.resize(ended * net_.obs);
  std::vector<float> values(ended);
  for (int64_t e = 0; e < ended; ++e) Normalize(final_obs.At(e), &obs[e * net_.obs]);
  Values(ended, obs.data(), values.data());
  for (int64_t e = 0; e < ended; ++e) next[*index.At(e)] = values[e];
  return next;
}

void Learner::Advantages(const bp::Delivery& delivery, int64_t steps) {
  const auto rows = static_cast<int64_t>(rows_);
  const auto reward = delivery.Get<float>("reward");
  const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
  std::vector<float> rewards(batch_.n);
  std::vector<uint8_t> done(batch_.n);
  std::vector<double> discount(batch_.n), carry(batch_.n);
  for (int64_t i = 0; i < batch_.n; ++i) {
    const int64_t t = i / rows, row = i % rows;
    rewards[i] = *reward.At(t, row);
    done[i] = *terminated.At(t, row) || *truncated.At(t, row);
    discount[i] = *terminated.At(t, row) ? 0.0 : options_.gamma;
    carry[i] = done[i] ? 0.0 : options_.gamma * options_.lambda;
  }
  if (options_.normalize_rewards) {
    for (int64_t t = 0; t < steps; ++t) reward_norm_.Step(&rewards[t * rows], &done[t * rows]);
  }
  const std::vector<float> next = NextValues(delivery, steps);
  for (int64_t row = 0; row < rows; ++row) {
    const GaeStream<float> stream{steps,           rows, &rewards[row], &batch_.value[row], &next[row], &discount[row],
                                  &carry[row]};
    Gae(stream, &batch_.advantage[row]);
  }
  for (int64_t i = 0; i < batch_.n; ++i) batch_.ret[i] = batch_.advantage[i] + batch_.value[i];
}

void Learner::KeepMoments(const bp::Delivery& delivery) {
  if (!options_.normalize_obs) return;
  moments_.count = *delivery.Get<double>("obs_count").At(0);
  const double *mean = delivery.Get<double>("obs_mean").At(0), *m2 = delivery.Get<double>("obs_m2").At(0);
  moments_.mean.assign(mean, mean + net_.obs);
  moments_.m2.assign(m2, m2 + net_.obs);
}

void Learner::Shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  bp_rng rng{bp_seed(seed_, BP_PURPOSE_LEARNER, 0, epochs_done_), 0};
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[bp_rng_below(&rng, i)]);
}

Minibatch<float> Learner::Gather(int64_t begin, int64_t end) {
  const Batch& b = batch_;
  Batch& m = minibatch_;
  m.n = end - begin;
  m.obs.resize(m.n * net_.obs), m.action.resize(m.n * net_.actions), m.choice.resize(m.n), m.mask.resize(m.n * net_.actions);
  m.logp.resize(m.n), m.advantage.resize(m.n), m.ret.resize(m.n), m.value.resize(m.n);
  const bool masked = !mask_name_.empty();
  for (int64_t i = 0; i < m.n; ++i) {
    const int64_t from = order_[begin + i];
    std::copy_n(&b.obs[from * net_.obs], net_.obs, &m.obs[i * net_.obs]);
    if (net_.discrete) {
      m.choice[i] = b.choice[from];
      if (masked) std::copy_n(&b.mask[from * net_.actions], net_.actions, &m.mask[i * net_.actions]);
    } else {
      std::copy_n(&b.action[from * net_.actions], net_.actions, &m.action[i * net_.actions]);
    }
    m.logp[i] = b.logp[from], m.advantage[i] = b.advantage[from], m.ret[i] = b.ret[from], m.value[i] = b.value[from];
  }
  return {m.n,           m.obs.data(),       net_.discrete ? nullptr : m.action.data(), net_.discrete ? m.choice.data() : nullptr,
          masked ? m.mask.data() : nullptr, m.logp.data(), m.advantage.data(), m.ret.data(), m.value.data()};
}

double Learner::CurrentLr() const {
  if (options_.lr_schedule == Schedule::kKlAdaptive) return adaptive_lr_;
  return options_.lr_schedule == Schedule::kLinear ? options_.lr * (1 - progress()) : options_.lr;
}

LossOptions Learner::CurrentLoss() const {
  LossOptions loss;
  loss.clip = options_.clip_linear ? options_.clip * (1 - progress()) : options_.clip;
  const double vf_clip = options_.vf_clip_param > 0 ? options_.vf_clip_param : loss.clip;
  loss.vf_clip = options_.vf_clip ? vf_clip : 0;
  loss.entropy_coeff = options_.entropy_coeff, loss.vf_coeff = options_.vf_coeff, loss.grad_clip = options_.grad_clip;
  loss.normalize_advantages = options_.normalize_advantages;
  // SB3 stops at 1.5 times the target; an adaptive rate steers towards the target instead.
  if (options_.lr_schedule != Schedule::kKlAdaptive) loss.kl_stop = 1.5 * options_.kl_target;
  return loss;
}

void Learner::OnTick(uint64_t index) {
  const int64_t size = std::min(options_.minibatch_size, batch_.n), per_epoch = (batch_.n + size - 1) / size;
  const int64_t part = static_cast<int64_t>(index) % per_epoch;
  if (part == 0) Shuffle(), ++epochs_done_;
  const Minibatch<float> minibatch = Gather(part * size, std::min((part + 1) * size, batch_.n));
  const StepStats stats = update_.Step(minibatch, CurrentLoss(), CurrentLr());
  kl_sum_ += stats.kl, ++kl_count_;
  Report(stats);
  if (!stats.applied) SkipTicks();
  if (ticks_left() == 0) EndUpdate();
}

void Learner::Report(const StepStats& stats) {
  metrics_.Record("train/policy_loss", stats.policy_loss, nullptr, 0, "clipped surrogate, negated");
  metrics_.Record("train/value_loss", stats.value_loss, nullptr, -1, "half the mean squared error of the values");
  metrics_.Record("train/entropy", stats.entropy, "nat", 0, "mean entropy of the policy");
  metrics_.Record("train/kl", stats.kl, "nat", 0, "estimate of the divergence from the acting policy");
  metrics_.Record("train/clip_fraction", stats.clip_fraction, nullptr, 0, "share of samples whose ratio left the clip range");
  if (stats.applied) metrics_.Record("train/grad_norm", stats.grad_norm, nullptr, 0, "global norm before clipping");
  metrics_.Record("train/lr", CurrentLr(), nullptr, 0, "learning rate");
}

// The normaliser moves only here, so that the ratio of the first minibatch is 1.
void Learner::EndUpdate() {
  if (moments_.count > 0) obs_norm_.Merge(moments_.count, moments_.mean.data(), moments_.m2.data());
  moments_.count = 0;
  if (options_.lr_schedule != Schedule::kKlAdaptive || kl_count_ == 0) return;
  const double kl = kl_sum_ / static_cast<double>(kl_count_);
  if (kl > 2 * options_.kl_target) adaptive_lr_ = std::max(adaptive_lr_ / 1.5, 1e-6);
  if (kl < options_.kl_target / 2) adaptive_lr_ = std::min(adaptive_lr_ * 1.5, 1e-2);
}

}  // namespace backplane::ppo
