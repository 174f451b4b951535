// One simulated row: its mjData on the shared model, with errors contained.
#pragma once

#include <algorithm>
#include <vector>

#include "mujoco/world.hpp"

namespace mj {

class Simulation {
 public:
  explicit Simulation(const mjModel* model) : data_(MakeData(model)) {}
  const mjData& data() const { return *data_; }

  // Back to the model's initial pose at rest, time 0, without derived data: `fill` may then change qpos [nq] and qvel [nv],
  // and mj_forward runs.
  template <class Fill>
  void Restart(const mjModel* model, const Fill& fill) {
    Clear(model);
    fill(data_->qpos, data_->qvel);
    Forward(model);
  }

  // The state by name that bp.env.inject/1 asks for: qpos [nq], then qvel [nv].
  static std::vector<bp::StatePart> StateParts(const mjModel* model) {
    return {{"qpos", static_cast<uint64_t>(model->nq)}, {"qvel", static_cast<uint64_t>(model->nv)}};
  }
  void GetState(const mjModel* model, double* out) const {
    std::copy_n(data_->qvel, model->nv, std::copy_n(data_->qpos, model->nq, out));
  }
  // For Restart: begins in such a state.
  static auto FillFrom(const mjModel* model, const double* values) {
    return [=](double* qpos, double* qvel) {
      std::copy_n(values, model->nq, qpos);
      std::copy_n(values + model->nq, model->nv, qvel);
    };
  }

  // One env step under `ctrl` [nu]: `times` mj_step, then mj_rnePostConstraint if `contact_forces`, which fills cfrc_ext.
  // Allocates nothing. Throws bp::Error: BP_E_NUMERIC when MuJoCo met a number it cannot go on with and started the row over
  // at its initial pose, BP_E_INTERNAL for an error of MuJoCo's own. Restart is all that may follow.
  template <class Number>
  void Step(const mjModel* model, const Number* ctrl, int64_t times, bool contact_forces) {
    std::copy_n(ctrl, model->nu, data_->ctrl);
    Step(model, times, contact_forces);
  }

  // The numbers from which the simulation continues bit for bit: mjSTATE_INTEGRATION, which begins with time, qpos, qvel and
  // holds the warm start of the solver. Derived data (cinert, cfrc_ext) are not among them.
  static uint64_t StateBytes(const mjModel* model);
  void Save(const mjModel* model, void* out) const;
  void Load(const mjModel* model, const void* in);

 private:
  void Clear(const mjModel* model);
  void Forward(const mjModel* model);
  void Step(const mjModel* model, int64_t times, bool contact_forces);

  Data data_;
};

}  // namespace mj
