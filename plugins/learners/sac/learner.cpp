#include "learner.hpp"

#include <algorithm>

#include "backplane/rng.h"
#include "nn/normals.hpp"
#include "rl/policy_form.hpp"

namespace backplane::sac {
namespace {

constexpr const char* kHint = "a smaller lr or reward may help";

constexpr bp::MetricInfo kMetrics[] = {
    {"train/critic_loss", nullptr, -1, "half the squared error of the critics, summed over both"},
    {"train/actor_loss", nullptr, 0, "mean of alpha ln p(a) - Q(s, a)"},
    {"train/alpha", nullptr, 0, "weight of the entropy"},
    {"train/entropy", "nat", 0, "mean entropy of the policy, of actions in [-1, 1]"},
    {"train/q", nullptr, 0, "mean value of the sampled actions, over both critics"},
    {"train/updates", nullptr, 0, "gradient steps of the iteration"},
};

bp_replay_shape ReplayShape(const Options& options, const bp::LearnerSetup& setup, const rl::EnvShape& shape) {
  const uint64_t obs_bytes = bp::NeedChannel(*setup.env, BP_ROLE_OBS).dtype.bits / 8;
  const uint64_t parts = (options.horizon + options.train_freq - 1) / options.train_freq;
  return {.rows = setup.rows,
          .obs_bytes = static_cast<uint64_t>(shape.obs) * obs_bytes,
          .action_bytes = static_cast<uint64_t>(shape.actions) * sizeof(float),
          .capacity = options.buffer_size,
          .iteration_frames = parts * options.train_freq};
}

void CheckLastObservations(const bp_env_spec& env) {
  const bp_channel* lost = bp::FindChannel(env, "no_final_obs");
  if (lost != nullptr && lost->role == BP_ROLE_INFO)
    throw bp::Unsupported("needs the last observations of truncated episodes, which the env does not have");
}

// Observations are stored as the env writes them, float32 or bytes.
float* CopyObs(const void* obs, bool are_bytes, int64_t n, float* out) {
  return are_bytes ? std::copy_n(static_cast<const uint8_t*>(obs), n, out)
                   : std::copy_n(static_cast<const float*>(obs), n, out);
}

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config), rl::EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape)
    : OffPolicy(setup, ScheduleOf(options)),
      options_(options),
      seed_(setup.seed),
      obs_are_bytes_(bp::NeedChannel(*setup.env, BP_ROLE_OBS).dtype.bits == 8),
      trainer_(MakeNet(options, shape), TrainerOptionsOf(options), TemperatureOf(options, shape.actions), OnHost(setup.host),
               kHint),
      actor_(trainer_.net(), shape),
      replay_(setup.host, ReplayShape(options, setup, shape), {.obs = shape.obs_name, .action = "squashed"}),
      sampler_(&replay_, SamplerOptionsOf(options), setup.seed),
      metrics_(setup.host, kMetrics) {
  CheckLastObservations(*setup.env);
  InitParams(trainer_.net(), seed_, trainer_.actor().params(), trainer_.critics().params());
  trainer_.Refresh(true);
  DescribeSpec(shape);
  DescribePolicy(shape);
}

void Learner::DescribeSpec(const rl::EnvShape& shape) {
  spec_.ActIn(shape.obs_name);
  for (const char* name : {shape.obs_name.c_str(), "reward", "terminated", "truncated"}) spec_.Keep(name);
  spec_.ActOut(shape.action);  // from here on in the order of Output
  spec_.Extra("squashed", {shape.actions});
  spec_.set_params(static_cast<uint64_t>(trainer_.net().actor_size + trainer_.net().critics_size));
  spec_.set_flags(BP_LEARNER_STATE_LARGE);
}

void Learner::DescribePolicy(const rl::EnvShape& shape) {
  policy_form_ = rl::TextOf({.obs = {shape.obs_name},
                             .action = shape.action_name,
                             .layers = SavedLayers(trainer_.net()),
                             .activation = options_.activation,
                             .numbers_at = ShapeOf(trainer_.net()).size() + sizeof(uint64_t),  // after their number
                             .dtype = "float32",
                             .head = rl::HeadOf(shape, /*squash=*/true)});
}

void Learner::OnPart(const bp::Delivery& part) { sampler_.OnStored(replay_.Store(part)); }

