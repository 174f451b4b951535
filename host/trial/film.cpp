#include "trial/film.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "backplane/ext/clock.h"
#include "rollout/camera.hpp"

namespace backplane {
namespace {

constexpr double kLongestFrame_s = 1 / 24.9;  // 25 frames a second look smooth; more than 30 only cost bytes
constexpr double kShortest_s = 2.5;           // a shorter film runs slower
constexpr uint64_t kSlowest = 8;              // by at most this factor
constexpr uint64_t kMostFrames = 5000;        // per episode; longer ones skip states

std::string Base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u; };
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (const int shift : {18, 12, 6, 0}) text += kDigits[three >> shift & 63];
  }
  const size_t missing = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - missing, missing, missing, '=');
}

// "ep/success_rate" in words: "success rate".
std::string InWords(const std::string& name) {
  std::string words = name.substr(name.find('/') + 1);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// Chooses the drawn states of an episode of so many steps, whose duration follows from the env's clock.
void SetPace(EnvInstance& env, double steps, Film* film) {
  EnvInstance& inner = env.innermost();
  const auto* clock = inner.Extension<bp_env_clock_1>(BP_ENV_CLOCK_1);
  film->slower = 0;
  film->every = static_cast<uint64_t>(steps) / kMostFrames + 1;
  if (clock == nullptr) return;
  const double step_s = inner.Call("step_s", [&](bp_env* instance) { return clock->step_s(instance); });
  if (!(step_s > 0) || !std::isfinite(step_s))
    throw TrialFailure(BP_E_INTERNAL, env.id(), fmt::format("step_s: expected more than 0 s, got {}", step_s));
  for (film->slower = 1; film->slower < kSlowest && steps * step_s * static_cast<double>(film->slower) < kShortest_s;)
    film->slower *= 2;
  const double shown_s = step_s * static_cast<double>(film->slower);
  film->every = std::max(film->every, static_cast<uint64_t>(std::clamp(kLongestFrame_s / shown_s, 1.0, std::max(steps, 1.0))));
  film->frame_s = shown_s * static_cast<double>(film->every);
}

EvaluationResult PlayInTime(Evaluator& evaluator, const EnvInstance& env, TrialThreads& threads) {
  EvaluationResult result = evaluator.Play(Evaluator::Policy::kLearner, threads.clocks());
  if (result.out_of_time > 0)
    throw TrialFailure(
        BP_E_TIMEOUT, env.id(),
        fmt::format("the episode did not end within resources.wall_time ({} steps); give the env a time limit, or set "
                    "evaluation.max_episode_steps",
                    result.lengths[0]));
  return result;
}

}  // namespace

Film PlayFilm(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, uint64_t seed, uint64_t episode,
              const FilmLimits& limits, const std::atomic<bool>& cancelled, const std::function<void()>& beat) {
  if (env.resets_itself())
    throw TrialFailure(BP_E_UNSUPPORTED, env.id(),
                       "starts the next episode in the step that ends one, so the end of an episode cannot be filmed");
  Camera camera(env);
  Film film;
  const auto [width, height] = camera.Measure();
  film.width = width, film.height = height, film.png = camera.png();
  const auto text_of = [&](const std::string& picture) { return film.png ? Base64(picture) : picture; };
  Evaluator evaluator(env, learner, threads.collectors(), 1, seed, cancelled, beat, episode);
  evaluator.CapEpisodes(limits.episode_steps);
  if (limits.wall_time_s) evaluator.EndBy(NowNs() + static_cast<int64_t>(std::min(*limits.wall_time_s, 1e9) * 1e9));
  // Played twice, because the episode's length decides which states are drawn.
  const EvaluationResult result = PlayInTime(evaluator, env, threads);
  SetPace(env, result.lengths[0], &film);
  const auto steps = static_cast<uint64_t>(result.lengths[0]);
  uint64_t step = 0;
  evaluator.OnEveryState([&](double return_so_far) {
    if (step > 0) film.returns.push_back(return_so_far);
    if (step == 0) film.backdrop = text_of(camera.Backdrop(0));
    if (step % film.every == 0 || step == steps) film.frames.push_back(text_of(camera.Frame(0)));
    ++step;
  });
  const EvaluationResult again = PlayInTime(evaluator, env, threads);
  if (std::bit_cast<uint64_t>(again.returns[0]) != std::bit_cast<uint64_t>(result.returns[0]))  // which may be a NaN
    throw TrialFailure(BP_E_INTERNAL, env.id(), "the same episode had different returns when played twice");
  film.notes.push_back(fmt::format("return {:.4g}", result.returns[0]));
  if (result.capped > 0) film.notes.push_back(fmt::format("truncated at {} steps", evaluator.cap()));
  for (const auto& [name, values] : result.infos) film.notes.push_back(fmt::format("{} {:.4g}", InWords(name), values[0]));
  return film;
}

}  // namespace backplane
