#include <algorithm>

#include "backplane/wrapper.hpp"

class ActionRepeat : public bp::NoMemory {
 public:
  static constexpr bp::About kAbout{.id = "env.action_repeat",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: takes each action several times and sums the rewards.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    int64_t times = 4;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("times", &Options::times, "[1,10000]", "Steps of the env below per step; fewer if its episode ends."),
  };

  ActionRepeat(const bp_host* host, const Options& options, uint64_t rows)
      : below_(host),
        times_(options.times),
        reward_below_(below_.Index(BP_ROLE_REWARD)),
        terminated_(below_.Index(BP_ROLE_TERMINATED)),
        truncated_(below_.Index(BP_ROLE_TRUNCATED)),
        per_row_(below_.PerRow(reward_below_)),
        sums_(rows * per_row_),
        spec_(SpecOver(below_, reward_below_, times_)),
        reward_(spec_.Get<float>(BP_ROLE_REWARD)) {}
  bp::EnvSpec Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    std::fill(sums_.begin() + static_cast<int64_t>(begin * per_row_), sums_.begin() + static_cast<int64_t>(end * per_row_),
              0.0);
    StepBelow(slot, begin, end);
    const auto terminated = below_.Rows<uint8_t>(terminated_, slot), truncated = below_.Rows<uint8_t>(truncated_, slot);
    const auto ended = [&](uint64_t r) { return (terminated[r][0] | truncated[r][0]) != 0; };
    for (int64_t k = 1; k < times_; ++k) {
      // One call per run of neighbouring rows that have not ended.
      for (uint64_t first = begin; first < end;) {
        while (first < end && ended(first)) ++first;
        uint64_t last = first;
        while (last < end && !ended(last)) ++last;
        if (first < last) StepBelow(slot, first, last);
        first = last;
      }
    }
    const auto out = slot.Rows(reward_);
    for (uint64_t r = begin; r < end; ++r)
      for (uint64_t i = 0; i < per_row_; ++i) out[r][i] = static_cast<float>(sums_[r * per_row_ + i]);
  }

 private:
  static bp::EnvSpec SpecOver(const bp::EnvBelow& below, size_t reward, int64_t times) {
    bp::Channel channel = below.Copy(reward);
    const auto n = static_cast<double>(times);
    for (double& low : channel.low) low = std::min(low, n * low);
    for (double& high : channel.high) high = std::max(high, n * high);
    const int64_t limit = below.spec().max_episode_steps;
    return bp::EnvSpec()
        .MaxAgents(below.spec().max_agents)
        .Add(std::move(channel))
        .MaxEpisodeSteps((limit + times - 1) / times);
  }
  void StepBelow(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    below_.Step(slot, begin, end);
    const auto reward = below_.Rows<float>(reward_below_, slot);
    for (uint64_t r = begin; r < end; ++r)
      for (uint64_t i = 0; i < per_row_; ++i) sums_[r * per_row_ + i] += reward[r][i];
  }

  bp::EnvBelow below_;
  int64_t times_;
  size_t reward_below_, terminated_, truncated_;
  uint64_t per_row_;
  std::vector<double> sums_;  // [rows, per_row_], within a step
  bp::EnvSpec spec_;
  bp::Handle<float> reward_;
};

BP_PLUGINS(bp::Wrapper<ActionRepeat>);
