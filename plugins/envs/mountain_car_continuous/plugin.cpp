#include "backplane/env.hpp"
#include "classic/valley.hpp"
#include "mountain_car_continuous.hpp"

struct MountainCarContinuous : mountain_car_continuous::State {
  static constexpr bp::About kAbout{
      .id = "env.mountain_car_continuous",
      .version = "1.0.0",
      .summary = "Drive a weak car out of a valley: MountainCarContinuous-v0 of Gymnasium, bit for bit.",
      .flags = BP_FLAG_MANY_ROWS,
      .aliases = "MountainCarContinuous-v0",
      .rows = 16};
  struct Model {
    double goal_velocity = 0;
    int64_t max_episode_steps = 999;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("goal_velocity", &Model::goal_velocity, "[-0.07,0.07]",
              "Minimum velocity at the goal; the car's maximum is 0.07.", {.unit = "1/step"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)", "Steps after which the host ends an episode."),
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

  static std::vector<bp::StatePart> StateParts(const Model&) { return {{"state", 2}}; }
  void GetState(const Model&, double* out) const { out[0] = position, out[1] = velocity; }
  void SetState(const Model&, const double* values, float* obs) {
    position = values[0], velocity = values[1], fresh = 1;
    Observe(obs);
  }

  static std::vector<bp::Label> Labels(const Model&, std::string_view channel) {
    if (channel == "action") return {{"force of the engine", ""}};
    if (channel == "obs") return {{"position (goal: 0.45)", ""}, {"velocity", "1/step"}};
    return {};
  }

  static bp::PictureSize SizeOfPicture(const Model&) { return classic::Valley::kSize; }
  static double SecondsOfStep(const Model&) { return 1.0 / 30; }  // the task has no unit of time: as Gymnasium shows it
  void DrawBackdrop(const Model&, std::string* out) const { kValley.DrawBackdrop(out); }
  void DrawFrame(const Model&, std::string* out) const { kValley.DrawCar(position, velocity, out); }

 private:
  static constexpr classic::Valley kValley{mountain_car_continuous::kMinPosition, mountain_car_continuous::kMaxPosition,
                                           mountain_car_continuous::kGoalPosition};
};

BP_PLUGINS(bp::Env<MountainCarContinuous>);
