#include "rollout/rollout_collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace backplane {
namespace {

// A runner holds a chunk for half of its remaining steps, but at least this long, and then takes the one that is furthest
// behind ("guided" scheduling). Long holds keep a chunk's rows in the cache; short ones at the end limit the wait between
// threads. Taking a chunk costs less than 1 us.
constexpr int64_t kHoldNs = 100'000;
constexpr uint64_t kMostSeedsAhead = 64;  // of a row, for an env that does not reset itself

uint64_t MomentRows(const EnvInstance& env, const LearnerInstance& learner, const RolloutCollectorConfig& config) {
  if ((learner.spec().flags & BP_LEARNER_OBS_MOMENTS) == 0) return 0;
  if (env.resets_itself()) return env.rows();
  return config.moment_rows > 0 ? config.moment_rows : config.chunk_rows;
}

}  // namespace

RolloutCollector::RolloutCollector(EnvInstance& env, LearnerInstance& learner, Runners runners,
                                   const RolloutCollectorConfig& config, const std::atomic<bool>& cancelled,
                                   std::function<void()> beat)
    : env_(env),
      learner_(learner),
      runners_(runners),
      config_(config),
      cancelled_(cancelled),
      beat_(std::move(beat)),
      wants_moments_((learner.spec().flags & BP_LEARNER_OBS_MOMENTS) != 0),
      buffers_(env, learner, config.shared),
      queue_(env.rows(), env.resets_itself() ? env.rows() : config.chunk_rows, runners.threads),
      recorder_(env, config.seed, MomentRows(env, learner, config)),
      gate_(runners.threads) {}

void RolloutCollector::Prepare(uint64_t room) {
  if (room == buffers_.room()) return;
  buffers_.Bind(room, started_);
  actions_.Bind(env_, [this](const std::string& name) { return buffers_.Find(name); });
  recorder_.MakeRoom(buffers_, queue_.chunks());
}

void RolloutCollector::StartRollout(const RolloutPart& part, PhaseClock& clock) {
  if (part.room != buffers_.room()) {
    const PhaseSpan span(clock, Phase::kBatchBuild);
    Prepare(part.room);
  }
  if (!started_) {
    const PhaseSpan span(clock, Phase::kEnvReset);
    Rows& rows = recorder_.rows();
    for (uint64_t r = 0; r < rows.size(); ++r) rows.StartEpisode(r);
    ResetRows(0, rows.size());
    started_ = true;
  } else {
    const PhaseSpan span(clock, Phase::kObsTransfer);
    buffers_.Continue();
  }
  if (env_.takes_seeds()) {
    const PhaseSpan span(clock, Phase::kEnvReset);
    AssignSeeds(env_.resets_itself() ? part.steps : std::min(part.steps, kMostSeedsAhead));
  }
  Begin(part);
}

void RolloutCollector::Begin(const RolloutPart& part) {
  part_ = part;
  buffers_.Begin(part);
  queue_.Start(part.steps);
  recorder_.StartRollout(buffers_, queue_.chunks());
}

// Before the first step of a rollout, with the seeds of the rows.
void RolloutCollector::ResetRows(uint64_t begin, uint64_t end) {
  const uint64_t first = buffers_.room();  // the slot of the first state
  std::optional<BoundsCheck> bounds;
  if (gate_.on()) bounds = CheckBoundsOfReset(env_.id(), begin, end, nullptr, buffers_.OfReset(first));
  const bp_status status = env_.Reset(buffers_.slot(first), begin, end, nullptr, recorder_.rows().seeds.data());
  if (status != BP_OK) env_.Fail(status, "reset");
  if (bounds) bounds->Compare();
  buffers_.TakeReset(first, begin, end);
  buffers_.Forget(0, begin, end);
}

// A row may end in every step, so it may need one seed per step. Its count of episodes advances when they are recorded.
void RolloutCollector::AssignSeeds(uint64_t per_row) {
  const Rows& rows = recorder_.rows();
  next_seeds_.resize(rows.size() * per_row);
  for (uint64_t r = 0; r < rows.size(); ++r)
    for (uint64_t k = 0; k < per_row; ++k) next_seeds_[r * per_row + k] = rows.SeedAhead(r, k);
  env_.NextSeeds(per_row, next_seeds_);
}

