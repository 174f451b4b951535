// Acts at random, or not at all, and never learns: the baseline every other learner should beat, and the cheapest learner to
// time an env with.
#include <algorithm>
#include <cmath>

#include "backplane/learner.hpp"
#include "backplane/rng.h"

namespace backplane::random {

class Random : public bp::OnPolicy, public bp::LearnerPlugin<Random> {
 public:
  static constexpr bp::About kAbout{.id = "learner.random",
                                    .version = "1.0.0",
                                    .summary = "Acts at random or with zeros; learns nothing",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  static constexpr bp_param kOptions[] = {
      bp::Enum("policy", "uniform", "uniform|zero", "uniform draws from the action space, zero always takes 0 or its nearest"),
      bp::I64("horizon", "128", "[1,)", "Steps of each row in one iteration", {.unit = "steps"}),
  };

  explicit Random(const bp::LearnerSetup& setup) : OnPolicy(setup) {
    uniform_ = setup.config.Str("policy") == "uniform";
    horizon_ = static_cast<uint64_t>(setup.config.I64("horizon"));
    const bp_channel* action = bp::FindChannel(setup.env, BP_ROLE_ACTION, "ACTION");
    if (!action) throw bp::Unsupported("needs an ACTION channel, the env has none");
    agents_ = action->scope == BP_SCOPE_AGENT ? setup.env->max_agents : 1;
    action->space == BP_SPACE_DISCRETE ? UseDiscrete(setup, *action) : UseBox(*action);
    spec_.ActOut(*action);
  }

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return horizon_; }
  uint64_t OnRollout(const bp::Delivery&) override { return 0; }

  void Act(const bp_act& act) override {
    for (uint64_t row = act.begin * agents_; row < act.end * agents_; ++row) {
      bp_rng rng{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(act.row_base * agents_ + row), act.step), 0};
      const auto r = static_cast<int64_t>(row);
      if (choices_ == 0) {
        DrawBox(&rng, bp::View<float>(act.out[0], "action").At(r));
      } else {
        const uint8_t* mask = masked_ ? bp::View<const uint8_t>(act.in[0], "action_mask").At(r) : nullptr;
        *bp::View<int32_t>(act.out[0], "action").At(r) = Draw(&rng, mask);
      }
    }
  }
  // Nothing is learned, so there is nothing to keep; offering it lets a trial go on after an interruption.
  void Save(const bp::Writer& writer) const { writer.Put(version()); }
  void Load(const bp::Reader& reader) { Restart(reader.Get<uint64_t>()); }

 private:
  void UseDiscrete(const bp::LearnerSetup& setup, const bp_channel& action) {
    if (bp::ElementCount(action) != 1 || !bp::SameDtype(action.dtype, bp::DtypeOf<int32_t>())) {
      throw bp::Unsupported(std::string("action channel '") + action.name + "' should be one int32 per row");
    }
    choices_ = action.nvec[0];
    if (const bp_channel* mask = bp::FindChannel(setup.env, BP_ROLE_ACTION_MASK, "ACTION_MASK")) {
      if (mask->scope != action.scope || bp::ElementCount(*mask) != choices_) {
        throw bp::Unsupported(std::string("mask '") + mask->name + "' should have the action's scope and one flag per choice");
      }
      spec_.ActIn(mask->name);
      masked_ = true;
    }
  }

  void UseBox(const bp_channel& action) {
    if (action.space != BP_SPACE_BOX || !bp::SameDtype(action.dtype, bp::DtypeOf<float>())) {
      throw bp::Unsupported(std::string("action channel '") + action.name + "' should be a float32 BOX or DISCRETE");
    }
    for (int64_t i = 0; i < bp::ElementCount(action); ++i) {
      const uint64_t at = action.n_bounds > 1 ? static_cast<uint64_t>(i) : 0;
      low_.push_back(action.n_bounds ? action.low[at] : -INFINITY);
      high_.push_back(action.n_bounds ? action.high[at] : INFINITY);
    }
  }

  // A side without a bound has no uniform distribution: those elements are standard normal, as in Gymnasium's Box.sample.
  void DrawBox(bp_rng* rng, float* out) const {
    for (size_t i = 0; i < low_.size(); ++i) {
      double value = 0;
      if (uniform_) {
        const bool bounded = std::isfinite(low_[i]) && std::isfinite(high_[i]);
        value = bounded ? bp_rng_range(rng, low_[i], high_[i]) : bp_rng_normal(rng);
      }
      out[i] = static_cast<float>(std::clamp(value, low_[i], high_[i]));
    }
  }

  // An allowed choice; 0 when the mask allows none, which envs use for rows that do not act.
  int32_t Draw(bp_rng* rng, const uint8_t* mask) const {
    const int64_t allowed = mask ? std::count_if(mask, mask + choices_, [](uint8_t m) { return m != 0; }) : choices_;
    if (allowed == 0) return 0;
    int64_t skip = uniform_ ? static_cast<int64_t>(bp_rng_below(rng, static_cast<uint64_t>(allowed))) : 0;
    for (int32_t choice = 0;; ++choice) {
      if ((!mask || mask[choice]) && skip-- == 0) return choice;
    }
  }

  bool uniform_, masked_ = false;
  uint64_t horizon_, agents_;
  int64_t choices_ = 0;  // 0: BOX
  std::vector<double> low_, high_;
  bp::LearnerSpec spec_;
};

}  // namespace backplane::random

using backplane::random::Random;
BP_PLUGINS(Random);
