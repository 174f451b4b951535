// Augmented random search on points that steer themselves to the origin, through the plugin's function table. A small host
// assigns candidates' episodes to free rows and merges moments in the order of the jobs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "backplane/rng.h"
#include "driven_learner.hpp"

namespace backplane::test_support {

struct ArsEnv {
  int64_t obs = 3, actions = 2;
  bool discrete = false, bounded = true, masked = false;
};

class ArsTrial : public DrivenLearner {
 public:
  explicit ArsTrial(std::map<std::string, std::string> options, int64_t rows = 4, const ArsEnv& env = {}, uint64_t seed = 1)
      : DrivenLearner(std::move(options)),
        env_(env),
        rows_(rows),
        obs_({rows, env.obs}),
        mask_({rows, env.actions}),
        action_({rows, env.actions}),
        choice_({rows}),
        candidates_(rows, -1) {
    CreateLearner(seed);
  }
  void CreateLearner(uint64_t seed) {
    const double low = -2, high = 3;
    const uint64_t bounds = env_.bounded ? 1 : 0;
    std::vector<bp_channel> channels = {
        {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "obs", &env_.obs},
        {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, bp::DtypeOf<float>(), "reward"}};
    if (env_.discrete) {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_DISCRETE, BP_SCOPE_ROW, 0, bp::DtypeOf<int32_t>(),
                          "action", nullptr, nullptr, nullptr, &env_.actions});
    } else {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, bp::DtypeOf<float>(), "action",
                          &env_.actions, &low, &high, nullptr, bounds});
    }
    if (env_.masked) {
      channels.push_back({sizeof(bp_channel), BP_ROLE_ACTION_MASK, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 1,
                          bp::DtypeOf<uint8_t>(), "action_mask", &env_.actions});
    }
    const bp_env_spec spec{sizeof(bp_env_spec), 1, channels.data(), channels.size(), 50, {BP_DEVICE_CPU, 0}};
    Create(spec, rows_, seed);
  }

  // Actions of rows [begin, end), by candidates as in candidates() or by the mean policy.
  bp_status Act(int64_t begin, int64_t end, bool mean = false) {
    bp_tensor *in[] = {&obs_.tensor, &mask_.tensor}, *out[] = {env_.discrete ? &choice_.tensor : &action_.tensor};
    bp_act act{sizeof(bp_act), BP_ACT_GREEDY, static_cast<uint64_t>(begin), static_cast<uint64_t>(end), 0, 7, 0, in, out};
    act.candidate = mean ? nullptr : candidates_.data();
    return DrivenLearner::Act(act);
  }
  // Answers the present request with these returns, [candidates] of one episode each, and observations' moments.
  bp_status Answer(const std::vector<double>& fitness, int64_t length = 1) {
    const bp_request request = Plan();
    const auto episodes = static_cast<int64_t>(request.u.evaluate.episodes_each);
    Buffer<double> returns({static_cast<int64_t>(fitness.size()) / episodes, episodes});
    Buffer<int64_t> lengths(returns.shape);
    returns.data = fitness;
    std::fill(lengths.data.begin(), lengths.data.end(), length);
    return Deliver(&returns, &lengths);
  }
  // Evaluates every candidate, and learns.
  bp_status Iterate() {
    const bp_request request = Plan();
    EXPECT_EQ(request.kind, uint32_t{BP_REQ_EVALUATE});
    const auto& e = request.u.evaluate;
    Buffer<double> returns({static_cast<int64_t>(e.candidates), static_cast<int64_t>(e.episodes_each)});
    Buffer<int64_t> lengths(returns.shape);
    jobs_.assign(e.candidates * e.episodes_each, {});
    for (uint64_t from = 0; from < e.candidates; from += e.chunk) {
      const uint64_t to = std::min(e.candidates, from + e.chunk);
      RunJobs(e.seeds, e.episodes_each, from * e.episodes_each, to * e.episodes_each, &returns, &lengths);
    }
    MergeMoments();
    last_ = returns.data;
    return Deliver(&returns, &lengths);
  }

  Buffer<float>& obs() { return obs_; }
  Buffer<uint8_t>& mask() { return mask_; }
  Buffer<float>& action() { return action_; }
  Buffer<int32_t>& choice() { return choice_; }
  std::vector<int32_t>& candidates() { return candidates_; }
  double MeanReturn() const {
    double sum = 0;
    for (double x : last_) sum += x;
    return sum / static_cast<double>(last_.size());
  }
  std::vector<double> mean, squares;  // of the observations that the next Answer delivers
  double count = 0;

 private:
  struct Job {
    double count = 0;
    std::vector<double> sum, squares;
  };
  struct Running {
    int64_t job = -1, t = 0, length = 0;
  };

  void RunJobs(const uint64_t* seeds, uint64_t episodes, uint64_t next, uint64_t end, Buffer<double>* returns,
               Buffer<int64_t>* lengths) {
    std::vector<Running> running(rows_);
    for (bool any = true; any;) {
      any = false;
      for (int64_t row = 0; row < rows_; ++row) {
        Running& now = running[row];
        if (now.job < 0 && next < end) Start(row, seeds[next], &now), now.job = static_cast<int64_t>(next++);
        candidates_[row] = now.job < 0 ? -1 : static_cast<int32_t>(now.job / static_cast<int64_t>(episodes));
        any = any || now.job >= 0;
      }
      EXPECT_EQ(Act(0, rows_), BP_OK) << error();
      for (int64_t row = 0; row < rows_ && any; ++row) {
        if (running[row].job >= 0) Step(row, &running[row], returns, lengths);
      }
    }
  }
  void Start(int64_t row, uint64_t seed, Running* now) {
    bp_rng rng{seed, 0};
    for (int64_t i = 0; i < env_.obs; ++i) obs_.data[row * env_.obs + i] = static_cast<float>(bp_rng_normal(&rng));
    now->t = 0, now->length = 4 + static_cast<int64_t>(bp_rng_below(&rng, 9));
  }
  // Action k pushes number k; the reward is minus the squared distance from 0.
  void Step(int64_t row, Running* now, Buffer<double>* returns, Buffer<int64_t>* lengths) {
    Job& job = jobs_[now->job];
    job.sum.resize(env_.obs), job.squares.resize(env_.obs), ++job.count;
    float* x = &obs_.data[row * env_.obs];
    double reward = 0;
    for (int64_t i = 0; i < env_.obs; ++i) {
      job.sum[i] += x[i], job.squares[i] += static_cast<double>(x[i]) * x[i];
      if (i < env_.actions) {
        x[i] += 0.3f * (env_.discrete ? (choice_.data[row] == i ? -x[i] : 0) : action_.data[row * env_.actions + i]);
        reward -= static_cast<double>(x[i]) * x[i];
      }
    }
    returns->data[now->job] += reward;
    if (++now->t < now->length) return;
    lengths->data[now->job] = now->t;
    now->job = -1;
  }
  void MergeMoments() {
    mean.assign(env_.obs, 0), squares.assign(env_.obs, 0), count = 0;
    std::vector<double> sum_of_squares(env_.obs);
    for (const Job& job : jobs_) {
      count += job.count;
      for (int64_t i = 0; i < env_.obs; ++i) mean[i] += job.sum[i], sum_of_squares[i] += job.squares[i];
    }
    for (int64_t i = 0; i < env_.obs; ++i) {
      mean[i] /= count;
      squares[i] = sum_of_squares[i] - count * mean[i] * mean[i];
    }
  }
  bp_status Deliver(Buffer<double>* returns, Buffer<int64_t>* lengths) {
    mean.resize(env_.obs), squares.resize(env_.obs);
    Buffer<double> n({1}), m({env_.obs}), s({env_.obs});
    n.data[0] = count, m.data = mean, s.data = squares;
    m.tensor.data = m.data.data(), s.tensor.data = s.data.data(), returns->tensor.data = returns->data.data();
    const char* names[] = {"fitness", "ep_length", "obs_count", "obs_mean", "obs_m2"};
    bp_tensor* tensors[] = {&returns->tensor, &lengths->tensor, &n.tensor, &m.tensor, &s.tensor};
    bp_delivery delivery{sizeof(bp_delivery), BP_REQ_EVALUATE};
    delivery.n_tensors = 5, delivery.names = names, delivery.tensors = tensors;
    return Consume(delivery);
  }

  ArsEnv env_;
  int64_t rows_;
  Buffer<float> obs_;
  Buffer<uint8_t> mask_;
  Buffer<float> action_;
  Buffer<int32_t> choice_;
  std::vector<int32_t> candidates_;
  std::vector<Job> jobs_;
  std::vector<double> last_;
};

}  // namespace backplane::test_support
