// The built-in model of the swimmer: three links in a fluid, 5 joints, 2 motors, 107 kg, RK4 at 0.01 s.
#pragma once

namespace swimmer {

inline constexpr char kModelXml[] = R"(
<mujoco model='swimmer'>
  <compiler angle='degree' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.01' density='4000' viscosity='0.1'/>
  <default>
    <geom type='capsule' size='0.1' density='1000' contype='0' conaffinity='0' condim='1'/>
    <joint type='hinge' axis='0 0 1' armature='0.1'/>
    <motor gear='150' ctrllimited='true' ctrlrange='-1 1'/>
  </default>

  <worldbody>
    <geom name='floor' type='plane' size='40 40 0.1' pos='0 0 -0.1' condim='3'/>
    <body name='torso'>
      <joint name='rootx' type='slide' axis='1 0 0'/>
      <joint name='rooty' type='slide' axis='0 1 0'/>
      <joint name='rootz'/>
      <geom name='torso' fromto='1.5 0 0 0.5 0 0'/>
      <body name='mid' pos='0.5 0 0'>
        <joint name='mid' limited='true' range='-100 100'/>
        <geom name='mid' fromto='0 0 0 -1 0 0'/>
        <body name='back' pos='-1 0 0'>
          <joint name='back' limited='true' range='-100 100'/>
          <geom name='back' fromto='0 0 0 -1 0 0'/>
        </body>
      </body>
    </body>
  </worldbody>

  <actuator>
    <motor joint='mid'/>
    <motor joint='back'/>
  </actuator>
</mujoco>
)";

}  // namespace swimmer
