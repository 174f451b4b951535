// A complete wrapper in one file: smooth the rewards of any env. It replaces one channel and has a memory.
#include <algorithm>
#include <cstring>

#include "backplane/wrapper.hpp"

// All rows of an env over another env, `below_`. wrapper.hpp lists the calls.
class SmoothReward {
 public:
  static constexpr bp::About kAbout{.id = "env.template_wrapper",
                                    .version = "1.0.0",
                                    .summary = "Wrapper: a moving average of the rewards.",
                                    .flags = BP_FLAG_WRAPPER};
  struct Options {
    double weight = 0.5;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("weight", &Options::weight, "(0,1]", "Weight of the newest reward; 1 changes no reward."),
  };

  SmoothReward(const bp_host* host, const Options& options, uint64_t rows)
      : below_(host),
        reward_below_(below_.Index(BP_ROLE_REWARD)),
        per_row_(below_.PerRow(reward_below_)),
        weight_(static_cast<float>(options.weight)),
        spec_(bp::EnvSpec().MaxAgents(below_.spec().max_agents).Add(below_.Copy(reward_below_))),
        reward_(spec_.Get<float>(BP_ROLE_REWARD)),
        average_(rows * per_row_) {}

  // Only the channels that it replaces. The others are the same memory above and below.
  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    below_.Reset(slot, begin, end, mask, seeds);
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) std::fill_n(&average_[r * per_row_], per_row_, 0.0f);
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    below_.Step(slot, begin, end);
    const auto in = below_.Rows<float>(reward_below_, slot), out = slot.Rows(reward_);
    for (uint64_t r = begin; r < end; ++r) {
      for (uint64_t i = 0; i < per_row_; ++i) {
        float& average = average_[r * per_row_ + i];
        average += weight_ * (in[r][i] - average);
        out[r][i] = average;
      }
    }
  }

  // The memory of a row, for checkpoints.
  uint64_t StateBytes() const { return per_row_ * sizeof(float); }
  void Save(uint64_t row, void* out) const { std::memcpy(out, &average_[row * per_row_], StateBytes()); }
  void Load(uint64_t row, const void* data) { std::memcpy(&average_[row * per_row_], data, StateBytes()); }

 private:
  bp::EnvBelow below_;
  size_t reward_below_;
  uint64_t per_row_;  // rewards: one, or one per agent
  float weight_;
  bp::EnvSpec spec_;
  bp::Handle<float> reward_;
  std::vector<float> average_;  // [rows, per_row_]
};

BP_PLUGINS(bp::Wrapper<SmoothReward>);
