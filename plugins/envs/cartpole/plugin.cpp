#include <limits>

#include "backplane/env.hpp"
#include "cartpole.hpp"

struct CartPole : cartpole::State {
  static constexpr bp::About kAbout{.id = "env.cartpole",
                                    .version = "1.0.0",
                                    .summary = "Balance a pole on a cart: CartPole-v1 of Gymnasium, bit for bit.",
                                    .aliases = "CartPole-v1",
                                    .rows = 16};
  struct Model {
    bool sutton_barto_reward = false;
    int64_t max_episode_steps = 500;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("sutton_barto_reward", &Model::sutton_barto_reward, "Pay 0 a step and -1 for the fall, in place of 1 a step."),
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)",
              "The host ends an episode after so many steps; 200 gives CartPole-v0."),
  };
  using Action = int32_t;

  static bp::EnvSpec Spec(const Model& model) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    const double x = 2 * cartpole::kXLimit, theta = 2 * cartpole::kThetaLimit;
    return bp::EnvSpec()
        .Obs({-x, -kAny, -theta, -kAny}, {x, kAny, theta, kAny})
        .ActionDiscrete(2)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, float* obs) {
    for (double* value : {&x, &x_dot, &theta, &theta_dot}) *value = rng.Range(-cartpole::kResetRange, cartpole::kResetRange);
    Observe(obs);
  }

  bp::StepResult Step(const Model& model, bp::Rng&, const int32_t* action, float* obs, float*) {
    Advance(*action == 1);
    Observe(obs);
    const bool fallen = Fallen();
    return {.reward = !model.sutton_barto_reward ? 1.0 : fallen ? -1.0 : 0.0, .terminated = fallen};
  }

  static std::vector<bp::StatePart> StateParts(const Model&) { return {{"state", 4}}; }
  void GetState(const Model&, double* out) const {
    for (const double value : {x, x_dot, theta, theta_dot}) *out++ = value;
  }
  void SetState(const Model&, const double* values, float* obs) {
    for (double* value : {&x, &x_dot, &theta, &theta_dot}) *value = *values++;
    Observe(obs);
  }

  // Pictures: 120 pixels a metre, the cart's axle at kTrack.
  static constexpr double kScale = 120, kMiddle = 320, kTrack = 200;
  static bp::PictureSize SizeOfPicture(const Model&) { return {640, 250}; }
  static double SecondsOfStep(const Model&) { return cartpole::kTau; }
  // The track with a mark each half metre, and a post at either end of it.
  void DrawBackdrop(const Model&, std::string* out) const {
    const double end = kScale * cartpole::kXLimit;
    bp::Print(out, "<path d=\"M0 %gh640\" stroke=\"#9aa3ad\" stroke-width=\"2\"/><path stroke=\"#9aa3ad\" d=\"", kTrack);
    for (int i = -4; i <= 4; ++i) bp::Print(out, "M%g %gv%d", kMiddle + i * kScale / 2, kTrack + 16, i % 2 == 0 ? 10 : 5);
    bp::Print(out, "\"/><path d=\"M%g %gv-60M%g %gv-60\" stroke=\"#c1121f\" stroke-width=\"3\"/>", kMiddle - end, kTrack,
              kMiddle + end, kTrack);
  }
  void DrawFrame(const Model&, std::string* out) const {
    const double at = kMiddle + kScale * x, length = 2 * cartpole::kHalfLength * kScale;
    bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">cart at %.2f m, pole at %.1f\u00b0</text>", x,
              theta * 180 / std::numbers::pi);
    bp::Print(out, "<rect x=\"%.1f\" y=\"%g\" width=\"64\" height=\"30\" rx=\"4\" fill=\"#33465c\"/>", at - 32, kTrack - 15);
    bp::Print(out, "<path d=\"M%.1f %gl%.1f %.1f\" stroke=\"#d55e00\" stroke-width=\"10\" stroke-linecap=\"round\"/>", at,
              kTrack - 10, length * std::sin(theta), -length * std::cos(theta));
    bp::Print(out, "<circle cx=\"%.1f\" cy=\"%g\" r=\"4\" fill=\"#e8edf2\"/>", at, kTrack - 10);
  }
};

BP_PLUGINS(bp::Env<CartPole>);
