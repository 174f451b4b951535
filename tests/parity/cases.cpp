#include "cases.hpp"

#include <cstdlib>
#include <stdexcept>

namespace backplane::parity {
namespace {

using Json = nlohmann::json;
constexpr size_t kAfterTime = 1;

// A case whose option has the same name and value in both implementations.
Case Same(const char* plugin, const char* option, const Json& value) {
  return {plugin, option, {{option, value}}, {{option, value}}};
}
// The plain task, which gets the longest comparison: 3 x 1,000 steps, or BACKPLANE_PARITY_STEPS.
Case Default(const char* plugin) {
  const char* steps = std::getenv("BACKPLANE_PARITY_STEPS");
  if (steps) return {.plugin = plugin, .name = "default", .steps = std::stoul(steps)};
  return {.plugin = plugin, .name = "default", .seeds = 3};
}

std::vector<Case> ClassicControl() {
  return {
      Default("acrobot"),
      {.plugin = "acrobot", .name = "to_the_goal", .drive = Drive::kAlongSpeed, .seeds = 3},
      Same("acrobot", "max_episode_steps", 30),

      Default("cartpole"),
      Same("cartpole", "sutton_barto_reward", true),
      Same("cartpole", "max_episode_steps", 15),

      Default("mountain_car"),
      {.plugin = "mountain_car", .name = "to_the_goal", .drive = Drive::kAlongSpeed, .seeds = 3},
      {"mountain_car", "goal_velocity", {{"goal_velocity", 0.06}}, {{"goal_velocity", 0.06}}, Drive::kAlongSpeed},
      Same("mountain_car", "max_episode_steps", 50),

      Default("mountain_car_continuous"),
      {.plugin = "mountain_car_continuous", .name = "to_the_goal", .drive = Drive::kAlongSpeed, .seeds = 3},
      {"mountain_car_continuous", "goal_velocity", {{"goal_velocity", 0.04}}, {{"goal_velocity", 0.04}}, Drive::kAlongSpeed},
      Same("mountain_car_continuous", "max_episode_steps", 50),

      Default("pendulum"),
      Same("pendulum", "g", 9.81),
      Same("pendulum", "max_episode_steps", 50),
  };
}

std::vector<Case> Ant() {
  return {
      Default("ant"),
      Same("ant", "forward_reward_weight", 1.7),
      Same("ant", "ctrl_cost_weight", 0.3),
      Same("ant", "contact_cost_weight", 0.02),
      Same("ant", "healthy_reward", 0.7),
      {"ant", "main_body", {{"main_body", "3"}}, {{"main_body", 3}}},
      Same("ant", "terminate_when_unhealthy", false),
      {"ant", "healthy_z_range", {{"healthy_z_min", 0.3}, {"healthy_z_max", 0.9}}, {{"healthy_z_range", {0.3, 0.9}}}},
      {"ant",
       "contact_force_range",
       {{"contact_force_min", -0.5}, {"contact_force_max", 2.5}},
       {{"contact_force_range", {-0.5, 2.5}}}},
      Same("ant", "reset_noise_scale", 0.02),
      Same("ant", "exclude_current_positions_from_observation", false),
      Same("ant", "include_cfrc_ext_in_observation", false),
      Same("ant", "frame_skip", 3),
      Same("ant", "max_episode_steps", 20),
      // A different body, so that an unread file fails the test.
      {"ant",
       "xml_file",
       {{"xml_path", "assets/humanoid.xml"}, {"terminate_when_unhealthy", false}, {"main_body", "pelvis"}},
       {{"xml_file", "humanoid.xml"}, {"terminate_when_unhealthy", false}, {"main_body", "pelvis"}}},
  };
}

std::vector<Case> HalfCheetah() {
  return {
      Default("half_cheetah"),
      Same("half_cheetah", "forward_reward_weight", 1.7),
      Same("half_cheetah", "ctrl_cost_weight", 0.3),
      Same("half_cheetah", "reset_noise_scale", 0.02),
      Same("half_cheetah", "exclude_current_positions_from_observation", false),
      Same("half_cheetah", "frame_skip", 3),
      Same("half_cheetah", "max_episode_steps", 20),
      {"half_cheetah", "xml_file", {{"xml_path", "assets/walker2d_v5.xml"}}, {{"xml_file", "walker2d_v5.xml"}}},
  };
}

std::vector<Case> Humanoid() {
  return {
      Default("humanoid"),
      Same("humanoid", "forward_reward_weight", 1.7),
      Same("humanoid", "ctrl_cost_weight", 0.3),
      Same("humanoid", "contact_cost_weight", 3e-6),
      {"humanoid",
       "contact_cost_range",
       {{"contact_cost_min", 0.01}, {"contact_cost_max", 0.2}},
       {{"contact_cost_range", {0.01, 0.2}}}},
      Same("humanoid", "healthy_reward", 3.5),
      Same("humanoid", "terminate_when_unhealthy", false),
      {"humanoid", "healthy_z_range", {{"healthy_z_min", 1.2}, {"healthy_z_max", 1.45}}, {{"healthy_z_range", {1.2, 1.45}}}},
      Same("humanoid", "reset_noise_scale", 0.05),
      Same("humanoid", "exclude_current_positions_from_observation", false),
      Same("humanoid", "include_cinert_in_observation", false),
      Same("humanoid", "include_cvel_in_observation", false),
      Same("humanoid", "include_qfrc_actuator_in_observation", false),
      Same("humanoid", "include_cfrc_ext_in_observation", false),
      Same("humanoid", "frame_skip", 3),
      Same("humanoid", "max_episode_steps", 10),
      {"humanoid",
       "xml_file",
       {{"xml_path", "assets/humanoidstandup.xml"}, {"terminate_when_unhealthy", false}},
       {{"xml_file", "humanoidstandup.xml"}, {"terminate_when_unhealthy", false}}},
  };
}

std::vector<Case> Hopper() {
  return {
      Default("hopper"),
      Same("hopper", "forward_reward_weight", 1.7),
      Same("hopper", "ctrl_cost_weight", 0.3),
      Same("hopper", "healthy_reward", 0.7),
      Same("hopper", "terminate_when_unhealthy", false),
      {"hopper",
       "healthy_state_range",
       {{"healthy_state_min", -2}, {"healthy_state_max", 3}},
       {{"healthy_state_range", {-2, 3}}}},
      {"hopper", "healthy_z_range", {{"healthy_z_min", 0.9}, {"healthy_z_max", 1.26}}, {{"healthy_z_range", {0.9, 1.26}}}},
      {"hopper",
       "healthy_angle_range",
       {{"healthy_angle_min", -0.02}, {"healthy_angle_max", 0.05}},
       {{"healthy_angle_range", {-0.02, 0.05}}}},
      Same("hopper", "reset_noise_scale", 0.05),
      Same("hopper", "exclude_current_positions_from_observation", false),
      Same("hopper", "frame_skip", 3),
      Same("hopper", "max_episode_steps", 10),
      {"hopper", "xml_file", {{"xml_path", "assets/walker2d_v5.xml"}}, {{"xml_file", "walker2d_v5.xml"}}},
  };
}

std::vector<Case> Walker2d() {
  return {
      Default("walker2d"),
      Same("walker2d", "forward_reward_weight", 1.7),
      Same("walker2d", "ctrl_cost_weight", 0.3),
      Same("walker2d", "healthy_reward", 0.7),
      Same("walker2d", "terminate_when_unhealthy", false),
      {"walker2d", "healthy_z_range", {{"healthy_z_min", 1}, {"healthy_z_max", 1.3}}, {{"healthy_z_range", {1, 1.3}}}},
      {"walker2d",
       "healthy_angle_range",
       {{"healthy_angle_min", -0.2}, {"healthy_angle_max", 0.3}},
       {{"healthy_angle_range", {-0.2, 0.3}}}},
      Same("walker2d", "reset_noise_scale", 0.05),
      Same("walker2d", "exclude_current_positions_from_observation", false),
      Same("walker2d", "frame_skip", 3),
      Same("walker2d", "max_episode_steps", 10),
      {"walker2d", "xml_file", {{"xml_path", "assets/hopper.xml"}}, {{"xml_file", "hopper.xml"}}},
  };
}

std::vector<Case> Swimmer() {
  return {
      Default("swimmer"),
      Same("swimmer", "forward_reward_weight", 1.7),
      Same("swimmer", "ctrl_cost_weight", 0.3),
      Same("swimmer", "reset_noise_scale", 0.02),
      Same("swimmer", "exclude_current_positions_from_observation", false),
      Same("swimmer", "frame_skip", 3),
      Same("swimmer", "max_episode_steps", 20),
      {"swimmer", "xml_file", {{"xml_path", "assets/half_cheetah.xml"}}, {{"xml_file", "half_cheetah.xml"}}},
  };
}

std::vector<Case> Arms() {
  return {
      Default("reacher"),
      Same("reacher", "reward_dist_weight", 1.7),
      Same("reacher", "reward_control_weight", 0.3),
      Same("reacher", "frame_skip", 3),
      Same("reacher", "max_episode_steps", 20),
      {"reacher", "xml_file", {{"xml_path", "models/reacher.xml"}}, {{"xml_file", "models/reacher.xml"}}},

      Default("pusher"),
      Same("pusher", "reward_near_weight", 0.8),
      Same("pusher", "reward_dist_weight", 1.7),
      Same("pusher", "reward_control_weight", 0.3),
      Same("pusher", "frame_skip", 3),
      Same("pusher", "max_episode_steps", 20),
      {"pusher", "xml_file", {{"xml_path", "assets/pusher.xml"}}, {{"xml_file", "pusher.xml"}}},
  };
}

std::vector<Case> InvertedPendulums() {
  return {
      Default("inverted_pendulum"),
      Same("inverted_pendulum", "reset_noise_scale", 0.1),
      Same("inverted_pendulum", "frame_skip", 3),
      Same("inverted_pendulum", "max_episode_steps", 3),
      {"inverted_pendulum",
       "xml_file",
       {{"xml_path", "assets/inverted_double_pendulum.xml"}},
       {{"xml_file", "inverted_double_pendulum.xml"}}},

      Default("inverted_double_pendulum"),
      Same("inverted_double_pendulum", "healthy_reward", 3.5),
      Same("inverted_double_pendulum", "reset_noise_scale", 0.3),
      Same("inverted_double_pendulum", "frame_skip", 3),
      Same("inverted_double_pendulum", "max_episode_steps", 3),
      {"inverted_double_pendulum",
       "xml_file",
       {{"xml_path", "models/inverted_double_pendulum.xml"}},
       {{"xml_file", "models/inverted_double_pendulum.xml"}}},
  };
}

std::vector<Case> HumanoidStandup() {
  return {
      Default("humanoid_standup"),
      {"humanoid_standup", "uph_cost_weight", Json::object(), {{"uph_cost_weight", 2}}},  // Gymnasium does not use it
      Same("humanoid_standup", "ctrl_cost_weight", 0.3),
      Same("humanoid_standup", "impact_cost_weight", 3e-6),
      {"humanoid_standup",
       "impact_cost_range",
       {{"impact_cost_min", 0.01}, {"impact_cost_max", 0.2}},
       {{"impact_cost_range", {0.01, 0.2}}}},
      Same("humanoid_standup", "reset_noise_scale", 0.05),
      Same("humanoid_standup", "exclude_current_positions_from_observation", false),
      Same("humanoid_standup", "include_cinert_in_observation", false),
      Same("humanoid_standup", "include_cvel_in_observation", false),
      Same("humanoid_standup", "include_qfrc_actuator_in_observation", false),
      Same("humanoid_standup", "include_cfrc_ext_in_observation", false),
      Same("humanoid_standup", "frame_skip", 3),
      Same("humanoid_standup", "max_episode_steps", 10),
      {"humanoid_standup", "xml_file", {{"xml_path", "assets/humanoid.xml"}}, {{"xml_file", "humanoid.xml"}}},
  };
}

}  // namespace

const std::vector<Task>& Tasks() {
  static const std::vector<Task> tasks = {
      {"acrobot", "Acrobot-v1", 0},
      {"ant", "Ant-v5", kAfterTime},
      {"cartpole", "CartPole-v1", 0},
      {"half_cheetah", "HalfCheetah-v5", kAfterTime},
      {"hopper", "Hopper-v5", kAfterTime},
      {"humanoid", "Humanoid-v5", kAfterTime},
      {"humanoid_standup", "HumanoidStandup-v5", kAfterTime},
      {"inverted_double_pendulum", "InvertedDoublePendulum-v5", kAfterTime},
      {"inverted_pendulum", "InvertedPendulum-v5", kAfterTime},
      {"mountain_car", "MountainCar-v0", 0},
      {"mountain_car_continuous", "MountainCarContinuous-v0", 0},
      {"pendulum", "Pendulum-v1", 0},
      {"pusher", "Pusher-v5", kAfterTime},
      {"reacher", "Reacher-v5", kAfterTime},
      {"swimmer", "Swimmer-v5", kAfterTime},
      {"walker2d", "Walker2d-v5", kAfterTime},
  };
  return tasks;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> cases;
    for (const std::vector<Case>& some : {ClassicControl(), Ant(), HalfCheetah(), Humanoid(), Hopper(), Walker2d(), Swimmer(),
                                          Arms(), InvertedPendulums(), HumanoidStandup()})
      cases.insert(cases.end(), some.begin(), some.end());
    return cases;
  }();
  return all;
}

const Task& FindTask(const std::string& plugin) {
  for (const Task& task : Tasks())
    if (plugin == task.plugin) return task;
  throw std::runtime_error("no task '" + plugin + "'");
}

}  // namespace backplane::parity
