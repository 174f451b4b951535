#include "learner.hpp"

#include <algorithm>
#include <cmath>

#include "backplane/rng.h"
#include "nn/normals.hpp"
#include "nn/vectors.hpp"
#include "rl/finite.hpp"
#include "rl/observations.hpp"
#include "rl/policy_form.hpp"

namespace backplane::ars {
namespace {

constexpr bp::MetricInfo kMetrics[] = {
    {"train/return_mean", nullptr, 1, "mean return of the candidates, without the shift"},
    {"train/return_max", nullptr, 1, "best candidate's return"},
    {"train/return_min", nullptr, 1, "worst candidate's return"},
    {"train/return_std", nullptr, 0, "deviation of the kept candidates' shifted returns or ranks"},
    {"train/update_norm", nullptr, 0, "length of the step"},
    {"train/weight_norm", nullptr, 0, "norm of the mean policy's weights"},
};

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, rl::EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const rl::EnvShape& shape)
    : CandidateLearner(setup),
      options_(kOptions.Read(setup.config)),
      own_seed_(setup.seed),
      seed_(setup.seed),
      obs_name_(shape.obs_name),
      discrete_(shape.discrete),
      masked_(!shape.mask_name.empty()),
      low_(shape.low),
      high_(shape.high),
      policy_(MakePolicy(options_, shape)),
      filter_(shape.obs),
      mean_(policy_.size()),
      rows_(setup.rows),
      metrics_(setup.host, kMetrics) {
  // Reports need the numbers in use, because 0 in the file means all directions and the env's limit.
  bp::RecordFact(setup.host, "dir_chunk", std::to_string(options_.dir_chunk).c_str());
  const int64_t limit = options_.episode_length > 0 ? options_.episode_length : setup.env->max_episode_steps;
  if (limit > 0) bp::RecordFact(setup.host, "episode_length", std::to_string(limit).c_str());
  if (options_.adam()) adam_m_.resize(mean_.size()), adam_v_.resize(mean_.size());
  policy_.Init(seed_, options_.init_std, mean_.data());
  Refresh();
  spec_.ActIn(shape.obs_name);
  if (masked_) spec_.ActIn(shape.mask_name);
  spec_.ActOut(shape.action);
  spec_.set_params(mean_.size());
  DescribePolicy(shape);
  spec_.set_flags(BP_LEARNER_ROW_EXACT | (options_.normalize_obs ? BP_LEARNER_OBS_MOMENTS : 0));
}

StateShape Learner::SavedShape() const {
  const PolicyShape& shape = policy_.shape();
  const bool tanh = shape.activation == nn::Activation::kTanh && !shape.hidden.empty();
  uint64_t kind = 0;
  if (discrete_) kind |= StateShape::kDiscrete;
  if (options_.normalize_obs) kind |= StateShape::kNormalize;
  if (shape.bias) kind |= StateShape::kBias;
  if (tanh) kind |= StateShape::kTanh;
  if (options_.squash) kind |= StateShape::kSquash;
  if (options_.adam()) kind |= StateShape::kAdam;
  return {
      kind, static_cast<uint64_t>(shape.obs), static_cast<uint64_t>(shape.outputs), {shape.hidden.begin(), shape.hidden.end()}};
}

void Learner::Save(const bp::Writer& writer) const {
  WriteState(writer, SavedShape(), mean_, adam_m_, adam_v_, filter_, {seed_, iteration_, adam_steps_});
}

// Acting for a candidate reads the key of its direction, too.
void Learner::SavePolicy(const bp::Writer& writer) const {
  WriteState(writer, PolicyShapeSaved(), mean_, {}, {}, filter_, {seed_, iteration_, 0});
}

void Learner::LoadPolicy(const bp::Reader& reader) {
  Counters counters{};
  ReadState(reader, PolicyShapeSaved(), &mean_, nullptr, nullptr, &filter_, &counters);
  seed_ = counters.seed, iteration_ = counters.iteration;
  Refresh();
}

// Directions and episodes follow from its own seed.
void Learner::StartPolicy(const bp::Reader& reader) {
  LoadPolicy(reader);
  seed_ = own_seed_, iteration_ = 0;
}

StateShape Learner::PolicyShapeSaved() const {
  StateShape shape = SavedShape();
  shape.kind &= ~uint64_t{StateShape::kAdam};
  return shape;
}

void Learner::DescribePolicy(const rl::EnvShape& shape) {
  const uint64_t weights = HeaderSize(PolicyShapeSaved()) + sizeof(uint64_t);  // after their number
  rl::MlpForm form{.obs = {shape.obs_name},
                   .action = shape.action_name,
                   .mask = shape.mask_name,
                   .layers = policy_.layers(),
                   .activation = policy_.shape().activation,
                   .biases = policy_.shape().bias,
                   .numbers_at = weights,
                   .dtype = "float64",
                   .head = rl::HeadOf(shape, options_.squash)};
  if (options_.normalize_obs)
    form.normalizer = rl::NormalizerText(
        {"squares", weights + mean_.size() * sizeof(double), ObsFilter::kEpsilon, 0, ObsFilter::kLeastDeviation}, shape.obs);
  policy_form_ = rl::TextOf(form);
}

void Learner::Tensors(bp::NamedTensors* out) const {
  policy_.Tell(mean_.data(), out);
  if (options_.normalize_obs) filter_.Tell(out);
  if (adam_m_.empty()) return;
  out->Add("adam.m", adam_m_);
  out->Add("adam.v", adam_v_);
  out->AddNumber("adam.steps", adam_steps_);
}

void Learner::Load(const bp::Reader& reader) {
  Counters counters{};
  ReadState(reader, SavedShape(), &mean_, &adam_m_, &adam_v_, &filter_, &counters);
  seed_ = counters.seed, iteration_ = counters.iteration;
  if (options_.adam()) adam_steps_ = counters.adam_steps;
  Refresh();
}

void Learner::NextCandidates(bp::CandidateRequest* request) {
  const auto dirs = static_cast<uint64_t>(options_.num_dirs), episodes = static_cast<uint64_t>(options_.episodes_per_dir);
  request->candidates = 2 * dirs;
  request->episodes_each = episodes;
  request->chunk = 2 * static_cast<uint64_t>(options_.dir_chunk);
  request->max_steps = static_cast<uint64_t>(options_.episode_length);
  request->seeds.clear();
  for (uint64_t candidate = 0; candidate < 2 * dirs; ++candidate) {
    // Both signs of a direction start alike, so that their difference is the direction's doing.
    const uint64_t first = candidate / 2 * episodes;
    for (uint64_t item = first; item < first + episodes; ++item)
      request->seeds.push_back(bp_seed(seed_, BP_PURPOSE_ENV_EPISODE, static_cast<uint32_t>(item), iteration_));
  }
}

// Counted from 1, because 0 is for the initial weights.
uint64_t Learner::DirectionKey(int64_t direction) const {
  return bp_seed(seed_, BP_PURPOSE_LEARNER, static_cast<uint32_t>(direction), iteration_ + 1);
}

const PackedWeights& Learner::WeightsOf(uint64_t row, int32_t candidate) {
  if (row >= rows_.size() || candidate >= 2 * options_.num_dirs) {
    throw bp::Error(BP_E_INVALID_ARG, "row " + std::to_string(row) + " of " + std::to_string(rows_.size()) +
                                          ": expected a candidate, got " + std::to_string(candidate) + " of " +
                                          std::to_string(2 * options_.num_dirs));
  }
  RowWeights& kept = rows_[row];
  if (kept.generation == generation_ && kept.candidate == candidate) return kept.packed;
  std::vector<float>& flat = kept.packed.flat;
  flat.resize(mean_.size());
  nn::FillNormals(DirectionKey(candidate / 2), 0, policy_.size(), flat.data());
  const double scale = candidate % 2 ? -options_.noise_std : options_.noise_std;
  for (size_t i = 0; i < flat.size(); ++i) flat[i] = static_cast<float>(mean_[i] + scale * static_cast<double>(flat[i]));
  policy_.Pack(&kept.packed);
  kept.generation = generation_, kept.candidate = candidate;
  return kept.packed;
}

void Learner::Act(const bp_act& act) {
  static thread_local std::vector<float> filtered, nothing;
  const int64_t inputs = policy_.shape().obs;
  filtered.resize(inputs);
  nothing.assign(policy_.shape().outputs, 0);
  const rl::Observations obs(act.in[0], "obs");
  for (uint64_t r = act.begin; r < act.end; ++r) {
    const auto row = static_cast<int64_t>(r);
    if (act.candidate && act.candidate[r] < 0) {
      WriteAction(act, row, nothing.data());
      continue;
    }
    const PackedWeights& weights = act.candidate ? WeightsOf(act.row_base + r, act.candidate[r]) : mean_packed_;
    const float* x = obs.At(inputs, row);
    if (options_.normalize_obs) filter_.Apply(x, filtered.data()), x = filtered.data();
    WriteAction(act, row, policy_.Outputs(weights, x));
  }
}

void Learner::WriteAction(const bp_act& act, int64_t row, const float* outputs) const {
  const int64_t n = policy_.shape().outputs;
  if (discrete_) {
    const uint8_t* mask = masked_ ? bp::View<const uint8_t>(act.in[1], "action_mask").At(row) : nullptr;
    int64_t best = -1;
    for (int64_t i = 0; i < n; ++i) {
      if ((!mask || mask[i]) && (best < 0 || outputs[i] > outputs[best])) best = i;
    }
    *bp::View<int32_t>(act.out[0], "action").At(row) = static_cast<int32_t>(std::max<int64_t>(best, 0));
    return;
  }
  float* action = bp::View<float>(act.out[0], "action").At(row);
  std::copy_n(outputs, n, action);
  if (options_.squash) {
    nn::TanhInPlace(action, n);
    for (int64_t i = 0; i < n; ++i) action[i] = low_[i] + (action[i] + 1) / 2 * (high_[i] - low_[i]);
  }
  for (int64_t i = 0; i < n; ++i) action[i] = std::clamp(action[i], low_[i], high_[i]);
}

void Learner::OnScores(const bp::Scores& scores) {
  const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_OPTIM);
  const std::vector<double> returns = Returns(scores);
  UpdatePolicy(TakeStep(options_.shaping == Shaping::kCentredRanks ? CentredRanks(returns) : returns, options_.top_dirs));
  if (options_.normalize_obs) {
    const rl::ObsMoments seen =
        rl::FiniteMoments(scores.delivery(), policy_.shape().obs, obs_name_, "in the evaluation of the candidates");
    filter_.Merge(seen.count, seen.mean, seen.m2);
  }
  ++iteration_;
  Refresh();
}

