// The parts that Humanoid and HumanoidStandup of Gymnasium share: options, tendons and observation.
#pragma once

#include "mujoco/humanoid_model.hpp"
#include "mujoco/numpy.hpp"
#include "mujoco/task.hpp"

namespace mj {

struct HumanoidOptions : TaskOptions {
  HumanoidOptions() { reset_noise_scale = 0.01; }

  bool include_cinert = true, include_cvel = true, include_qfrc_actuator = true, include_cfrc_ext = true;
};

inline constexpr bp::OptionTable kHumanoidOptions{
    bp::Opt("reset_noise_scale", &TaskOptions::reset_noise_scale, "[0,)",
            "Spread of the initial positions and speeds (both uniform)."),
    bp::Opt("exclude_current_positions_from_observation", &TaskOptions::exclude_current_positions,
            "Leaves x and y of the root out of the observation."),
    bp::Opt("include_cinert_in_observation", &HumanoidOptions::include_cinert,
            "Observe the inertia of the bodies: 130 numbers."),
    bp::Opt("include_cvel_in_observation", &HumanoidOptions::include_cvel, "Observe the velocity of the bodies: 78 numbers."),
    bp::Opt("include_qfrc_actuator_in_observation", &HumanoidOptions::include_qfrc_actuator,
            "Observe the actuators' forces: 17 numbers."),
    bp::Opt("include_cfrc_ext_in_observation", &HumanoidOptions::include_cfrc_ext, "Observe the contact forces: 78 numbers."),
    kFrameSkip,
    kMaxEpisodeSteps,
    kXmlPath,
};

template <class Options>
struct HumanoidWorld : World<Options> {
  HumanoidWorld(const Options& options, const char* file_name, Pose pose)
      : World<Options>(options, {file_name, HumanoidXml(pose), mjJNT_FREE}) {
    this->Require(this->model()->ntendon <= 25, "at most 25 tendons, whose lengths and velocities INFO contains",
                  std::to_string(this->model()->ntendon));
  }
};

template <class T, class W>
class HumanoidTask : public Task<T, W> {
 public:
  using Task<T, W>::Task;
  static constexpr bool kContactForces = true;

  // Rows of the world body and forces on the root are left out.
  template <class Out>
  void Observe(const W& w, const Out& out) const {
    const mjData& now = this->data();
    const int skipped = w.exclude_current_positions ? 2 : 0, bodies = w.nbody() - 1;
    out(now.qpos + skipped, w.nq() - skipped);
    out(now.qvel, w.nv());
    if (w.include_cinert) out(now.cinert + 10, 10 * bodies);
    if (w.include_cvel) out(now.cvel + 6, 6 * bodies);
    if (w.include_qfrc_actuator) out(now.qfrc_actuator + 6, w.nv() - 6);
    if (w.include_cfrc_ext) out(now.cfrc_ext + 6, 6 * bodies);
  }

 protected:
  // weight * the sum of squared controls, or of squared contact forces, which are not clipped.
  double SquaresOfControls(const W& w, double weight) const {
    return Squares(weight, w.nu(), [ctrl = this->data().ctrl](int i) { return ctrl[i]; });
  }
  double SquaresOfContacts(const W& w, double weight) const {
    return Squares(weight, 6 * w.nbody(), [forces = this->data().cfrc_ext](int i) { return forces[i]; });
  }

  template <class Out>
  void InformOfTendons(const W& w, const Out& out) const {
    out("tendon_length", this->data().ten_length, w.model()->ntendon);
    out("tendon_velocity", this->data().ten_velocity, w.model()->ntendon);
  }
};

}  // namespace mj
