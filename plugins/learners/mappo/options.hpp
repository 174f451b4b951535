// MAPPO's options, and the properties of the env that it needs.
#pragma once

#include <optional>
#include <string>

#include "backplane/learner.hpp"
#include "net.hpp"
#include "on_policy/action_channels.hpp"
#include "on_policy/memory.hpp"
#include "on_policy/options.hpp"

namespace backplane::mappo {

enum class Normalize { kMinibatch, kIteration, kNone };
constexpr auto WordsOf(Normalize) {
  return bp::Words<Normalize>(
      {{"minibatch", Normalize::kMinibatch}, {"iteration", Normalize::kIteration}, {"none", Normalize::kNone}});
}
enum class Critic { kCentral, kIndependent };
constexpr auto WordsOf(Critic) {
  return bp::Words<Critic>({{"central", Critic::kCentral}, {"independent", Critic::kIndependent}});
}

struct Options : on_policy::Options {
  Options() {
    minibatch_size = 0, num_epochs = 5, hidden = {128, 128};
    lr = 5e-4, entropy_coeff = 0.01, vf_clip = false;
  }
  void Check(const bp::Config& config);  // throws bp::ConfigError for contradictions; sets vf_hidden and memory
  // Steps per row in a rollout. Throws bp::ConfigError if episodes are requested but the env has no time limit.
  uint64_t Horizon(uint64_t rows, int64_t max_episode_steps) const;

  int64_t episodes_per_batch = 0, num_minibatches = 4;
  double huber_delta = 0, reward_scale = 0.05, log_std_init = 0;
  Schedule lr_schedule = Schedule::kConstant;
  bool separate_grad_clip = false, value_norm = false;
  Normalize normalize_advantages = Normalize::kMinibatch;
  Critic critic = Critic::kCentral;
  Device device = Device::kAuto;
  std::vector<int64_t> devices;
  std::optional<Amp> use_amp;
  bp::AnyValue memory_option;
  MemoryOptions memory;  // memory_option as read
};

inline constexpr bp::OptionTable kOptions{
    on_policy::kOptions,
    bp::Opt("episodes_per_batch", &Options::episodes_per_batch, "[0,1000000]",
            "Length of an iteration in episodes of the env's step limit; 0: train_batch_size decides",
            {.unit = "episodes", .helps = "ram_near_limit-,out_of_memory-,vram_near_limit-,sync_overhead+,gpu_idle+"}),
    bp::Opt("minibatch_size", &Options::minibatch_size, "[0,)",
            "Maximum agent samples per minibatch; all minibatches have equal size; 0: num_minibatches decides",
            {.unit = "samples",
             .aliases = "batch_size,sgd_minibatch_size",
             .helps = "update_bound+,gpu_idle+,gpu_saturated+,launch_bound+"}),
    bp::Opt("num_minibatches", &Options::num_minibatches, "[1,)", "Minibatches per epoch, of equal size",
            {.aliases = "num_mini_batch", .helps = "update_bound-,gpu_idle-,gpu_saturated-,launch_bound-"}),
    bp::Opt("lr_schedule", &Options::lr_schedule, "linear: falls to 0 over the budget", {.reads_budget = "linear"}),
    bp::Opt("separate_grad_clip", &Options::separate_grad_clip,
            "Clips the gradients of actor and critic separately; false: by their joint norm"),
    bp::Opt("huber_delta", &Options::huber_delta, "[0,)", "Value errors above it count linearly; 0: squared error"),
    bp::Opt("value_norm", &Options::value_norm, "The critic predicts returns scaled to mean 0 and deviation 1 (ValueNorm)",
            {.aliases = "use_valuenorm"}),
    bp::Opt("reward_scale", &Options::reward_scale, "(0,)", "Factor of the rewards, only for the learner"),
    bp::Opt("log_std_init", &Options::log_std_init, "Initial logarithm of the standard deviation of continuous actions",
            {.flags = BP_PARAM_LATER}),
    bp::Opt("normalize_advantages", &Options::normalize_advantages,
            "Scales advantages to mean 0 and deviation 1 per minibatch, or once per iteration"),
    bp::Opt("critic", &Options::critic,
            "Input of the critic: an agent's observation and the state, or only the observation (independent PPO)"),
    bp::Opt("device", &Options::device,
            "Device of acting and updates; auto: the device of the env's channels, else the GPU that resources.gpus grants, "
            "else the CPU"),
    bp::Opt(
        "devices", &Options::devices, "[0,1023]",
        "Device of the actor and of the critic, by number among the granted GPUs, such as [0, 1]; on a CPU each number is the "
        "CPU; empty: both nets on all granted GPUs, each with a part of the minibatch",
        {.flags = BP_PARAM_LATER}),
    bp::Opt(
        "use_amp", &Options::use_amp,
        "Mixed precision of the update (float32 master weights); true: bf16, for which a CPU needs avx512_bf16; fp16: a GPU, "
        "with a scaled loss; auto: off on a CPU, bf16 on a GPU if a short probe is faster",
        {.helps = "gpu_idle,gpu_saturated"}),
    bp::Opt("memory", &Options::memory_option, "mapping",
            "{kind: gru, size: 128, sequence: 16}: the actor remembers each agent's episode in a GRU of this size, trained on "
            "sequences of this many steps, which makes acting and updates slower; {}: no memory",
            {.flags = BP_PARAM_LATER}),
    // Common names for settings of the host.
    bp::Unread("num_workers", 1, "[1,)", "Blocks of rows", {.aliases = "rollout.num_env_runners"}),
    bp::Unread("episodes_per_worker", 1, "[1,)", "Rows of a block, with one episode at a time each",
               {.aliases = "rollout.num_envs_per_env_runner"}),
    bp::Unread("checkpoint_interval", 0, "[0,)", "Episodes from one checkpoint to the next; 0: only at the end",
               {.aliases = "checkpoint.every_episodes"}),
};

enum class Numbers { kFloat, kInt8, kUint8 };

// A channel of OBS or STATE. A net's input concatenates all channels of a role as float32.
struct Seen {
  std::string name, final_name;  // in the rollout, and in the last observations
  int64_t size;
  Numbers numbers;
};

// An env as agents with the same channels see it: all agents of a row, or the agents of a group.
struct EnvShape : on_policy::ActionChannels {
  // `number`: of the group, from 1; 0: the env has no groups. Throws bp::Unsupported with a sentence.
  explicit EnvShape(const bp_env_spec* env, uint32_t number = 0);
  // The name of a channel that the learner adds for these agents: "logp", or "GROUP/logp".
  std::string Own(const char* name) const { return group.empty() ? name : group + "/" + name; }
  // The index of agent i of these agents, over all rows, in channels of all agents.
  int64_t InAll(int64_t i) const { return i / agents * row_agents + first + i % agents; }

  std::vector<Seen> obs, state;                                     // the latter may be empty
  std::string mask, alive, agent_ended, agent_truncated;            // names; empty: the env has no such channel
  int64_t obs_size = 0, state_size = 0, agents, max_episode_steps;  // agents: of a row
  int64_t row_agents, first = 0;                                    // of all groups; the first one's index among them
  std::string group;                                                // its name; empty: the env has no groups
  uint32_t number;
  bool reward_per_agent;
};

// One for each group, or one for all agents.
std::vector<EnvShape> ShapesOf(const bp_env_spec* env);

// Throws bp::Unsupported if the critic needs a state and the env has none.
Net MakeNet(const Options& options, const EnvShape& shape);
std::vector<Net> NetsOf(const Options& options, const std::vector<EnvShape>& shapes);

}  // namespace backplane::mappo
