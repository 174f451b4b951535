// Task<T, W>: one row of a locomotion task like Gymnasium's MuJoCo classes. It supplies the common parts: reset noise, the
// step, the velocity of a point, channels, snapshots, pictures. A task T derives from Task<T, W>, where W derives from
// mj::World of its options, and supplies its formulas over data(), the state after the step:
//
//   using Terms = ...;                                 reward terms, with `double Reward() const` and `bool terminated`
//   static constexpr bool kContactForces;              whether it reads data().cfrc_ext
//   Terms Judge(const W&, const float* action) const;  action [nu]
//   void Observe(const W&, const Out&) const;          a template: calls out(values, n) or out(values, n, f) for each part
//   void Inform(const W&, const Terms&, const Out&) const;  a template: calls out(name, value) or out(name, values, n)
//
// The two templates say once what there is; sizes and names of the channels are found by running them. A task may replace:
//
//   static double SpeedNoise(bp::Rng&);                one draw, scaled by reset_noise_scale and added to a speed at reset
//   static void Disturb(const W&, bp::Rng&, double* qpos, double* qvel);  all noise of a reset
//   Point Place(const W&) const;                       the point whose velocity is paid
//   static constexpr View kView;                       the camera of its films
//   std::string Caption(const W&) const;               the text above a frame
#pragma once

#include <cmath>

#include "mujoco/drawing.hpp"
#include "mujoco/labels.hpp"
#include "mujoco/simulation.hpp"

namespace mj {

struct Point {
  double x = 0, y = 0;  // m
};

// The terms of the reward for a body that walks and may fall, with the signs of the sum.
struct WalkerTerms {
  double forward = 0, survive = 0, ctrl = 0, contact = 0;
  bool terminated = false;
  double Reward() const { return (forward + survive) - (-ctrl + -contact); }
};

// Receivers for Observe and Inform.
struct WriteFloats {
  template <class F>
  void operator()(const mjtNum* values, int64_t n, const F& f) const {
    for (int64_t i = 0; i < n; ++i) *at++ = static_cast<float>(f(values[i]));
  }
  void operator()(const mjtNum* values, int64_t n) const {
    (*this)(values, n, [](double value) { return value; });
  }
  void operator()(const char*, double value) const { *at++ = static_cast<float>(value); }
  void operator()(const char*, const mjtNum* values, int64_t n) const { (*this)(values, n); }
  float*& at;
};
struct CountNumbers {
  template <class... F>
  void operator()(const mjtNum*, int64_t n, const F&...) const {
    total += n;
  }
  int64_t& total;
};
struct DeclareInfos {
  void operator()(const char* name, double) const { spec.Info(name); }
  void operator()(const std::string& name, const mjtNum*, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) spec.Info(name + "_" + std::to_string(i));
  }
  bp::EnvSpec& spec;
};

template <class T, class W>
class Task {
 public:
  using Model = W;

  explicit Task(const W& world) : simulation_(world.model()) {}

  static bp::EnvSpec Spec(const W& world) {
    T row(world);
    row.Restart(world, [](double*, double*) {});
    int64_t n_obs = 0;
    row.Observe(world, CountNumbers{n_obs});
    bp::Channel action{.role = BP_ROLE_ACTION, .name = "action", .shape = {world.nu()}};
    for (int i = 0; i < world.nu(); ++i) {
      action.low.push_back(world.model()->actuator_ctrlrange[2 * i]);
      action.high.push_back(world.model()->actuator_ctrlrange[2 * i + 1]);
    }
    bp::EnvSpec spec;
    spec.Obs(n_obs).Add(action).MaxEpisodeSteps(world.max_episode_steps);
    row.Inform(world, {}, DeclareInfos{spec});
    return spec;
  }

  static constexpr View kView{};
  static double SpeedNoise(bp::Rng& rng) { return rng.Range(-1, 1); }
  static void Disturb(const W& world, bp::Rng& rng, double* qpos, double* qvel) {
    const double scale = world.reset_noise_scale;
    for (int i = 0; i < world.nq(); ++i) qpos[i] += rng.Range(-scale, scale);
    for (int i = 0; i < world.nv(); ++i) qvel[i] = scale * T::SpeedNoise(rng);
  }
  Point Place(const W&) const { return {.x = data().qpos[0]}; }

