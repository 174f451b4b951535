// The built-in model of the hopper: 6 joints, 3 motors, 15.8 kg, RK4 at 0.002 s.
#pragma once

namespace hopper {

inline constexpr char kModelXml[] = R"(
<mujoco model='hopper'>
  <compiler angle='degree' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.002'/>
  <default>
    <geom type='capsule' contype='1' conaffinity='1' condim='1' friction='0.9' margin='0.001' solref='0.02 1' solimp='0.8 0.8 0.01'/>
    <joint type='hinge' axis='0 -1 0' limited='true' armature='1' damping='1'/>
    <motor gear='200' ctrllimited='true' ctrlrange='-1 1'/>
    <default class='root'><joint limited='false' armature='0' damping='0'/></default>
  </default>

  <worldbody>
    <geom name='floor' type='plane' size='20 20 0.125' condim='3' friction='1'/>
    <body name='torso' pos='0 0 1.25'>
      <joint name='rootx' class='root' type='slide' axis='1 0 0' pos='0 0 -1.25'/>
      <joint name='rootz' class='root' type='slide' axis='0 0 1' pos='0 0 -1.25' ref='1.25'/>
      <joint name='rooty' class='root' axis='0 1 0'/>
      <geom name='torso' size='0.05 0.19999999999999996'/>
      <body name='thigh' pos='0 0 -0.19999999999999996'>
        <joint name='thigh' range='-150 0'/>
        <geom name='thigh' size='0.05 0.22500000000000003' pos='0 0 -0.22500000000000009'/>
        <body name='leg' pos='0 0 -0.70000000000000007'>
          <joint name='leg' pos='0 0 0.25' range='-150 0'/>
          <geom name='leg' size='0.04 0.25'/>
          <body name='foot' pos='0.13 0 -0.35'>
            <joint name='foot' pos='-0.13 0 0.1' range='-45 45'/>
            <geom name='foot' size='0.06 0.195' pos='-0.065 0 0.1' quat='0.70710678118654757 0 -0.70710678118654746 0' friction='2'/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>

  <actuator>
    <motor joint='thigh'/>
    <motor joint='leg'/>
    <motor joint='foot'/>
  </actuator>
</mujoco>
)";

}  // namespace hopper
