// Untrained policies for the multi-UAV grid: baselines for learners, run by the same host and shown in the same reports.
#include <optional>

#include "backplane/actions.hpp"
#include "backplane/learner.hpp"
#include "backplane/rng.h"
#include "greedy.hpp"
#include "plan_cache.hpp"
#include "scene.hpp"
#include "uav/rules.hpp"

namespace backplane::uav_scripted {

enum class Policy { kStay, kRandom, kRandomMasked, kGreedy, kGreedySep, kPlanner };

constexpr auto WordsOf(Policy) {
  return bp::Words<Policy>({{"stay", Policy::kStay},
                            {"random", Policy::kRandom},
                            {"random_masked", Policy::kRandomMasked},
                            {"greedy", Policy::kGreedy},
                            {"greedy_sep", Policy::kGreedySep},
                            {"planner", Policy::kPlanner}});
}

struct Options {
  Policy policy = Policy::kGreedy;
  uint64_t horizon = 1;
  int64_t grid_size = 0;
  double goal_radius = uav::Options().goal_radius;
};
constexpr bp::OptionTable kOptions{
    bp::Opt("policy", &Options::policy,
            "greedy: straight to the target; greedy_sep: also away from others; planner: plans for all UAVs together"),
    bp::Opt("horizon", &Options::horizon, "[1,)", "Steps per row and iteration", {.unit = "steps"}),
    bp::Opt("grid_size", &Options::grid_size, "[0,1024]", "Cells along each side; 0: from the map in STATE", {.unit = "cells"}),
    bp::Opt("goal_radius", &Options::goal_radius, "(0,)", "The env's goal_radius, for the planner; STATE does not contain it",
            {.unit = "cells"}),
};

class UavScripted : public bp::OnPolicy, public bp::LearnerPlugin<UavScripted> {
 public:
  static constexpr bp::About kAbout{.id = "learner.uav_scripted",
                                    .version = "1.0.0",
                                    .summary = "Scripted policies for the multi-UAV grid; learns nothing",
                                    .flags = BP_FLAG_ROWS_CONCURRENT | BP_FLAG_ROW_EXACT};
  static constexpr auto& kOptions = uav_scripted::kOptions;

  explicit UavScripted(const bp::LearnerSetup& setup)
      : OnPolicy(setup),
        options_(kOptions.Read(setup.config)),
        training_plans_(options_.goal_radius),
        evaluation_plans_(options_.goal_radius) {
    const bp_channel* state = bp::FindChannel(*setup.env, BP_ROLE_STATE);
    const bp_channel* map = bp::FindChannel(*setup.env, "map");  // with patch_dtype: int8
    if (map && (map->role != BP_ROLE_STATE || !bp::SameDtype(map->dtype, bp::DtypeOf<int8_t>()))) map = nullptr;
    const bp_channel* mask = bp::FindOnlyChannel(*setup.env, BP_ROLE_ACTION_MASK);
    const bp_channel* action = bp::FindOnlyChannel(*setup.env, BP_ROLE_ACTION);
    if (!state || !mask || !action)
      throw bp::Unsupported("expected a multi-UAV grid with STATE, ACTION_MASK and ACTION, got an env without one of them");
    if (action->space != BP_SPACE_DISCRETE || action->scope != BP_SCOPE_AGENT || action->nvec[0] != uav::kActions)
      throw bp::Unsupported("expected a multi-UAV grid, whose UAVs choose one of 9 actions, got a different ACTION");
    try {
      anything_.emplace(*action);
      allowed_.emplace(*action, mask);
    } catch (const std::invalid_argument& e) {
      throw bp::Unsupported(e.what());
    }
    reader_.emplace(*state, map, setup.env->max_agents, options_.grid_size, /*needs_map=*/options_.policy == Policy::kPlanner);
    spec_.ActIn(state->name);
    spec_.ActIn(mask->name);
    if (map) spec_.ActIn(map->name);
    has_map_channel_ = map != nullptr;
    spec_.ActOut(*action);
  }

  const bp_learner_spec* Spec() const override { return spec_.raw(); }
  uint64_t Horizon() const override { return options_.horizon; }
  uint64_t OnRollout(const bp::Delivery&) override { return 0; }

  void Act(const bp_act& act) override {
    const bp::View<const float> state(act.in[0], "state");
    const bp::View<const uint8_t> mask(act.in[1], "action_mask");
    const bp::View<int32_t> action(act.out[0], "action");
    bp::View<const int8_t> map;
    if (has_map_channel_) map = bp::View<const int8_t>(act.in[2], "map");
    const int64_t n = reader_->n_uavs();
    for (uint64_t row = act.begin; row < act.end; ++row) {
      const auto first = static_cast<int64_t>(row) * n;
      if (options_.policy <= Policy::kRandomMasked) {
        for (int64_t i = 0; i < n; ++i) *action.At(first + i) = Drawn(act, first + i, mask.At(first + i));
        continue;
      }
      const Scene scene = reader_->Read(state.At(static_cast<int64_t>(row)), map ? map.At(static_cast<int64_t>(row)) : nullptr);
      if (options_.policy == Policy::kPlanner) {
        PlanCache& plans = (act.flags & BP_ACT_GREEDY) != 0 ? evaluation_plans_ : training_plans_;
        plans.Act(act.row_base + row, scene, action.At(first));
        continue;
      }
      for (int64_t i = 0; i < n; ++i)
        *action.At(first + i) = GreedyAction(scene, i, mask.At(first + i), options_.policy == Policy::kGreedySep);
    }
  }

 private:
  int32_t Drawn(const bp_act& act, int64_t agent_row, const uint8_t* mask) const {
    if (options_.policy == Policy::kStay) return 0;
    const uint64_t row = act.row_base * static_cast<uint64_t>(reader_->n_uavs()) + static_cast<uint64_t>(agent_row);
    bp_rng rng{bp_seed(act.seed, BP_PURPOSE_ACT, static_cast<uint32_t>(row), act.step), 0};
    int32_t action;
    (options_.policy == Policy::kRandom ? anything_ : allowed_)->Uniform(&rng, mask, &action);
    return action;
  }

  const Options options_;
  bool has_map_channel_ = false;
  std::optional<SceneReader> reader_;
  std::optional<bp::ActionSpace> anything_, allowed_;
  // Not saved: after a restart the planner starts from the UAVs' positions.
  PlanCache training_plans_, evaluation_plans_;
  bp::LearnerSpec spec_;
};

}  // namespace backplane::uav_scripted

using backplane::uav_scripted::UavScripted;
BP_PLUGINS(UavScripted);
