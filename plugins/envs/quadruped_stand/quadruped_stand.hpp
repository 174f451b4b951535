// A box on four legs, dropped from a little height, is paid for standing in a band of heights. See README.md for the formulas.
#pragma once

#include "mujoco/collisions.hpp"
#include "mujoco/scales.hpp"
#include "mujoco/simulation.hpp"
#include "reward.hpp"

namespace quadruped_stand {

// The options with the defaults of `phase` resolved, and the compiled model.
struct World : RewardOptions {
  explicit World(const Options& o)
      : RewardOptions(o),
        observes_root(o.obs == Observed::kQposQvel),
        action_repeat(o.action_repeat),
        max_episode_steps(o.max_episode_steps.value_or(o.phase == 1 ? 200 : 250)),
        hip_noise(o.hip_noise),
        knee_noise(o.knee_noise),
        model_(mj::LoadText("quadruped_stand.xml", ModelXml())),
        fingerprint_(mj::Fingerprint(model())) {
    model_ = mj::Quickened(std::move(model_), "quadruped_stand.xml", ModelXml());
    RequireBand("z_lo", z_lo, "z_hi", z_hi);
    RequireBand("knee_lo", knee_lo, "knee_hi", knee_hi);
  }

  const mjModel* model() const { return model_.get(); }
  int nq() const { return static_cast<int>(model_->nq); }
  int nv() const { return static_cast<int>(model_->nv); }
  int nu() const { return static_cast<int>(model_->nu); }
  uint64_t Key() const { return fingerprint_; }
  static std::vector<bp::Parameter> Parameters() { return mj::Scales::Parameters(); }
  void ScaleParameter(uint64_t i, double factor) { scales_.Set(model_.get(), i, factor); }

  const bool observes_root;
  const int64_t action_repeat, max_episode_steps;
  const double hip_noise, knee_noise;

 private:
  static void RequireBand(const char* low, double lo, const char* high, double hi) {
    if (!(lo < hi))
      throw bp::ConfigError(std::string(low) + ": expected less than " + high + ", got " + std::to_string(lo) + " and " +
                            std::to_string(hi));
  }

  mj::Model model_;
  uint64_t fingerprint_;
  mj::Scales scales_;
};

// The state of an episode outside the simulation.
struct Memory {
  double last_ctrl[2 * kLegs] = {};
  int64_t steps = 0, streak = 0, standing = 0, finished = 0;
  double sum_of_heights = 0, sum_of_up = 0;
};

// One row.
class QuadrupedStand {
 public:
  using Model = World;
  static constexpr auto& kOptions = quadruped_stand::kOptions;

  explicit QuadrupedStand(const World& world) : simulation_(world.model()) {}

  static bp::EnvSpec Spec(const World& world) {
    bp::EnvSpec spec;
    spec.Obs((world.observes_root ? world.nq() : 2 * kLegs) + world.nv()).ActionBox(world.nu(), -1, 1);
    spec.MaxEpisodeSteps(world.max_episode_steps);
    QuadrupedStand(world).Inform(world, {}, [&](const char* name, double) { spec.Info(name); });
    return spec;
  }

  // Only the joints are drawn: the torso starts in its place, at rest.
  void Reset(const World& world, bp::Rng& rng, float* obs) {
    Restart(world, [&](double* qpos, double*) {
      qpos[3] = std::cos(world.pitch / 2), qpos[5] = std::sin(world.pitch / 2);
      for (int leg = 0; leg < kLegs; ++leg) {
        qpos[7 + 2 * leg] += world.hip_noise * rng.Normal();
        qpos[8 + 2 * leg] = (world.crouch + world.knee_noise * rng.Normal()) * kKneeSpan;
      }
    });
    Observe(world, obs);
  }

  bp::StepResult Step(const World& world, bp::Rng&, const float* action, float* obs, float* info) {
    const Terms terms = Advance(world, action);
    Observe(world, obs);
    Inform(world, terms, [&](const char*, double value) { *info++ = static_cast<float>(value); });
    return {.reward = terms.Reward(), .terminated = memory_.finished != 0};
  }

  // Starts an episode in the state that `fill` writes to qpos [nq] and qvel [nv], which initially contain the model's initial
  // pose at rest.
  template <class Fill>
  void Restart(const World& world, const Fill& fill) {
    simulation_.Restart(world.model(), fill);
    memory_ = {};
  }

