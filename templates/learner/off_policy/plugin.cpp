// Soft actor-critic (Haarnoja et al., arXiv 1812.05905) for continuous actions: an actor, two critics with targets, and a
// learned weight of the entropy.
#include <array>
#include <string>

#include "backplane/off_policy.hpp"
#include "backplane/replay.hpp"
#include "net.hpp"

// An action in [-1, 1] with its log-probability, drawn from the actor's output (means, then logarithms of deviations).
struct Choice {
  Numbers action, noise;
  double logp = 0;
};

inline Choice Choose(const Numbers& head, bp_rng* rng) {
  Choice c;
  const size_t n = head.size() / 2;
  for (size_t k = 0; k < n; ++k) {
    const double log_std = std::clamp<double>(head[n + k], -20, 2), noise = rng ? bp_rng_normal(rng) : 0;
    const double u = head[k] + std::exp(log_std) * noise;
    c.action.push_back(static_cast<float>(std::tanh(u))), c.noise.push_back(static_cast<float>(noise));
    // The density of u, and of the change of variables: ln(1 - tanh(u)^2), written so that it is finite for every u.
    c.logp -=
        noise * noise / 2 + log_std + .918938533 + 2 * (std::log(2.) - std::abs(u) - std::log1p(std::exp(-2 * std::abs(u))));
  }
  return c;
}

