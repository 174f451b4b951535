// PPO on an inline CartPole (Barto, Sutton, Anderson 1983; Gymnasium's constants, 500 steps), with or without the velocities,
// through the plugin's function table.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "backplane/rng.h"
#include "driven_learner.hpp"

namespace backplane::test_support {

class CartPoleTrial : public DrivenLearner {
 public:
  // `observed`: numbers 0 to 3 of the state: position, velocity, angle, angular velocity.
  CartPoleTrial(int64_t rows, int64_t horizon, std::map<std::string, std::string> options, uint64_t seed = 1,
                std::vector<size_t> observed = {0, 1, 2, 3})
      : DrivenLearner(std::move(options)),
        observed_(std::move(observed)),
        n_(static_cast<int64_t>(observed_.size())),
        rows_(rows),
        horizon_(horizon),
        state_(rows),
        length_(rows),
        obs_({horizon + 1, rows, n_}),
        action_({horizon, rows}),
        reward_({horizon, rows}),
        logp_({horizon, rows}),
        value_({horizon, rows}),
        terminated_({horizon, rows}),
        truncated_({horizon, rows}),
        count_({1}),
        mean_({n_}),
        m2_({n_}) {
    CreateLearner(seed);
    memory_ = std::make_unique<Buffer<float>>(std::vector<int64_t>{horizon + 1, rows, carry()});
    for (int64_t row = 0; row < rows; ++row) Reset(row);
  }

  // Resumes in the same envs with a new learner instance made from saved bytes.
  bp_status Resume(const std::string& saved, uint64_t seed = 1) {
    CreateLearner(seed);
    return Load(saved);
  }
  // One rollout and its update.
  bp_status Iterate(double progress = 0) { return Learn(Collect(progress), progress); }
  bp_status Collect(double progress) {
    Play(progress);
    return Deliver();
  }
  void Play(double progress) {
    Plan(progress);
    final_obs_.clear(), final_index_.clear(), final_memory_.clear();
    std::copy(current_.begin(), current_.end(), obs_.data.begin());
    std::copy_n(&memory_->data[horizon_ * rows_ * carry()], rows_ * carry(), memory_->data.begin());
    for (int64_t t = 0; t < horizon_; ++t) {
      Act(t, 0, rows_);
      for (int64_t row = 0; row < rows_; ++row) Step(t, row);
      ++step_;
    }
  }
  bp_status Deliver() {
    const auto ended = static_cast<int64_t>(final_index_.size());
    Buffer<float> final_obs({ended, n_}), final_memory({ended, carry()});
    std::copy(final_memory_.begin(), final_memory_.end(), final_memory.data.begin());
    Buffer<int64_t> final_index({ended});
    std::copy(final_obs_.begin(), final_obs_.end(), final_obs.data.begin());
    std::copy(final_index_.begin(), final_index_.end(), final_index.data.begin());
    Moments();
    const char* names[] = {"obs",       "action",      "reward",    "logp",     "value",  "terminated", "truncated",
                           "final_obs", "final_index", "obs_count", "obs_mean", "obs_m2", "memory",     "final_memory"};
    bp_tensor* tensors[] = {&obs_.tensor,        &action_.tensor,    &reward_.tensor,   &logp_.tensor,       &value_.tensor,
                            &terminated_.tensor, &truncated_.tensor, &final_obs.tensor, &final_index.tensor, &count_.tensor,
                            &mean_.tensor,       &m2_.tensor,        &memory_->tensor,  &final_memory.tensor};
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_ROLLOUT};
    delivery.n_tensors = carry() > 0 ? 14 : 12, delivery.names = names, delivery.tensors = tensors;
    return Consume(delivery);
  }
  void Act(int64_t t, int64_t begin, int64_t end) {
    bp_tensor obs = obs_.Entry(t), action = action_.Entry(t), logp = logp_.Entry(t), value = value_.Entry(t),
              memory = memory_->Entry(t), next = memory_->Entry(t + 1);
    bp_tensor *in[] = {&obs, &memory}, *out[] = {&action, &logp, &value, &next};
    DrivenLearner::Act(
        {sizeof(bp_act), BP_ACT_EXPLORE, static_cast<uint64_t>(begin), static_cast<uint64_t>(end), 0, 7, step_, in, out});
  }
  void PutCart(int64_t row, double x) {  // m
    state_[row][0] = x;
    Observe(row);
  }
  double Last100() const {
    const size_t n = std::min<size_t>(returns_.size(), 100);
    return n ? std::accumulate(returns_.end() - static_cast<int64_t>(n), returns_.end(), 0.0) / static_cast<double>(n) : 0;
  }
  Buffer<float>& value() { return value_; }
  Buffer<float>& logp() { return logp_; }
  Buffer<float>& memory() { return *memory_; }
  const std::vector<double>& returns() const { return returns_; }

