// An env that resets itself: episodes of four steps count up from their seed.
#include "backplane/env.hpp"

struct ResetsItself {
  static constexpr bp::About kAbout{.id = "env.resets_itself",
                                    .version = "1.0.0",
                                    .summary = "Counts, and begins anew by itself.",
                                    .flags = BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT};
  static constexpr bool kRowsConcurrent = false;
  static constexpr int64_t kSteps = 4;

  explicit ResetsItself(uint64_t rows) : rows_(rows), next_(rows) {}
  bp::EnvSpec Spec() const { return spec_; }
  void NextSeeds(uint64_t per_row, const uint64_t* seeds) {
    for (uint64_t r = 0; r < next_.size(); ++r) next_[r] = seeds[r * per_row];
  }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) Begin(slot, r, seeds[r]);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      Row& row = rows_[r];
      slot.Row(obs_, r)[0] = static_cast<float>(row.start + ++row.steps);
      slot.Row(reward_, r)[0] = 1;
      slot.Row(terminated_, r)[0] = 0;
      const bool ends = row.steps == kSteps;
      slot.Row(truncated_, r)[0] = ends;
      if (!ends) continue;
      slot.Row(final_obs_, r)[0] = slot.Row(obs_, r)[0];
      Begin(slot, r, next_[r]);
    }
  }

 private:
  struct Row {
    int64_t start = 0, steps = 0;
  };
  void Begin(const bp::Slot& slot, uint64_t r, uint64_t seed) {
    rows_[r] = {static_cast<int64_t>(seed % 1000), 0};
    slot.Row(obs_, r)[0] = static_cast<float>(rows_[r].start);
  }
  std::vector<Row> rows_;
  std::vector<uint64_t> next_;
  bp::EnvSpec spec_ = bp::EnvSpec().Obs(1).ActionBox(1, -1, 1).Reward().Terminated().MaxEpisodeSteps(kSteps);
  bp::Handle<float> obs_ = spec_.Get<float>(BP_ROLE_OBS), reward_ = spec_.Get<float>(BP_ROLE_REWARD);
  bp::Handle<uint8_t> terminated_ = spec_.Get<uint8_t>(BP_ROLE_TERMINATED);
  bp::Handle<uint8_t> truncated_ = spec_.Add<uint8_t>({.role = BP_ROLE_TRUNCATED, .name = "truncated"});
  bp::Handle<float> final_obs_ = spec_.Add<float>({.role = BP_ROLE_FINAL_OBS, .name = "final_obs", .shape = {1}});
};

BP_PLUGINS(bp::EnvBatch<ResetsItself>);
