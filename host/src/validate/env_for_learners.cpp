#include "validate/env_for_learners.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "backplane/env.hpp"

namespace backplane {
namespace {

constexpr int64_t kEpisodeSteps = 8;

// The action should be the number that is seen.
struct Follow {
  struct Model {};
  static constexpr bp::About kAbout{"env.follow", "1.0.0", "Pays for an action that is the number seen."};
  static bp::EnvSpec Spec(const Model&) { return bp::EnvSpec().Obs(2).ActionBox(1, -1, 1).MaxEpisodeSteps(kEpisodeSteps); }
  void Reset(const Model&, bp::Rng& rng, float* obs) { Show(rng, obs); }
  bp::StepResult Step(const Model&, bp::Rng& rng, const float* action, float* obs, float*) {
    const double miss = action[0] - target;
    Show(rng, obs);
    return {.reward = 1 - miss * miss};
  }
  void Show(bp::Rng& rng, float* obs) {
    target = rng.Range(-0.8, 0.8);
    obs[0] = static_cast<float>(target), obs[1] = 1;
  }
  double target = 0;
};

// The choice should be the place of the 1.
struct Choose {
  struct Model {};
  static constexpr bp::About kAbout{"env.choose", "1.0.0", "Pays for the choice that is shown."};
  static constexpr int64_t kChoices = 4;
  using Action = int32_t;
  static bp::EnvSpec Spec(const Model&) {
    return bp::EnvSpec().Obs(kChoices).ActionDiscrete(kChoices).MaxEpisodeSteps(kEpisodeSteps);
  }
  void Reset(const Model&, bp::Rng& rng, float* obs) { Show(rng, obs); }
  bp::StepResult Step(const Model&, bp::Rng& rng, const int32_t* action, float* obs, float*) {
    const bool right = *action == shown;
    Show(rng, obs);
    return {.reward = right ? 1.0 : 0.0};
  }
  void Show(bp::Rng& rng, float* obs) {
    shown = static_cast<int32_t>(rng.Below(kChoices));
    for (int32_t i = 0; i < kChoices; ++i) obs[i] = i == shown ? 1 : 0;
  }
  int32_t shown = 0;
};

// The same for three agents, one of which may not take one of the choices, and is out from the middle of the episode on.
class ChooseTogether {
 public:
  static constexpr bp::About kAbout{"env.choose_together", "1.0.0", "Three agents, each paid for the choice that it is shown."};
  static constexpr uint32_t kAgents = 3;
  static constexpr int64_t kChoices = 4;
  enum Channel { kObs, kState, kMask, kAlive, kAction, kReward, kTerminated };

  explicit ChooseTogether(uint64_t rows) : rows_(rows) {}

  bp::EnvSpec Spec() const {
    return bp::EnvSpec()
        .Add({.role = BP_ROLE_OBS, .name = "obs", .shape = {kChoices}, .scope = BP_SCOPE_AGENT})
        .Add({.role = BP_ROLE_STATE, .name = "state", .shape = {kAgents}})
        .Add({.role = BP_ROLE_ACTION_MASK,
              .name = "action_mask",
              .shape = {kChoices},
              .dtype = bp::kU8,
              .scope = BP_SCOPE_AGENT})
        .Add({.role = BP_ROLE_ALIVE, .name = "alive", .dtype = bp::kU8, .scope = BP_SCOPE_AGENT})
        .Add({.role = BP_ROLE_ACTION,
              .name = "action",
              .dtype = bp::kI32,
              .space = BP_SPACE_DISCRETE,
              .scope = BP_SCOPE_AGENT,
              .nvec = {kChoices}})
        .Add({.role = BP_ROLE_REWARD, .name = "reward", .scope = BP_SCOPE_AGENT})
        .Terminated()
        .MaxAgents(kAgents)
        .MaxEpisodeSteps(kEpisodeSteps);
  }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      rows_[r] = {bp::Rng(seeds[r]), 0, {}};
      Show(slot, r);
    }
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      for (uint32_t a = 0; a < kAgents; ++a)
        slot.Row<float>(kReward, r)[a] = Alive(rows_[r], a) && slot.Row<int32_t>(kAction, r)[a] == rows_[r].shown[a] ? 1 : 0;
      *slot.Row<uint8_t>(kTerminated, r) = 0;
      ++rows_[r].steps;
      Show(slot, r);
    }
  }

 private:
  struct Row {
    bp::Rng rng;
    int64_t steps = 0;
    std::array<int32_t, kAgents> shown = {};
  };
  static bool Alive(const Row& row, uint32_t agent) { return agent + 1 < kAgents || row.steps < kEpisodeSteps / 2; }
  void Show(const bp::Slot& slot, uint64_t r) {
    Row& row = rows_[r];
    for (uint32_t a = 0; a < kAgents; ++a) {
      row.shown[a] = static_cast<int32_t>(row.rng.Below(kChoices - 1));  // never the one that is masked
      for (int32_t i = 0; i < kChoices; ++i) {
        slot.Row<float>(kObs, r)[a * kChoices + i] = i == row.shown[a] ? 1 : 0;
        slot.Row<uint8_t>(kMask, r)[a * kChoices + i] = i + 1 < kChoices || a > 0;
      }
      slot.Row<float>(kState, r)[a] = static_cast<float>(row.shown[a]);
      slot.Row<uint8_t>(kAlive, r)[a] = Alive(row, a);
    }
  }
  std::vector<Row> rows_;
};