void Learner::FillBatch() {
  const int64_t n = options_.batch_size, obs = trainer_.net().obs, actions = trainer_.net().actions;
  const auto size = [](int64_t count) { return static_cast<size_t>(count); };
  batch_.n = n;
  batch_.obs.resize(size(n * obs)), batch_.next_obs.resize(size(n * obs)), batch_.action.resize(size(n * actions));
  batch_.reward.resize(size(n)), batch_.discount.resize(size(n));
  if (options_.prioritized_replay) batch_.weight.resize(size(n));
  for (int64_t i = 0; i < n; ++i) {
    const replay::Window window = sampler_.At(starts_[i]);
    CopyObs(window.obs, obs_are_bytes_, obs, &batch_.obs[i * obs]);
    CopyObs(window.next_obs, obs_are_bytes_, obs, &batch_.next_obs[i * obs]);
    std::copy_n(static_cast<const float*>(window.action), actions, &batch_.action[i * actions]);
    batch_.reward[i] = static_cast<float>(window.reward), batch_.discount[i] = static_cast<float>(window.discount);
    if (options_.prioritized_replay) batch_.weight[i] = starts_[i].weight;
  }
}

bool Learner::OnUpdate() {
  const uint64_t number = trainer_.updates();
  {
    const bp::PhaseScope phase(host(), BP_PHASE_BATCH_BUILD);
    if (!sampler_.Draw(number, options_.batch_size, &starts_)) return false;
    FillBatch();
  }
  const bp::PhaseScope phase(host(), BP_PHASE_UPDATE_BACKWARD);
  const int64_t n = options_.batch_size * trainer_.net().actions;
  noise_.resize(static_cast<size_t>(n)), next_noise_.resize(static_cast<size_t>(n));
  nn::FillNormals(bp_seed(seed_, BP_PURPOSE_LEARNER, 2, number), 0, n, noise_.data());
  nn::FillNormals(bp_seed(seed_, BP_PURPOSE_LEARNER, 3, number), 0, n, next_noise_.data());
  const UpdateStats stats = trainer_.Update(batch_, noise_.data(), next_noise_.data());
  sampler_.SetPriorities(starts_, trainer_.errors().data());
  metrics_.Record("train/critic_loss", stats.critic_loss);
  metrics_.Record("train/actor_loss", stats.actor_loss);
  metrics_.Record("train/alpha", stats.alpha);
  metrics_.Record("train/entropy", stats.entropy);
  metrics_.Record("train/q", stats.q);
  return true;
}

void Learner::OnIteration(uint64_t updates) {
  metrics_.Record("train/updates", static_cast<double>(updates));
  trainer_.actor().RequireFiniteState();  // before the host saves the state in a checkpoint
  trainer_.critics().RequireFiniteState();
}

void Learner::Save(const bp::Writer& writer) const {
  WriteTrainer(writer, trainer_);
  SaveSchedule(writer);
  replay_.Save(writer);
  sampler_.Save(writer);
}

void Learner::Load(const bp::Reader& reader) {
  ReadTrainer(reader, &trainer_);
  LoadSchedule(reader);
  replay_.Load(reader);
  sampler_.Load(reader);
  trainer_.Refresh(false);
  if (replay_.count() != frames()) BeginEmpty();  // in a next stage
}

void Learner::SavePolicy(const bp::Writer& writer) const {
  WritePolicy(writer, trainer_);
  SaveRandom(writer);
}

void Learner::LoadPolicy(const bp::Reader& reader) {
  ReadPolicy(reader, &trainer_);
  LoadRandom(reader);
  trainer_.Refresh(false);
}

void Learner::StartPolicy(const bp::Reader& reader) {
  LoadPolicy(reader);
  BeginEmpty();
}

void Learner::BeginEmpty() {
  BeginWithPolicy();
  bp::RecordFact(host(), "replay", "empty at the start, with a loaded policy");
  replay_.Clear();
  sampler_.Clear();
}

void Learner::Tensors(bp::NamedTensors* out) const {
  const Net& net = trainer_.net();
  TellTower(net.actor, "actor", trainer_.actor().params(), out);
  for (int q = 0; q < 2; ++q) TellTower(net.critics[q], "critic" + std::to_string(q + 1), trainer_.critics().params(), out);
  for (int q = 0; q < 2; ++q) TellTower(net.critics[q], "target" + std::to_string(q + 1), trainer_.targets().data(), out);
  const Temperature::State t = trainer_.temperature().state();
  out->AddNumber("log_alpha", t.log_alpha);
  trainer_.actor().Tell(out, "actor.");
  trainer_.critics().Tell(out, "critics.");
  out->AddNumber("log_alpha.adam.m", t.m);
  out->AddNumber("log_alpha.adam.v", t.v);
  out->AddNumber("updates", trainer_.updates());
}

}  // namespace backplane::sac