bool RolloutCollector::Collect(const RolloutPart& part, std::vector<PhaseClock>& clocks) {
  StartRollout(part, clocks[0]);
  const bool alone = part.count > 1 && PlaysAlone();
  if (!(config_.acts_whole ? RunInTurns(clocks) : alone ? RunAlone(clocks[0]) : RunAll(clocks))) return false;
  if (env_.resets_itself()) RecordAllSteps(clocks[0]);
  if (gate_.on()) CheckFirstIteration();
  policy_steps_ += part.steps;
  const PhaseSpan span(clocks[0], Phase::kBatchBuild);
  delivery_.Merge(queue_.chunks(), buffers_, wants_moments_);
  return true;
}

bool RolloutCollector::RunAll(std::vector<PhaseClock>& clocks) {
  alone_ = false;
  return run_.Run(runners_, clocks, [this](unsigned runner, PhaseClock& clock) { RunChunks(runner, clock); });
}

bool RolloutCollector::RunAlone(PhaseClock& clock) {
  alone_ = true;
  if (part_.index == 0) WatchCloselyIfInDoubt();
  const Phase before = clock.current();
  RunChunks(0, clock);
  clock.Switch(before);
  if (part_.last()) RestoreThreadState(Suspects());
  tls_running_plugin = "";
  return !run_.stopped();
}

bool RolloutCollector::RunInTurns(std::vector<PhaseClock>& clocks) {
  alone_ = true;
  if (part_.index == 0) WatchCloselyIfInDoubt();
  PhaseClock& clock = clocks[0];
  std::vector<Chunk>& chunks = queue_.chunks();
  const Phase before = clock.current();
  const auto step = [&](uint64_t i, PhaseClock& of_runner) { StepEnv<false>(chunks[i], of_runner); };
  const std::function<void(uint64_t, PhaseClock&)> piece = std::ref(step);  // a reference needs no allocation
  for (uint64_t t = 0; t < part_.steps && !cancelled_.load(std::memory_order_relaxed); ++t) {
    const bool checked = gate_.on() && t < BoundsCheckGate::kSteps;
    clock.Switch(Phase::kInfer);
    checked ? Act<true>(t, 0, env_.rows()) : Act<false>(t, 0, env_.rows());
    clock.Switch(Phase::kEnvStep);
    for (uint64_t i = 0; checked && i < chunks.size(); ++i) StepEnv<true>(chunks[i], clock);
    if (!checked) run_.Share(runners_, clocks, chunks.size(), piece);
    for (Chunk& chunk : chunks) ++chunk.t;
    beat_();
  }
  clock.Switch(before);
  RestoreThreadState(Suspects());
  tls_running_plugin = "";
  return chunks.front().t == part_.steps;
}

void RolloutCollector::RunChunks(unsigned runner, PhaseClock& clock) {
  while (Chunk* chunk = queue_.Take(runner)) {
    clock.Switch(Phase::kInfer);
    const uint64_t half = chunk->t + (buffers_.horizon() - chunk->t) / 2;
    const int64_t until = clock.since_ns() + kHoldNs;
    int64_t next_beat = until;  // a long hold of a slow env is no hang
    do {
      if (cancelled_.load(std::memory_order_relaxed)) run_.Stop();
      if (run_.stopped()) return;
      gate_.on() ? StepInFirstIteration(*chunk, clock) : StepChunk<false>(*chunk, clock);
      ++chunk->t;
      if (clock.since_ns() >= next_beat) {
        beat_();
        next_beat = clock.since_ns() + kHoldNs;
      }
    } while (chunk->t < half || (chunk->t < buffers_.horizon() && clock.since_ns() < until));
    beat_();
    queue_.GiveBack(*chunk);
  }
}

void RolloutCollector::StepInFirstIteration(Chunk& chunk, PhaseClock& clock) {
  if (gate_.Passes(chunk.t)) return StepChunk<false>(chunk, clock);
  const BoundsCheckGate::Turn turn = gate_.Step(chunk.t);
  turn.alone() ? StepChunk<true>(chunk, clock) : StepChunk<false>(chunk, clock);
}

void RolloutCollector::CheckFirstIteration() {
  buffers_.CheckGuards();
  env_.CheckUnchanged();
  learner_.CheckUnchanged(env_);
  gate_.TurnOff();
  first_delivery_ = true;
}

void RolloutCollector::CheckDelivered() {
  if (!std::exchange(first_delivery_, false)) return;
  if (const auto found = buffers_.GuardBreak()) throw TrialFailure(BP_E_INTERNAL, learner_.id(), "consume: " + *found);
}

void RolloutCollector::RefuseAction(uint64_t t, uint64_t begin, uint64_t end) const {
  const BadAction bad = actions_.Find(t, begin, end);
  const auto source = FirstNonFinite(buffers_, bad.row, bad.row + 1, t);
  backplane::RefuseAction(bad, fmt::format("at step {} of the rollout", buffers_.first() + t + 1),
                          source ? std::optional(source->text) : std::nullopt, env_, learner_);
}

