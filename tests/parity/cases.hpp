// Compared settings: every option of every env at a value of its own, ours and Gymnasium's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane::parity {

struct Task {
  const char* plugin;    // "ant": env_ant.so, env.ant
  const char* official;  // "Ant-v5"
  size_t state_skip;     // numbers of the author's struct before the state; MuJoCo's begin with the time
};

enum class Drive {
  kUniform,     // within the action's bounds and a fifth beyond
  kAlongSpeed,  // the same in the direction of the last observed speed, which drives a car out of a valley
};

struct Case {
  const char* plugin;
  const char* name;  // unique within the task, snake_case
  // Arguments of our env and Gymnasium's that differ from the defaults. Our "assets/x.xml" is Gymnasium's model x.xml, and
  // "models/x.xml" of both is in this folder.
  nlohmann::json ours = nlohmann::json::object(), official = nlohmann::json::object();
  Drive drive = Drive::kUniform;
  int seeds = 1;
  size_t steps = 1000;  // per seed, including resets
};

// All tasks, and all cases in order.
const std::vector<Task>& Tasks();
const std::vector<Case>& Cases();
const Task& FindTask(const std::string& plugin);

}  // namespace backplane::parity
