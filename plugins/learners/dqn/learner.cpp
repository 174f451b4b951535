#include "learner.hpp"

#include <algorithm>

#include "off_policy/biases.hpp"
#include "rl/policy_form.hpp"

namespace backplane::dqn {
namespace {

constexpr const char* kHint = "a smaller lr or reward may help";

constexpr bp::MetricInfo kMetrics[] = {
    {"train/loss", nullptr, -1, "Huber's loss of the sampled choices' values"},
    {"train/q", nullptr, 0, "mean value of the sampled choices"},
    {"train/epsilon", nullptr, 0, "probability of a random choice at the end of the iteration"},
    {"train/updates", nullptr, 0, "gradient steps of the iteration"},
};

}  // namespace

Learner::Learner(const bp::LearnerSetup& setup) : Learner(setup, kOptions.Read(setup.config), rl::EnvShape(setup.env)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape)
    : Learner(setup, options, shape, MakeNet(options, shape)) {}

Learner::Learner(const bp::LearnerSetup& setup, const Options& options, const rl::EnvShape& shape, const Net& net)
    : off_policy::Learner<Trainer<float>>(setup, options, shape, {"stored_action", net.stored(), net.masked},
                                          Trainer<float>(net, TrainerOptionsOf(options), OnHost(setup.host), kHint), net.size),
      actor_(net),
      epsilon_(options.epsilon_initial, options.epsilon_final, options.epsilon_steps, setup.rows),
      target_frames_(std::max<uint64_t>(options.target_update_interval / setup.rows, 1)),
      metrics_(setup.host, kMetrics) {
  const TowerParams tower{&net.tower, trainer_.optimizer().params()};
  InitParams({tower}, seed_);
  InitBiases({tower}, seed_);
  trainer_.Refresh(true);
  policy_form_ = rl::TextOf({.obs = {shape.obs_name},
                             .action = shape.action_name,
                             .mask = shape.mask_name,
                             .layers = SavedLayers(net),
                             .activation = options.activation,
                             .numbers_at = ShapeOf(net).size() + sizeof(uint64_t),  // after their number
                             .dtype = "float32",
                             .head = rl::HeadOf(shape)});
}

// The target network follows before the gradient steps of a part, as in Stable-Baselines3.
void Learner::OnPart(const bp::Delivery& part) {
  const uint64_t before = frames(), after = before + experience_.Store(part);
  for (uint64_t i = before / target_frames_; i < after / target_frames_; ++i) trainer_.UpdateTarget();
}

void Learner::Act(const bp_act& act) {
  const bool explores = !(act.flags & BP_ACT_GREEDY) && act.candidate == nullptr;
  const double epsilon = ActsRandomly(act) ? 1 : explores ? epsilon_.At(act.step) : 0;
  actor_.Act(act, trainer_.weights(), trainer_.optimizer().params(), epsilon);
}

void Learner::Learn(uint64_t /*number*/) {
  const UpdateStats stats = trainer_.Update(batch_);
  metrics_.Record("train/loss", stats.loss);
  metrics_.Record("train/q", stats.q);
}

void Learner::OnIteration(uint64_t updates) {
  metrics_.Record("train/epsilon", epsilon_.At(frames()));
  metrics_.Record("train/updates", static_cast<double>(updates));
  trainer_.optimizer().RequireFiniteState();  // before the host saves the state in a checkpoint
}

void Learner::Tensors(bp::NamedTensors* out) const {
  const Net& net = trainer_.net();
  TellTower(net.tower, "q", trainer_.optimizer().params(), out);
  TellTower(net.tower, "target", trainer_.target().data(), out);
  trainer_.optimizer().Tell(out);
  out->AddNumber("updates", trainer_.updates());
}

}  // namespace backplane::dqn
