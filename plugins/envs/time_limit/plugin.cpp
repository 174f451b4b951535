#include <string>

#include "backplane/wrapper.hpp"

class TimeLimit : public bp::NoMemory {
 public:
  static constexpr bp::About kAbout{.id = "env.time_limit",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: truncates episodes after a number of steps.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    int64_t max_episode_steps = 0;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("max_episode_steps", &Options::max_episode_steps, "[1,)",
              "Steps after which the host truncates an episode; at most the limit of the env below.",
              {.flags = BP_PARAM_REQUIRED}),
  };

  TimeLimit(const bp_host* host, const Options& options, uint64_t) : below_(host), steps_(options.max_episode_steps) {
    const int64_t below = below_.spec().max_episode_steps;
    if (below > 0 && steps_ > below)
      throw bp::ConfigError("max_episode_steps: expected at most " + std::to_string(below) +
                            ", the limit of the env below, got " + std::to_string(steps_));
  }
  bp::EnvSpec Spec() const { return bp::EnvSpec().MaxEpisodeSteps(steps_); }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) { below_.Step(slot, begin, end); }

 private:
  bp::EnvBelow below_;
  int64_t steps_;
};

BP_PLUGINS(bp::Wrapper<TimeLimit>);
