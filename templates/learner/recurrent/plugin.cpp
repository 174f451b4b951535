// REINFORCE with a memory. Fixed random recurrent weights remember observations (an echo state network, Jaeger 2001), and
// training changes a linear policy on their state.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backplane/learner.hpp"
#include "backplane/rng.h"

// The state becomes tanh(W obs + U state), with random W and U that never change.
class Reservoir {
 public:
  // `radius`: scale of U; above 1, the state may never forget its start.
  Reservoir(size_t inputs, size_t size, double radius, uint64_t seed) : inputs_(inputs), size_(size) {
    bp_rng rng{seed, 0};
    for (size_t i = 0; i < size * inputs; ++i) of_obs_.push_back(static_cast<float>(bp_rng_normal(&rng)));
    const double scale = radius / std::sqrt(static_cast<double>(size));
    for (size_t i = 0; i < size * size; ++i) of_state_.push_back(static_cast<float>(scale * bp_rng_normal(&rng)));
  }

  size_t size() const { return size_; }
  // Writes the state [size] after `obs` [inputs] to `out`, which may be `before`. [any]
  void Step(const float* obs, const float* before, float* out) const {
    std::vector<float> sums(size_);
    for (size_t i = 0; i < size_; ++i) {
      for (size_t k = 0; k < inputs_; ++k) sums[i] += of_obs_[i * inputs_ + k] * obs[k];
      for (size_t k = 0; k < size_; ++k) sums[i] += of_state_[i * size_ + k] * before[k];
    }
    for (size_t i = 0; i < size_; ++i) out[i] = std::tanh(sums[i]);
  }

 private:
  size_t inputs_, size_;
  std::vector<float> of_obs_, of_state_;  // [size, inputs], [size, size]
};

class Recurrent : public bp::OnPolicy, public bp::LearnerPlugin<Recurrent> {
 public:
  static constexpr bp::About kAbout{.id = "learner.template_recurrent",
                                    .version = "1.0.0",
                                    .summary = "REINFORCE with a memory.",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  struct Options {
    uint64_t horizon = 128, size = 40;
    double lr = 0.05, gamma = 0.98, radius = 0.8;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("horizon", &Options::horizon, "[1,1e6]", "Steps of each row in a rollout."),
      bp::Opt("size", &Options::size, "[1,256]", "Numbers of a row's memory; acting takes their square in time."),
      bp::Opt("lr", &Options::lr, "(0,)", "Learning rate."),
      bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step."),
      bp::Opt("radius", &Options::radius, "(0,)", "Scale of the recurrent weights; more remembers longer."),
  };

  explicit Recurrent(const bp::LearnerSetup& setup)
      : OnPolicy(setup),
        options_(kOptions.Read(setup.config)),
        inputs_(static_cast<size_t>(bp::ElementCount(bp::NeedChannel(*setup.env, BP_ROLE_OBS)))),
        reservoir_(inputs_, options_.size, options_.radius, bp_seed(setup.seed, BP_PURPOSE_LEARNER, 0, 0)),
        metrics_(setup.host) {
    const bp_channel& obs = bp::NeedChannel(*setup.env, BP_ROLE_OBS);
    const bp_channel& action = bp::NeedChannel(*setup.env, BP_ROLE_ACTION);
    if (action.space != BP_SPACE_DISCRETE || action.scope != BP_SCOPE_ROW) throw bp::Unsupported("chooses one action per row");
    if (bp::FindChannel(*setup.env, BP_ROLE_ACTION_MASK)) throw bp::Unsupported("does not support ACTION_MASK");
    weights_.assign(static_cast<size_t>(action.nvec[0]), std::vector<double>(options_.size, 0.0));
    spec_.ActIn(obs.name);
    spec_.ActOut(action);
    for (const char* name : {obs.name, action.name, "reward", "terminated", "truncated"}) spec_.Keep(name);
    // An input and an output of `act`, zero when an episode starts; a rollout has all its entries.
    spec_.Carry("memory", {static_cast<int64_t>(options_.size)});
    spec_.set_params(weights_.size() * options_.size);
  }

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return options_.horizon; }

