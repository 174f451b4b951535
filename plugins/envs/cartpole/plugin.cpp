#include <algorithm>
#include <limits>

#include "backplane/env.hpp"
#include "rows.hpp"

// Numbers of an observation: the whole state, or without the velocities.
enum class Observed { kAll, kPositions };
constexpr auto WordsOf(Observed) { return bp::Words<Observed>({{"all", Observed::kAll}, {"positions", Observed::kPositions}}); }

class CartPole {
 public:
  static constexpr bp::About kAbout{.id = "env.cartpole",
                                    .version = "1.0.0",
                                    .summary = "Balance a pole on a cart: CartPole-v1 of Gymnasium, bit for bit.",
                                    .flags = BP_FLAG_MANY_ROWS,
                                    .aliases = "CartPole-v1",
                                    .rows = 16};
  struct Options {
    bool sutton_barto_reward = false;
    int64_t max_episode_steps = 500;
    Observed observe = Observed::kAll;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("sutton_barto_reward", &Options::sutton_barto_reward,
              "Rewards 0 per step and -1 for the fall, instead of 1 per step."),
      bp::Opt("max_episode_steps", &Options::max_episode_steps, "[1,)",
              "Steps after which the host ends an episode; 200 for CartPole-v0."),
      bp::Opt("observe", &Options::observe,
              "positions: hides both velocities, so that an observation does not determine the state.",
              {.flags = BP_PARAM_LATER}),
  };

