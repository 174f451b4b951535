#include "mujoco/labels.hpp"

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace mj {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};
constexpr const char* kOfQuaternion[] = {"w", "x", "y", "z"};

std::string NameOf(const mjModel* model, int type, const char* kind, int i) {
  const char* const name = mj_id2name(model, type, i);
  return name != nullptr && *name != '\0' ? name : kind + (" " + std::to_string(i));
}
std::string Joint(const mjModel* model, int i) { return NameOf(model, mjOBJ_JOINT, "joint", i); }

// A joint, and one of its numbers.
struct PartOfJoint {
  int joint = 0, number = 0;
};
PartOfJoint FindJoint(const mjModel* model, const int* first_of_joint, int i) {
  int joint = 0;
  while (joint + 1 < model->njnt && first_of_joint[joint + 1] <= i) ++joint;
  return {joint, i - first_of_joint[joint]};
}

bp::Label OfPosition(const mjModel* model, int i) {
  const auto [joint, number] = FindJoint(model, model->jnt_qposadr, i);
  const std::string of = " of " + Joint(model, joint);
  switch (model->jnt_type[joint]) {
    case mjJNT_SLIDE: return {"position" + of, "m"};
    case mjJNT_HINGE: return {"angle" + of, "rad"};
    case mjJNT_FREE:
      if (number < 3) return {std::string("position ") + kAxes[number] + of, "m"};
      return {std::string("quaternion ") + kOfQuaternion[number - 3] + of, ""};
    default: return {std::string("quaternion ") + kOfQuaternion[number] + of, ""};
  }
}

bp::Label OfVelocity(const mjModel* model, int i) {
  const auto [joint, number] = FindJoint(model, model->jnt_dofadr, i);
  const std::string of = " of " + Joint(model, joint);
  switch (model->jnt_type[joint]) {
    case mjJNT_SLIDE: return {"velocity" + of, "m/s"};
    case mjJNT_HINGE: return {"angular velocity" + of, "rad/s"};
    case mjJNT_FREE:
      if (number < 3) return {std::string("velocity ") + kAxes[number] + of, "m/s"};
      return {std::string("angular velocity ") + kAxes[number - 3] + of, "rad/s"};
    default: return {std::string("angular velocity ") + kAxes[number] + of, "rad/s"};
  }
}

bp::Label OfForce(const mjModel* model, int i, const std::string& source) {
  const auto [joint, number] = FindJoint(model, model->jnt_dofadr, i);
  const bool is_force = model->jnt_type[joint] == mjJNT_SLIDE || (model->jnt_type[joint] == mjJNT_FREE && number < 3);
  return {source + (is_force ? " force on " : " torque on ") + Joint(model, joint), is_force ? "N" : "N m"};
}

// Six numbers of each body: rotation x, y, z, then translation.
bp::Label OfBody(const mjModel* model, int i, const bp::Label& rotation, const bp::Label& translation) {
  const int number = i % 6;
  const bp::Label& label = number < 3 ? rotation : translation;
  return {label.name + " " + kAxes[number % 3] + " of " + NameOf(model, mjOBJ_BODY, "body", i / 6), label.unit};
}

// The index of `value` in an array of n numbers.
std::optional<int> IndexIn(const mjtNum* value, const mjtNum* array, int64_t n) {
  const std::less<> before;  // also for pointers into different arrays
  if (before(value, array) || !before(value, array + n)) return std::nullopt;
  return static_cast<int>(value - array);
}

}  // namespace

std::vector<bp::Label> ActuatorLabels(const mjModel* model) {
  std::vector<bp::Label> labels;
  for (int i = 0; i < model->nu; ++i) {
    const int joint = model->actuator_trnid[2 * i];
    const bool is_motor = model->actuator_trntype[i] == mjTRN_JOINT && model->actuator_gaintype[i] == mjGAIN_FIXED &&
                          model->actuator_biastype[i] == mjBIAS_NONE && model->actuator_dyntype[i] == mjDYN_NONE;
    if (!is_motor) {
      labels.push_back({"control of " + NameOf(model, mjOBJ_ACTUATOR, "actuator", i), ""});
      continue;
    }
    const bool is_force = model->jnt_type[joint] == mjJNT_SLIDE;
    char unit[64];
    std::snprintf(unit, sizeof unit, "%g %s", model->actuator_gainprm[mjNGAIN * i] * model->actuator_gear[6 * i],
                  is_force ? "N" : "N m");
    labels.push_back({(is_force ? "force on " : "torque on ") + Joint(model, joint), unit});
  }
  return labels;
}

bp::Label ListLabels::LabelOf(const mjtNum* value) const {
  const mjModel* const m = model_;
  if (const auto i = IndexIn(value, data_.qpos, m->nq)) return OfPosition(m, *i);
  if (const auto i = IndexIn(value, data_.qvel, m->nv)) return OfVelocity(m, *i);
  if (const auto i = IndexIn(value, data_.qfrc_actuator, m->nv)) return OfForce(m, *i, "actuator");
  if (const auto i = IndexIn(value, data_.qfrc_constraint, m->nv)) return OfForce(m, *i, "constraint");
  if (const auto i = IndexIn(value, data_.xpos, 3 * m->nbody))
    return {std::string("position ") + kAxes[*i % 3] + " of " + NameOf(m, mjOBJ_BODY, "body", *i / 3), "m"};
  if (const auto i = IndexIn(value, data_.cfrc_ext, 6 * m->nbody))
    return OfBody(m, *i, {"contact torque", "N m"}, {"contact force", "N"});
  if (const auto i = IndexIn(value, data_.cvel, 6 * m->nbody))
    return OfBody(m, *i, {"angular velocity", "rad/s"}, {"velocity", "m/s"});
  return {};
}

}  // namespace mj
