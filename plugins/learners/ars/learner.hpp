// Augmented random search as a learner: candidate pairs for evaluation, their actions, and a step along the best directions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backplane/candidate_learner.hpp"
#include "filter.hpp"
#include "kept_directions.hpp"
#include "options.hpp"
#include "policy.hpp"
#include "state.hpp"

namespace backplane::ars {

inline constexpr char kHint[] = "a smaller step_size or noise_std may help";  // for errors about numbers that are not finite

// Candidate 2 d is the mean policy plus noise along direction d, candidate 2 d + 1 the mean policy minus it. Directions are
// recomputed from a counter-based stream on each use and never stored.
class Learner : public bp::CandidateLearner {
 public:
  explicit Learner(const bp::LearnerSetup& setup);

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  void NextCandidates(bp::CandidateRequest* request) override;
  void OnScores(const bp::Scores& scores) override;
  void Act(const bp_act& act) override;

  void Save(const bp::Writer& writer) const;
  void Load(const bp::Reader& reader);
  // The part of the state that Act reads.
  void SavePolicy(const bp::Writer& writer) const;
  void LoadPolicy(const bp::Reader& reader);
  void StartPolicy(const bp::Reader& reader);
  std::string PolicyForm() const { return policy_form_; }
  void Tensors(bp::NamedTensors* out) const;

 private:
  // The weights with which a row acts, cached while its candidate stays.
  struct RowWeights {
    uint64_t generation = 0;  // 0: none
    int32_t candidate = 0;
    PackedWeights packed;
  };

  Learner(const bp::LearnerSetup& setup, const rl::EnvShape& shape);
  uint64_t DirectionKey(int64_t direction) const;
  const PackedWeights& WeightsOf(uint64_t row, int32_t candidate);
  void WriteAction(const bp_act& act, int64_t row, const float* outputs) const;
  void Refresh();
  std::vector<double> Returns(const bp::Scores& scores);
  void UpdatePolicy(const Step& step);
  StateShape SavedShape() const;
  StateShape PolicyShapeSaved() const;
  void DescribePolicy(const rl::EnvShape& shape);

  Options options_;
  const uint64_t own_seed_;
  uint64_t seed_;  // own_seed_, or the seed in a loaded state
  std::string obs_name_, policy_form_;
  bool discrete_, masked_;
  std::vector<float> low_, high_;
  Policy policy_;
  ObsFilter filter_;
  std::vector<double> mean_, adam_m_, adam_v_;  // [policy size]; Adam's are empty without it
  int64_t adam_steps_ = 0;
  uint64_t iteration_ = 0;   // update attempts; key of the directions and episodes
  uint64_t generation_ = 0;  // of mean_; an increment invalidates the rows' caches
  PackedWeights mean_packed_;
  std::vector<RowWeights> rows_;  // each accessed only by the thread that acts for its row
  bp::LearnerSpec spec_;
  bp::Metrics metrics_;
};

}  // namespace backplane::ars
