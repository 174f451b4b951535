#include "rollout/candidate_scorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "rollout/readable.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMaxJobs = uint64_t{1} << 32;
constexpr int64_t kBeatNs = 100'000;

std::vector<std::string> InfoNames(const EnvInstance& env) {
  std::vector<std::string> names;
  for (const bp_channel* c : env.channels())
    if (IsEpisodeInfo(*c)) names.push_back(c->name);
  return names;
}

// The fitness of an env with wrappers; the returns of episodes are the innermost env's.
std::optional<size_t> LearnerReturn(const std::vector<std::string>& infos) {
  const auto found = std::find(infos.begin(), infos.end(), kLearnerReturn);
  return found == infos.end() ? std::nullopt : std::optional<size_t>(found - infos.begin());
}

}  // namespace

void CandidateScorer::Check(const bp_request& request, const EnvInstance& env, const LearnerInstance& learner) {
  const auto& asked = request.u.evaluate;
  const auto refuse = [&](bp_status status, const std::string& why) {
    throw TrialFailure(status, learner.id(), "asks for an evaluation of candidates: " + why);
  };
  if (env.resets_itself())
    refuse(BP_E_UNSUPPORTED,
           fmt::format("expected an env that the host resets, got {}, which resets itself (NATIVE_AUTORESET)", env.id()));
  if (asked.candidates < 1 || asked.candidates > std::numeric_limits<int32_t>::max())
    refuse(BP_E_INTERNAL, fmt::format("expected 1 to 2147483647 candidates, got {}", asked.candidates));
  if (asked.episodes_each < 1 || asked.episodes_each > std::numeric_limits<int32_t>::max())
    refuse(BP_E_INTERNAL, fmt::format("expected 1 to 2147483647 episodes each, got {}", asked.episodes_each));
  if (asked.seeds == nullptr) refuse(BP_E_INTERNAL, "expected a seed for each episode, got seeds = NULL");
  if (const uint64_t jobs = asked.candidates * asked.episodes_each; jobs > kMaxJobs)
    refuse(BP_E_INTERNAL, fmt::format("expected at most {} episodes, got {} candidates with {} each", kMaxJobs,
                                      asked.candidates, asked.episodes_each));
  if (!IsReadable(asked.seeds, asked.candidates * asked.episodes_each * sizeof(uint64_t)))
    refuse(BP_E_INTERNAL,
           fmt::format("expected {} seeds, got memory that cannot be read", asked.candidates * asked.episodes_each));
}

CandidateScorer::CandidateScorer(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows,
                                 uint64_t seed, const std::atomic<bool>& cancelled, std::function<void()> beat)
    : env_(env),
      learner_(learner),
      runners_(runners),
      chunk_rows_(chunk_rows),
      seed_(seed),
      cancelled_(cancelled),
      beat_(std::move(beat)),
      row_exact_(learner.row_exact()),
      wants_moments_((learner.spec().flags & BP_LEARNER_OBS_MOMENTS) != 0),
      whole_(env.steps_whole()),
      slot_(env, learner, [](const bp_channel&) { return false; }),
      obs_(*slot_.OfRole(BP_ROLE_OBS)),
      state_(slot_.OfRole(BP_ROLE_STATE)),
      obs_per_row_(env.Lead(*bp::FindChannel(env.spec(), BP_ROLE_OBS)) / env.rows()),
      tracker_(env, slot_),
      info_names_(InfoNames(env)),
      sharing_(env.rows(), runners.threads),
      gate_(runners.threads),
      players_(env.rows()),
      candidate_(env.rows(), -1),
      row_seeds_(env.rows()),
      starting_(env.rows()),
      scores_(info_names_.size(), wants_moments_ ? obs_.row_elements() : 0, LearnerReturn(info_names_)) {
  if (state_) state_per_row_ = env.Lead(*bp::FindChannel(env.spec(), BP_ROLE_STATE)) / env.rows();
  for (const std::string& name : info_names_) infos_.push_back(&slot_[name]);
  actions_.Bind(env, [this](const std::string& name) { return &slot_[name]; });
}

