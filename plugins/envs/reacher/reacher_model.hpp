// The built-in model of the arm: two hinges with motors, a target on two slides, RK4 at 0.01 s.
#pragma once

namespace reacher {

inline constexpr char kModelXml[] = R"(
<mujoco model='reacher'>
  <compiler angle='radian' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.01'/>
  <default>
    <geom type='capsule' size='0.01' contype='0' conaffinity='1' friction='1 0.1 0.1'/>
    <joint axis='0 0 1' armature='1' damping='1'/>
    <motor gear='200' ctrllimited='true' ctrlrange='-1 1'/>
    <default class='still'><geom size='0.02' conaffinity='0' rgba='0.84 0.86 0.89 1'/></default>
    <default class='target'><joint type='slide' limited='true' range='-0.27 0.27' armature='0' damping='0'/></default>
  </default>

  <worldbody>
    <geom name='floor' class='still' type='plane' size='1 1 10'/>
    <geom name='south' class='still' fromto='-0.3 -0.3 0.01 0.3 -0.3 0.01'/>
    <geom name='east' class='still' fromto='0.3 -0.3 0.01 0.3 0.3 0.01'/>
    <geom name='north' class='still' fromto='-0.3 0.3 0.01 0.3 0.3 0.01'/>
    <geom name='west' class='still' fromto='-0.3 -0.3 0.01 -0.3 0.3 0.01'/>
    <geom name='root' class='still' type='cylinder' size='0.011' fromto='0 0 0 0 0 0.02'/>
    <body name='body0' pos='0 0 0.01'>
      <joint name='joint0'/>
      <geom name='link0' fromto='0 0 0 0.1 0 0'/>
      <body name='body1' pos='0.1 0 0'>
        <joint name='joint1' limited='true' range='-3 3'/>
        <geom name='link1' fromto='0 0 0 0.1 0 0'/>
        <body name='fingertip' pos='0.11 0 0'>
          <geom name='fingertip' type='sphere'/>
        </body>
      </body>
    </body>
    <body name='target' pos='0.1 -0.1 0.01'>
      <joint name='target_x' class='target' axis='1 0 0' ref='0.1'/>
      <joint name='target_y' class='target' axis='0 1 0' ref='-0.1'/>
      <geom name='target' type='sphere' size='0.009' conaffinity='0' rgba='0.76 0.07 0.12 1'/>
    </body>
  </worldbody>

  <actuator>
    <motor joint='joint0'/>
    <motor joint='joint1'/>
  </actuator>
</mujoco>
)";

}  // namespace reacher
