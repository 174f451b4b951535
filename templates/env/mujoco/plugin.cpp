// A pole on a cart, simulated by MuJoCo: push the cart to balance the pole.
#include <cmath>

#include "mujoco/task.hpp"

// Adds an option to the ones that all MuJoCo tasks have, and changes their defaults.
struct Options : mj::TaskOptions {
  Options() { frame_skip = 2, max_episode_steps = 500, reset_noise_scale = 0.02; }
  double max_angle = 0.4;
};

constexpr char kXml[] = R"(
<mujoco model='pole'>
  <option timestep='0.01'/>
  <default><geom contype='0' conaffinity='0'/></default>
  <worldbody>
    <geom name='floor' type='plane' size='40 40 40'/>
    <body name='cart' pos='0 0 0.3'>
      <joint name='slide' type='slide' axis='1 0 0' damping='0.1'/>
      <geom type='box' size='0.2 0.1 0.1' mass='1'/>
      <body name='pole' pos='0 0 0.1'>
        <joint name='hinge' type='hinge' axis='0 1 0'/>
        <geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.04' mass='0.2'/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint='slide' gear='10' ctrllimited='true' ctrlrange='-1 1'/></actuator>
</mujoco>
)";

// Options and compiled model, shared by all rows. The formulas below need a slide as the first joint.
struct World : mj::World<Options> {
  explicit World(const Options& options) : mj::World<Options>(options, {"template_mujoco.xml", kXml, mjJNT_SLIDE}) {}
};

// The terms of the reward.
struct PoleTerms {
  double upright = 0, way = 0;
  bool terminated = false;
  double Reward() const { return upright - way; }
};

// One row. mj::Task adds resets, steps, channels, snapshots and pictures; mujoco/task.hpp documents its hooks.
struct Pole : mj::Task<Pole, World> {
  static constexpr bp::About kAbout{
      .id = "env.template_mujoco", .version = "1.0.0", .summary = "A pole on a cart must not fall; on MuJoCo.", .rows = 16};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("max_angle", &Options::max_angle, "(0,1.5]", "The episode ends when the pole leans further.", {.unit = "rad"}),
      bp::Opt("reset_noise_scale", &Options::reset_noise_scale, "[0,)", "Spread of the initial positions and speeds."),
      mj::kFrameSkip, mj::kMaxEpisodeSteps, mj::kXmlPath};
  static constexpr bool kContactForces = false;  // data().cfrc_ext is not needed
  using Task::Task;
  using Terms = PoleTerms;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }
  mj::Point Place(const World&) const { return {.x = data().qpos[0]}; }  // for velocity() and displacement()

  PoleTerms Judge(const World& world, const float*) const {
    const bool stands = std::fabs(data().qpos[1]) <= world.max_angle;
    return {.upright = stands ? 1.0 : 0.0, .way = 0.05 * std::fabs(displacement().x), .terminated = !stands};
  }
  template <class Out>
  void Observe(const World& world, const Out& out) const {
    out(data().qpos, world.nq());
    out(data().qvel, world.nv());
  }
  template <class Out>
  void Inform(const World&, const PoleTerms&, const Out& out) const {
    out("ep/distance", std::fabs(displacement().x));
  }
};

BP_PLUGINS(bp::Env<Pole>);