class SoftActorCritic : public bp::OffPolicy, public bp::LearnerPlugin<SoftActorCritic> {
 public:
  static constexpr bp::About kAbout{.id = "learner.template_off_policy",
                                    .version = "1.0.0",
                                    .summary = "A small soft actor-critic.",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  struct Options {
    double lr = 1e-3, gamma = 0.98, tau = 0.01;
    uint64_t hidden = 64, batch_size = 64, buffer_size = 100'000, learning_starts = 500, horizon = 1000;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam."),
      bp::Opt("gamma", &Options::gamma, "[0,1]", "Discount per step."),
      bp::Opt("tau", &Options::tau, "(0,1]", "Share of the critics in each update of their targets."),
      bp::Opt("hidden", &Options::hidden, "[1,1024]", "Size of the two hidden layers of each net."),
      bp::Opt("batch_size", &Options::batch_size, "[1,)", "Transitions per gradient step."),
      bp::Opt("buffer_size", &Options::buffer_size, "[1,)", "Transitions that are kept."),
      bp::Opt("learning_starts", &Options::learning_starts, "[0,)",
              "Env steps with random actions before the first gradient step."),
      bp::Opt("horizon", &Options::horizon, "[1,)", "Steps per env in one iteration."),
  };
  static constexpr bp::MetricInfo kMetrics[] = {
      {.name = "train/critic_loss", .direction = -1, .doc = "Mean squared error of both critics."},
      {.name = "train/alpha", .doc = "Weight of the entropy."},
  };

  explicit SoftActorCritic(const bp::LearnerSetup& setup)
      : SoftActorCritic(setup, kOptions.Read(setup.config), bp::NeedChannel(*setup.env, BP_ROLE_OBS),
                        bp::NeedChannel(*setup.env, BP_ROLE_ACTION)) {}

  const bp_learner_spec* Spec() const override { return spec_.raw(); }

  void OnPart(const bp::Delivery& part) override { replay_.Store(part); }

  bool OnUpdate() override {
    bp_rng rng{bp_seed(seed_, BP_PURPOSE_LEARNER, 0, updates_++), 0};
    const uint64_t entries = (replay_.count() - replay_.first()) * replay_.rows();
    double error = 0, logp = 0;
    std::vector<bp::Transition> batch;
    for (uint64_t i = 0; i < options_.batch_size; ++i) {
      const uint64_t entry = bp_rng_below(&rng, entries);
      batch.push_back(replay_.At(replay_.first() + entry / replay_.rows(), entry % replay_.rows()));
      error += LearnValue(batch.back(), &rng);
    }
    for (Net& critic : critics_) critic.Step(options_.lr);
    for (const bp::Transition& step : batch) logp += LearnAction(step, &rng);
    actor_.Step(options_.lr);
    const auto n = static_cast<double>(options_.batch_size);
    LearnTemperature(logp / n);
    for (size_t q = 0; q < 2; ++q) targets_[q].Follow(critics_[q], static_cast<float>(options_.tau));
    metrics_.Record("train/critic_loss", error / n);
    metrics_.Record("train/alpha", std::exp(log_alpha_));
    return true;
  }

  void Act(const bp_act& act) override {
    static thread_local Net::Trace trace;
    const bp::View<const float> obs(act.in[0], "obs");
    const bool random = ActsRandomly(act), greedy = act.flags & BP_ACT_GREEDY;
    for (auto row = static_cast<int64_t>(act.begin); row < static_cast<int64_t>(act.end); ++row) {
      bp_rng rng{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base) + static_cast<uint32_t>(row), act.step),
                 0};
      Numbers action(low_.size());
      if (random) {
        for (float& a : action) a = static_cast<float>(bp_rng_range(&rng, -1, 1));
      } else {
        action = Choose(actor_.Forward(Numbers(obs.At(row), obs.At(row) + inputs_), &trace), greedy ? nullptr : &rng).action;
      }
      float *env = bp::View<float>(act.out[0], "action").At(row), *kept = bp::View<float>(act.out[1], "squashed").At(row);
      for (size_t k = 0; k < action.size(); ++k) {
        kept[k] = action[k];
        env[k] = std::clamp(low_[k] + (action[k] + 1) / 2 * (high_[k] - low_[k]), low_[k], high_[k]);
      }
    }
  }

  void Save(const bp::Writer& out) const {
    for (const Net* net : {&actor_, &critics_[0], &critics_[1], &targets_[0], &targets_[1]}) net->Save(out);
    for (const double number : {log_alpha_, alpha_m_, alpha_v_}) out.Put(number);
    out.Put(updates_);
    SaveSchedule(out);
    replay_.Save(out);
  }
  void Load(const bp::Reader& in) {
    for (Net* net : {&actor_, &critics_[0], &critics_[1], &targets_[0], &targets_[1]}) net->Load(in);
    for (double* number : {&log_alpha_, &alpha_m_, &alpha_v_}) *number = in.Get<double>();
    updates_ = in.Get<uint64_t>();
    LoadSchedule(in);
    replay_.Load(in);
    if (replay_.count() != frames()) BeginWithPolicy();  // a next stage: its ring is empty
  }

 private:
  SoftActorCritic(const bp::LearnerSetup& setup, const Options& options, const bp_channel& obs, const bp_channel& action)
      : OffPolicy(setup, {.horizon = options.horizon, .learning_starts = options.learning_starts}),
        options_(options),
        seed_(setup.seed),
        inputs_(static_cast<size_t>(bp::ElementCount(obs))),
        outputs_(static_cast<size_t>(bp::ElementCount(action))),
        actor_({inputs_, options.hidden, options.hidden, 2 * outputs_}, Key(0)),
        critics_{Net({inputs_ + outputs_, options.hidden, options.hidden, 1}, Key(1)),
                 Net({inputs_ + outputs_, options.hidden, options.hidden, 1}, Key(2))},
        targets_(critics_),
        replay_(setup.host,
                {setup.rows, inputs_ * sizeof(float), outputs_ * sizeof(float), options.buffer_size, options.horizon},
                {.obs = obs.name, .action = "squashed"}),
        metrics_(setup.host, kMetrics) {
    if (action.scope != BP_SCOPE_ROW) throw bp::Unsupported("supports only one agent per row");
    if (action.space != BP_SPACE_BOX || action.n_bounds == 0) throw bp::Unsupported("supports only BOX actions with bounds");
    if (!bp::SameDtype(obs.dtype, bp::DtypeOf<float>())) throw bp::Unsupported("supports only float32 observations");
    for (size_t k = 0; k < outputs_; ++k) {
      low_.push_back(static_cast<float>(action.low[action.n_bounds > 1 ? k : 0]));
      high_.push_back(static_cast<float>(action.high[action.n_bounds > 1 ? k : 0]));
    }
    spec_.ActIn(obs.name);
    for (const char* name : {obs.name, "reward", "terminated", "truncated"}) spec_.Keep(name);
    spec_.ActOut(action);
    spec_.Extra("squashed", {static_cast<int64_t>(outputs_)});  // the action in [-1, 1], for the critics
    spec_.set_params(actor_.weights.size() + 2 * critics_[0].weights.size());
    spec_.set_flags(BP_LEARNER_STATE_LARGE);
  }

  uint64_t Key(uint32_t net) const { return bp_seed(seed_, BP_PURPOSE_LEARNER, 1, net); }
  Numbers Joint(const void* obs, const Numbers& action) const {
    Numbers x(static_cast<const float*>(obs), static_cast<const float*>(obs) + inputs_);
    x.insert(x.end(), action.begin(), action.end());
    return x;
  }

  // Adds the critics' gradient of a transition, and returns its squared error.
  double LearnValue(const bp::Transition& step, bp_rng* rng) {
    Net::Trace trace;
    const Numbers next(step.NextObs<float>(), step.NextObs<float>() + inputs_);
    const Choice choice = Choose(actor_.Forward(next, &trace), rng);
    double target = step.reward;
    if (!step.terminated) {
      const Numbers x = Joint(step.next_obs, choice.action);
      const double value = std::min(targets_[0].Forward(x, &trace)[0], targets_[1].Forward(x, &trace)[0]);
      target += options_.gamma * (value - std::exp(log_alpha_) * choice.logp);
    }
    const Numbers x = Joint(step.obs, Numbers(step.Action<float>(), step.Action<float>() + outputs_));
    double error = 0;
    for (Net& critic : critics_) {
      const double apart = critic.Forward(x, &trace)[0] - target;
      critic.Backward(trace, {static_cast<float>(apart / static_cast<double>(options_.batch_size))});
      error += apart * apart / 2;
    }
    return error;
  }

  // Adds the actor's gradient of alpha ln p(a) - Q(s, a), and returns ln p(a).
  double LearnAction(const bp::Transition& step, bp_rng* rng) {
    Net::Trace actor, values[2];
    const Numbers head = actor_.Forward(Numbers(step.Obs<float>(), step.Obs<float>() + inputs_), &actor);
    const Choice c = Choose(head, rng);
    const Numbers x = Joint(step.obs, c.action);
    const size_t less = critics_[0].Forward(x, &values[0])[0] <= critics_[1].Forward(x, &values[1])[0] ? 0 : 1;
    const Numbers dq = critics_[less].Backward(values[less], {1}, false);
    const float alpha = static_cast<float>(std::exp(log_alpha_)), share = 1 / static_cast<float>(options_.batch_size);
    Numbers d(2 * outputs_);
    for (size_t k = 0; k < outputs_; ++k) {
      const float a = c.action[k], log_std = head[outputs_ + k];
      d[k] = share * (2 * alpha * a - dq[inputs_ + k] * (1 - a * a));
      if (log_std > -20 && log_std < 2) d[outputs_ + k] = d[k] * std::exp(log_std) * c.noise[k] - share * alpha;
    }
    actor_.Backward(actor, d);
    return c.logp;
  }

  // Adam on log alpha, towards an entropy of minus the number of actions.
  void LearnTemperature(double logp) {
    const double gradient = static_cast<double>(outputs_) - logp, t = static_cast<double>(updates_);
    alpha_m_ = .9 * alpha_m_ + .1 * gradient, alpha_v_ = .999 * alpha_v_ + .001 * gradient * gradient;
    log_alpha_ -= options_.lr * alpha_m_ / (1 - std::pow(.9, t)) / (std::sqrt(alpha_v_ / (1 - std::pow(.999, t))) + 1e-8);
  }

  const Options options_;
  const uint64_t seed_;
  const size_t inputs_, outputs_;
  std::vector<float> low_, high_;
  Net actor_;
  std::array<Net, 2> critics_, targets_;
  double log_alpha_ = 0, alpha_m_ = 0, alpha_v_ = 0;
  uint64_t updates_ = 0;
  bp::Replay replay_;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
};

BP_PLUGINS_SINCE(1, SoftActorCritic);
