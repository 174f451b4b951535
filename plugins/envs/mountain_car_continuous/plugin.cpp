#include "backplane/env.hpp"
#include "mountain_car_continuous.hpp"

struct MountainCarContinuous : mountain_car_continuous::State {
  static constexpr bp::About kAbout{
      .id = "env.mountain_car_continuous",
      .version = "1.0.0",
      .summary = "Drive a weak car out of a valley: MountainCarContinuous-v0 of Gymnasium, bit for bit.",
      .aliases = "MountainCarContinuous-v0",
      .rows = 16};
  struct Model {
    double goal_velocity = 0;
    int64_t max_episode_steps = 999;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("goal_velocity", &Model::goal_velocity, "[-0.07,0.07]", "Least speed at the goal; the car's largest is 0.07.",
              {.unit = "1/step"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)", "The host ends an episode after so many steps."),
  };

  static bp::EnvSpec Spec(const Model& model) {
    using namespace mountain_car_continuous;
    return bp::EnvSpec()
        .Obs({kMinPosition, -kMaxSpeed}, {kMaxPosition, kMaxSpeed})
        .ActionBox(1, -kMaxAction, kMaxAction)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, float* obs) {
    position = rng.Range(-0.6, -0.4);
    velocity = 0;
    fresh = 1;
    Observe(obs);
  }

  bp::StepResult Step(const Model& model, bp::Rng&, const float* action, float* obs, float*) {
    const double wanted = *action;
    const bool arrived = Advance(*action, model.goal_velocity);
    Observe(obs);
    return {.reward = (arrived ? 100.0 : 0.0) - wanted * wanted * 0.1, .terminated = arrived};
  }
};

BP_PLUGINS(bp::Env<MountainCarContinuous>);
