#include <algorithm>

#include "backplane/wrapper.hpp"

class ClipReward : public bp::NoMemory {
 public:
  static constexpr bp::About kAbout{.id = "env.clip_reward",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: limits the reward of each step for the learner.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    std::vector<double> range = {-1, 1};
    void Check(const bp::Config&) {
      if (range.size() != 2 || !(range[0] <= range[1]))
        throw bp::ConfigError("range: expected [low, high] with low <= high, got " + std::to_string(range.size()) +
                              " numbers or low > high");
    }
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("range", &Options::range, "Lowest and highest reward, [low, high]."),
  };

  ClipReward(const bp_host* host, const Options& options, uint64_t)
      : below_(host),
        reward_below_(below_.Index(BP_ROLE_REWARD)),
        per_row_(below_.PerRow(reward_below_)),
        low_(static_cast<float>(options.range[0])),
        high_(static_cast<float>(options.range[1])),
        spec_(SpecOver(below_, reward_below_, options)),
        reward_(spec_.Get<float>(BP_ROLE_REWARD)) {}
  bp::EnvSpec Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    below_.Step(slot, begin, end);
    const auto in = below_.Rows<float>(reward_below_, slot), out = slot.Rows(reward_);
    for (uint64_t r = begin; r < end; ++r)
      for (uint64_t i = 0; i < per_row_; ++i) out[r][i] = std::clamp(in[r][i], low_, high_);
  }

 private:
  static bp::EnvSpec SpecOver(const bp::EnvBelow& below, size_t reward, const Options& options) {
    bp::Channel channel = below.Copy(reward);
    channel.low = {options.range[0]}, channel.high = {options.range[1]};
    return bp::EnvSpec().MaxAgents(below.spec().max_agents).Add(std::move(channel));
  }

  bp::EnvBelow below_;
  size_t reward_below_;
  uint64_t per_row_;
  float low_, high_;
  bp::EnvSpec spec_;
  bp::Handle<float> reward_;
};

BP_PLUGINS(bp::Wrapper<ClipReward>);
