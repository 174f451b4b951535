// A pole on a cart, simulated by MuJoCo: the cart is pushed so that the pole does not fall.
#include <cmath>

#include "mujoco/task.hpp"

// Options of one's own come to those of every MuJoCo task, whose defaults may be changed.
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

// What all rows share: the options and the compiled model, whose first joint the formulas below take for a slide.
struct World : mj::World<Options> {
  explicit World(const Options& options) : mj::World<Options>(options, {"template_mujoco.xml", kXml, mjJNT_SLIDE}) {}
};

// The parts of a reward.
struct PoleTerms {
  double upright = 0, way = 0;
  bool terminated = false;
  double Reward() const { return upright - way; }
};

// One row. mj::Task makes resets, steps, channels, snapshots and pictures around these formulas; its head says what there is.
struct Pole : mj::Task<Pole, World> {
  static constexpr bp::About kAbout{
      .id = "env.template_mujoco", .version = "1.0.0", .summary = "A pole on a cart must not fall; on MuJoCo.", .rows = 16};
  static constexpr bp::OptionTable kOptions{
      bp::Opt("max_angle", &Options::max_angle, "(0,1.5]", "The episode ends when the pole leans further.", {.unit = "rad"}),
      bp::Opt("reset_noise_scale", &Options::reset_noise_scale, "[0,)", "Spread of the initial positions and speeds."),
      mj::kFrameSkip, mj::kMaxEpisodeSteps, mj::kXmlPath};
  static constexpr bool kContactForces = false;  // data().cfrc_ext is not read
  using Task::Task;
  using Terms = PoleTerms;

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }
  mj::Point Place(const World&) const { return {.x = data().qpos[0]}; }  // velocity() and displacement() are those of it

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