void CandidateScorer::Start(const bp_request& request) {
  const auto& asked = request.u.evaluate;
  candidates_ = asked.candidates;
  episodes_each_ = asked.episodes_each;
  jobs_ = candidates_ * episodes_each_;
  in_flight_ = asked.chunk > 0 ? std::min(asked.chunk, candidates_) : candidates_;  // UINT64_MAX also means no limit
  seeds_ = asked.seeds;
  const bool host_counts = env_.spec().max_episode_steps > 0 && (env_.flags() & BP_FLAG_OWNS_TIME_LIMIT) == 0;
  capped_by_host_ = cap_ > 0 && !host_counts && (asked.max_steps == 0 || asked.max_steps > cap_);
  tracker_.LimitTo(capped_by_host_ ? cap_ : asked.max_steps);
  scores_.Start(candidates_, episodes_each_);
  std::fill(candidate_.begin(), candidate_.end(), -1);
}

bool CandidateScorer::Score(const bp_request& request, std::vector<PhaseClock>& clocks, PlayElsewhere* elsewhere) {
  {
    const PhaseSpan span(clocks[0], Phase::kBatchBuild);
    Start(request);
  }
  if (row_exact_) {
    queue_.Start(candidates_, episodes_each_, in_flight_);
    if (elsewhere != nullptr && !elsewhere->Play(request, &queue_, &scores_, clocks)) return false;
    if (elsewhere != nullptr && queue_.finished()) {
      use_ = elsewhere->use();
    } else {
      if (!PlayFromQueue(clocks, (jobs_ + runners_.threads - 1) / runners_.threads)) return false;
      CheckFirstScore();
    }
  } else {
    if (!ScoreInWaves(clocks)) return false;
    CheckFirstScore();
  }
  const PhaseSpan span(clocks[0], Phase::kBatchBuild);
  scores_.Finish();
  // Counted by jobs: idle rows may have stepped here, and other processes may have played jobs.
  env_.TakeOwnSteps(0, env_.rows());
  env_.AddOwnSteps(0, scores_.own_steps());
  return true;
}

bool CandidateScorer::PlayFromQueue(std::vector<PhaseClock>& clocks, uint64_t most) {
  sharing_.Divide(std::min(chunk_rows_, most));
  if (whole_) {
    sharing_[0].whole = {0, env_.rows()};
    StartAllRows();
  }
  const bool done = run_.Run(runners_, clocks, [this](unsigned runner, PhaseClock& clock) { PlayFromQueue(runner, clock); });
  use_ = run_.use();
  return done;
}

void CandidateScorer::CheckFirstScore() {
  if (!gate_.on()) return;
  slot_.CheckGuards();
  env_.CheckUnchanged();
  learner_.CheckUnchanged(env_);
  gate_.TurnOff();
}

// Includes jobs of other processes.
uint64_t CandidateScorer::capped() const {
  if (!capped_by_host_) return 0;
  const auto is_capped = [this](const Episode& episode) { return episode.length >= static_cast<int64_t>(cap_); };
  return static_cast<uint64_t>(std::count_if(episodes().begin(), episodes().end(), is_capped));
}

void CandidateScorer::StartGiven(const bp_request& request, uint64_t most,
                                 std::function<void(uint64_t job, const JobScore&)> ended) {
  Start(request);
  ended_ = std::move(ended);
  queue_.StartEmpty(candidates_, episodes_each_);
  most_given_ = most;
}

void CandidateScorer::PlayGiven(std::vector<PhaseClock>& clocks) {
  PlayFromQueue(clocks, most_given_);
  CheckFirstScore();
}

bool CandidateScorer::Give(const std::vector<uint64_t>& jobs) {
  const bool all = std::all_of(jobs.begin(), jobs.end(), [this](uint64_t job) { return queue_.Give(job); });
  sharing_.Wake();
  return all;
}

void CandidateScorer::CloseJobs() {
  queue_.Close();
  sharing_.Wake();
}

// After a failure, wakes the runners that wait for this runner's rows.
void CandidateScorer::PlayFromQueue(unsigned runner, PhaseClock& clock) {
  RunnerRows& mine = sharing_[runner];
  const std::function<bool()> over = [this, &mine] {
    return run_.stopped() || queue_.finished() || (HasRoom(mine) && queue_.HasJob());
  };
  try {
    for (;;) {
      clock.Switch(Phase::kInfer);
      {
        const BoundsCheckGate::Turn turn = gate_.on() ? gate_.Other() : BoundsCheckGate::Turn();
        TakeJobs(mine, clock);
      }
      PlayOn(mine, clock);
      if (run_.stopped() || queue_.finished()) return;
      clock.Switch(Phase::kIdle);
      tls_running_plugin = "";
      sharing_.Await(mine, over);
    }
  } catch (...) {
    run_.Stop();
    sharing_.Wake();
    throw;
  }
}

