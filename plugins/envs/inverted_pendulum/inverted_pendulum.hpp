// The task InvertedPendulum-v5 of Gymnasium: a pole on a cart is paid for not falling. See README.md for the formulas.
#pragma once

#include <algorithm>

#include "inverted_pendulum_model.hpp"
#include "mujoco/task.hpp"

namespace inverted_pendulum {

struct Options : mj::TaskOptions {
  Options() { frame_skip = 2, reset_noise_scale = 0.01; }
};

inline constexpr bp::OptionTable kOptions{
    bp::Opt<Options, double>("reset_noise_scale", &Options::reset_noise_scale, "[0,)",
                             "Spread of the initial positions and speeds (both uniform)."),
    mj::kFrameSkip,
    mj::kMaxEpisodeSteps,
    mj::kXmlPath,
};

struct World : mj::World<Options> {
  explicit World(const Options& o) : mj::World<Options>(o, {"inverted_pendulum.xml", kModelXml, mjJNT_SLIDE}) {
    Require(nq() >= 2, "a slide and then a hinge", std::to_string(nq()) + " position");
  }
};

struct Terms {
  double survive = 0;
  bool terminated = false;
  double Reward() const { return survive; }
};

// One row.
class InvertedPendulum : public mj::Task<InvertedPendulum, World> {
 public:
  using Task::Task;
  using Terms = inverted_pendulum::Terms;
  static constexpr auto& kOptions = inverted_pendulum::kOptions;
  static constexpr bool kContactForces = false;
  static constexpr mj::View kView{.height = 0.25};

  Terms Judge(const World& w, const float*) const {
    const auto finite = [](double value) { return std::isfinite(value); };
    const mjData& now = data();
    const bool stands = std::all_of(now.qpos, now.qpos + w.nq(), finite) && std::all_of(now.qvel, now.qvel + w.nv(), finite) &&
                        std::abs(now.qpos[1]) <= 0.2;
    return {.survive = stands ? 1.0 : 0.0, .terminated = !stands};
  }

  template <class Out>
  void Observe(const World& w, const Out& out) const {
    out(data().qpos, w.nq());
    out(data().qvel, w.nv());
  }

  template <class Out>
  void Inform(const World&, const Terms& terms, const Out& out) const {
    out("reward_survive", terms.survive);
  }
};

}  // namespace inverted_pendulum
