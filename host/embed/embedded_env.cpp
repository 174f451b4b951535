#include "embed/embedded_env.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backplane/ext/autoreset.h"
#include "base/suggest.hpp"
#include "embed/row_memory.hpp"
#include "machine/cpu.hpp"
#include "rollout/rows.hpp"

namespace backplane {
namespace {

constexpr unsigned kMaxThreads = 4096;

TrialFailure Misuse(const std::string& text) { return TrialFailure(BP_E_INVALID_ARG, "", text); }

HostSinks SinksInto(std::vector<std::string>* warnings) {
  HostSinks sinks;
  sinks.log = [warnings](const std::string&, int severity, const std::string& text) {
    constexpr size_t kMost = 100;  // for an env that warns at every step
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (severity >= BP_LOG_WARN && warnings->size() < kMost) warnings->push_back(text);
  };
  return sinks;
}

}  // namespace

EmbeddedEnv::EmbeddedEnv(EnvToOpen about, uint64_t rows, uint64_t seed, unsigned threads)
    : about_(std::move(about)),
      sinks_(SinksInto(&warnings_)),
      module_(LoadedModule::Load(about_.info.file, /*torch_version=*/"")),
      chain_(MakeChain(RowsThatFit(*module_, about_, sinks_, rows))),
      env_(*chain_),
      channels_(env_),
      tracker_(env_),
      seed_(seed),
      episodes_(rows),
      phases_(rows, kNone),
      mask_(rows, 0),
      seeds_(rows, 0),
      errors_(about_.ends_episodes ? rows : 0),
      row_threads_(rows, ThreadsFor(threads)) {
  action_check_.Bind(env_, [this](const std::string& name) { return &channels_[name]; });
  if (about_.ends_episodes && env_.resets_itself())
    throw TrialFailure(BP_E_UNSUPPORTED, env_.id(), "resets itself, so it does not support on_error: end_episode");
  SetSeed(seed);
  FindState();
  spec_ = SpecText();
}

std::unique_ptr<EnvInstance> EmbeddedEnv::MakeChain(uint64_t rows) {
  auto env = std::make_unique<EnvInstance>(*module_, about_.info.id, sinks_,
                                           InstanceOptions{about_.options, about_.origin, "env.options"}, rows);
  for (const EnvToOpen::Wrapper& wrapper : about_.wrappers) {
    wrapper_modules_.push_back(LoadedModule::Load(wrapper.info.file, /*torch_version=*/""));
    env = std::make_unique<EnvInstance>(*wrapper_modules_.back(), wrapper.info.id, sinks_,
                                        InstanceOptions{wrapper.options, about_.origin, wrapper.prefix}, rows, std::move(env));
  }
  return env;
}

EmbeddedEnv::~EmbeddedEnv() {
  try {
    if (row_threads_.sent()) row_threads_.Await();
  } catch (...) {
    // An error of a step without a caller that waits for it.
  }
}

unsigned EmbeddedEnv::ThreadsFor(unsigned asked) const {
  if (env_.on_device())
    throw TrialFailure(BP_E_UNSUPPORTED, env_.id(),
                       "keeps its channels on a device, but embedding needs channels in host memory");
  if (asked > kMaxThreads) throw Misuse(fmt::format("threads: expected 0 to {}, got {}", kMaxThreads, asked));
  if (env_.resets_itself() || (env_.flags() & BP_FLAG_ROWS_CONCURRENT) == 0) return 1;
  return static_cast<unsigned>(std::min<uint64_t>(asked == 0 ? GrantedCores() : asked, env_.rows()));
}

ChannelBuffer& EmbeddedEnv::Channel(const std::string& name) {
  if (ChannelBuffer* const found = channels_.Find(name)) return *found;
  std::vector<std::string> names;
  for (const EnvChannels::Channel& channel : channels_.all()) names.emplace_back(channel.about.name);
  throw Misuse(fmt::format("{} has no channel '{}'{}", env_.id(), name, DidYouMean(Nearest(name, Candidates(names)))));
}

void EmbeddedEnv::RequireRest() const {
  if (row_threads_.sent()) throw Misuse("expected no pending step, got one\nhint: call bp_embed_step_wait first");
}

void EmbeddedEnv::SetAutoreset(Autoreset mode) {
  RequireRest();
  if (mode != Autoreset::kSameStep && mode != Autoreset::kNextStep && mode != Autoreset::kDisabled)
    throw Misuse(
        fmt::format("autoreset: expected 0 (SAME_STEP), 1 (NEXT_STEP) or 2 (DISABLED), got {}", static_cast<int32_t>(mode)));
  if (mode != Autoreset::kSameStep && env_.resets_itself())
    throw TrialFailure(BP_E_UNSUPPORTED, env_.id(),
                       "resets itself in the step that ends an episode, so it supports only SAME_STEP");
  if (mode != mode_) EndAll();
  mode_ = mode;
  spec_ = SpecText();
}

void EmbeddedEnv::SetSeed(uint64_t seed) {
  RequireRest();
  seed_ = seed;
  for (RowEpisodes& row : episodes_) row.series = seed, row.number = 0, row.is_own = 0;
}

void EmbeddedEnv::SetTimeLimit(uint64_t steps) {
  RequireRest();
  if (tracker_.env_cuts())
    throw TrialFailure(BP_E_UNSUPPORTED, env_.id(),
                       "truncates its episodes itself, so the host cannot change their time limit");
  tracker_.set_limit(steps == 0 || steps > INT64_MAX ? EpisodeTracker::kNoLimit : static_cast<int64_t>(steps));
  spec_ = SpecText();
}

uint64_t EmbeddedEnv::TakeSeed(uint64_t row) {
  RowEpisodes& episodes = episodes_[row];
  const uint64_t number = episodes.number++;
  if (episodes.is_own == 0) return EpisodeSeeds(episodes.series, BP_PURPOSE_ENV_EPISODE).Of(row, number);
  return number == 0 ? episodes.series : EpisodeSeeds(episodes.series, BP_PURPOSE_ENV_EPISODE).Of(0, number);
}

void EmbeddedEnv::BeginEpisode(uint64_t row) {
  seeds_[row] = TakeSeed(row);
  episodes_[row].episode_return = 0;
  episodes_[row].episode_length = 0;
  phases_[row] = kPlays;
  mask_[row] = 1;
}

// Resets the masked rows of a range and clears their masks.
void EmbeddedEnv::ResetMasked(uint64_t begin, uint64_t end) {
  const bp_status status = env_.Reset(0, begin, end, mask_.data(), seeds_.data());
  std::fill(mask_.begin() + static_cast<int64_t>(begin), mask_.begin() + static_cast<int64_t>(end), 0);
  if (status != BP_OK) env_.Fail(status, "reset");
}

void EmbeddedEnv::EndAll() {
  std::fill(phases_.begin(), phases_.end(), kNone);
  std::fill(mask_.begin(), mask_.end(), 0);
}

void EmbeddedEnv::Reset(const uint8_t* mask, const uint64_t* seeds) {
  RequireRest();
  for (uint64_t r = 0; r < env_.rows(); ++r) {
    if (mask && mask[r] == 0) continue;
    if (seeds) episodes_[r] = {.series = seeds[r], .number = 0, .is_own = 1};
    BeginEpisode(r);
    channels_.ClearStep(r);
    if (!errors_.empty()) errors_[r].clear();
  }
  OrEndAll([&] { row_threads_.Run([&](uint64_t begin, uint64_t end) { ResetMasked(begin, end); }); });
}

void EmbeddedEnv::RequireStarted() const {
  const void* const none = std::memchr(phases_.data(), kNone, phases_.size());
  if (none == nullptr) return;
  throw Misuse(fmt::format("row {} has no running episode\nhint: call bp_embed_reset first",
                           static_cast<const uint8_t*>(none) - phases_.data()));
}

// Checks a step completely before any of it runs.
void EmbeddedEnv::CheckStep() const {
  RequireRest();
  RequireStarted();
  if (!checks_actions_ || action_check_.Allows(0, 0, env_.rows())) return;
  // The action of a row that resets is ignored.
  for (uint64_t r = 0; r < env_.rows(); ++r) {
    if (phases_[r] != kPlays || action_check_.Allows(0, r, r + 1)) continue;
    const BadAction bad = action_check_.Find(0, r, r + 1);
    throw TrialFailure(bad.not_finite ? BP_E_NUMERIC : BP_E_INVALID_ARG, "", bad.text);
  }
}

void EmbeddedEnv::Step() {
  CheckStep();
  RunStep();
}

void EmbeddedEnv::Send() {
  CheckStep();
  row_threads_.Send([this] { RunStep(); });
}

void EmbeddedEnv::Wait() {
  if (!row_threads_.sent()) throw Misuse("expected a pending step, got none\nhint: call bp_embed_step_send first");
  row_threads_.Await();
}

void EmbeddedEnv::RunStep() {
  OrEndAll([&] {
    if (env_.resets_itself()) AssignSeeds();
    const auto range = [this](uint64_t begin, uint64_t end) { StepRange(begin, end); };
    row_threads_.Run(std::ref(range));
  });
}

// A row ends at most once per step.
void EmbeddedEnv::AssignSeeds() {
  for (uint64_t r = 0; r < env_.rows(); ++r) {
    const uint64_t number = episodes_[r].number;
    seeds_[r] = TakeSeed(r);
    episodes_[r].number = number;
  }
  env_.NextSeeds(1, seeds_);
}

// Rows that reset take no step, and Step has no mask.
void EmbeddedEnv::StepRange(uint64_t begin, uint64_t end) {
  if (!errors_.empty())
    for (uint64_t row = begin; row < end; ++row) errors_[row].clear();
  if (mode_ != Autoreset::kNextStep) return StepRows(begin, end);
  for (uint64_t r = begin, next; r < end; r = next) {
    const bool begins = phases_[r] == kEnded;
    for (next = r + 1; next < end && (phases_[next] == kEnded) == begins;) ++next;
    if (!begins) {
      StepRows(r, next);
      continue;
    }
    for (uint64_t row = r; row < next; ++row) {
      BeginEpisode(row);
      channels_.ClearStep(row);
    }
    ResetMasked(r, next);
  }
}

void EmbeddedEnv::StepRows(uint64_t begin, uint64_t end) {
  if (about_.ends_episodes) {
    for (uint64_t row = begin; row < end; ++row) StepRow(row);
    if (mode_ == Autoreset::kSameStep) ResetMasked(begin, end);
    return;
  }
  if (const bp_status status = env_.Step(0, begin, end); status != BP_OK) env_.Fail(status, "step");
  const uint64_t rewards = channels_.PerRow(*channels_.reward), n = end - begin;
  uint8_t* const truncated = channels_.truncated->at<uint8_t>(0, begin);
  const EpisodeTracker::Step step{channels_.reward->at<float>(0, begin * rewards),
                                  channels_.terminated->at<uint8_t>(0, begin),
                                  truncated,
                                  truncated,
                                  rewards,
                                  env_.own_returns() ? env_.own_returns() + begin : nullptr};
  const EpisodeTracker::Seen seen = tracker_.Add(&episodes_[begin], n, step);
  if (seen.not_finite) RefuseReward(begin);
  if (seen.flags == 0) return;
  if (seen.flags > 1)
    for (uint64_t i = 0; i < n; ++i) tracker_.CheckFlags(begin + i, step.terminated[i], truncated[i], "in a step");
  EpisodeTracker::ForEachEnd(step, n, [&](uint64_t i) { EndEpisode(begin + i); });
  if (mode_ == Autoreset::kSameStep && !env_.resets_itself()) ResetMasked(begin, end);
}

void EmbeddedEnv::EndEpisode(uint64_t row) {
  *channels_.ep_return->at<double>(0, row) = episodes_[row].episode_return;
  *channels_.ep_length->at<int64_t>(0, row) = episodes_[row].episode_length;
  channels_.KeepFinal(row);
  phases_[row] = mode_ == Autoreset::kNextStep ? kEnded : kNone;
  if (mode_ != Autoreset::kSameStep) return;
  BeginEpisode(row);
  if (env_.resets_itself()) mask_[row] = 0;
}

// A float64 sum of float32 values stays finite unless one of them is not.
void EmbeddedEnv::RefuseReward(uint64_t begin) const {
  uint64_t row = begin;
  while (std::isfinite(episodes_[row].episode_return)) ++row;
  throw TrialFailure(BP_E_NUMERIC, env_.id(), fmt::format("step: the reward of row {} is not a finite number", row));
}

}  // namespace backplane
