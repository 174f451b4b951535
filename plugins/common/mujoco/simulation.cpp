#include "mujoco/simulation.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "mujoco/errors.hpp"

namespace mj {
namespace {

// Each of these makes MuJoCo put the row back to its initial pose, or drop its controls, in the middle of a step.
struct Bad {
  mjtWarning warning;
  const char *array, *advice;
};
constexpr const char* kUnstable =
    "the simulation is unstable; try a smaller timestep in the model (xml_path) with a larger frame_skip, weaker actuators or "
    "less extreme masses";
constexpr Bad kBad[] = {{mjWARN_BADCTRL, "ctrl", "the learner's actions should be finite"},
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

}  // namespace

void Simulation::Clear(const mjModel* model) {
  Check(Catch([&] { mj_resetData(model, data_.get()); }));
}

void Simulation::Forward(const mjModel* model) {
  Check(Catch([&] { mj_forward(model, data_.get()); }));
}

void Simulation::Step(const mjModel* model, int64_t times, bool contact_forces) {
  mjData* data = data_.get();
  const double time = data->time;
  Check(Catch([&] {
    for (int64_t i = 0; i < times; ++i) mj_step(model, data);
    if (contact_forces) mj_rnePostConstraint(model, data);
  }));
  for (const Bad& bad : kBad)
    if (data->warning[bad.warning].number > 0) [[unlikely]]
      ThrowBad(bad, data->warning[bad.warning].lastinfo, time);
}

uint64_t Simulation::StateBytes(const mjModel* model) { return mj_stateSize(model, mjSTATE_INTEGRATION) * sizeof(mjtNum); }

// Through a copy, since the host's bytes need not be aligned for numbers.
void Simulation::Save(const mjModel* model, void* out) const {
  std::vector<mjtNum> state(mj_stateSize(model, mjSTATE_INTEGRATION));
  mj_getState(model, data_.get(), state.data(), mjSTATE_INTEGRATION);
  std::memcpy(out, state.data(), StateBytes(model));
}

void Simulation::Load(const mjModel* model, const void* in) {
  std::vector<mjtNum> state(mj_stateSize(model, mjSTATE_INTEGRATION));
  std::memcpy(state.data(), in, StateBytes(model));
  Check(Catch([&] {
    mj_resetData(model, data_.get());
    mj_setState(model, data_.get(), state.data(), mjSTATE_INTEGRATION);
  }));
}

}  // namespace mj