// Enters and leaves in phase kInfer. Reads the clock only at the end of a phase.
template <bool kChecked>
void RolloutCollector::StepChunk(Chunk& chunk, PhaseClock& clock) {
  Act<kChecked>(chunk.t, chunk.begin, chunk.end);
  StepEnv<kChecked>(chunk, clock);
  clock.Switch(Phase::kInfer);
}

template <bool kChecked>
void RolloutCollector::Act(uint64_t t, uint64_t begin, uint64_t end) {
  bp_act act{sizeof(bp_act),     BP_ACT_EXPLORE,      begin,   end,    0, config_.seed, policy_steps_ + t,
             buffers_.act_in(t), buffers_.act_out(t), nullptr, nullptr};
  std::optional<BoundsCheck> bounds;
  if constexpr (kChecked) bounds = CheckBoundsOfCall(learner_.id(), "act", begin, end, buffers_.OfAct(t));
  const bp_status status = learner_.Act(act);
  if (status != BP_OK) learner_.Fail(status, "act");
  if constexpr (kChecked) bounds->Compare();
  buffers_.TakeAct(t, begin, end);
  if (!actions_.Allows(t, begin, end)) [[unlikely]]
    RefuseAction(t, begin, end);
}

// Leaves in phase kEnvStep or kEnvReset.
template <bool kChecked>
void RolloutCollector::StepEnv(Chunk& chunk, PhaseClock& clock) {
  clock.Switch(Phase::kEnvStep);
  const uint64_t t = chunk.t;
  std::optional<BoundsCheck> bounds;
  if constexpr (kChecked) bounds = CheckBoundsOfCall(env_.id(), "step", chunk.begin, chunk.end, buffers_.OfStep(t));
  const bp_status status = env_.Step(buffers_.slot(t), chunk.begin, chunk.end);
  if (status != BP_OK) env_.Fail(status, "step");
  if constexpr (kChecked) bounds->Compare();
  buffers_.TakeStep(t, chunk.begin, chunk.end);
  if (env_.resets_itself() || !recorder_.Record(buffers_, chunk)) return;
  clock.Switch(Phase::kEnvReset);
  ResetEnded<kChecked>(chunk);
}

template <bool kChecked>
void RolloutCollector::ResetEnded(const Chunk& chunk) {
  Rows& rows = recorder_.rows();
  std::optional<BoundsCheck> bounds;
  if constexpr (kChecked)
    bounds = CheckBoundsOfReset(env_.id(), chunk.begin, chunk.end, rows.mask.data(), buffers_.OfReset(chunk.t));
  const bp_status status = env_.Reset(buffers_.slot(chunk.t), chunk.begin, chunk.end, rows.mask.data(), rows.seeds.data());
  if (status != BP_OK) env_.Fail(status, "reset");
  if constexpr (kChecked) bounds->Compare();
  buffers_.TakeReset(chunk.t, chunk.begin, chunk.end);
  std::memset(rows.mask.data() + chunk.begin, 0, chunk.end - chunk.begin);
}

void RolloutCollector::RecordAllSteps(PhaseClock& clock) {
  // A device executes steps after the calls return. The wait for them counts as kEnvStep, only the copy as kObsTransfer.
  const PhaseSpan span(clock, Phase::kEnvStep);
  buffers_.AwaitDevice();
  clock.Switch(Phase::kObsTransfer);
  buffers_.FetchForHost();
  clock.Switch(Phase::kBatchBuild);
  Chunk& rows = queue_.chunks().front();
  for (rows.t = 0; rows.t < buffers_.horizon(); ++rows.t) recorder_.Record(buffers_, rows);
}

bp_delivery RolloutCollector::Delivery() {
  bp_delivery delivery = delivery_.Make(buffers_, learner_, env_.rows());
  delivery.index = static_cast<uint32_t>(part_.index);
  delivery.count = static_cast<uint32_t>(part_.count);
  delivery.env_steps = env_steps();
  return delivery;
}

void RolloutCollector::ReleaseEnv() {
  buffers_.Release();
  started_ = false;
  elsewhere_.clear();
}

void RolloutCollector::Restore(std::vector<RowState> rows, uint64_t policy_steps, const std::vector<std::byte>& state_entries,
                               uint64_t horizon) {
  started_ = false;  // no states to carry over
  elsewhere_.clear();
  Prepare(horizon);
  started_ = true;
  recorder_.rows().state = std::move(rows);
  policy_steps_ = policy_steps;
  buffers_.RestoreStates(state_entries);
}

}  // namespace backplane
