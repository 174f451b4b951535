// The built-in model of the arm: seven hinges with motors, a cylinder and a goal on two slides each, Euler at 0.01 s.
#pragma once

namespace pusher {

inline constexpr char kModelXml[] = R"(
<mujoco model='pusher'>
  <compiler angle='radian' inertiafromgeom='true'/>
  <option timestep='0.01' gravity='0 0 0' iterations='20'/>
  <default>
    <geom type='capsule' friction='0.8 0.1 0.1' density='300' margin='0.002' condim='1' contype='0' conaffinity='0'/>
    <joint limited='true' armature='0.04' damping='0.1'/>
    <motor ctrllimited='true' ctrlrange='-2 2'/>
    <default class='hand'><geom size='0.02' contype='1' conaffinity='1'/></default>
    <default class='slide'><joint type='slide' range='-10.3213 10.3' damping='0.5'/></default>
  </default>

  <worldbody>
    <geom name='table' type='plane' pos='0 0.5 -0.325' size='1 1 0.1' contype='1' conaffinity='1'/>
    <body name='r_shoulder_pan_link' pos='0 -0.6 0'>
      <joint name='r_shoulder_pan_joint' axis='0 0 1' range='-2.2854 1.714602' damping='1'/>
      <geom type='sphere' size='0.05' pos='-0.06 0.05 0.2'/>
      <geom type='sphere' size='0.05' pos='0.06 0.05 0.2'/>
      <geom type='sphere' size='0.03' pos='-0.06 0.09 0.2' rgba='0.1 0.1 0.1 1'/>
      <geom type='sphere' size='0.03' pos='0.06 0.09 0.2' rgba='0.1 0.1 0.1 1'/>
      <geom size='0.1' fromto='0 0 -0.4 0 0 0.2'/>
      <body name='r_shoulder_lift_link' pos='0.1 0 0'>
        <joint name='r_shoulder_lift_joint' axis='0 1 0' range='-0.5236 1.3963' damping='1'/>
        <geom size='0.1' fromto='0 -0.1 0 0 0.1 0'/>
        <body name='r_upper_arm_roll_link'>
          <joint name='r_upper_arm_roll_joint' axis='1 0 0' range='-1.5 1.7'/>
          <geom size='0.02' fromto='-0.1 0 0 0.1 0 0'/>
          <body name='r_upper_arm_link'>
            <geom size='0.06' fromto='0 0 0 0.4 0 0'/>
            <body name='r_elbow_flex_link' pos='0.4 0 0'>
              <joint name='r_elbow_flex_joint' axis='0 1 0' range='-2.3213 0'/>
              <geom size='0.06' fromto='0 -0.02 0 0 0.02 0'/>
              <body name='r_forearm_roll_link'>
                <joint name='r_forearm_roll_joint' axis='1 0 0' range='-1.5 1.5'/>
                <geom size='0.02' fromto='-0.1 0 0 0.1 0 0'/>
                <body name='r_forearm_link'>
                  <geom size='0.05' fromto='0 0 0 0.291 0 0'/>
                  <body name='r_wrist_flex_link' pos='0.321 0 0'>
                    <joint name='r_wrist_flex_joint' axis='0 1 0' range='-1.094 0'/>
                    <geom size='0.01' fromto='0 -0.02 0 0 0.02 0'/>
                    <body name='r_wrist_roll_link'>
                      <joint name='r_wrist_roll_joint' axis='1 0 0' range='-1.5 1.5'/>
                      <body name='tips_arm'>
                        <geom type='sphere' size='0.01' pos='0.1 -0.1 0'/>
                        <geom type='sphere' size='0.01' pos='0.1 0.1 0'/>
                      </body>
                      <geom class='hand' fromto='0 -0.1 0 0 0.1 0'/>
                      <geom class='hand' fromto='0 -0.1 0 0.1 -0.1 0'/>
                      <geom class='hand' fromto='0 0.1 0 0.1 0.1 0'/>
                    </body>
                  </body>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name='object' pos='0.45 -0.05 -0.275'>
      <joint name='object_y' class='slide' axis='0 1 0'/>
      <joint name='object_x' class='slide' axis='1 0 0'/>
      <geom type='cylinder' size='0.05 0.05 0.05' density='0.01' contype='1' rgba='0.9 0.62 0 1'/>
    </body>
    <body name='goal' pos='0.45 -0.05 -0.323'>
      <joint name='goal_y' class='slide' axis='0 1 0'/>
      <joint name='goal_x' class='slide' axis='1 0 0'/>
      <geom type='cylinder' size='0.08 0.001 0.1' density='0.00001' rgba='0.76 0.07 0.12 1'/>
    </body>
  </worldbody>

  <actuator>
    <motor joint='r_shoulder_pan_joint'/>
    <motor joint='r_shoulder_lift_joint'/>
    <motor joint='r_upper_arm_roll_joint'/>
    <motor joint='r_elbow_flex_joint'/>
    <motor joint='r_forearm_roll_joint'/>
    <motor joint='r_wrist_flex_joint'/>
    <motor joint='r_wrist_roll_joint'/>
  </actuator>
</mujoco>
)";

}  // namespace pusher
