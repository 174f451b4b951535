#include "mujoco/humanoid_model.hpp"

namespace mj {

// The armature of hip_y and the stiffness of the knee differ between left and right; this is part of the task.
namespace {

// Differences between the poses, by the words in kModelXml.
constexpr struct {
  const char *word, *standing, *lying;
} kDifferences[] = {
    {"MODEL", "humanoid", "humanoidstandup"},
    {"TORSO", "0 0 1.4", "0 0 0.105"},
    {"HEAD", "0 0 0.19", "-0.15 0 0"},
    {"WAIST", "-0.01 -0.06 -0.12 -0.01 0.06 -0.12", "0.11 -0.06 0 0.11 0.06 0"},
    {"LWAIST", "-0.01 0 -0.26", "0.21 0 0"},
    {"PELVIS", "0 0 -0.165", "0.165 0 0"},
    {"RTHIGH", "0 -0.1 -0.04", "0 -0.1 0"},
    {"RFEMUR", "0 0 0 0 0.01 -0.34", "0 0 0 0.34 0.01 0"},
    {"RSHIN", "0 0.01 -0.403", "0.403 0.01 0"},
    {"TIBIA", "0 0 0 0 0 -0.3", "0 0 0 0.3 0 0"},
    {"FOOT", "0 0 -0.45", "0.35 0 -0.1"},
    {"LTHIGH", "0 0.1 -0.04", "0 0.1 0"},
    {"LHIP", "-110 20", "-120 20"},
    {"LFEMUR", "0 0 0 0 -0.01 -0.34", "0 0 0 0.34 -0.01 0"},
    {"LSHIN", "0 -0.01 -0.403", "0.403 -0.01 0"},
};

constexpr char kModelXml[] = R"(
<mujoco model='MODEL'>
  <compiler angle='degree' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.003' solver='PGS' iterations='50'/>
  <default>
    <geom type='capsule' contype='1' conaffinity='1' condim='1' margin='0.001'/>
    <joint type='hinge' limited='true' armature='1' damping='1'/>
    <motor gear='100' ctrllimited='true' ctrlrange='-0.4 0.4'/>
    <default class='trunk'><joint armature='0.02' damping='5' stiffness='10'/></default>
    <default class='hip'><joint armature='0.01' damping='5' stiffness='10'/></default>
    <default class='knee'><joint armature='0.006' axis='0 -1 0' pos='0 0 0.02' range='-160 -2'/></default>
    <default class='shoulder1'><joint armature='0.0068' stiffness='1'/></default>
    <default class='shoulder2'><joint armature='0.0051' stiffness='1'/></default>
    <default class='elbow'><joint armature='0.0028' range='-90 50'/></default>
    <default class='arm'><motor gear='25'/></default>
  </default>

  <worldbody>
    <geom name='floor' type='plane' size='20 20 0.125' condim='3' friction='1 0.1 0.1'/>
    <body name='torso' pos='TORSO'>
      <freejoint name='root'/>
      <geom name='chest' size='0.07' fromto='0 -0.07 0 0 0.07 0'/>
      <geom name='head' type='sphere' size='0.09' pos='HEAD'/>
      <geom name='waist' size='0.06' fromto='WAIST'/>

      <body name='lwaist' pos='LWAIST' quat='1 0 -0.002 0'>
        <joint name='abdomen_z' class='trunk' axis='0 0 1' pos='0 0 0.065' range='-45 45' stiffness='20'/>
        <joint name='abdomen_y' class='trunk' axis='0 1 0' pos='0 0 0.065' range='-75 30'/>
        <geom name='lwaist' size='0.06' fromto='0 -0.06 0 0 0.06 0'/>
        <body name='pelvis' pos='PELVIS' quat='1 0 -0.002 0'>
          <joint name='abdomen_x' class='trunk' axis='1 0 0' pos='0 0 0.1' range='-35 35'/>
          <geom name='butt' size='0.09' fromto='-0.02 -0.07 0 -0.02 0.07 0'/>

          <body name='right_thigh' pos='RTHIGH'>
            <joint name='right_hip_x' class='hip' axis='1 0 0' range='-25 5'/>
            <joint name='right_hip_z' class='hip' axis='0 0 1' range='-60 35'/>
            <joint name='right_hip_y' class='hip' axis='0 1 0' range='-110 20' stiffness='20' armature='0.008'/>
            <geom name='right_thigh' size='0.06' fromto='RFEMUR'/>
            <body name='right_shin' pos='RSHIN'>
              <joint name='right_knee' class='knee'/>
              <geom name='right_shin' size='0.049' fromto='TIBIA'/>
              <body name='right_foot' pos='FOOT'>
                <geom name='right_foot' type='sphere' size='0.075' pos='0 0 0.1'/>
              </body>
            </body>
          </body>

