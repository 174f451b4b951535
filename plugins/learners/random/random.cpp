// Acts at random, or always zero, without learning: the baseline that every other learner should beat, and the cheapest learner
// for timing an env.
#include <cstdint>
#include <cstring>
#include <optional>
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
    const bp_channel& action = bp::NeedChannel(*setup.env, BP_ROLE_ACTION);
    const bp_channel* mask = bp::FindOnlyChannel(*setup.env, BP_ROLE_ACTION_MASK);
    try {
      space_.emplace(action, mask);
    } catch (const std::invalid_argument& e) {
      throw bp::Unsupported(e.what());
    }
    agents_ = action.scope == BP_SCOPE_AGENT ? setup.env->max_agents : 1;
    if (space_->masked()) spec_.ActIn(mask->name);
    spec_.ActOut(action);
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
    for (uint64_t row = act.begin * agents_; row < act.end * agents_; ++row) {
      bp_rng rng{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base * agents_ + row), act.step), 0};
      const auto r = static_cast<int64_t>(row);
      const uint8_t* mask = space_->masked() ? bp::View<const uint8_t>(act.in[0], "action_mask").At(r) : nullptr;
      void* out = space_->discrete() ? static_cast<void*>(bp::View<int32_t>(act.out[0], "action").At(r))
                                     : bp::View<float>(act.out[0], "action").At(r);
      options_.policy == Policy::kUniform ? space_->Uniform(&rng, mask, out) : space_->Zero(mask, out);
    }
  }
  // The learner has no state, but a trial can only resume if its learner can save.
  void Save(const bp::Writer& writer) const { writer.Put(version()); }
  void Load(const bp::Reader& reader) { Restart(reader.Get<uint64_t>()); }

 private:
  const Options options_;
  uint64_t agents_;
  std::optional<bp::ActionSpace> space_;
  std::vector<std::string> observed_;  // tensors of a delivery
  bp::LearnerSpec spec_;
};

}  // namespace backplane::random

using backplane::random::Random;
BP_PLUGINS(Random);
