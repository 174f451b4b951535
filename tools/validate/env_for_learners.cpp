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

// The best action equals the observed number.
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

// The best choice is the index of the 1.
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

// The same for three agents. One has a masked choice and leaves in the middle of the episode.
struct ChooseTogether {
  struct Model {};
  static constexpr bp::About kAbout{"env.choose_together", "1.0.0", "Three agents, each paid for the choice that it is shown."};
  static constexpr int32_t kAgents = 3, kChoices = 4;
  using Action = int32_t;
  static bp::EnvSpec Spec(const Model&) {
    return bp::EnvSpec()
        .MaxAgents(kAgents)
        .AgentObs(kChoices)
        .State(kAgents)
        .AgentActionDiscrete(kChoices)
        .ActionMask()
        .Alive()
        .MaxEpisodeSteps(kEpisodeSteps);
  }
  void Reset(const Model&, bp::Rng& rng, const bp::RowView& out) {
    steps = 0;
    Show(rng, out);
  }
  bool Step(const Model&, bp::Rng& rng, const bp::RowStep<Action>& row) {
    for (int32_t a = 0; a < kAgents; ++a) row.reward[a] = IsAlive(a) && row.action[a] == shown[a] ? 1 : 0;
    ++steps;
    Show(rng, row);
    return false;
  }
  bool IsAlive(int32_t agent) const { return agent + 1 < kAgents || steps < kEpisodeSteps / 2; }
  void Show(bp::Rng& rng, const bp::RowView& out) {
    for (int32_t a = 0; a < kAgents; ++a) {
      shown[a] = static_cast<int32_t>(rng.Below(kChoices - 1));  // never the masked one
      for (int32_t i = 0; i < kChoices; ++i) {
        out.obs[a][i] = i == shown[a] ? 1 : 0;
        out.mask[a][i] = i + 1 < kChoices || a > 0;
      }
      out.state[a] = static_cast<float>(shown[a]);
      out.alive[a] = IsAlive(a);
    }
  }
  int64_t steps = 0;
  std::array<int32_t, kAgents> shown = {};
};

// Texts to copy: begin, some tokens, end. 0 begins, 1 pads, 2 ends, 3 is unknown, as in SentencePiece.
class CopyTokens {
 public:
  static constexpr bp::About kAbout{"env.copy_tokens", "1.0.0", "A data set of short texts, each its own label."};
  static constexpr int64_t kItems = 48, kLongest = 8, kVocabulary = 12;

  explicit CopyTokens(uint64_t) { spec_.MaxEpisodeSteps(1); }

  bp::EnvSpec Spec() const { return spec_; }
  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t*) {
    for (uint64_t r = begin; r < end; ++r)
      if (!mask || mask[r]) Show(slot, r, r % kItems);
  }
  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      const auto text = TextOf(r % kItems);
      const std::span<const int32_t> written = slot.Row(action_, r);
      int64_t same = 0;
      for (int64_t i = 0; i < kLongest; ++i) same += written[i] == text[i];
      slot.Row(reward_, r)[0] = static_cast<float>(same) / kLongest;
      slot.Row(terminated_, r)[0] = 1;
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
  static void PutLength(const bp::Slot& slot, bp::Handle<int32_t> channel, uint64_t row, uint64_t item) {
    if (slot.Has(channel)) slot.Row(channel, row)[0] = static_cast<int32_t>(LengthOf(item));
  }
  static void PutText(const bp::Slot& slot, bp::Handle<int32_t> channel, uint64_t row, uint64_t item) {
    if (slot.Has(channel)) std::ranges::copy(TextOf(item), slot.Row(channel, row).begin());
  }
  void Show(const bp::Slot& slot, uint64_t row, uint64_t item) const {
    PutText(slot, obs_, row, item);
    PutLength(slot, obs_length_, row, item);
    PutLength(slot, label_length_, row, item);
  }
  void Answer(const bp::Slot& slot, uint64_t row, uint64_t item) const {
    PutText(slot, label_, row, item);
    if (slot.Has(weight_)) slot.Row(weight_, row)[0] = static_cast<float>(LengthOf(item));
  }
  static bp::Channel Tokens(uint16_t role, const char* name) {
    return {.role = role, .name = name, .shape = {kLongest}, .space = BP_SPACE_TOKENS, .nvec = {kVocabulary}};
  }

  bp::EnvSpec spec_;
  bp::Handle<int32_t> obs_ = spec_.Add<int32_t>(Tokens(BP_ROLE_OBS, "obs"));
  bp::Handle<int32_t> obs_length_ = spec_.Add<int32_t>({.role = BP_ROLE_LENGTH, .name = "obs_length"});
  bp::Handle<int32_t> label_ = spec_.Add<int32_t>(Tokens(BP_ROLE_LABEL, "label"));
  bp::Handle<int32_t> label_length_ = spec_.Add<int32_t>({.role = BP_ROLE_LENGTH, .name = "label_length"});
  bp::Handle<float> weight_ = spec_.Add<float>({.role = BP_ROLE_WEIGHT, .name = "weight"});
  bp::Handle<const int32_t> action_ = spec_.Add<const int32_t>(Tokens(BP_ROLE_ACTION, "action"));
  bp::Handle<float> reward_ = spec_.Reward().Get<float>(BP_ROLE_REWARD);
  bp::Handle<uint8_t> terminated_ = spec_.Terminated().Get<uint8_t>(BP_ROLE_TERMINATED);
};

}  // namespace

const bp_module& EnvsForLearners() {
  using All = bp::Module<bp::Env<Follow>, bp::Env<Choose>, bp::MultiEnv<ChooseTogether>, bp::EnvBatch<CopyTokens>>;
  static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR,    0,       0, "", "{}", nullptr, nullptr,
                                   All::Count,        All::Descriptor, All::Api};
  return module;
}

}  // namespace backplane
