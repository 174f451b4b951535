// An env that starts the next episode of a row itself: it counts up from its seed, four steps long.
#include "backplane/env.hpp"

struct ResetsItself {
  static constexpr bp::About kAbout{.id = "env.resets_itself",
                                    .version = "1.0.0",
                                    .summary = "Counts, and begins anew by itself.",
                                    .flags = BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT};
  static constexpr bool kRowsConcurrent = false;
  static constexpr int64_t kSteps = 4;
  enum Channel { kObs, kAction, kReward, kTerminated, kTruncated, kFinalObs };

  explicit ResetsItself(uint64_t rows) : rows_(rows), next_(rows) {}
  bp::EnvSpec Spec() const {
    bp::EnvSpec spec;
    return spec.Obs(1)
        .ActionBox(1, -1, 1)
        .Reward()
        .Terminated()
        .Add({.role = BP_ROLE_TRUNCATED, .name = "truncated", .dtype = bp::kU8})
        .Add({.role = BP_ROLE_FINAL_OBS, .name = "final_obs", .shape = {1}})
        .MaxEpisodeSteps(kSteps);
  }
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
      *slot.Row<float>(kObs, r) = static_cast<float>(row.start + ++row.steps);
      *slot.Row<float>(kReward, r) = 1;
      *slot.Row<uint8_t>(kTerminated, r) = 0;
      const bool ends = row.steps == kSteps;
      *slot.Row<uint8_t>(kTruncated, r) = ends;
      if (!ends) continue;
      *slot.Row<float>(kFinalObs, r) = *slot.Row<float>(kObs, r);
      Begin(slot, r, next_[r]);
    }
  }

 private:
  struct Row {
    int64_t start = 0, steps = 0;
  };
  void Begin(const bp::Slot& slot, uint64_t r, uint64_t seed) {
    rows_[r] = {static_cast<int64_t>(seed % 1000), 0};
    *slot.Row<float>(kObs, r) = static_cast<float>(rows_[r].start);
  }
  std::vector<Row> rows_;
  std::vector<uint64_t> next_;
};

BP_PLUGINS(bp::EnvBatch<ResetsItself>);
