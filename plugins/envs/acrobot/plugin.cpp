#include "acrobot.hpp"
#include "backplane/env.hpp"

struct Acrobot : acrobot::State {
  static constexpr bp::About kAbout{
      .id = "env.acrobot",
      .version = "1.0.0",
      .summary = "Swing two links up with a motor between them: Acrobot-v1 of Gymnasium, bit for bit.",
      .flags = BP_FLAG_MANY_ROWS,
      .aliases = "Acrobot-v1",
      .rows = 16};
  struct Model {
    int64_t max_episode_steps = 500;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("max_episode_steps", &Model::max_episode_steps, "[1,)", "Steps after which the host ends an episode."),
  };
  using Action = int32_t;

  static bp::EnvSpec Spec(const Model& model) {
    const double speed1 = acrobot::kMaxSpeed1, speed2 = acrobot::kMaxSpeed2;
    return bp::EnvSpec()
        .Obs({-1, -1, -1, -1, -speed1, -speed2}, {1, 1, 1, 1, speed1, speed2})
        .ActionDiscrete(3)
        .Reward(-1, 0)
        .MaxEpisodeSteps(model.max_episode_steps);
  }

  void Reset(const Model&, bp::Rng& rng, float* obs) {
    for (double* value : {&theta1, &theta2, &speed1, &speed2}) *value = static_cast<float>(rng.Range(-0.1, 0.1));
    ObserveStart(obs);
  }

  bp::StepResult Step(const Model&, bp::Rng&, const int32_t* action, float* obs, float*) {
    Advance(*action - 1);
    Observe(obs);
    const bool up = IsUp();
    return {.reward = up ? 0.0 : -1.0, .terminated = up};
  }

  static std::vector<bp::StatePart> StateParts(const Model&) { return {{"state", 4}}; }
  void GetState(const Model&, double* out) const {
    for (const double value : {theta1, theta2, speed1, speed2}) *out++ = value;
  }
  void SetState(const Model&, const double* values, float* obs) {
    theta1 = values[0], theta2 = values[1], speed1 = values[2], speed2 = values[3];
    ObserveStart(obs);
  }

  static std::vector<bp::Label> Labels(const Model&, std::string_view channel) {
    if (channel == "action") return {{"torque between the links (0: -1 N m, 1: none, 2: 1 N m)", ""}};
    if (channel != "obs") return {};
    return {{"cosine of the first link's angle (1: hanging)", ""}, {"sine of the first link's angle", ""},
            {"cosine of the angle between the links", ""},         {"sine of the angle between the links", ""},
            {"angular velocity of the first link", "rad/s"},       {"angular velocity between the links", "rad/s"}};
  }

  // Pictures: 70 pixels a link. The line is the height to reach.
  static bp::PictureSize SizeOfPicture(const Model&) { return {480, 340}; }
  static double SecondsOfStep(const Model&) { return acrobot::kTau; }
  void DrawBackdrop(const Model&, std::string* out) const {
    *out += "<path d=\"M60 105h360\" stroke=\"#009e73\" stroke-width=\"2\"/>";
  }
  void DrawFrame(const Model&, std::string* out) const {
    constexpr double kLink = 70, kX = 240, kY = 175;
    const double x = kX + kLink * std::sin(theta1), y = kY + kLink * std::cos(theta1);
    const double height = -std::cos(theta1) - std::cos(theta1 + theta2);
    bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">tip at %.2f m (goal: above 1)</text>", height);
    bp::Print(out, "<path d=\"M%g %gL%.1f %.1f\" stroke=\"#33465c\" stroke-width=\"16\" stroke-linecap=\"round\"/>", kX, kY, x,
              y);
    bp::Print(out, "<path d=\"M%.1f %.1fl%.1f %.1f\" stroke=\"#d55e00\" stroke-width=\"14\" stroke-linecap=\"round\"/>", x, y,
              kLink * std::sin(theta1 + theta2), kLink * std::cos(theta1 + theta2));
    bp::Print(
        out, "<circle cx=\"%g\" cy=\"%g\" r=\"4\" fill=\"#e8edf2\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#e8edf2\"/>",
        kX, kY, x, y);
  }
};

BP_PLUGINS(bp::Env<Acrobot>);
