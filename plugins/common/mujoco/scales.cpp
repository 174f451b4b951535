#include "mujoco/scales.hpp"

#include <cmath>
#include <string>

#include "mujoco/errors.hpp"

namespace mj {
namespace {

enum : uint64_t { kMass, kFriction, kGain, kGravity };

template <class Count>
void Scale(mjtNum* values, Count n, double factor) {
  for (Count i = 0; i < n; ++i) values[i] *= factor;
}

}  // namespace

std::vector<bp::Parameter> Scales::Parameters() {
  return {{"mass", "Mass and inertia of all bodies."},
          {"friction", "Friction coefficients of all contacts."},
          {"actuator_gain", "Force of all actuators for the same action."},
          {"gravity", "Gravity."}};
}

void Scales::Set(mjModel* model, uint64_t i, double factor) {
  const bool valid = std::isfinite(factor) && (factor > 0 || i == kGravity);
  if (!valid)
    throw bp::Error(BP_E_INVALID_ARG, std::string(Parameters()[i].name) + ": expected a finite factor " +
                                          (i == kGravity ? "" : "above 0") + ", got " + std::to_string(factor));
  if (!original_) original_.reset(mj_copyModel(nullptr, model));
  if (!original_) throw bp::Error(BP_E_OOM_HOST, "no memory for a copy of the model");
  factors_[i] = factor;
  mj_copyModel(model, original_.get());
  Scale(model->body_mass, model->nbody, factors_[kMass]);
  Scale(model->body_inertia, 3 * model->nbody, factors_[kMass]);
  Scale(model->geom_friction, 3 * model->ngeom, factors_[kFriction]);
  Scale(model->pair_friction, 5 * model->npair, factors_[kFriction]);
  Scale(model->actuator_gainprm, mjNGAIN * model->nu, factors_[kGain]);
  Scale(model->actuator_biasprm, mjNBIAS * model->nu, factors_[kGain]);  // of a position servo, whose force is gain - bias
  Scale(model->opt.gravity, 3, factors_[kGravity]);
  if (factors_[kMass] == 1) return;
  const Data data = MakeData(model);
  if (const char* raised = Catch([&] { mj_setConst(model, data.get()); }))  // constants that depend on masses
    throw bp::Error(BP_E_INTERNAL, std::string("MuJoCo: ") + raised);
}

}  // namespace mj