  void Reset(const W& world, bp::Rng& rng, float* obs) {
    Restart(world, [&](double* qpos, double* qvel) { T::Disturb(world, rng, qpos, qvel); });
    self().Observe(world, WriteFloats{obs});
  }

  bp::StepResult Step(const W& world, bp::Rng&, const float* action, float* obs, float* info) {
    const auto terms = Advance(world, action);
    self().Observe(world, WriteFloats{obs});
    self().Inform(world, terms, WriteFloats{info});
    return {.reward = terms.Reward(), .terminated = terms.terminated};
  }

  // Starts an episode in the state that `fill` writes to qpos [nq] and qvel [nv], which initially contain the model's initial
  // pose at rest.
  template <class Fill>
  void Restart(const W& world, const Fill& fill) {
    simulation_.Restart(world.model(), fill);
    track_.now = track_.start = self().Place(world);
    velocity_ = {};
  }

  // Moves on by one env step; returns the terms of its reward in float64.
  auto Advance(const W& world, const float* action) {
    simulation_.Step(world.model(), action, world.frame_skip, T::kContactForces);
    const Point before = track_.now;
    track_.now = self().Place(world);
    velocity_ = {(track_.now.x - before.x) / world.dt(), (track_.now.y - before.y) / world.dt()};
    return self().Judge(world, action);
  }

  const mjData& data() const { return simulation_.data(); }

  static std::vector<bp::StatePart> StateParts(const W& world) { return Simulation::StateParts(world.model()); }
  void GetState(const W& world, double* out) const { simulation_.GetState(world.model(), out); }
  void SetState(const W& world, const double* values, float* obs) {
    Restart(world, Simulation::FillFrom(world.model(), values));
    self().Observe(world, WriteFloats{obs});
  }

  static std::vector<bp::Label> Labels(const W& world, std::string_view channel) {
    std::vector<bp::Label> labels;
    if (channel == "action") return ActuatorLabels(world.model());
    if (channel != "obs") return labels;
    T row(world);
    row.Restart(world, [](double*, double*) {});
    row.Observe(world, ListLabels(world.model(), row.data(), &labels));
    return labels;
  }

  static bp::PictureSize SizeOfPicture(const W&) { return kPicture; }
  static double SecondsOfStep(const W& world) { return world.dt(); }
  void DrawBackdrop(const W&, std::string* out) const { DrawGround(out); }
  void DrawFrame(const W& world, std::string* out) const {
    DrawBody(world.model(), data(), self().Caption(world), out, T::kView);
  }
  std::string Caption(const W&) const {
    std::string text;
    bp::Print(&text, "%.2f s, %.2f m ahead, %.2f m/s", data().time, displacement().x, velocity_.x);
    return text;
  }

  // A snapshot is the state of the simulation, then Track as four numbers of float64.
  static uint64_t StateBytes(const W& world) { return Simulation::StateBytes(world.model()) + sizeof(Track); }
  void Save(const W& world, void* out) const {
    simulation_.Save(world.model(), out);
    std::memcpy(static_cast<char*>(out) + Simulation::StateBytes(world.model()), &track_, sizeof track_);
  }
  void Load(const W& world, const void* in) {
    simulation_.Load(world.model(), in);
    std::memcpy(&track_, static_cast<const char*>(in) + Simulation::StateBytes(world.model()), sizeof track_);
  }

 protected:
  Point velocity() const { return velocity_; }  // m/s over the last env step
  // Way of Place since the episode began.
  Point displacement() const { return {track_.now.x - track_.start.x, track_.now.y - track_.start.y}; }

 private:
  // Place after the previous step and at the start of the episode. Kept and not computed again before a step: RK4 leaves
  // derived positions a stage behind qpos.
  struct Track {
    Point now, start;
  };

  T& self() { return static_cast<T&>(*this); }
  const T& self() const { return static_cast<const T&>(*this); }

  Simulation simulation_;
  Track track_;
  Point velocity_;
};

}  // namespace mj
