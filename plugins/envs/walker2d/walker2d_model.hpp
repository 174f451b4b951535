// The built-in model of the planar walker: 9 joints, 6 motors, 23.7 kg, RK4 at 0.002 s.
#pragma once

namespace walker2d {

inline constexpr char kModelXml[] = R"(
<mujoco model='walker2d'>
  <compiler angle='degree' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.002'/>
  <default>
    <geom type='capsule' contype='1' conaffinity='0' condim='3' density='1000' friction='0.9 0.1 0.1'/>
    <joint type='hinge' axis='0 -1 0' limited='true' armature='0.01' damping='0.1'/>
    <motor gear='100' ctrllimited='true' ctrlrange='-1 1'/>
    <default class='root'><joint limited='false' armature='0' damping='0'/></default>
    <default class='foot'>
      <geom size='0.06 0.1' pos='-0.1 0 0.1' quat='0.70710678118654757 0 -0.70710678118654746 0' friction='1.9 0.1 0.1'/>
      <joint pos='-0.2 0 0.1' range='-45 45'/>
    </default>
  </default>

  <worldbody>
    <geom name='floor' type='plane' size='40 40 40' conaffinity='1' friction='0.7 0.1 0.1'/>
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
          <body name='foot' pos='0.2 0 -0.35'>
            <joint name='foot' class='foot'/>
            <geom name='foot' class='foot'/>
          </body>
        </body>
      </body>
      <body name='thigh_left' pos='0 0 -0.19999999999999996'>
        <joint name='thigh_left' range='-150 0'/>
        <geom name='thigh_left' size='0.05 0.22500000000000003' pos='0 0 -0.22500000000000009'/>
        <body name='leg_left' pos='0 0 -0.70000000000000007'>
          <joint name='leg_left' pos='0 0 0.25' range='-150 0'/>
          <geom name='leg_left' size='0.04 0.25'/>
          <body name='foot_left' pos='0.2 0 -0.35'>
            <joint name='foot_left' class='foot'/>
            <geom name='foot_left' class='foot'/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>

  <actuator>
    <motor joint='thigh'/>
    <motor joint='leg'/>
    <motor joint='foot'/>
    <motor joint='thigh_left'/>
    <motor joint='leg_left'/>
    <motor joint='foot_left'/>
  </actuator>
</mujoco>
)";

}  // namespace walker2d
