#include "backplane/env.hpp"
#include "pendulum.hpp"

// Numbers of an observation: all, or without the speed.
enum class Observed { kAll, kPositions };
constexpr auto WordsOf(Observed) { return bp::Words<Observed>({{"all", Observed::kAll}, {"positions", Observed::kPositions}}); }

struct Pendulum : pendulum::State {
  static constexpr bp::About kAbout{.id = "env.pendulum",
                                    .version = "1.0.0",
                                    .summary = "Swing a pendulum up: Pendulum-v1 of Gymnasium, bit for bit.",
                                    .flags = BP_FLAG_MANY_ROWS,
                                    .aliases = "Pendulum-v1",
                                    .rows = 16};
  struct Model {
    double g = 10;
    int64_t max_episode_steps = 200;
    Observed observe = Observed::kAll;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("g", &Model::g, "Acceleration of gravity; more makes the motor weaker in comparison.", {.unit = "m/s^2"}),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)",
              "Steps after which the host ends an episode; the env itself never does."),
      bp::Opt("observe", &Model::observe, "positions: hides the speed, so that an observation does not determine the state.",
              {.flags = BP_PARAM_LATER}),
  };

  static bp::EnvSpec Spec(const Model& model) {
    const double speed = pendulum::kMaxSpeed, torque = pendulum::kMaxTorque;
    const bool all = model.observe == Observed::kAll;
    return bp::EnvSpec()
        .Obs(all ? std::vector<double>{-1, -1, -speed} : std::vector<double>{-1, -1},
             all ? std::vector<double>{1, 1, speed} : std::vector<double>{1, 1})
        .ActionBox(1, -torque, torque)
        .Reward(-(std::numbers::pi * std::numbers::pi + 0.1 * speed * speed + 0.001 * torque * torque), 0)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model& model, bp::Rng& rng, float* obs) {
    theta = rng.Range(-std::numbers::pi, std::numbers::pi);
    theta_dot = rng.Range(-1, 1);
    Show(model, obs);
  }

  bp::StepResult Step(const Model& model, bp::Rng&, const float* action, float* obs, float*) {
    const double reward = Advance(model.g, *action);
    Show(model, obs);
    return {.reward = reward};
  }

  static std::vector<bp::StatePart> StateParts(const Model&) { return {{"state", 2}}; }
  void GetState(const Model&, double* out) const { out[0] = theta, out[1] = theta_dot; }
  void SetState(const Model& model, const double* values, float* obs) {
    theta = values[0], theta_dot = values[1];
    Show(model, obs);
  }
  void Show(const Model& model, float* obs) const {
    float all[3];
    pendulum::State::Observe(all);
    std::copy_n(all, model.observe == Observed::kAll ? 3 : 2, obs);
  }

  static std::vector<bp::Label> Labels(const Model& model, std::string_view channel) {
    if (channel == "action") return {{"torque", "N m"}};
    if (channel != "obs") return {};
    std::vector<bp::Label> labels = {{"cosine of the angle (1: upright)", ""}, {"sine of the angle", ""}};
    if (model.observe == Observed::kAll) labels.push_back({"angular velocity", "rad/s"});
    return labels;
  }

  static bp::PictureSize SizeOfPicture(const Model&) { return {480, 330}; }
  static double SecondsOfStep(const Model&) { return pendulum::kTau; }
  // The way of the pendulum's end, and upright.
  void DrawBackdrop(const Model&, std::string* out) const {
    *out +=
        "<circle cx=\"240\" cy=\"175\" r=\"120\" fill=\"none\" stroke=\"#d5dbe2\" stroke-width=\"2\"/>"
        "<path d=\"M240 45v20\" stroke=\"#009e73\" stroke-width=\"4\"/>";
  }
  // A positive angle leans to the left, as Gymnasium shows it.
  void DrawFrame(const Model&, std::string* out) const {
    bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">%.0f\u00b0 from upright, %.1f rad/s</text>",
              std::abs(pendulum::Normalize(theta)) * 180 / std::numbers::pi, theta_dot);
    bp::Print(out, "<path d=\"M240 175l%.1f %.1f\" stroke=\"#c1121f\" stroke-width=\"22\" stroke-linecap=\"round\"/>",
              -109 * std::sin(theta), -109 * std::cos(theta));
    *out += "<circle cx=\"240\" cy=\"175\" r=\"5\" fill=\"#222\"/>";
  }
};

BP_PLUGINS(bp::Env<Pendulum>);
