// Acts at random, or always zero, without learning: the baseline that every other learner should beat, and the cheapest learner
// for timing an env.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backplane/actions.hpp"
#include "backplane/learner.hpp"
#include "backplane/rng.h"

namespace backplane::random {

enum class Policy { kUniform, kZero };
constexpr auto WordsOf(Policy) { return bp::Words<Policy>({{"uniform", Policy::kUniform}, {"zero", Policy::kZero}}); }

struct Options {
  Policy policy = Policy::kUniform;
  uint64_t horizon = 128;
};
constexpr bp::OptionTable kOptions{
    bp::Opt("policy", &Options::policy, "uniform: draws from the action space; zero: 0, or the nearest allowed value"),
    bp::Opt("horizon", &Options::horizon, "[1,)", "Steps per row and iteration", {.unit = "steps"}),
};

// NaN or infinity has all bits of the exponent set. The compiler vectorises the OR of integers.
inline bool AllFinite(const float* values, uint64_t n) {
  uint32_t bad = 0;
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof bits);
    bad |= static_cast<uint32_t>((bits & 0x7f800000u) == 0x7f800000u);
  }
  return bad == 0;
}

class Random : public bp::OnPolicy, public bp::LearnerPlugin<Random> {
 public:
  static constexpr bp::About kAbout{.id = "learner.random",
                                    .version = "1.0.0",
                                    .summary = "Acts at random or with zeros; learns nothing",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  static constexpr auto& kOptions = random::kOptions;

  explicit Random(const bp::LearnerSetup& setup) : OnPolicy(setup), options_(kOptions.Read(setup.config)) {
    const std::vector<const bp_channel*> actions = bp::FindChannels(*setup.env, BP_ROLE_ACTION);
    if (actions.empty()) throw bp::Unsupported("needs an ACTION channel, the env has none");
    for (const bp_channel* action : actions) AddAction(*setup.env, *action);
    if (!bp::GroupsOf(*setup.env).empty()) spec_.set_flags(BP_LEARNER_GROUPS);
    for (const bp_channel* obs : bp::FindChannels(*setup.env, BP_ROLE_OBS)) {
      if (!bp::SameDtype(obs->dtype, bp::DtypeOf<float>())) continue;
      spec_.Keep(obs->name);
      observed_.emplace_back(obs->name);
      observed_.push_back(bp::FinalName(*setup.env, *obs));
    }
  }

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return options_.horizon; }
  // The learner does not use observations, but a trial with broken ones must not count as completed.
  uint64_t OnRollout(const bp::Delivery& delivery) override {
    for (const std::string& name : observed_) {
      const bp_tensor* seen = delivery.Find(name.c_str());
      if (seen == nullptr) continue;
      const bp::View<const float> entries(seen, name.c_str());
      uint64_t of_entry = 1;
      for (int dim = 1; dim < seen->ndim; ++dim) of_entry *= static_cast<uint64_t>(seen->shape[dim]);
      for (int64_t t = 0; t < entries.Size(0); ++t)
        if (!AllFinite(entries.At(t), of_entry)) throw bp::Error(BP_E_NUMERIC, "a number of '" + name + "' is not finite");
    }
    return 0;
  }

  void Act(const bp_act& act) override {
    for (size_t c = 0; c < actions_.size(); ++c) {
      const Action& action = actions_[c];
      const bp_tensor& to = *act.out[c];
      for (uint64_t row = act.begin * action.agents; row < act.end * action.agents; ++row) {
        // Channels use distant positions of one stream.
        const auto place = static_cast<uint32_t>(act.row_base * action.agents + row);
        bp_rng rng{bp_seed(act.seed, BP_PURPOSE_ACT, place, act.step), uint64_t{c} << 32};
        const auto r = static_cast<int64_t>(row);
        const uint8_t* mask = action.mask >= 0 ? bp::View<const uint8_t>(act.in[action.mask], "action_mask").At(r) : nullptr;
        void* out = static_cast<char*>(to.data) + r * to.strides[0] * (to.dtype.bits / 8);
        options_.policy == Policy::kUniform ? action.space.Uniform(&rng, mask, out) : action.space.Zero(mask, out);
      }
    }
  }
  // The learner has no state, but a trial can only resume if its learner can save.
  void Save(const bp::Writer& writer) const { writer.Put(version()); }
  void Load(const bp::Reader& reader) { Restart(reader.Get<uint64_t>()); }

 private:
  struct Action {
    bp::ActionSpace space;
    uint64_t agents;    // per row
    int64_t mask = -1;  // its index in the inputs; -1: none
  };

  void AddAction(const bp_env_spec& env, const bp_channel& action) {
    const bp::MaskPlace place = bp::MaskPlaceOf(env, action);
    try {
      actions_.push_back({bp::ActionSpace(action, place.mask, place.first_flag, place.flags), bp::AgentsIn(env, action)});
    } catch (const std::invalid_argument& e) {
      throw bp::Unsupported(e.what());
    }
    if (actions_.back().space.masked()) actions_.back().mask = InputOf(place.mask->name);
    spec_.ActOut(action);
  }

  // The index of a mask in the inputs of Act, added if it is new.
  int64_t InputOf(const std::string& mask) {
    const auto found = std::find(masks_.begin(), masks_.end(), mask);
    if (found != masks_.end()) return found - masks_.begin();
    masks_.push_back(mask);
    spec_.ActIn(mask);
    return static_cast<int64_t>(masks_.size()) - 1;
  }

  const Options options_;
  std::vector<Action> actions_;        // of each ACTION channel
  std::vector<std::string> masks_;     // in the order of the inputs
  std::vector<std::string> observed_;  // tensors of a delivery
  bp::LearnerSpec spec_;
};

}  // namespace backplane::random

using backplane::random::Random;
BP_PLUGINS(Random);
