// Advantages of agents: one stream per agent and row, which ends with the agent instead of the row.
#pragma once

#include <cstdint>
#include <vector>

#include "options.hpp"

namespace backplane::mappo {

// A rollout of `steps` steps of `agents` agents (of all rows). Place p is step p / agents of agent p % agents.
class Streams {
 public:
  // Without `bootstraps_cuts`, a cut counts as a termination.
  Streams(const EnvShape& shape, uint64_t rows, double gamma, double lambda, double reward_scale, bool bootstraps_cuts = true);

  // Reads REWARD and the flags. An agent's step is the last one if the row terminated, agent_ended is 1, or ALIVE drops to 0
  // within an episode. The final observation follows if the row was cut, the agent's next OBS if agent_truncated is 1,
  // otherwise the agent's next step.
  void Read(const bp::Delivery& delivery);

  int64_t steps() const { return steps_; }
  int64_t agents() const { return agents_; }
  int64_t rows() const { return rows_; }
  bool alive(int64_t place) const { return alive_[place]; }
  double earned() const { return earned_; }  // the sum of all rewards, unscaled
  // Bootstraps places whose next value is outside this rollout.
  struct Bootstrap {
    int64_t place, env_step;     // env_step: step * rows + row
    int64_t final, final_agent;  // row in FINAL_STATE and FINAL_OBS; -1: `entry`
    int64_t entry;               // of STATE and OBS, in time: the one after the step
  };
  const std::vector<Bootstrap>& bootstraps() const { return bootstraps_; }

  // Given values at living places and of the bootstraps, in order, writes the advantages there and 0 elsewhere. value and out:
  // [steps * agents].
  void Advantages(const float* value, const float* bootstrap, float* out) const;

 private:
  // A step of a living agent.
  struct Step {
    int64_t t, row;
    bool cut, over;  // truncated; terminated for this agent
    bool cut_alone;  // truncated for this agent
    int64_t final;   // its final observation if truncated
  };
  void ReadAgent(const Step& step, int64_t agent, float reward);

  EnvShape shape_;
  int64_t rows_, agents_, steps_ = 0;
  double gamma_, lambda_, reward_scale_;
  bool bootstraps_cuts_;
  std::vector<uint8_t> alive_;  // [(steps + 1) * agents]
  std::vector<float> reward_;
  double earned_ = 0;
  std::vector<double> discount_, carry_;
  std::vector<Bootstrap> bootstraps_;
};

}  // namespace backplane::mappo
