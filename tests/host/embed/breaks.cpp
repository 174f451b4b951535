// An env whose action chooses how a row's step fails. Its observation counts up from the seed.
#include <limits>
#include <new>

#include "backplane/env.hpp"

struct Breaks {
  static constexpr bp::About kAbout{.id = "env.breaks", .version = "1.0.0", .summary = "Counts, and fails as its action asks."};

  explicit Breaks(uint64_t rows) : at_(rows) {}
  bp::EnvSpec Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) slot.Row(obs_, r)[0] = at_[r] = static_cast<float>(seeds[r] % 1000);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      const int how = static_cast<int>(slot.Row(action_, r)[0]);
      slot.Row(obs_, r)[0] = how == 2 ? std::numeric_limits<float>::quiet_NaN() : ++at_[r];
      slot.Row(reward_, r)[0] = how == 3 ? std::numeric_limits<float>::infinity() : 1;
      slot.Row(terminated_, r)[0] = 0;
      if (how == 1) throw bp::Error(BP_E_INTERNAL, "row " + std::to_string(r) + " broke");
      if (how == 4) throw std::bad_alloc();
    }
  }

 private:
  std::vector<float> at_;
  bp::EnvSpec spec_ = bp::EnvSpec().Obs(1).ActionBox(1, -9, 9).Reward().Terminated().MaxEpisodeSteps(5);
  bp::Handle<float> obs_ = spec_.Get<float>(BP_ROLE_OBS), reward_ = spec_.Get<float>(BP_ROLE_REWARD);
  bp::Handle<uint8_t> terminated_ = spec_.Get<uint8_t>(BP_ROLE_TERMINATED);
  bp::Handle<const float> action_ = spec_.Get<const float>(BP_ROLE_ACTION);
};

BP_PLUGINS(bp::EnvBatch<Breaks>);
