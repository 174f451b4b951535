// Cases of episodes and steps: their ends, side effects and speed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rollout/clocks.hpp"
#include "validate/allocation_count.hpp"
#include "validate/case_table.hpp"
#include "validate/driven_env.hpp"

namespace backplane {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

bool IsSet(const DrivenEnv& env, uint16_t role, uint64_t row) {
  const std::optional<size_t> channel = env.Index(role);
  return channel && *env.Row(0, *channel, row) != std::byte{0};
}

void NeedHostResets(DrivenEnv& env) {
  if (env.env().resets_itself()) SkipCase("resets itself (NATIVE_AUTORESET)");
}

// The smallest box that contains all initial observations of episodes.
struct Hull {
  std::vector<float> low, high;

  void Add(const float* obs, uint64_t n) {
    low.resize(n, INFINITY), high.resize(n, -INFINITY);
    for (uint64_t i = 0; i < n; ++i) low[i] = std::min(low[i], obs[i]), high[i] = std::max(high[i], obs[i]);
  }
  bool Holds(const float* obs) const {
    for (size_t i = 0; i < low.size(); ++i)
      if (!(obs[i] >= low[i] && obs[i] <= high[i])) return false;
    return true;
  }
};

// An env that resets itself in step shows an initial observation instead of the last one.
void StepNeverResets(Subject& subject, CaseResult* result) {
  DrivenEnv env(subject, {.rows = 8});
  NeedHostResets(env);
  const size_t obs = *env.Index(BP_ROLE_OBS);
  const bp_dtype dtype = env.channels()[obs]->dtype;
  if (dtype.code != BP_DTYPE_FLOAT || dtype.bits != 32) SkipCase("its observations are not float32");
  const uint64_t n = env.RowBytes(obs) / sizeof(float);
  const auto at = [&](const DrivenEnv& one, uint64_t row) { return reinterpret_cast<const float*>(one.Row(0, obs, row)); };
  Hull beginnings;
  {
    DrivenEnv many(subject, {.rows = 256, .first_key = 1000});
    many.ResetAll();
    for (uint64_t r = 0; r < many.rows(); ++r) beginnings.Add(at(many, r), n);
  }
  env.ResetAll();
  constexpr uint64_t kEnough = 12;
  uint64_t ends = 0, ends_at_beginning = 0, came_from_beginning = 0;
  const int64_t begin = NowNs();
  for (uint64_t t = 0; t < 2000 && ends < kEnough && NowNs() - begin < kSecondNs / 2; ++t) {
    std::vector<std::vector<float>> was;
    for (uint64_t r = 0; r < env.rows(); ++r) was.emplace_back(at(env, r), at(env, r) + n);
    env.WriteActions(t, {0, env.rows()});
    env.Step(t, {0, env.rows()});
    for (uint64_t r = 0; r < env.rows(); ++r) {
      if (!IsSet(env, BP_ROLE_TERMINATED, r)) continue;
      ++ends;
      ends_at_beginning += beginnings.Holds(at(env, r));
      came_from_beginning += beginnings.Holds(was[r].data());
    }
    env.AfterStep(t, {0, env.rows()});
  }
  if (ends < kEnough)
    SkipCase(fmt::format("the env ended only {} episodes in {:.1f} s of random actions", ends,
                         static_cast<double>(NowNs() - begin) * 1e-9));
  if (ends_at_beginning == ends && came_from_beginning * 2 < ends)
    FailCase("step with TERMINATED 1", "the observation in which the episode ended",
             fmt::format("a first observation of an episode, in each of {} steps that ended an episode", ends));
  result->note = fmt::format("{} episodes ended", ends);
}

void HostCountsTheLimit(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 4});
  NeedHostResets(env);
  if (env.owns_time_limit()) SkipCase("counts its time limit itself (OWNS_TIME_LIMIT)");
  const int64_t limit = env.max_steps();
  if (limit <= 1 || limit > 5000) SkipCase(fmt::format("max_episode_steps is {}", limit));
  constexpr uint64_t kEnough = 4;  // the last step may end the episode anyway
  env.ResetAll();
  const int64_t begin = NowNs();
  std::vector<uint64_t> steps(env.rows());
  uint64_t at_limit = 0, reached = 0, before = 0;
  for (uint64_t t = 0; reached < kEnough && t < 30 * static_cast<uint64_t>(limit); ++t) {
    if (NowNs() - begin > kSecondNs * 3 / 2 || (reached == 0 && before > 10 * kEnough)) break;
    env.WriteActions(t, {0, env.rows()});
    env.Step(t, {0, env.rows()});
    for (uint64_t r = 0; r < env.rows(); ++r) {
      ++steps[r];
      const bool terminated = IsSet(env, BP_ROLE_TERMINATED, r), last = steps[r] == static_cast<uint64_t>(limit);
      if (!terminated && !last) continue;
      steps[r] = 0;
      reached += last, at_limit += terminated && last, before += !last;
    }
    env.AfterStep(t, {0, env.rows()});
  }
  if (reached < kEnough)
    SkipCase(fmt::format("only {} of {} needed episodes with random actions reach the limit", reached, kEnough));
  if (at_limit == reached)
    FailCase(fmt::format("step {}, which is max_episode_steps", limit), "TERMINATED 0: the host cuts the episode",
             fmt::format("TERMINATED 1 in each of {} episodes of that length", reached));
}