  // Advances by one env step and returns the terms of its reward. A finished episode neither moves nor earns.
  Terms Advance(const World& world, const float* action) {
    if (memory_.finished) return {};
    double ctrl[2 * kLegs];
    for (int i = 0; i < 2 * kLegs; ++i) {
      const double lo = world.model()->actuator_ctrlrange[2 * i], hi = world.model()->actuator_ctrlrange[2 * i + 1];
      ctrl[i] = (lo + hi) / 2 + (hi - lo) / 2 * std::tanh(static_cast<double>(action[i]));
    }
    simulation_.Step(world.model(), ctrl, world.action_repeat, false);
    return Account(world, ctrl);
  }

  const mjData& data() const { return simulation_.data(); }
  const Memory& memory() const { return memory_; }
  // Steps of standing divided by the maximum number of steps, so that an episode that ends early does not count as standing.
  double StandingFraction(const World& world) const {
    return static_cast<double>(memory_.standing) / static_cast<double>(world.max_episode_steps);
  }

  static std::vector<bp::StatePart> StateParts(const World& world) { return mj::Simulation::StateParts(world.model()); }
  void GetState(const World& world, double* out) const { simulation_.GetState(world.model(), out); }
  void SetState(const World& world, const double* values, float* obs) {
    Restart(world, mj::Simulation::FillFrom(world.model(), values));
    Observe(world, obs);
  }

  static uint64_t StateBytes(const World& world) { return mj::Simulation::StateBytes(world.model()) + sizeof(Memory); }
  void Save(const World& world, void* out) const {
    simulation_.Save(world.model(), out);
    std::memcpy(static_cast<char*>(out) + mj::Simulation::StateBytes(world.model()), &memory_, sizeof memory_);
  }
  void Load(const World& world, const void* in) {
    simulation_.Load(world.model(), in);
    std::memcpy(&memory_, static_cast<const char*>(in) + mj::Simulation::StateBytes(world.model()), sizeof memory_);
  }

 private:
  Terms Account(const World& world, const double* ctrl) {
    const double z = data().qpos[2], up = Uprightness(data().qpos);
    const Terms terms = Judge(world, {data().qpos, data().qvel, ctrl, memory_.last_ctrl, memory_.streak});
    const bool stands = Gate(world, data().qpos) > kStandingGate;
    memory_.finished = Fallen(world);
    memory_.steps += 1;
    memory_.streak = stands ? memory_.streak + 1 : 0;
    memory_.standing += stands;
    memory_.sum_of_heights += z;
    memory_.sum_of_up += up;
    std::copy_n(ctrl, 2 * kLegs, memory_.last_ctrl);
    return memory_.finished ? Terms{} : terms;
  }

  bool Fallen(const World& world) const {
    const auto finite = [](double value) { return std::isfinite(value); };
    return !std::all_of(data().qpos, data().qpos + world.nq(), finite) ||
           !std::all_of(data().qvel, data().qvel + world.nv(), finite) || data().qpos[2] < world.z_min ||
           Uprightness(data().qpos) < kUpLeast;
  }

  void Observe(const World& world, float* obs) const {
    const auto to_float = [](double value) { return static_cast<float>(value); };
    obs = std::transform(data().qpos + (world.observes_root ? 0 : 7), data().qpos + world.nq(), obs, to_float);
    std::transform(data().qvel, data().qvel + world.nv(), obs, to_float);
  }

  // Single list of the metrics: Spec reads the names, Step the values.
  template <class Out>
  void Inform(const World& world, const Terms& terms, const Out& out) const {
    const auto steps = static_cast<double>(std::max<int64_t>(memory_.steps, 1));
    out("height", data().qpos[2]);
    out("up", Uprightness(data().qpos));
    out("gate", Gate(world, data().qpos));
    out("reward_alive", terms.alive);
    out("reward_stand", terms.stand);
    out("reward_streak", terms.streak);
    out("reward_knees", terms.knees);
    out("reward_costs", terms.costs);
    out("ep/standing_fraction", StandingFraction(world));
    out("ep/mean_height", memory_.sum_of_heights / steps);
    out("ep/mean_up", memory_.sum_of_up / steps);
  }

  static constexpr double kUpLeast = 0.15;

  mj::Simulation simulation_;
  Memory memory_;
};

}  // namespace quadruped_stand