          <body name='left_thigh' pos='LTHIGH'>
            <joint name='left_hip_x' class='hip' axis='-1 0 0' range='-25 5'/>
            <joint name='left_hip_z' class='hip' axis='0 0 -1' range='-60 35'/>
            <joint name='left_hip_y' class='hip' axis='0 1 0' range='LHIP' stiffness='20'/>
            <geom name='left_thigh' size='0.06' fromto='LFEMUR'/>
            <body name='left_shin' pos='LSHIN'>
              <joint name='left_knee' class='knee' stiffness='1'/>
              <geom name='left_shin' size='0.049' fromto='TIBIA'/>
              <body name='left_foot' pos='FOOT'>
                <geom name='left_foot' type='sphere' size='0.075' pos='0 0 0.1'/>
              </body>
            </body>
          </body>
        </body>
      </body>

      <body name='right_upper_arm' pos='0 -0.17 0.06'>
        <joint name='right_shoulder1' class='shoulder1' axis='2 1 1' range='-85 60'/>
        <joint name='right_shoulder2' class='shoulder2' axis='0 -1 1' range='-85 60'/>
        <geom name='right_upper_arm' size='0.04' fromto='0 0 0 0.16 -0.16 -0.16'/>
        <body name='right_lower_arm' pos='0.18 -0.18 -0.18'>
          <joint name='right_elbow' class='elbow' axis='0 -1 1'/>
          <geom name='right_lower_arm' size='0.031' fromto='0.01 0.01 0.01 0.17 0.17 0.17'/>
          <geom name='right_hand' type='sphere' size='0.04' pos='0.18 0.18 0.18'/>
        </body>
      </body>

      <body name='left_upper_arm' pos='0 0.17 0.06'>
        <joint name='left_shoulder1' class='shoulder1' axis='2 -1 1' range='-60 85'/>
        <joint name='left_shoulder2' class='shoulder2' axis='0 1 1' range='-60 85'/>
        <geom name='left_upper_arm' size='0.04' fromto='0 0 0 0.16 0.16 -0.16'/>
        <body name='left_lower_arm' pos='0.18 0.18 -0.18'>
          <joint name='left_elbow' class='elbow' axis='0 -1 -1'/>
          <geom name='left_lower_arm' size='0.031' fromto='0.01 -0.01 0.01 0.17 -0.17 0.17'/>
          <geom name='left_hand' type='sphere' size='0.04' pos='0.18 -0.18 0.18'/>
        </body>
      </body>
    </body>
  </worldbody>

  <tendon>
    <fixed name='left_hipknee'><joint joint='left_hip_y' coef='-1'/><joint joint='left_knee' coef='1'/></fixed>
    <fixed name='right_hipknee'><joint joint='right_hip_y' coef='-1'/><joint joint='right_knee' coef='1'/></fixed>
  </tendon>

  <actuator>
    <motor joint='abdomen_y'/>
    <motor joint='abdomen_z'/>
    <motor joint='abdomen_x'/>
    <motor joint='right_hip_x'/>
    <motor joint='right_hip_z'/>
    <motor joint='right_hip_y' gear='300'/>
    <motor joint='right_knee' gear='200'/>
    <motor joint='left_hip_x'/>
    <motor joint='left_hip_z'/>
    <motor joint='left_hip_y' gear='300'/>
    <motor joint='left_knee' gear='200'/>
    <motor joint='right_shoulder1' class='arm'/>
    <motor joint='right_shoulder2' class='arm'/>
    <motor joint='right_elbow' class='arm'/>
    <motor joint='left_shoulder1' class='arm'/>
    <motor joint='left_shoulder2' class='arm'/>
    <motor joint='left_elbow' class='arm'/>
  </actuator>
</mujoco>
)";

}  // namespace

std::string HumanoidXml(Pose pose) {
  std::string xml = kModelXml;
  for (const auto& [word, standing, lying] : kDifferences) {
    const std::string quoted = std::string("'") + word + "'";
    for (size_t at; (at = xml.find(quoted)) != std::string::npos;)
      xml.replace(at + 1, quoted.size() - 2, pose == Pose::kStanding ? standing : lying);
  }
  return xml;
}

}  // namespace mj
