// The task Ant-v5 of Gymnasium: a four-legged body is paid for walking along x. See README.md for the formulas.
#pragma once

#include <string>

#include "backplane/env.hpp"
#include "mujoco/model.hpp"

namespace ant {

// Gymnasium's constructor arguments under their own names; a range is two options.
struct Options {
  std::string xml_path, main_body = "torso";
  int64_t frame_skip = 5, max_episode_steps = 1000;
  double forward_reward_weight = 1, ctrl_cost_weight = 0.5, contact_cost_weight = 5e-4, healthy_reward = 1;
  bool terminate_when_unhealthy = true;
  double healthy_z_min = 0.2, healthy_z_max = 1.0, contact_force_min = -1, contact_force_max = 1, reset_noise_scale = 0.1;
  bool exclude_current_positions_from_observation = true, include_cfrc_ext_in_observation = true;
};

// What all rows share. Immutable.
class World {
 public:
  explicit World(const Options& options);
  int ObsSize() const;
  uint64_t Key() const { return fingerprint_; }
  const mjModel* model() const { return model_.get(); }

  const Options options;
  int main_body = 1;  // body whose position is rewarded
  double dt = 0.05;   // s per env step

 private:
  mj::Model model_;
  uint64_t fingerprint_;
};

// The parts of one reward, signs as they are added.
struct Terms {
  double forward = 0, survive = 0, ctrl = 0, contact = 0;
  double Reward() const { return (forward + survive) - (-ctrl + -contact); }
};

enum Info {
  kXPosition, kYPosition, kDistanceFromOrigin, kXVelocity, kYVelocity, kRewardForward, kRewardSurvive, kRewardCtrl,
  kRewardContact, kEpXDisplacement, kEpDistance, kInfoCount
};

// One row: its own mjData on the shared model.
class Ant {
 public:
  explicit Ant(const World& world) : data_(mj::MakeData(world.model())) {}

  static bp::EnvSpec Spec(const World& world);
  void Reset(const World& world, bp::Rng& rng, float* obs);
  bp::StepResult Step(const World& world, bp::Rng& rng, const float* action, float* obs, float* info);

  // qpos [nq], qvel [nv]: starts an episode in this state (mj_resetData, then mj_forward).
  void Begin(const World& world, const double* qpos, const double* qvel);
  // Moves on by one env step; action [nu].
  Terms Advance(const World& world, const float* action);
  bool Healthy(const World& world) const;
  void Observe(const World& world, float* obs) const;
  const mjData& data() const { return *data_; }

  static uint64_t StateBytes(const World& world);
  void Save(const World& world, void* out) const;
  void Load(const World& world, const void* in);

 private:
  mj::Data data_;
  // Position of the main body after the previous step and its speed. RK4 leaves xpos a stage behind qpos, so it is kept here
  // and not computed again from qpos.
  struct Track {
    double x = 0, y = 0, x_velocity = 0, y_velocity = 0, start_x = 0, start_y = 0;
  } track_;
};

}  // namespace ant