// The mean over episodes of each candidate.
std::vector<double> Learner::Returns(const bp::Scores& scores) {
  const auto candidates = static_cast<uint64_t>(2 * options_.num_dirs),
             episodes = static_cast<uint64_t>(options_.episodes_per_dir);
  std::vector<double> returns(candidates), shifted(candidates);
  for (uint64_t c = 0; c < candidates; ++c) {
    for (uint64_t e = 0; e < episodes; ++e) {
      const double fitness = scores.fitness(c, e);
      // Ranking it last would keep the pair's other half and hide a broken model or env.
      if (!std::isfinite(fitness)) {
        throw bp::Error(BP_E_NUMERIC, "the return of candidate " + std::to_string(c) + " in episode " + std::to_string(e) +
                                          " is " + (std::isnan(fitness) ? "not a number" : "infinite") + "; " + kHint);
      }
      returns[c] += fitness / static_cast<double>(episodes);
      shifted[c] += (fitness - options_.shift * static_cast<double>(scores.length(c, e))) / static_cast<double>(episodes);
    }
  }
  double mean = 0;
  for (double value : returns) mean += value / static_cast<double>(candidates);
  metrics_.Record("train/return_mean", mean);
  metrics_.Record("train/return_max", *std::ranges::max_element(returns));
  metrics_.Record("train/return_min", *std::ranges::min_element(returns));
  return shifted;
}

void Learner::Refresh() {
  ++generation_;
  mean_packed_.flat.assign(mean_.begin(), mean_.end());
  policy_.Pack(&mean_packed_);
}

}  // namespace backplane::ars