// The request alone determines the row of each job and the range of each call of `act`.
bool CandidateScorer::ScoreInWaves(std::vector<PhaseClock>& clocks) {
  PoolUse sum{0, 0};
  double waves = 0;
  for (uint64_t first = 0, end = 0; first < jobs_; first = end, ++waves) {
    end = std::min({jobs_, first + env_.rows(), (first / episodes_each_ + in_flight_) * episodes_each_});
    next_chunk_ = 0;
    std::fill(candidate_.begin(), candidate_.end(), -1);
    const auto play = [&](unsigned runner, PhaseClock& clock) { PlayWave(runner, first, end, clock); };
    if (!run_.Run(runners_, clocks, std::ref(play))) return false;
    sum = {sum.balance + run_.use().balance, sum.wall_eff + run_.use().wall_eff};
  }
  use_ = {sum.balance / waves, sum.wall_eff / waves};
  return true;
}

void CandidateScorer::PlayWave(unsigned runner, uint64_t first, uint64_t end, PhaseClock& clock) {
  RunnerRows& mine = sharing_[runner];
  const uint64_t rows = end - first;
  for (uint64_t begin; (begin = chunk_rows_ * next_chunk_.fetch_add(1)) < rows;) {
    mine.playing.clear();
    mine.free.clear();
    mine.whole = {begin, std::min(begin + chunk_rows_, env_.rows())};
    clock.Switch(Phase::kEnvReset);
    if (whole_) StartAllRows();
    for (uint64_t row = begin; row < std::min(begin + chunk_rows_, rows); ++row) {
      const BoundsCheckGate::Turn turn = gate_.on() ? gate_.Other() : BoundsCheckGate::Turn();
      mine.Play(row);
      Begin(row, first + row);
    }
    mine.FindRuns();
    if (whole_) ResetStarting(clock);
    clock.Switch(Phase::kInfer);
    PlayOn(mine, clock);
    if (run_.stopped()) return;
  }
}

void CandidateScorer::PlayOn(RunnerRows& mine, PhaseClock& clock) {
  int64_t next_beat = clock.since_ns() + kBeatNs;
  while (!mine.playing.empty()) {
    if (cancelled_.load(std::memory_order_relaxed)) StopAll();
    if (run_.stopped()) return;
    if (sharing_.wanted()) sharing_.Share(mine);
    gate_.on() ? StepInFirstScore(mine, clock) : Step(mine, clock);
    if (clock.since_ns() >= next_beat) {
      beat_();
      next_beat = clock.since_ns() + kBeatNs;
      if (clock.since_ns() >= deadline_ns_) StopAll();
    }
  }
  beat_();
}

void CandidateScorer::StopAll() {
  run_.Stop();
  sharing_.Wake();
}

void CandidateScorer::StepInFirstScore(RunnerRows& mine, PhaseClock& clock) {
  const uint64_t before = steps_before_.fetch_add(1, std::memory_order_relaxed);
  if (gate_.Passes(before)) return Step(mine, clock);
  const BoundsCheckGate::Turn turn = gate_.Step(before);
  Step(mine, clock, turn.alone());
}

// Enters and leaves in phase kInfer. Reads the clock only at the end of a phase.
void CandidateScorer::Step(RunnerRows& mine, PhaseClock& clock, bool checked) {
  if (mine.whole.end > 0)
    Act(mine.whole, checked);
  else
    for (const RowRange& run : mine.runs) Act(run, checked);
  for (const RowRange& run : mine.runs) CheckActions(run);
  clock.Switch(Phase::kEnvStep);
  if (wants_moments_)
    for (const uint64_t row : mine.playing) AddObservation(row);
  if (whole_)
    StepEnv(mine.whole, checked);
  else
    for (const RowRange& run : mine.runs) StepEnv(run, checked);
  bool ended = false;
  for (const RowRange& run : mine.runs) ended |= Track(run);
  if (ended) {
    clock.Switch(Phase::kEnvReset);
    NextJobs(mine);
  }
  if (whole_) RestartIdleRows();
  clock.Switch(Phase::kInfer);
  if (row_exact_ && HasRoom(mine) && queue_.HasJob()) TakeJobs(mine, clock);
  if (whole_) ResetStarting(clock);
}

void CandidateScorer::Act(const RowRange& rows, bool checked) {
  std::optional<BoundsCheck> bounds;
  if (checked) bounds = CheckBoundsOfCall(learner_.id(), "act", rows.begin, rows.end, slot_.OfAct());
  const bp_act act{sizeof(bp_act), BP_ACT_GREEDY,   rows.begin,        rows.end, 0, seed_, 0,
                   slot_.act_in(), slot_.act_out(), candidate_.data(), nullptr};
  if (const bp_status status = learner_.Act(act); status != BP_OK) learner_.Fail(status, "act");
  if (bounds) bounds->Compare();
  slot_.Advance(rows.begin, rows.end);
}

