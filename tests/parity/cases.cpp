#include "cases.hpp"

#include <stdexcept>

namespace backplane::parity {
namespace {

using Json = nlohmann::json;
constexpr size_t kAfterTime = 1;

// A case whose option has the same name and value in both implementations.
Case Same(const char* plugin, const char* option, const Json& value) {
  return {plugin, option, {{option, value}}, {{option, value}}};
}
// The plain task, which gets the longest comparison.
Case Default(const char* plugin) { return {.plugin = plugin, .name = "default", .seeds = 3}; }

std::vector<Case> ClassicControl() {
  return {
      Default("cartpole"),
      Same("cartpole", "sutton_barto_reward", true),
      Same("cartpole", "max_episode_steps", 15),

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

}  // namespace

const std::vector<Task>& Tasks() {
  static const std::vector<Task> tasks = {
      {"ant", "Ant-v5", kAfterTime},
      {"cartpole", "CartPole-v1", 0},
      {"half_cheetah", "HalfCheetah-v5", kAfterTime},
      {"humanoid", "Humanoid-v5", kAfterTime},
      {"mountain_car_continuous", "MountainCarContinuous-v0", 0},
      {"pendulum", "Pendulum-v1", 0},
  };
  return tasks;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> cases;
    for (const std::vector<Case>& some : {ClassicControl(), Ant(), HalfCheetah(), Humanoid()})
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
