#include <algorithm>
#include <array>
#include <cstring>

#include "backplane/env.hpp"

// The rules, in pixels and whole numbers: equal on every machine.
namespace ball_catch {

constexpr int kSide = 84, kFrames = 4, kPixels = kSide * kSide;
constexpr int kBall = 4, kWidth = 12, kHeight = 3, kTop = kSide - 4;  // of the paddle's upper edge
constexpr int kFall = 2, kMove = 3, kFastest = 2;                     // per step; kFastest: sideways

struct Frame {
  int16_t ball_x = 0, ball_y = 0, paddle = 0;  // left upper corners
};

struct State {
  std::array<Frame, kFrames> frames;  // the oldest first
  int16_t speed = 0;                  // of the ball, sideways
  int16_t left = 0;                   // balls, with the one that falls
  int32_t padding = 0;                // saved states have no undefined bytes
  Frame& now() { return frames.back(); }
  const Frame& now() const { return frames.back(); }
};

inline void Drop(bp::Rng* rng, State* state) {
  state->now().ball_x = static_cast<int16_t>(rng->Below(kSide - kBall + 1)), state->now().ball_y = 0;
  state->speed = static_cast<int16_t>(static_cast<int>(rng->Below(2 * kFastest + 1)) - kFastest);
}

// Moves paddle and ball by a step; returns the reward. `action`: 0 left, 1 none, 2 right.
inline float Advance(int action, bp::Rng* rng, State* state) {
  std::copy(state->frames.begin() + 1, state->frames.end(), state->frames.begin());
  Frame& now = state->now();
  now.paddle = static_cast<int16_t>(std::clamp(now.paddle + kMove * (action - 1), 0, kSide - kWidth));
  now.ball_y = static_cast<int16_t>(now.ball_y + kFall);
  int x = now.ball_x + state->speed;
  if (x < 0 || x > kSide - kBall) state->speed = static_cast<int16_t>(-state->speed), x = x < 0 ? -x : 2 * (kSide - kBall) - x;
  now.ball_x = static_cast<int16_t>(x);
  if (now.ball_y + kBall <= kTop) return 0;
  const bool caught = x + kBall > now.paddle && x < now.paddle + kWidth;
  if (--state->left > 0) Drop(rng, state);
  return caught ? 1 : -1;
}

inline void Fill(uint8_t value, int x, int y, int width, int height, uint8_t* pixels) {
  for (int row = y; row < std::min(y + height, kSide); ++row) std::memset(pixels + row * kSide + x, value, width);
}

// Draws all frames, [frame, y, x].
inline void Draw(const State& state, uint8_t* pixels) {
  std::memset(pixels, 0, kFrames * kPixels);
  for (const Frame& frame : state.frames) {
    Fill(160, frame.paddle, kTop, kWidth, kHeight, pixels);
    Fill(255, frame.ball_x, frame.ball_y, kBall, kBall, pixels);
    pixels += kPixels;
  }
}

}  // namespace ball_catch

class Catch {
 public:
  static constexpr bp::About kAbout{.id = "env.ball_catch",
                                    .version = "1.0.0",
                                    .summary = "Catch balls that fall, seen as images of 84 x 84 pixels.",
                                    .flags = BP_FLAG_MANY_ROWS,
                                    .rows = 8};
  struct Options {
    int64_t balls = 5;
  };
  static constexpr bp::OptionTable kOptions{
      bp::Opt("balls", &Options::balls, "[1,1000]", "Balls of an episode, of 39 steps each."),
  };

  Catch(const Options& options, uint64_t rows)
      : spec_(SpecOf(options)), balls_(static_cast<int16_t>(options.balls)), rows_(rows) {}
  bp::EnvSpec Spec() const { return spec_; }

  void Reset(const bp::Slot& slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    for (uint64_t r = begin; r < end; ++r) {
      if (mask && !mask[r]) continue;
      Row& row = rows_[r];
      row = {{}, bp::Rng(seeds[r])};
      row.state.left = balls_;
      ball_catch::Drop(&row.rng, &row.state);
      row.state.now().paddle = (ball_catch::kSide - ball_catch::kWidth) / 2;
      row.state.frames.fill(ball_catch::Frame(row.state.now()));
      ball_catch::Draw(row.state, slot.Row(obs_, r).data());
    }
  }

  void Step(const bp::Slot& slot, uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      Row& row = rows_[r];
      slot.Row(reward_, r)[0] = ball_catch::Advance(slot.Row(action_, r)[0], &row.rng, &row.state);
      slot.Row(terminated_, r)[0] = row.state.left == 0;
      ball_catch::Draw(row.state, slot.Row(obs_, r).data());
    }
  }

  uint64_t StateBytes() const { return sizeof(Row); }
  void Save(uint64_t row, void* out) const { std::memcpy(out, &rows_[row], sizeof(Row)); }
  void Load(uint64_t row, const void* data) { std::memcpy(&rows_[row], data, sizeof(Row)); }

  std::vector<bp::Label> Labels(std::string_view channel) const {
    if (channel == "action") return {{"move of the paddle (0: left, 1: none, 2: right)", ""}};
    return {};
  }

  // Pictures: four pixels each.
  static constexpr int kScale = 4;
  bp::PictureSize SizeOfPicture() const { return {kScale * ball_catch::kSide, kScale * ball_catch::kSide}; }
  double SecondsOfStep() const { return 1 / 30.0; }
  void DrawFrame(uint64_t row, std::string* out) const {
    const ball_catch::Frame& now = rows_[row].state.now();
    const auto box = [&](int x, int y, int width, int height, const char* color) {
      bp::Print(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", kScale * x, kScale * y, kScale * width,
                kScale * height, color);
    };
    box(now.paddle, ball_catch::kTop, ball_catch::kWidth, ball_catch::kHeight, "#33465c");
    box(now.ball_x, now.ball_y, ball_catch::kBall, ball_catch::kBall, "#d55e00");
  }

 private:
  struct Row {
    ball_catch::State state;
    bp::Rng rng{0};
  };
  static bp::EnvSpec SpecOf(const Options& options) {
    bp::EnvSpec spec;
    spec.Add<uint8_t>({.role = BP_ROLE_OBS,
                       .name = "obs",
                       .shape = {ball_catch::kFrames, ball_catch::kSide, ball_catch::kSide},
                       .low = {0},
                       .high = {255}});
    return spec.ActionDiscrete(3).Reward(-1, 1).Terminated().MaxEpisodeSteps(options.balls * kFallSteps + 1);
  }
  static constexpr int64_t kFallSteps = (ball_catch::kTop - ball_catch::kBall) / ball_catch::kFall + 1;

  bp::EnvSpec spec_;
  bp::Handle<uint8_t> obs_ = spec_.Get<uint8_t>(BP_ROLE_OBS), terminated_ = spec_.Get<uint8_t>(BP_ROLE_TERMINATED);
  bp::Handle<float> reward_ = spec_.Get<float>(BP_ROLE_REWARD);
  bp::Handle<const int32_t> action_ = spec_.Get<const int32_t>(BP_ROLE_ACTION);
  int16_t balls_;
  std::vector<Row> rows_;
};

BP_PLUGINS(bp::EnvBatch<Catch>);
