// One simulated row: its state, and its mjData while a call works on it, with errors contained.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "mujoco/data_pool.hpp"
#include "mujoco/world.hpp"

namespace mj {

class Simulation {
 public:
  // The row starts in the model's initial pose, without derived data. It must end before the model does.
  explicit Simulation(const mjModel* model);

  // The state after the last call, with derived data. Valid until this thread works on another row of the model: its steps use
  // the same mjData, and data() then recomputes this row's last step, to the same bits. It is free within the calls of a row;
  // call it once before a loop.
  const mjData& data() const {
    if (!HasSlot()) [[unlikely]]
      Lease();
    return *slot_->data;
  }

  // Resets to the model's initial pose at rest, time 0, without derived data. `fill` may then change qpos [nq] and qvel [nv],
  // and mj_forward runs.
  template <class Fill>
  void Restart(const mjModel* model, const Fill& fill) {
    mjData* const data = Clear(model);
    fill(data->qpos, data->qvel);
    Forward(model);
  }

  // The named state of bp.env.inject/1: qpos [nq], then qvel [nv].
  static std::vector<bp::StatePart> StateParts(const mjModel* model) {
    return {{"qpos", static_cast<uint64_t>(model->nq)}, {"qvel", static_cast<uint64_t>(model->nv)}};
  }
  void GetState(const mjModel* model, double* out) const {
    std::copy_n(Now() + 1, model->nq + model->nv, out);  // behind the time
  }
  // For Restart: starts in such a state.
  static auto FillFrom(const mjModel* model, const double* values) {
    return [=](double* qpos, double* qvel) {
      std::copy_n(values, model->nq, qpos);
      std::copy_n(values + model->nq, model->nv, qvel);
    };
  }

  // One env step with `ctrl` [nu]: `times` mj_step, then mj_rnePostConstraint if `contact_forces`, which fills cfrc_ext. Does
  // not allocate. Throws bp::Error: BP_E_NUMERIC if MuJoCo met an invalid number and reset the row to its initial pose,
  // BP_E_INTERNAL for an error inside MuJoCo. Only Restart is valid afterwards.
  template <class Number>
  void Step(const mjModel* model, const Number* ctrl, int64_t times, bool contact_forces) {
    std::copy_n(ctrl, model->nu, Bring(model)->ctrl);
    Step(model, times, contact_forces);
  }

  // The numbers from which the simulation resumes bit for bit: mjSTATE_INTEGRATION, which starts with time, qpos, qvel and
  // includes the warm start of the solver. Derived data (cinert, cfrc_ext) are not included.
  static uint64_t StateBytes(const mjModel* model);
  void Save(const mjModel* model, void* out) const;
  void Load(const mjModel* model, const void* in);

 private:
  // The call that produced `Now` and the derived data from `Before`.
  enum class Last { kNothing, kForward, kStep };

  bool HasSlot() const { return slot_ && slot_->IsMine() && slot_->row == row_; }
  void Lease() const;
  DataSlot& ToDataSlot() const;
  mjtNum* Now() const { return states_.get() + (second_ ? size_ : 0); }
  mjtNum* Before() const { return states_.get() + (second_ ? 0 : size_); }
  mjData* Bring(const mjModel* model);
  mjData* Clear(const mjModel* model);
  void Forward(const mjModel* model);
  void Step(const mjModel* model, int64_t times, bool contact_forces);
  void TakeAway(const mjModel* model, Last last);

  const mjModel* model_;
  std::shared_ptr<DataPool> pool_;
  std::unique_ptr<DataSlot> own_;     // for a row whose state is incomplete
  mutable DataSlot* slot_ = nullptr;  // last slot of the row, still its own if slot_->row matches
  uint64_t row_;                      // number among the rows of pool_
  std::unique_ptr<mjtNum[]> states_;  // two of size_, mjSTATE_INTEGRATION each: before and after the last call
  int size_;
  bool second_ = false;  // the second one is current
  Last last_ = Last::kNothing;
  bool contact_forces_ = false;
  int64_t times_ = 0;
};

}  // namespace mj