bool WritesTexts(const DrivenEnv& env) {
  return std::ranges::any_of(env.channels(),
                             [](const bp_channel* c) { return c->role == BP_ROLE_ACTION && c->space == BP_SPACE_TOKENS; });
}

void StepAllocatesNothing(Subject& subject, CaseResult*) {
  DrivenEnv env(subject, {.rows = 4});
  NeedHostResets(env);
  if (WritesTexts(env)) SkipCase("acts with texts, which have no fixed size");
  if (!CountAllocations()) SkipCase("memory is not counted in this build");
  env.ResetAll();
  env.Play(0, 20);
  uint64_t allocations = 0, locks = 0;
  for (uint64_t t = 20; t < 70; ++t) {
    env.WriteActions(t, {0, env.rows()});
    const uint64_t before = AllocationsOfThread(), locks_before = LocksOfThread();
    const bp_status status = env.env().Step(0, 0, env.rows());
    allocations += AllocationsOfThread() - before, locks += LocksOfThread() - locks_before;
    if (status != BP_OK) env.env().Fail(status, "step");
    env.AfterStep(t, {0, env.rows()});
  }
  if (allocations > 0) FailCase("50 steps of 4 rows", "no call of malloc or similar", fmt::format("{} calls", allocations));
  if (locks > 0)
    FailCase("50 steps of 4 rows", "no lock taken", fmt::format("{} calls of pthread_mutex_lock", locks),
             "Give each row its own memory.");
}

std::string Grouped(double number) {
  std::string text = fmt::format("{:.0f}", number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

void StepsPerSecond(Subject& subject, CaseResult* result) {
  constexpr uint64_t kManyRows = 64;
  const auto for_ns = static_cast<int64_t>(subject.setting().speed_for_s * kSecondNs);
  DrivenEnv env(subject, {.rows = kManyRows});
  NeedHostResets(env);
  env.ResetAll();
  const int64_t start = NowNs(), cpu_start = ReadClock(CLOCK_PROCESS_CPUTIME_ID), until = start + 2 * for_ns;
  int64_t in_step = 0;
  uint64_t steps = 0;
  for (uint64_t t = 0; in_step < for_ns && NowNs() < until; ++t) {
    if (t % 16 == 0) env.WriteActions(t, {0, kManyRows});
    const int64_t begin = NowNs();
    const bp_status status = env.env().Step(0, 0, kManyRows);
    in_step += NowNs() - begin;
    if (status != BP_OK) env.env().Fail(status, "step");
    steps += kManyRows;
    env.AfterStep(t, {0, kManyRows});
  }
  // On a busy machine the thread also waits for a core, in `step` as elsewhere; and an env may compute in its own threads. The
  // clock of all threads is too slow to read each time.
  const double ran =
      static_cast<double>(ReadClock(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / static_cast<double>(NowNs() - start);
  result->steps_per_s = static_cast<double>(steps) / (static_cast<double>(in_step) * ran * 1e-9);
  result->note = fmt::format("{} steps per CPU second of all threads, {} rows, resets not counted",
                             Grouped(result->steps_per_s), kManyRows);
}

}  // namespace

std::vector<Case> EnvEpisodeCases() {
  return {
      {"step-never-resets", kOfEnvs, "`step` leaves a row in the last state of its episode; the host resets it.",
       "Set TERMINATED and keep the last observation.", StepNeverResets, kPlays},
      {"host-counts-the-limit", kOfEnvs,
       "The host cuts episodes at max_episode_steps; TERMINATED means that the task has ended.",
       "Count no steps and set MaxEpisodeSteps in the spec; or set BP_FLAG_OWNS_TIME_LIMIT and write TRUNCATED.",
       HostCountsTheLimit, kPlays},
      {"step-allocates-nothing", kOfEnvs, "`step` allocates no memory and takes no lock.", "Allocate in create.",
       StepAllocatesNothing, kPlays},
      {"steps-per-second", kOfEnvs, "Measures the speed.", "", StepsPerSecond, kPlays},
  };
}

}  // namespace backplane
