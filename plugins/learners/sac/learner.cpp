#include "learner.hpp"

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

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config), rl::EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape)
    : Learner(setup, options, shape, MakeNet(options, shape)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const Net& net)
    : off_policy::Learner<Trainer<float>>(
          setup, options, shape, {"squashed", shape.actions},
          Trainer<float>(net, TrainerOptionsOf(options), TemperatureOf(options, shape.actions), OnHost(setup.host), kHint),
          net.actor_size + net.critics_size),
      actor_(net, shape),
      metrics_(setup.host, kMetrics) {
  InitParams(net, seed_, trainer_.actor().params(), trainer_.critics().params());
  trainer_.Refresh(true);
  policy_form_ = rl::TextOf({.obs = {shape.obs_name},
                             .action = shape.action_name,
                             .layers = SavedLayers(net),
                             .activation = options.activation,
                             .numbers_at = ShapeOf(net).size() + sizeof(uint64_t),  // after their number
                             .dtype = "float32",
                             .head = rl::HeadOf(shape, /*squash=*/true)});
}

void Learner::Learn(uint64_t number) {
  const int64_t n = batch_.n * trainer_.net().actions;
  noise_.resize(static_cast<size_t>(n)), next_noise_.resize(static_cast<size_t>(n));
  nn::FillNormals(bp_seed(seed_, BP_PURPOSE_LEARNER, 2, number), 0, n, noise_.data());
  nn::FillNormals(bp_seed(seed_, BP_PURPOSE_LEARNER, 3, number), 0, n, next_noise_.data());
  const UpdateStats stats = trainer_.Update(batch_, noise_.data(), next_noise_.data());
  metrics_.Record("train/critic_loss", stats.critic_loss);
  metrics_.Record("train/actor_loss", stats.actor_loss);
  metrics_.Record("train/alpha", stats.alpha);
  metrics_.Record("train/entropy", stats.entropy);
  metrics_.Record("train/q", stats.q);
}

void Learner::OnIteration(uint64_t updates) {
  metrics_.Record("train/updates", static_cast<double>(updates));
  trainer_.actor().RequireFiniteState();  // before the host saves the state in a checkpoint
  trainer_.critics().RequireFiniteState();
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
