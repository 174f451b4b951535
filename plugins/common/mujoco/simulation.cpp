#include "mujoco/simulation.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "mujoco/errors.hpp"

namespace mj {
namespace {

// Conditions in which MuJoCo resets the row to its initial pose, or drops its controls, in the middle of a step.
struct Bad {
  mjtWarning warning;
  const char *array, *advice;
};
constexpr const char* kUnstable =
    "the simulation is unstable; try weaker actuators, less extreme masses, or a larger frame_skip with a smaller timestep in "
    "the model (xml_path)";
constexpr Bad kBad[] = {{mjWARN_BADCTRL, "ctrl", "expected finite actions from the learner"},
                        {mjWARN_BADQPOS, "qpos", kUnstable},
                        {mjWARN_BADQVEL, "qvel", kUnstable},
                        {mjWARN_BADQACC, "qacc", kUnstable}};

void Check(const char* raised) {
  if (raised) throw bp::Error(BP_E_INTERNAL, std::string("MuJoCo: ") + raised);
}

[[noreturn]] void ThrowBad(const Bad& bad, int index, double time) {
  char where[120];
  std::snprintf(where, sizeof where,
                "%s[%d] is not a number or beyond 1e10, in the env step that began %.6g s into the episode: ", bad.array, index,
                time);
  throw bp::Error(BP_E_NUMERIC, std::string(where) + bad.advice);
}

void Steps(const mjModel* model, mjData* data, int64_t times, bool contact_forces) {
  for (int64_t i = 0; i < times; ++i) mj_step(model, data);
  if (contact_forces) mj_rnePostConstraint(model, data);
}

// After an error or a bad number the next row finds the slot as new.
void Abandon(const mjModel* model, DataSlot& slot) {
  slot.row = 0;
  Catch([&] { mj_resetData(model, slot.data.get()); });
}

}  // namespace

Simulation::Simulation(const mjModel* model)
    : model_(model), pool_(DataPool::Of(model)), row_(pool_->NewRow()), size_(mj_stateSize(model, mjSTATE_INTEGRATION)) {
  states_ = std::make_unique<mjtNum[]>(2 * static_cast<size_t>(size_));
  if (!StateIsWhole(model)) own_ = std::make_unique<DataSlot>(), own_->data = MakeData(model);
  Clear(model);
  TakeAway(model, Last::kNothing);
}

// The slot in which this thread works on the row.
DataSlot& Simulation::ToDataSlot() const {
  if (own_) {
    own_->owner.store(pthread_self(), std::memory_order_relaxed);
    return *own_;
  }
  return slot_ && slot_->IsMine() ? *slot_ : pool_->Mine();
}

// Loads only the state into this thread's slot. Derived data of other rows remain until a step recomputes them.
mjData* Simulation::Bring(const mjModel* model) {
  if (HasSlot()) return slot_->data.get();
  DataSlot& slot = ToDataSlot();
  if (!own_) mj_setState(model, slot.data.get(), Now(), mjSTATE_INTEGRATION);
  slot.row = row_;
  slot_ = &slot;
  return slot.data.get();
}

// For later readers, with all derived data: repeats the last call.
void Simulation::Lease() const {
  DataSlot& slot = ToDataSlot();
  slot_ = &slot;
  slot.row = row_;
  if (own_) return;
  mjData* const data = slot.data.get();
  slot.row = 0;
  std::vector<mjtNum> ctrl(static_cast<size_t>(model_->nu));
  mj_extractState(model_, Now(), mjSTATE_INTEGRATION, ctrl.data(), mjSTATE_CTRL);
  Check(Catch([&] {
    mj_resetData(model_, data);
    mj_setState(model_, data, last_ == Last::kNothing ? Now() : Before(), mjSTATE_INTEGRATION);
    mj_setState(model_, data, ctrl.data(), mjSTATE_CTRL);
    if (last_ == Last::kForward) mj_forward(model_, data);
    if (last_ == Last::kStep) Steps(model_, data, times_, contact_forces_);
  }));
  slot.row = row_;
}

// Saves the state; the row stays in the slot until another one comes.
void Simulation::TakeAway(const mjModel* model, Last last) {
  second_ = !second_;
  mj_getState(model, slot_->data.get(), Now(), mjSTATE_INTEGRATION);
  last_ = last;
}

mjData* Simulation::Clear(const mjModel* model) {
  DataSlot& slot = ToDataSlot();
  slot_ = &slot;
  slot.row = 0;
  Check(Catch([&] { mj_resetData(model, slot.data.get()); }));
  slot.row = row_;
  return slot.data.get();
}

void Simulation::Forward(const mjModel* model) {
  TakeAway(model, Last::kNothing);
  if (const char* raised = Catch([&] { mj_forward(model, slot_->data.get()); })) Abandon(model, *slot_), Check(raised);
  TakeAway(model, Last::kForward);
}

void Simulation::Step(const mjModel* model, int64_t times, bool contact_forces) {
  mjData* data = slot_->data.get();
  const double time = data->time;
  if (const char* raised = Catch([&] { Steps(model, data, times, contact_forces); })) Abandon(model, *slot_), Check(raised);
  for (const Bad& bad : kBad)
    if (data->warning[bad.warning].number > 0) [[unlikely]] {
      const int index = data->warning[bad.warning].lastinfo;
      Abandon(model, *slot_);
      ThrowBad(bad, index, time);
    }
  times_ = times;
  contact_forces_ = contact_forces;
  TakeAway(model, Last::kStep);
}

uint64_t Simulation::StateBytes(const mjModel* model) { return mj_stateSize(model, mjSTATE_INTEGRATION) * sizeof(mjtNum); }

// Bytes of the host need not be aligned for numbers.
void Simulation::Save(const mjModel* model, void* out) const { std::memcpy(out, Now(), StateBytes(model)); }

void Simulation::Load(const mjModel* model, const void* in) {
  mjData* const data = Clear(model);
  std::memcpy(Now(), in, StateBytes(model));
  last_ = Last::kNothing;
  Check(Catch([&] { mj_setState(model, data, Now(), mjSTATE_INTEGRATION); }));
}

}  // namespace mj
