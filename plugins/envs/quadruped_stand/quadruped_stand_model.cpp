#include "quadruped_stand_model.hpp"

namespace quadruped_stand {
namespace {

struct Leg {
  std::string name, place;
};
const Leg kPlaces[kLegs] = {
    {"front_left", "0.4 0.15 0"}, {"front_right", "0.4 -0.15 0"}, {"back_left", "-0.4 0.15 0"}, {"back_right", "-0.4 -0.15 0"}};

std::string LegXml(const Leg& leg) {
  return "<body name='" + leg.name + "_thigh' pos='" + leg.place + "'>" +  //
         "<joint name='" + leg.name + "_hip' range='-0.8 0.8'/>" +         //
         "<geom class='thigh'/>" +                                         //
         "<body name='" + leg.name + "_shin' pos='0 0 -0.3'>" +            //
         "<joint name='" + leg.name + "_knee' range='0 2'/>" +             //
         "<geom class='shin'/><geom class='foot' pos='0 0 -0.3'/></body></body>";
}

}  // namespace

// The spring of stiffness 5 holds every joint at its initial pose, including the free root. Legs touch only the floor, because
// two geoms collide if the contype of one matches the conaffinity of the other.
std::string ModelXml() {
  std::string xml = R"(
<mujoco model='quadruped_stand'>
  <compiler angle='radian' inertiafromgeom='true'/>
  <option integrator='Euler' timestep='0.002' gravity='0 0 -9.81'/>
  <default>
    <joint type='hinge' axis='0 1 0' limited='true' armature='0.1' damping='0.15' stiffness='5'/>
    <geom solref='0.005 1' solimp='0.9 0.95 0.001' contype='1' conaffinity='0'/>
    <motor gear='60' ctrllimited='true' ctrlrange='-1 1'/>
    <default class='thigh'><geom type='capsule' size='0.05' fromto='0 0 0 0 0 -0.3' friction='0.3 0.01 0.001'/></default>
    <default class='shin'><geom type='capsule' size='0.05' fromto='0 0 0 0 0 -0.3' friction='0.2 0.01 0.001'/></default>
    <default class='foot'><geom type='sphere' size='0.05' friction='2 0.1 0.01'/></default>
  </default>
  <worldbody>
    <geom name='floor' type='plane' size='40 40 40' conaffinity='1'/>
    <body name='torso' pos='0 0 0.7'>
      <joint name='root' type='free' limited='false' armature='0' damping='0'/>
      <geom name='torso' type='box' size='0.5 0.15 0.05'/>)";
  for (const Leg& leg : kPlaces) xml += LegXml(leg);
  xml += "</body></worldbody><actuator>";
  for (const Leg& leg : kPlaces) xml += "<motor joint='" + leg.name + "_hip'/><motor joint='" + leg.name + "_knee'/>";
  return xml + "</actuator></mujoco>";
}

}  // namespace quadruped_stand