  CartPole(const Options& options, uint64_t rows)
      : spec_(SpecOf(options)),
        sutton_barto_reward_(options.sutton_barto_reward),
        observed_(options.observe == Observed::kAll ? 4 : 2),
        rows_(rows),
        streams_(rows) {}
  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    const auto obs = slot.Rows(obs_);
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      bp::Rng stream(seeds[r]);
      cartpole::State state;
      for (double* value : {&state.x, &state.x_dot, &state.theta, &state.theta_dot})
        *value = stream.Range(-cartpole::kResetRange, cartpole::kResetRange);
      streams_[r] = stream;
      rows_.Set(r, state);
      Show(state, obs[r].data());
    }
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    const auto action = slot.Rows(action_);
    const auto obs = slot.Rows(obs_), reward = slot.Rows(reward_);
    const auto terminated = slot.Rows(terminated_);
    // Adjacent rows, which are common but not guaranteed, take one call.
    const auto dense = [](const auto& rows, auto n) { return rows[1].data() - rows[0].data() == n; };
    const bool all = dense(action, 1) && dense(obs, observed_) && dense(reward, 1) && dense(terminated, 1);
    for (uint64_t first = begin, n = all ? end - begin : 1; first < end; first += n) {
      float* const rewards = reward[first].data();
      uint8_t* const fallen = terminated[first].data();
      StepRows(first, n, action[first].data(), obs[first].data(), fallen);
      if (sutton_barto_reward_)
        std::transform(fallen, fallen + n, rewards, [](uint8_t fell) { return fell ? -1.f : 0.f; });
      else
        std::fill_n(rewards, n, 1.f);
    }
  }

  uint64_t StateBytes() const { return sizeof(bp::Rng) + sizeof(cartpole::State); }
  void Save(uint64_t row, void* out) const {
    const cartpole::State state = rows_.Get(row);
    std::memcpy(out, &streams_[row], sizeof(bp::Rng));
    std::memcpy(static_cast<char*>(out) + sizeof(bp::Rng), &state, sizeof state);
  }
  void Load(uint64_t row, const void* data) {
    cartpole::State state;
    std::memcpy(&streams_[row], data, sizeof(bp::Rng));
    std::memcpy(&state, static_cast<const char*>(data) + sizeof(bp::Rng), sizeof state);
    rows_.Set(row, state);
  }

  std::vector<bp::StatePart> StateParts() const { return {{"state", 4}}; }
  void GetState(uint64_t row, double* out) const {
    const cartpole::State state = rows_.Get(row);
    for (const double value : {state.x, state.x_dot, state.theta, state.theta_dot}) *out++ = value;
  }
  void SetState(uint64_t row, const double* values, const bp::Slot& slot) {
    const cartpole::State state{values[0], values[1], values[2], values[3]};
    rows_.Set(row, state);
    Show(state, slot.Row(obs_, row).data());
  }

  std::vector<bp::Label> Labels(std::string_view channel) const {
    if (channel == "action") return {{"push of the cart (0: left, 1: right)", ""}};
    if (channel != "obs") return {};
    if (observed_ == 2) return {{"position of the cart", "m"}, {"angle of the pole", "rad"}};
    return {{"position of the cart", "m"},
            {"velocity of the cart", "m/s"},
            {"angle of the pole", "rad"},
            {"angular velocity of the pole", "rad/s"}};
  }

  // Pictures: 120 pixels a metre, the cart's axle at kTrack.
  static constexpr double kScale = 120, kMiddle = 320, kTrack = 200;
  bp::PictureSize SizeOfPicture() const { return {640, 250}; }
  double SecondsOfStep() const { return cartpole::kTau; }
  // The track with a mark every half metre and a post at each end.
  void DrawBackdrop(uint64_t, std::string* out) const {
    const double end = kScale * cartpole::kXLimit;
    bp::Print(out, "<path d=\"M0 %gh640\" stroke=\"#9aa3ad\" stroke-width=\"2\"/><path stroke=\"#9aa3ad\" d=\"", kTrack);
    for (int i = -4; i <= 4; ++i) bp::Print(out, "M%g %gv%d", kMiddle + i * kScale / 2, kTrack + 16, i % 2 == 0 ? 10 : 5);
    bp::Print(out, "\"/><path d=\"M%g %gv-60M%g %gv-60\" stroke=\"#c1121f\" stroke-width=\"3\"/>", kMiddle - end, kTrack,
              kMiddle + end, kTrack);
  }
  void DrawFrame(uint64_t row, std::string* out) const {
    const auto [x, x_dot, theta, theta_dot] = rows_.Get(row);
    const double at = kMiddle + kScale * x, length = 2 * cartpole::kHalfLength * kScale;
    bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">cart at %.2f m, pole at %.1f\u00b0</text>", x,
              theta * 180 / std::numbers::pi);
    bp::Print(out, "<rect x=\"%.1f\" y=\"%g\" width=\"64\" height=\"30\" rx=\"4\" fill=\"#33465c\"/>", at - 32, kTrack - 15);
    bp::Print(out, "<path d=\"M%.1f %gl%.1f %.1f\" stroke=\"#d55e00\" stroke-width=\"10\" stroke-linecap=\"round\"/>", at,
              kTrack - 10, length * std::sin(theta), -length * std::cos(theta));
    bp::Print(out, "<circle cx=\"%.1f\" cy=\"%g\" r=\"4\" fill=\"#e8edf2\"/>", at, kTrack - 10);
  }

 private:
  void Show(const cartpole::State& state, float* obs) const {
    if (observed_ == 4) return state.Observe(obs);
    obs[0] = static_cast<float>(state.x), obs[1] = static_cast<float>(state.theta);
  }
  void StepRows(uint64_t begin, uint64_t n, const int32_t* action, float* obs, uint8_t* fallen) {
    if (observed_ == 4) return rows_.Step(begin, begin + n, action, obs, fallen);
    static thread_local std::vector<float> all;
    all.resize(4 * n);
    rows_.Step(begin, begin + n, action, all.data(), fallen);
    for (uint64_t i = 0; i < n; ++i) obs[2 * i] = all[4 * i], obs[2 * i + 1] = all[4 * i + 2];
  }
  static bp::EnvSpec SpecOf(const Options& options) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    const double x = 2 * cartpole::kXLimit, theta = 2 * cartpole::kThetaLimit;
    const bool all = options.observe == Observed::kAll;
    return bp::EnvSpec()
        .Obs(all ? std::vector<double>{-x, -kAny, -theta, -kAny} : std::vector<double>{-x, -theta},
             all ? std::vector<double>{x, kAny, theta, kAny} : std::vector<double>{x, theta})
        .ActionDiscrete(2)
        .Reward(options.sutton_barto_reward ? -1 : 1, options.sutton_barto_reward ? 0 : 1)
        .Terminated()
        .MaxEpisodeSteps(options.max_episode_steps);
  }

  bp::EnvSpec spec_;
  bp::Handle<float> obs_ = spec_.Get<float>(BP_ROLE_OBS), reward_ = spec_.Get<float>(BP_ROLE_REWARD);
  bp::Handle<const int32_t> action_ = spec_.Get<const int32_t>(BP_ROLE_ACTION);
  bp::Handle<uint8_t> terminated_ = spec_.Get<uint8_t>(BP_ROLE_TERMINATED);
  bool sutton_barto_reward_;
  int observed_;  // numbers
  cartpole::Rows rows_;
  std::vector<bp::Rng> streams_;  // as the last reset left them
};

BP_PLUGINS(bp::EnvBatch<CartPole>);