void CandidateScorer::StepEnv(const RowRange& rows, bool checked) {
  std::optional<BoundsCheck> bounds;
  if (checked) bounds = CheckBoundsOfCall(env_.id(), "step", rows.begin, rows.end, slot_.OfStep());
  if (const bp_status status = env_.Step(0, rows.begin, rows.end); status != BP_OK) env_.Fail(status, "step");
  if (bounds) bounds->Compare();
}

// Checks only playing rows; idle ones may contain any bytes.
void CandidateScorer::CheckActions(const RowRange& rows) {
  if (!actions_.Allows(0, rows.begin, rows.end)) [[unlikely]]
    RefuseAction(rows);
}

void CandidateScorer::AddObservation(uint64_t row) {
  const uint64_t job = players_[row].job;
  const bool bytes = obs_.dtype().bits == 8;
  for (uint64_t i = row * obs_per_row_; i < (row + 1) * obs_per_row_; ++i)
    bytes ? scores_.Observe(job, obs_.at<uint8_t>(0, i)) : scores_.Observe(job, obs_.at<float>(0, i));
}

// True if the job of some row has ended.
bool CandidateScorer::Track(const RowRange& rows) {
  const EpisodeTracker::Seen seen = tracker_.Add(players_.data(), rows.begin, rows.end);
  if (seen.not_finite || seen.flags > 1) [[unlikely]]
    RefuseStep(rows);
  return seen.flags != 0;
}

// A runner with stolen rows may have more than it may play together; the rest stay free. No job waits forever: a playing row
// takes the next one when its own ends, and an idle runner has room.
bool CandidateScorer::HasRoom(const RunnerRows& mine) const { return !mine.free.empty() && mine.playing.size() < chunk_rows_; }

// Fills free rows with jobs while there are any.
void CandidateScorer::TakeJobs(RunnerRows& mine, PhaseClock& clock) {
  if (!HasRoom(mine)) return;
  const Phase before = clock.Switch(Phase::kEnvReset);
  while (HasRoom(mine)) {
    const std::optional<uint64_t> job = queue_.Take();
    if (!job) break;
    const uint64_t row = mine.free.back();
    mine.free.pop_back();
    mine.Play(row);
    Begin(row, *job);
  }
  mine.FindRuns();
  if (whole_ && !mine.playing.empty()) ResetStarting(clock);
  clock.Switch(before);
}

// Gives rows whose job has ended the next job, or frees them.
void CandidateScorer::NextJobs(RunnerRows& mine) {
  bool freed = false;
  for (uint64_t& row : mine.playing) {
    if (!tracker_.ended(row)) continue;
    End(row);
    if (const std::optional<uint64_t> job = row_exact_ ? queue_.Take() : std::nullopt) {
      Begin(row, *job);
    } else {
      candidate_[row] = -1;
      mine.free.push_back(row);
      freed = true;
    }
  }
  if (!freed) return;
  std::erase_if(mine.playing, [this](uint64_t row) { return candidate_[row] < 0; });
  mine.FindRuns();
}

void CandidateScorer::Begin(uint64_t row, uint64_t job) {
  players_[row] = {.job = job};
  candidate_[row] = static_cast<int32_t>(job / episodes_each_);
  row_seeds_[row] = seeds_[job];
  scores_.Begin(job);
  slot_.Forget(row, row + 1);
  if (whole_)
    starting_[row] = 1;
  else
    Reset(row, row + 1, nullptr);
}

void CandidateScorer::Reset(uint64_t begin, uint64_t end, const uint8_t* mask) {
  const bp_status status = env_.Reset(0, begin, end, mask, row_seeds_.data());
  if (status != BP_OK) env_.Fail(status, "reset");
}

void CandidateScorer::End(uint64_t row) {
  const Player& player = players_[row];
  scores_.End(player.job, player.episode_return, player.episode_length, env_.OwnLength(row));
  for (size_t i = 0; i < infos_.size(); ++i) scores_.infos(player.job)[i] = infos_[i]->Number(0, row);
  if (ended_) ended_(player.job, scores_.Of(player.job));
  if (row_exact_ && queue_.Finish(player.job)) sharing_.Wake();
}

}  // namespace backplane