 private:
  static constexpr int64_t kActions = 2;

  void CreateLearner(uint64_t seed) {
    const bp_channel channels[] = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "obs", &n_},
        {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0, bp::DtypeOf<int32_t>(), "action", nullptr,
         nullptr, nullptr, &kActions},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, bp::DtypeOf<float>(), "reward"}};
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels, 3, 500, {BP_DEVICE_CPU, 0}};
    Create(spec, rows_, seed);
  }
  void Reset(int64_t row) {
    bp_rng rng{bp_seed(3, BP_PURPOSE_ENV_EPISODE, static_cast<uint32_t>(row), episode_++), 0};
    for (double& x : state_[row]) x = bp_rng_range(&rng, -0.05, 0.05);
    length_[row] = 0;
    Observe(row);
  }
  void Observe(int64_t row) {
    current_.resize(rows_ * n_);
    for (size_t k = 0; k < observed_.size(); ++k)
      current_[row * n_ + static_cast<int64_t>(k)] = static_cast<float>(state_[row][observed_[k]]);
  }
  void Step(int64_t t, int64_t row) {
    auto& [x, v, angle, w] = state_[row];
    const double force = action_.data[t * rows_ + row] ? 10.0 : -10.0;
    const double c = std::cos(angle), s = std::sin(angle), push = (force + 0.05 * w * w * s) / 1.1;
    const double turn = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1)), accel = push - 0.05 * turn * c / 1.1;
    x += 0.02 * v, v += 0.02 * accel, angle += 0.02 * w, w += 0.02 * turn;
    const int64_t i = t * rows_ + row;
    ++length_[row];
    reward_.data[i] = 1;
    terminated_.data[i] = std::abs(x) > 2.4 || std::abs(angle) > 12 * M_PI / 180;
    truncated_.data[i] = !terminated_.data[i] && length_[row] == 500;
    Observe(row);
    if (terminated_.data[i] || truncated_.data[i]) {
      final_index_.push_back(i);
      final_obs_.insert(final_obs_.end(), &current_[row * n_], &current_[row * n_] + n_);
      const auto next = memory_->data.begin() + (i + rows_) * carry();
      final_memory_.insert(final_memory_.end(), next, next + carry());
      std::fill_n(next, carry(), 0.f);
      returns_.push_back(static_cast<double>(length_[row]));
      Reset(row);
    }
    std::copy_n(&current_[row * n_], n_, &obs_.data[(i + rows_) * n_]);
  }
  void Moments() {
    const int64_t n = horizon_ * rows_;
    count_.data[0] = static_cast<double>(n);
    for (int64_t k = 0; k < n_; ++k) {
      double mean = 0, m2 = 0;
      for (int64_t i = 0; i < n; ++i) mean += obs_.data[i * n_ + k] / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) m2 += std::pow(obs_.data[i * n_ + k] - mean, 2);
      mean_.data[k] = mean, m2_.data[k] = m2;
    }
  }

  std::vector<size_t> observed_;
  int64_t n_, rows_, horizon_;
  std::vector<std::array<double, 4>> state_;
  std::vector<float> current_;  // [rows, n]
  std::vector<int64_t> length_, final_index_;
  std::vector<float> final_obs_, final_memory_;
  std::vector<double> returns_;
  Buffer<float> obs_;
  Buffer<int32_t> action_;
  Buffer<float> reward_, logp_, value_;
  std::unique_ptr<Buffer<float>> memory_;
  Buffer<uint8_t> terminated_, truncated_;
  Buffer<double> count_, mean_, m2_;
  uint64_t step_ = 0, episode_ = 0;
};

}  // namespace backplane::test_support
