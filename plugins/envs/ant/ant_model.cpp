#include "ant_model.hpp"

namespace ant {
namespace {

// A leg in the direction of (x, y), the signs of its corner: a fixed first link, a thigh that swings about z, a shin on the
// ankle.
struct Leg {
  const char *number, *name;  // body names are Gymnasium's, for option main_body
  int x, y;
  const char* ankle_axis;
  const char* ankle_range;  // degrees
};
constexpr Leg kLegs[] = {
    {"1", "front_left_leg", 1, 1, "-1 1 0", "30 70"},
    {"2", "front_right_leg", -1, 1, "1 1 0", "-70 -30"},
    {"3", "back_leg", -1, -1, "-1 1 0", "-70 -30"},
    {"4", "right_back_leg", 1, -1, "1 1 0", "30 70"},
};
// The motors do not follow the order of the joints; trained policies depend on it.
constexpr const char* kMotorOrder[] = {"4", "1", "2", "3"};

std::string Corner(const Leg& leg, const char* length) {
  return std::string(leg.x < 0 ? "-" : "") + length + (leg.y < 0 ? " -" : " ") + length + " 0";
}
std::string Limb(const std::string& to) { return "<geom type='capsule' size='0.08' fromto='0 0 0 " + to + "'/>"; }

std::string LegXml(const Leg& leg) {
  const std::string n = leg.number, thigh = Corner(leg, "0.2"), shin = Corner(leg, "0.4");
  return "<body name='" + std::string(leg.name) + "'>" + Limb(thigh) +                                      //
         "<body name='aux_" + n + "' pos='" + thigh + "'>" +                                                //
         "<joint name='hip_" + n + "' axis='0 0 1' range='-30 30'/>" + Limb(thigh) +                        //
         "<body pos='" + thigh + "'>" +                                                                     //
         "<joint name='ankle_" + n + "' axis='" + leg.ankle_axis + "' range='" + leg.ankle_range + "'/>" +  //
         Limb(shin) + "</body></body></body>";
}

}  // namespace

std::string ModelXml() {
  std::string xml =
      "<mujoco model='ant'>"
      "<compiler angle='degree' inertiafromgeom='true'/>"
      "<option integrator='RK4' timestep='0.01'/>"
      "<default>"
      "<joint type='hinge' limited='true' armature='1' damping='1'/>"
      "<geom density='5' friction='1 0.5 0.5' margin='0.01' condim='3' contype='1' conaffinity='0'/>"
      "<motor gear='150' ctrllimited='true' ctrlrange='-1 1'/>"
      "</default>"
      "<worldbody>"
      "<geom name='floor' type='plane' size='40 40 40' conaffinity='1'/>"
      "<body name='torso' pos='0 0 0.75'>"
      "<joint name='root' type='free' limited='false' armature='0' damping='0' margin='0.01'/>"
      "<geom name='torso' type='sphere' size='0.25'/>";
  for (const Leg& leg : kLegs) xml += LegXml(leg);
  xml += "</body></worldbody><actuator>";
  for (const std::string n : kMotorOrder) xml += "<motor joint='hip_" + n + "'/><motor joint='ankle_" + n + "'/>";
  return xml + "</actuator></mujoco>";
}

}  // namespace ant
