// C++ authoring of learners that evaluate candidates, such as random search: a request scores candidates, each over whole
// episodes, and one delivery contains their returns. Derives from bp::Learner as OnPolicy does; see learner.hpp.
#pragma once

#include <limits>
#include <vector>

#include "backplane/learner.hpp"

namespace bp {

// The next evaluation; see bp_request.
struct CandidateRequest {
  uint64_t candidates = 0, episodes_each = 1;
  uint64_t chunk = 0;           // candidates in flight; 0: all
  uint64_t max_steps = 0;       // per episode; 0: the env's own limit
  std::vector<uint64_t> seeds;  // [candidates][episodes_each]
};

// Results of the evaluation.
class Scores {
 public:
  explicit Scores(const Delivery& delivery)
      : delivery_(delivery), fitness_(delivery.Get<double>("fitness")), length_(delivery.Get<int64_t>("ep_length")) {}
  double fitness(uint64_t candidate, uint64_t episode = 0) const {
    return fitness_.At(static_cast<int64_t>(candidate))[episode];
  }
  int64_t length(uint64_t candidate, uint64_t episode = 0) const {
    return length_.At(static_cast<int64_t>(candidate))[episode];
  }
  const Delivery& delivery() const { return delivery_; }  // obs_count, obs_mean, obs_m2 with BP_LEARNER_OBS_MOMENTS

 private:
  const Delivery& delivery_;
  View<const double> fitness_;
  View<const int64_t> length_;
};

class CandidateLearner : public Learner {
 public:
  using Learner::Learner;

  // The same state must give the same request, because a resumed trial plans again. `request` is the previous one, so that its
  // seeds keep their memory.
  virtual void NextCandidates(CandidateRequest* request) = 0;
  virtual void OnScores(const Scores& scores) = 0;

  void Plan(const bp_limits& limits, bp_request* out_request) override {
    if (BP_HAS(&limits, progress)) progress_ = limits.progress;
    if (BP_HAS(&limits, env_steps_left)) env_steps_left_ = limits.env_steps_left;
    NextCandidates(&request_);
    if (request_.seeds.size() != request_.candidates * request_.episodes_each)
      throw Error(BP_E_INTERNAL, "an evaluation of " + std::to_string(request_.candidates) + " candidates in " +
                                     std::to_string(request_.episodes_each) +
                                     " episodes each: expected one seed per episode, got " +
                                     std::to_string(request_.seeds.size()));
    out_request->kind = BP_REQ_EVALUATE;
    out_request->u.evaluate = {request_.candidates, request_.episodes_each, request_.chunk, request_.max_steps,
                               request_.seeds.data()};
  }
  void Consume(const Delivery& delivery) override {
    if (delivery.raw().kind != BP_REQ_EVALUATE)
      throw Error(BP_E_INVALID_ARG,
                  "expected a delivery of evaluated candidates, got kind " + std::to_string(delivery.raw().kind));
    OnScores(Scores(delivery));
  }

 protected:
  // Used share of the budget, and remaining env steps, when the evaluation was planned.
  double progress() const { return progress_; }
  uint64_t env_steps_left() const { return env_steps_left_; }

 private:
  double progress_ = 0;
  uint64_t env_steps_left_ = std::numeric_limits<uint64_t>::max();
  CandidateRequest request_;
};

}  // namespace bp
