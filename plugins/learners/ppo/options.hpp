// PPO's options.
#pragma once

#include "env_shape.hpp"
#include "net.hpp"
#include "on_policy/memory.hpp"
#include "on_policy/options.hpp"

namespace backplane::ppo {

enum class LrSchedule { kConstant, kLinear, kKlAdaptive };
constexpr auto WordsOf(LrSchedule) {
  return bp::Words<LrSchedule>(
      {{"constant", LrSchedule::kConstant}, {"linear", LrSchedule::kLinear}, {"kl_adaptive", LrSchedule::kKlAdaptive}});
}

// The net in front of actor and critic that reads images.
enum class ImageNet { kAuto, kNature, kNone };
constexpr auto WordsOf(ImageNet) {
  return bp::Words<ImageNet>({{"auto", ImageNet::kAuto}, {"nature", ImageNet::kNature}, {"none", ImageNet::kNone}});
}

struct Options : on_policy::Options {
  void Check(const bp::Config& config);  // throws bp::ConfigError for contradictions; vf_hidden and memory are set after it

  int64_t sde_sample_freq = -1;
  double log_std_init = 0, obs_epsilon = 1e-8, obs_clip = 10;
  LrSchedule lr_schedule = LrSchedule::kConstant;
  Schedule clip_schedule = Schedule::kConstant;
  Device device = Device::kAuto;
  bool normalize_advantages = true, normalize_obs = false, normalize_rewards = false, share_layers = false, use_sde = false;
  Amp use_amp = Amp::kOff;
  ImageNet image_net = ImageNet::kAuto;
  bp::AnyValue memory_option;
  MemoryOptions memory;  // memory_option as read
};

inline constexpr bp::OptionTable kOptions{
    on_policy::kOptions,
    bp::Opt("minibatch_size", &Options::minibatch_size, "[1,)",
            "Maximum samples per minibatch; all minibatches have equal size; larger ones cost less time per sample",
            {.unit = "samples",
             .aliases = "batch_size,sgd_minibatch_size",
             .helps = "update_bound+,gpu_idle+,gpu_saturated+,launch_bound+"}),
    bp::Opt("lr_schedule", &Options::lr_schedule,
            "linear: falls to 0 over the budget; kl_adaptive: steers the KL estimate towards kl_target, within 1e-6 and 1e-2, "
            "and ends no update early",
            {.reads_budget = "linear"}),
    bp::Opt("clip_schedule", &Options::clip_schedule, "linear: falls to 0 over the budget", {.reads_budget = "linear"}),
    bp::Opt("normalize_advantages", &Options::normalize_advantages,
            "Scales each minibatch's advantages to mean 0 and deviation 1", {.aliases = "normalize_advantage,norm_adv"}),
    bp::Opt("normalize_obs", &Options::normalize_obs, "Scales observations by their running mean and deviation"),
    bp::Opt("normalize_rewards", &Options::normalize_rewards,
            "Divides rewards by the deviation of the discounted return, clipped to 10", {.aliases = "normalize_reward"}),
    bp::Opt("share_layers", &Options::share_layers, "Shares hidden layers between actor and critic; halves the update's time",
            {.aliases = "vf_share_layers,actor_critic_share_weights"}),
    bp::Opt("log_std_init", &Options::log_std_init, "Initial logarithm of the standard deviation of continuous actions"),
    bp::Opt("use_sde", &Options::use_sde,
            "State-dependent exploration: noise is a random linear function of the last hidden layer"),
    bp::Opt("sde_sample_freq", &Options::sde_sample_freq, "[-1,)",
            "Steps between new noise functions; -1 or 0: a whole rollout", {.unit = "steps"}),
    bp::Opt("device", &Options::device,
            "Device of updates; cuda needs a LibTorch built for it; auto: the GPU that resources.gpus grants, else the CPU",
            {.flags = BP_PARAM_LATER}),
    bp::Opt(
        "use_amp", &Options::use_amp,
        "Mixed precision of the update (float32 master weights); true: bf16, for which a CPU needs avx512_bf16; fp16: a GPU, "
        "with a scaled loss",
        {.flags = BP_PARAM_LATER, .helps = "gpu_idle,gpu_saturated"}),
    bp::Opt("obs_epsilon", &Options::obs_epsilon, "(0,)", "Added by normalize_obs to the variance", {.flags = BP_PARAM_LATER}),
    bp::Opt("obs_clip", &Options::obs_clip, "(0,)", "Largest absolute value after normalize_obs",
            {.flags = BP_PARAM_LATER, .aliases = "clip_obs"}),
    bp::Opt(
        "memory", &Options::memory_option, "mapping",
        "{kind: gru, size: 128, sequence: 16}: actor and critic each remember the episode in a GRU of this size, trained on "
        "sequences of this many steps, which makes acting and updates slower; {}: no memory",
        {.flags = BP_PARAM_LATER}),
    bp::Opt("image_net", &Options::image_net,
            "nature: a convolutional net, shared by actor and critic, reads uint8 images of 36 x 36 pixels or more, scaled by "
            "1/255; auto: if there are such images; none: pixels are numbers like others",
            {.flags = BP_PARAM_LATER}),
};

Net MakeNet(const Options& options, const EnvShape& shape);

}  // namespace backplane::ppo
