// The built-in model of a pole on a cart: 2 joints, 1 motor, RK4 at 0.02 s.
#pragma once

namespace inverted_pendulum {

inline constexpr char kModelXml[] = R"(
<mujoco model='inverted_pendulum'>
  <compiler angle='degree' inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.02'/>
  <default>
    <geom type='capsule' contype='0' friction='1 0.1 0.1'/>
    <joint limited='true' damping='1'/>
  </default>

  <worldbody>
    <geom name='rail' size='0.02 1' quat='0.707 0 0.707 0' rgba='0.84 0.86 0.89 1'/>
    <body name='cart'>
      <joint name='slider' type='slide' axis='1 0 0' range='-1 1'/>
      <geom name='cart' size='0.1 0.1' quat='0.707 0 0.707 0'/>
      <body name='pole'>
        <joint name='hinge' axis='0 1 0' range='-90 90'/>
        <geom name='pole' size='0.049' fromto='0 0 0 0.001 0 0.6'/>
      </body>
    </body>
  </worldbody>

  <actuator>
    <motor joint='slider' gear='100' ctrllimited='true' ctrlrange='-3 3'/>
  </actuator>
</mujoco>
)";

}  // namespace inverted_pendulum
