// The built-in model of two poles on a cart: 3 joints, 1 motor, RK4 at 0.01 s.
#pragma once

namespace inverted_double_pendulum {

// Gravity has a small part along x; this is part of the task.
inline constexpr char kModelXml[] = R"(
<mujoco model='inverted_double_pendulum'>
  <compiler inertiafromgeom='true'/>
  <option integrator='RK4' timestep='0.01' gravity='1e-5 0 -9.81'/>
  <default>
    <geom type='capsule' size='0.045' contype='0' friction='1 0.1 0.1'/>
    <joint axis='0 1 0' damping='0.05'/>
  </default>

  <worldbody>
    <geom name='floor' type='plane' size='40 40 40' pos='0 0 -3'/>
    <geom name='rail' size='0.02 1' quat='0.707 0 0.707 0' rgba='0.84 0.86 0.89 1'/>
    <body name='cart'>
      <joint name='slider' type='slide' axis='1 0 0' limited='true' range='-1 1' margin='0.01'/>
      <geom name='cart' size='0.1 0.1' quat='0.707 0 0.707 0'/>
      <body name='pole'>
        <joint name='hinge'/>
        <geom name='pole' fromto='0 0 0 0 0 0.6'/>
        <body name='pole2' pos='0 0 0.6'>
          <joint name='hinge2'/>
          <geom name='pole2' fromto='0 0 0 0 0 0.6'/>
          <site name='tip' pos='0 0 0.6' size='0.01 0.01'/>
        </body>
      </body>
    </body>
  </worldbody>

  <actuator>
    <motor joint='slider' gear='500' ctrllimited='true' ctrlrange='-1 1'/>
  </actuator>
</mujoco>
)";

}  // namespace inverted_double_pendulum