  void Act(const bp_act& act) override {
    const bp::View<const float> obs(act.in[0], "obs"), before(act.in[1], "memory");
    const bp::View<int32_t> action(act.out[0], "action");
    const bp::View<float> after(act.out[1], "memory");
    std::vector<double> p(weights_.size());
    for (auto row = static_cast<int64_t>(act.begin); row < static_cast<int64_t>(act.end); ++row) {
      reservoir_.Step(obs.At(row), before.At(row), after.At(row));
      Probabilities(after.At(row), &p);
      int32_t choice = static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
      if (act.flags != BP_ACT_GREEDY) {
        bp_rng rng{
            bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base + static_cast<uint64_t>(row)), act.step), 0};
        double left = bp_rng_uniform(&rng);
        for (choice = 0; choice + 1 < static_cast<int32_t>(p.size()) && left >= p[static_cast<size_t>(choice)]; ++choice)
          left -= p[static_cast<size_t>(choice)];
      }
      *action.At(row) = choice;
    }
  }

  uint64_t OnRollout(const bp::Delivery& rollout) override {
    const auto reward = rollout.Get<float>("reward");
    const auto terminated = rollout.Get<uint8_t>("terminated"), truncated = rollout.Get<uint8_t>("truncated");
    obs_ = rollout.Get<float>("obs"), memory_ = rollout.Get<float>("memory"), action_ = rollout.Get<int32_t>("action");
    steps_ = reward.Size(0), rows_ = reward.Size(1);
    to_go_.assign(static_cast<size_t>(steps_ * rows_), 0.0);
    double mean = 0, squares = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      double sum = 0;
      for (int64_t t = steps_ - 1; t >= 0; --t) {
        if (*terminated.At(t, row) || *truncated.At(t, row)) sum = 0;
        sum = *reward.At(t, row) + options_.gamma * sum;
        to_go_[static_cast<size_t>(t * rows_ + row)] = sum;
        mean += sum, squares += sum * sum;
      }
    }
    const auto n = static_cast<double>(to_go_.size());
    const double spread = std::sqrt(std::max(squares / n - mean / n * (mean / n), 1e-12));
    for (double& value : to_go_) value = (value - mean / n) / spread;
    return 1;
  }

  // Entry t of the memory is the state before step t, and entry t+1 of a row whose episode ended is zero. So it computes the
  // state that chose the action again. A memory with weights to learn would start each sequence from its stored entry.
  void OnTick(uint64_t) override {
    std::vector<double> p(weights_.size());
    std::vector<float> state(options_.size);
    auto next = weights_;
    for (int64_t t = 0; t < steps_; ++t) {
      for (int64_t row = 0; row < rows_; ++row) {
        reservoir_.Step(obs_.At(t, row), memory_.At(t, row), state.data());
        Probabilities(state.data(), &p);
        const double step = options_.lr * to_go_[static_cast<size_t>(t * rows_ + row)] / static_cast<double>(rows_);
        for (size_t k = 0; k < p.size(); ++k)
          for (size_t i = 0; i < state.size(); ++i)
            next[k][i] +=
                step * ((static_cast<int32_t>(k) == *action_.At(t, row) ? 1 : 0) - p[k]) * static_cast<double>(state[i]);
      }
    }
    weights_ = next;
    metrics_.Record("train/largest_weight", Largest());
  }

  void Save(const bp::Writer& out) const {
    out.Put(version());
    for (const auto& weights : weights_) out.PutAll(weights.data(), weights.size());
  }
  void Load(const bp::Reader& in) {
    Restart(in.Get<uint64_t>());
    for (auto& weights : weights_) in.GetAll(weights.data(), weights.size(), "weights");
  }

 private:
  void Probabilities(const float* state, std::vector<double>* p) const {
    double sum = 0, most = -INFINITY;
    for (size_t k = 0; k < p->size(); ++k) {
      (*p)[k] = 0;
      for (size_t i = 0; i < options_.size; ++i) (*p)[k] += weights_[k][i] * static_cast<double>(state[i]);
      most = std::max(most, (*p)[k]);
    }
    for (double& value : *p) sum += value = std::exp(value - most);
    for (double& value : *p) value /= sum;
  }
  double Largest() const {
    double largest = 0;
    for (const auto& weights : weights_)
      for (const double weight : weights) largest = std::max(largest, std::fabs(weight));
    return largest;
  }

  const Options options_;
  const size_t inputs_;
  const Reservoir reservoir_;
  std::vector<std::vector<double>> weights_;  // [choices][size]
  bp::View<const float> obs_, memory_;
  bp::View<const int32_t> action_;
  int64_t steps_ = 0, rows_ = 0;
  std::vector<double> to_go_;  // [steps][rows]
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
};

BP_PLUGINS_SINCE(1, Recurrent);