// Texts to be copied: begin, some tokens, end. 0 begins, 1 pads, 2 ends, 3 is unknown, as SentencePiece has it.
class CopyTokens {
 public:
  static constexpr bp::About kAbout{"env.copy_tokens", "1.0.0", "A data set of short texts, each its own label."};
  static constexpr int64_t kItems = 48, kLongest = 8, kVocabulary = 12;
  enum Channel { kObs, kObsLength, kLabel, kLabelLength, kWeight, kAction, kReward, kTerminated };

  explicit CopyTokens(uint64_t) {}

  bp::EnvSpec Spec() const {
    const auto tokens = [](uint16_t role, const char* name) {
      return bp::Channel{
          .role = role, .name = name, .shape = {kLongest}, .dtype = bp::kI32, .space = BP_SPACE_TOKENS, .nvec = {kVocabulary}};
    };
    return bp::EnvSpec()
        .Add(tokens(BP_ROLE_OBS, "obs"))
        .Add({.role = BP_ROLE_LENGTH, .name = "obs_length", .dtype = bp::kI32})
        .Add(tokens(BP_ROLE_LABEL, "label"))
        .Add({.role = BP_ROLE_LENGTH, .name = "label_length", .dtype = bp::kI32})
        .Add({.role = BP_ROLE_WEIGHT, .name = "weight"})
        .Add(tokens(BP_ROLE_ACTION, "action"))
        .Reward()
        .Terminated()
        .MaxEpisodeSteps(1);
  }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) Show(slot, r, r % kItems);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      const auto text = TextOf(r % kItems);
      const int32_t* written = slot.Row<int32_t>(kAction, r);
      int64_t same = 0;
      for (int64_t i = 0; i < kLongest; ++i) same += written[i] == text[i];
      *slot.Row<float>(kReward, r) = static_cast<float>(same) / kLongest;
      *slot.Row<uint8_t>(kTerminated, r) = 1;
      Show(slot, r, r % kItems);
      Answer(slot, r, r % kItems);
    }
  }
  uint64_t Items() const { return kItems; }
  void Read(uint64_t seed, uint64_t first, uint64_t n, const bp::Slot& slot) {
    std::array<uint64_t, kItems> order;
    std::iota(order.begin(), order.end(), 0);
    bp::Rng rng(seed);
    for (uint64_t i = kItems - 1; seed != 0 && i > 0; --i) std::swap(order[i], order[rng.Below(i + 1)]);
    for (uint64_t i = 0; i < n; ++i) Show(slot, i, order[first + i]), Answer(slot, i, order[first + i]);
  }

 private:
  static int64_t LengthOf(uint64_t item) { return 3 + static_cast<int64_t>(item % (kLongest - 2)); }
  static std::array<int32_t, kLongest> TextOf(uint64_t item) {
    std::array<int32_t, kLongest> text;
    text.fill(1);
    bp::Rng rng(item + 1);
    const int64_t length = LengthOf(item);
    text[0] = 0;
    for (int64_t i = 1; i + 1 < length; ++i) text[i] = static_cast<int32_t>(4 + rng.Below(kVocabulary - 4));
    text[length - 1] = 2;
    return text;
  }
  static void Put(const bp::Slot& slot, int channel, int length_channel, uint64_t row, uint64_t item) {
    const auto text = TextOf(item);
    if (slot.Has(channel)) std::copy(text.begin(), text.end(), slot.Row<int32_t>(channel, row));
    if (slot.Has(length_channel)) *slot.Row<int32_t>(length_channel, row) = static_cast<int32_t>(LengthOf(item));
  }
  static void Show(const bp::Slot& slot, uint64_t row, uint64_t item) {
    Put(slot, kObs, kObsLength, row, item);
    if (slot.Has(kLabelLength)) *slot.Row<int32_t>(kLabelLength, row) = static_cast<int32_t>(LengthOf(item));
  }
  static void Answer(const bp::Slot& slot, uint64_t row, uint64_t item) {
    Put(slot, kLabel, kLabelLength, row, item);
    if (slot.Has(kWeight)) *slot.Row<float>(kWeight, row) = static_cast<float>(LengthOf(item));
  }
};

}  // namespace

const bp_module& EnvsForLearners() {
  using All = bp::Module<bp::Env<Follow>, bp::Env<Choose>, bp::EnvBatch<ChooseTogether>, bp::EnvBatch<CopyTokens>>;
  static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR,    0,       0, "", "{}", nullptr, nullptr,
                                   All::Count,        All::Descriptor, All::Api};
  return module;
}

}  // namespace backplane
