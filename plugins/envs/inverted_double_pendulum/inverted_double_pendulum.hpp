// The task InvertedDoublePendulum-v5 of Gymnasium: two poles on a cart are paid for standing upright. See README.md for the
// formulas.
#pragma once

#include "inverted_double_pendulum_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace inverted_double_pendulum {

struct Options : mj::TaskOptions {
  double healthy_reward = 10;
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt("healthy_reward", &Options::healthy_reward, "Reward of every step that ends with the tip above 1 m."),
    bp::Opt("reset_noise_scale", &mj::TaskOptions::reset_noise_scale, "[0,)",
            "Spread of the initial positions (uniform) and speeds (normal)."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"inverted_double_pendulum.xml", kModelXml, mjJNT_SLIDE}) {
    Require(nv() >= 3, "a slide and then two hinges", std::to_string(nv()) + " speeds");
    Require(model()->nsite > 0, "a site at the tip", "none");
  }
};

// The terms of the reward, with the signs of the sum.
struct Terms {
  double survive = 0, distance = 0, velocity = 0;
  bool terminated = false;
  double Reward() const { return survive - -distance - -velocity; }
};

// One row.
class InvertedDoublePendulum : public mj::Task<InvertedDoublePendulum, World> {
 public:
  using Task::Task;
  using Terms = inverted_double_pendulum::Terms;
  static constexpr auto& kOptions = inverted_double_pendulum::kOptions;
  static constexpr bool kContactForces = false;
  static constexpr mj::View kView{.zoom = 0.9, .height = 0.5};

  static double SpeedNoise(bp::Rng& rng) { return rng.Normal(); }

  Terms Judge(const World& w, const float*) const {
    using mj::Square;
    const mjData& now = data();
    const double x = now.site_xpos[0], z = now.site_xpos[2];
    const bool fell = z <= 1;
    return {.survive = w.healthy_reward * (fell ? 0 : 1),
            .distance = -(0.01 * Square(x) + Square(z - 2)),
            .velocity = -(0.001 * Square(now.qvel[1]) + 0.005 * Square(now.qvel[2])),
            .terminated = fell};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    const auto limited = [](double value) { return mj::Clip(value, -10, 10); };
    const mjData& now = data();
    out(now.qpos, 1);
    out(now.qpos + 1, w.nq() - 1, mj::Sine());
    out(now.qpos + 1, w.nq() - 1, mj::Cosine());
    out(now.qvel, w.nv(), limited);
    out(now.qfrc_constraint, 1, limited);
  }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    out("reward_survive", terms.survive);
    out("distance_penalty", terms.distance);
    out("velocity_penalty", terms.velocity);
  }
};

}  // namespace inverted_double_pendulum
