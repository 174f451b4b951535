// The cross-entropy method on linear policies: draws candidates around a mean and fits the next mean to the best of them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backplane/candidate_learner.hpp"
#include "backplane/rng.h"

// Mean and standard deviation of each weight.
struct Distribution {
  std::vector<double> mean, spread;
};

// Fits the best weights. Adds some spread, because the search would stop without it.
inline Distribution Fit(const std::vector<std::vector<double>>& best, double least_spread) {
  const auto n = static_cast<double>(best.size());
  Distribution fit{std::vector<double>(best[0].size()), std::vector<double>(best[0].size())};
  for (size_t i = 0; i < fit.mean.size(); ++i) {
    for (const auto& weights : best) fit.mean[i] += weights[i] / n;
    double variance = 0;
    for (const auto& weights : best) variance += (weights[i] - fit.mean[i]) * (weights[i] - fit.mean[i]) / n;
    fit.spread[i] = std::sqrt(variance) + least_spread;
  }
  return fit;
}

inline double Mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

class CrossEntropy : public bp::CandidateLearner, public bp::LearnerPlugin<CrossEntropy> {
 public:
  static constexpr bp::About kAbout{.id = "learner.template_cpp",
                                    .version = "1.0.0",
                                    .summary = "The cross-entropy method on linear policies.",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  struct Options {
    uint64_t candidates = 16, best = 4;
    double spread = 1, least_spread = 0.05;
    void Check(const bp::Config&) {
      if (best > candidates) throw bp::ConfigError("best: expected at most candidates, got " + std::to_string(best));
    }
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("candidates", &Options::candidates, "[1,1e6]", "Policies per iteration, evaluated for an episode each."),
      bp::Opt("best", &Options::best, "[1,1e6]", "Candidates for the next mean; fewer learn faster but less reliably."),
      bp::Opt("spread", &Options::spread, "(0,)", "Spread of the first candidates' weights around 0."),
      bp::Opt("least_spread", &Options::least_spread, "[0,)", "Added to the spread of the best, so that the search continues."),
  };

  static constexpr bp::MetricInfo kMetrics[] = {
      {.name = "train/best", .direction = 1, .doc = "Mean return of the best candidates."},
      {.name = "train/spread", .doc = "Mean spread of the weights; small after the search has converged."},
  };

  explicit CrossEntropy(const bp::LearnerSetup& setup)
      : CandidateLearner(setup), options_(kOptions.Read(setup.config)), seed_(setup.seed), metrics_(setup.host, kMetrics) {
    const bp_channel& obs = bp::NeedChannel(*setup.env, BP_ROLE_OBS);
    const bp_channel& action = bp::NeedChannel(*setup.env, BP_ROLE_ACTION);
    if (action.scope != BP_SCOPE_ROW) throw bp::Unsupported("supports only one agent per row");
    if (bp::FindChannel(*setup.env, BP_ROLE_ACTION_MASK)) throw bp::Unsupported("does not support ACTION_MASK");
    discrete_ = action.space == BP_SPACE_DISCRETE;
    if (!discrete_ && action.space != BP_SPACE_BOX) throw bp::Unsupported("supports only DISCRETE and BOX actions");
    inputs_ = static_cast<size_t>(bp::ElementCount(obs));
    outputs_ = static_cast<size_t>(discrete_ ? action.nvec[0] : bp::ElementCount(action));
    for (size_t i = 0; i < outputs_ && !discrete_; ++i) {
      low_.push_back(action.n_bounds == 0 ? -INFINITY : action.low[action.n_bounds > 1 ? i : 0]);
      high_.push_back(action.n_bounds == 0 ? INFINITY : action.high[action.n_bounds > 1 ? i : 0]);
    }
    const size_t n = outputs_ * (inputs_ + 1);  // with a bias per output
    now_ = {std::vector<double>(n, 0.0), std::vector<double>(n, options_.spread)};
    spec_.ActIn(obs.name);
    spec_.ActOut(action);
    spec_.set_params(n);
  }

  const bp_learner_spec* Spec() const override { return spec_.raw(); }

  void NextCandidates(bp::CandidateRequest* request) override {
    request->candidates = options_.candidates;
    request->seeds.resize(options_.candidates);
    // The same episode for all candidates of an iteration, so that the start does not favour any.
    std::fill(request->seeds.begin(), request->seeds.end(), bp_seed(seed_, BP_PURPOSE_LEARNER, 0, iteration_));
  }

  void OnScores(const bp::Scores& scores) override {
    std::vector<uint64_t> order(options_.candidates);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores.fitness(a) > scores.fitness(b); });
    std::vector<std::vector<double>> best(options_.best, std::vector<double>(now_.mean.size()));
    for (size_t b = 0; b < best.size(); ++b)
      for (size_t i = 0; i < best[b].size(); ++i) best[b][i] = Weight(static_cast<int32_t>(order[b]), i);
    now_ = Fit(best, options_.least_spread);
    ++iteration_;
    double earned = 0;
    for (size_t b = 0; b < best.size(); ++b) earned += scores.fitness(order[b]);
    metrics_.Record("train/best", earned / static_cast<double>(best.size()));
    metrics_.Record("train/spread", Mean(now_.spread));
  }

  void Act(const bp_act& act) override {
    const bp::View<const float> obs(act.in[0], "obs");
    for (auto row = static_cast<int64_t>(act.begin); row < static_cast<int64_t>(act.end); ++row) {
      const int32_t candidate = act.candidate ? act.candidate[row] : -1;  // -1: the mean, for evaluations and films
      if (discrete_) {
        int32_t choice = 0;
        for (size_t i = 1; i < outputs_; ++i)
          if (Output(candidate, i, obs.At(row)) > Output(candidate, static_cast<size_t>(choice), obs.At(row)))
            choice = static_cast<int32_t>(i);
        *bp::View<int32_t>(act.out[0], "action").At(row) = choice;
      } else {
        float* const out = bp::View<float>(act.out[0], "action").At(row);
        for (size_t i = 0; i < outputs_; ++i)
          out[i] = static_cast<float>(std::clamp(Output(candidate, i, obs.At(row)), low_[i], high_[i]));
      }
    }
  }

  void Save(const bp::Writer& out) const {
    out.Put(iteration_);
    out.PutAll(now_.mean.data(), now_.mean.size());
    out.PutAll(now_.spread.data(), now_.spread.size());
  }
  void Load(const bp::Reader& in) {
    iteration_ = in.Get<uint64_t>();
    in.GetAll(now_.mean.data(), now_.mean.size(), "means");
    in.GetAll(now_.spread.data(), now_.spread.size(), "spreads");
  }

 private:
  // Recomputed from its indices on each use, so that candidates need no storage.
  double Weight(int32_t candidate, size_t i) const {
    if (candidate < 0) return now_.mean[i];
    const uint64_t n = iteration_ * options_.candidates + static_cast<uint64_t>(candidate);
    bp_rng rng{bp_seed(seed_, BP_PURPOSE_LEARNER, static_cast<uint32_t>(i) + 1, n), 0};
    return now_.mean[i] + now_.spread[i] * bp_rng_normal(&rng);
  }
  double Output(int32_t candidate, size_t output, const float* obs) const {
    const size_t first = output * (inputs_ + 1);
    double sum = Weight(candidate, first + inputs_);
    for (size_t i = 0; i < inputs_; ++i) sum += Weight(candidate, first + i) * static_cast<double>(obs[i]);
    return sum;
  }

  const Options options_;
  const uint64_t seed_;
  bool discrete_ = false;
  size_t inputs_ = 0, outputs_ = 0;
  std::vector<double> low_, high_;
  Distribution now_;
  uint64_t iteration_ = 0;
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
};

BP_PLUGINS(CrossEntropy);
