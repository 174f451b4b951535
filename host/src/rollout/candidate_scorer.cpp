#include "rollout/candidate_scorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "rollout/non_finite.hpp"

namespace backplane {
namespace {

constexpr int64_t kBeatNs = 100'000;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

bool EnvCuts(const EnvInstance& env) { return (env.flags() & BP_FLAG_OWNS_TIME_LIMIT) != 0; }

}  // namespace

void CandidateScorer::Check(const bp_request& request, const EnvInstance& env, const LearnerInstance& learner) {
  const auto& asked = request.u.evaluate;
  const auto refuse = [&](bp_status status, const std::string& why) {
    throw TrialFailure(status, learner.id(), "asks for an evaluation of candidates: " + why);
  };
  if (env.resets_itself())
    refuse(BP_E_UNSUPPORTED, fmt::format("wanted an env that the host resets with the seeds it is given, found {}, which resets "
                                         "itself (NATIVE_AUTORESET)",
                                         env.id()));
  if (asked.candidates < 1 || asked.candidates > std::numeric_limits<int32_t>::max())
    refuse(BP_E_INTERNAL, fmt::format("wanted 1 to 2147483647 candidates, found {}", asked.candidates));
  if (asked.episodes_each < 1 || asked.episodes_each > std::numeric_limits<int32_t>::max())
    refuse(BP_E_INTERNAL, fmt::format("wanted 1 to 2147483647 episodes of each, found {}", asked.episodes_each));
  if (asked.seeds == nullptr) refuse(BP_E_INTERNAL, "wanted a seed for each episode, found seeds = NULL");
  if (asked.max_steps == 0 && env.spec().max_episode_steps == 0 && !EnvCuts(env))
    refuse(BP_E_UNSUPPORTED,
           fmt::format("wanted a limit on the steps of an episode, found max_steps = 0 and none in {}: it might never end",
                       env.id()));
}

CandidateScorer::CandidateScorer(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows, uint64_t seed,
                                 const std::atomic<bool>& cancelled, std::function<void()> beat)
    : env_(env),
      learner_(learner),
      runners_(runners),
      chunk_rows_(chunk_rows),
      seed_(seed),
      cancelled_(cancelled),
      beat_(std::move(beat)),
      row_exact_(learner.row_exact()),
      wants_moments_((learner.spec().flags & BP_LEARNER_OBS_MOMENTS) != 0),
      env_cuts_(EnvCuts(env)),
      slot_(env, learner, [](const bp_channel&) { return false; }),
      obs_(*slot_.OfRole(BP_ROLE_OBS)),
      state_(slot_.OfRole(BP_ROLE_STATE)),
      reward_(slot_.OfRole(BP_ROLE_REWARD)->at<float>(0, 0)),
      terminated_(slot_.OfRole(BP_ROLE_TERMINATED)->at<uint8_t>(0, 0)),
      truncated_(env_cuts_ ? slot_.OfRole(BP_ROLE_TRUNCATED)->at<uint8_t>(0, 0) : nullptr),
      rewards_per_row_(env.Lead(*env.FindRole(BP_ROLE_REWARD)) / env.rows()),
      obs_per_row_(env.Lead(*env.FindRole(BP_ROLE_OBS)) / env.rows()),
      hands_(env.rows(), runners.threads),
      players_(env.rows()),
      candidate_(env.rows(), -1),
      row_seeds_(env.rows()) {
  if (state_) state_per_row_ = env.Lead(*env.FindRole(BP_ROLE_STATE)) / env.rows();
  for (const bp_channel* c : env.channels()) {
    if (!IsEpisodeInfo(*c)) continue;
    infos_.push_back(&slot_[c->name]);
    info_names_.push_back(c->name);
  }
}

void CandidateScorer::Start(const bp_request& request) {
  const auto& asked = request.u.evaluate;
  candidates_ = asked.candidates;
  episodes_each_ = asked.episodes_each;
  jobs_ = candidates_ * episodes_each_;
  in_flight_ = asked.chunk > 0 ? asked.chunk : candidates_;
  seeds_ = asked.seeds;
  limit_ = env_.spec().max_episode_steps > 0 && !env_cuts_ ? env_.spec().max_episode_steps : kNoLimit;
  if (asked.max_steps > 0) limit_ = static_cast<int64_t>(std::min<uint64_t>(asked.max_steps, static_cast<uint64_t>(limit_)));
  fitness_.resize(jobs_);
  lengths_.resize(jobs_);
  job_infos_.resize(jobs_ * infos_.size());
  std::fill(candidate_.begin(), candidate_.end(), -1);
  if (!wants_moments_) return;
  constexpr uint64_t kLine = 64 / sizeof(double);
  moments_stride_ = (1 + 2 * obs_.row_elements() + kLine - 1) / kLine * kLine;
  if (moments_room_ < jobs_) {
    moments_ = AllocateAligned(jobs_ * moments_stride_ * sizeof(double), false);
    moments_room_ = jobs_;
  }
}

bool CandidateScorer::Score(const bp_request& request, std::vector<PhaseClock>& clocks) {
  {
    const PhaseSpan span(clocks[0], Phase::kBatchBuild);
    Start(request);
  }
  bool done = false;
  if (row_exact_) {
    queue_.Start(candidates_, episodes_each_, in_flight_);
    hands_.Deal(std::min(chunk_rows_, (jobs_ + runners_.threads - 1) / runners_.threads));
    done = run_.Run(runners_, clocks, [this](unsigned runner, PhaseClock& clock) { PlayFromQueue(runner, clock); });
    use_ = run_.use();
  } else {
    done = ScoreInWaves(clocks);
  }
  if (!done) return false;
  const PhaseSpan span(clocks[0], Phase::kBatchBuild);
  Conclude();
  return true;
}

// Others may wait for this runner's rows: they are told when it leaves because of a failure.
void CandidateScorer::PlayFromQueue(unsigned runner, PhaseClock& clock) {
  Hand& hand = hands_[runner];
  const std::function<bool()> over = [this, &hand] {
    return run_.stopped() || queue_.finished() || (!hand.free.empty() && queue_.HasJob());
  };
  try {
    for (;;) {
      clock.Switch(Phase::kInfer);
      TakeJobs(hand, clock);
      PlayOn(hand, clock);
      if (run_.stopped() || queue_.finished()) return;
      clock.Switch(Phase::kIdle);
      hands_.Await(hand, over);
    }
  } catch (...) {
    run_.Stop();
    hands_.Wake();
    throw;
  }
}

// Which job meets which row follows from the request alone, and so does the range of each call of `act`.
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
  Hand& hand = hands_[runner];
  const uint64_t rows = end - first;
  for (uint64_t begin; (begin = chunk_rows_ * next_chunk_.fetch_add(1)) < rows;) {
    hand.rows.clear();
    hand.free.clear();
    hand.whole = {begin, std::min(begin + chunk_rows_, env_.rows())};
    clock.Switch(Phase::kEnvReset);
    for (uint64_t row = begin; row < std::min(begin + chunk_rows_, rows); ++row) {
      hand.Play(row);
      Begin(row, first + row);
    }
    hand.FindRuns();
    clock.Switch(Phase::kInfer);
    PlayOn(hand, clock);
    if (run_.stopped()) return;
  }
}

void CandidateScorer::PlayOn(Hand& hand, PhaseClock& clock) {
  int64_t next_beat = clock.since_ns() + kBeatNs;
  while (!hand.rows.empty()) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      run_.Stop();
      hands_.Wake();
    }
    if (run_.stopped()) return;
    if (hands_.wanted()) hands_.Share(hand);
    Step(hand, clock);
    if (clock.since_ns() >= next_beat) {
      beat_();
      next_beat = clock.since_ns() + kBeatNs;
    }
  }
  beat_();
}

// Enters and leaves in the phase kInfer: the clock is read only where a phase ends.
void CandidateScorer::Step(Hand& hand, PhaseClock& clock) {
  if (hand.whole.end > 0)
    Act(hand.whole);
  else
    for (const RowRange& run : hand.runs) Act(run);
  clock.Switch(Phase::kEnvStep);
  if (wants_moments_)
    for (const uint64_t row : hand.rows) AddObservation(row);
  for (const RowRange& run : hand.runs) StepEnv(run);
  bool ended = false;
  for (const uint64_t row : hand.rows) ended |= Keep(row);
  if (ended) {
    clock.Switch(Phase::kEnvReset);
    NextJobs(hand);
  }
  clock.Switch(Phase::kInfer);
  if (row_exact_ && !hand.free.empty() && queue_.HasJob()) TakeJobs(hand, clock);
}

void CandidateScorer::Act(const RowRange& rows) {
  const bp_act act{sizeof(bp_act), BP_ACT_GREEDY,   rows.begin,       rows.end, 0, seed_, 0, slot_.act_in(),
                   slot_.act_out(), candidate_.data(), nullptr};
  if (const bp_status status = learner_.Act(act); status != BP_OK) learner_.Fail(status, "act");
}

void CandidateScorer::StepEnv(const RowRange& rows) {
  if (const bp_status status = env_.Step(0, rows.begin, rows.end); status != BP_OK) env_.Fail(status, "step");
}

void CandidateScorer::AddObservation(uint64_t row) {
  double* const job = MomentsOf(players_[row].job);
  const uint64_t n = obs_.row_elements();
  for (uint64_t i = row * obs_per_row_; i < (row + 1) * obs_per_row_; ++i)
    AddToMoments(obs_.at<float>(0, i), n, job, job + 1, job + 1 + n);
}

// True if the row's job has ended. Sums in the order of time, and of agents within a step.
bool CandidateScorer::Keep(uint64_t row) {
  Player& player = players_[row];
  for (uint64_t a = 0; a < rewards_per_row_; ++a) player.fitness += reward_[row * rewards_per_row_ + a];
  ++player.length;
  if (!std::isfinite(player.fitness)) [[unlikely]]
    RefuseReward(row);
  player.ended = terminated_[row] || (env_cuts_ && truncated_[row]) || player.length >= limit_;
  return player.ended;
}

// Fills free rows with jobs, as long as there are.
void CandidateScorer::TakeJobs(Hand& hand, PhaseClock& clock) {
  if (hand.free.empty()) return;
  const Phase before = clock.Switch(Phase::kEnvReset);
  while (!hand.free.empty()) {
    const std::optional<uint64_t> job = queue_.Take();
    if (!job) break;
    const uint64_t row = hand.free.back();
    hand.free.pop_back();
    hand.Play(row);
    Begin(row, *job);
  }
  hand.FindRuns();
  clock.Switch(before);
}

// The rows whose job has ended go on with another one or become free.
void CandidateScorer::NextJobs(Hand& hand) {
  bool freed = false;
  for (uint64_t& row : hand.rows) {
    if (!players_[row].ended) continue;
    End(row);
    if (const std::optional<uint64_t> job = row_exact_ ? queue_.Take() : std::nullopt) {
      Begin(row, *job);
    } else {
      candidate_[row] = -1;
      hand.free.push_back(row);
      freed = true;
    }
  }
  if (!freed) return;
  std::erase_if(hand.rows, [this](uint64_t row) { return candidate_[row] < 0; });
  hand.FindRuns();
}

void CandidateScorer::Begin(uint64_t row, uint64_t job) {
  players_[row] = {.job = job};
  candidate_[row] = static_cast<int32_t>(job / episodes_each_);
  row_seeds_[row] = seeds_[job];
  if (wants_moments_) std::memset(MomentsOf(job), 0, moments_stride_ * sizeof(double));
  const bp_status status = env_.Reset(0, row, row + 1, nullptr, row_seeds_.data());
  if (status != BP_OK) env_.Fail(status, "reset");
}

void CandidateScorer::End(uint64_t row) {
  const Player& player = players_[row];
  fitness_[player.job] = player.fitness;
  lengths_[player.job] = player.length;
  for (size_t i = 0; i < infos_.size(); ++i) job_infos_[player.job * infos_.size() + i] = infos_[i]->Number(0, row);
  if (row_exact_ && queue_.Finish(player.job)) hands_.Wake();
}

void CandidateScorer::Conclude() {
  episodes_.resize(jobs_);
  env_steps_ = 0;
  for (uint64_t job = 0; job < jobs_; ++job) {
    episodes_[job] = {0, job / episodes_each_, fitness_[job], lengths_[job], job_infos_.data() + job * infos_.size()};
    env_steps_ += static_cast<uint64_t>(lengths_[job]);
  }
  if (!wants_moments_) return;
  const uint64_t n = obs_.row_elements();
  all_moments_.Reset(n);
  for (uint64_t job = 0; job < jobs_; ++job) {
    const double* const of = MomentsOf(job);
    all_moments_.Merge(of[0], of + 1, of + 1 + n);
  }
}

void CandidateScorer::Give(const char* name, bp_tensor* tensor) {
  names_.push_back(name);
  tensors_.push_back(tensor);
}

bp_delivery CandidateScorer::Delivery() {
  constexpr bp_dtype kF64{BP_DTYPE_FLOAT, 64, 1}, kI64{BP_DTYPE_INT, 64, 1};
  const auto rows = static_cast<int64_t>(candidates_), columns = static_cast<int64_t>(episodes_each_);
  names_.clear();
  tensors_.clear();
  fitness_tensor_.Set(fitness_.data(), kF64, {rows, columns}, columns);
  length_tensor_.Set(lengths_.data(), kI64, {rows, columns}, columns);
  Give("fitness", &fitness_tensor_.view);
  Give("ep_length", &length_tensor_.view);
  if (wants_moments_) {
    const auto n = static_cast<int64_t>(obs_.row_elements());
    count_tensor_.Set(&all_moments_.count, kF64, {1}, 1);
    mean_tensor_.Set(all_moments_.mean.data(), kF64, {n}, 1);
    m2_tensor_.Set(all_moments_.m2.data(), kF64, {n}, 1);
    Give("obs_count", &count_tensor_.view);
    Give("obs_mean", &mean_tensor_.view);
    Give("obs_m2", &m2_tensor_.view);
  }
  bp_delivery delivery{};
  delivery.struct_size = sizeof delivery;
  delivery.kind = BP_REQ_EVALUATE;
  delivery.count = 1;
  delivery.n_tensors = names_.size();
  delivery.names = names_.data();
  delivery.tensors = tensors_.data();
  return delivery;
}

std::optional<std::string> CandidateScorer::NonFiniteObservation() const {
  if (!wants_moments_) return std::nullopt;
  const uint64_t n = obs_.row_elements();
  for (uint64_t job = 0; job < jobs_; ++job)
    for (uint64_t i = 0; i < n; ++i)
      if (!std::isfinite(MomentsOf(job)[1 + i]))
        return fmt::format("observation {}[{}] of candidate {} was not finite in its episode {}", obs_.name(), i,
                           job / episodes_each_, job % episodes_each_);
  return std::nullopt;
}

// A sum of float32 in float64 stays finite unless one of them was not. Only one slot is kept of an episode, so it is played
// once more to find where its observations went wrong.
void CandidateScorer::RefuseReward(uint64_t row) {
  run_.Stop();
  const uint64_t job = players_[row].job, candidate = job / episodes_each_;
  const int64_t step = players_[row].length;
  std::string sentence = fmt::format("the reward of candidate {} is not a finite number at step {} of its episode {}", candidate,
                                     step, job % episodes_each_);
  int64_t found_at = 0;
  if (const auto source = ReplayForNonFinite(row, job, step, &found_at)) {
    const std::string when = found_at > 0 ? fmt::format("at step {}", found_at) : "at the start";
    sentence = fmt::format("{} {} of its episode {}", *source, when, job % episodes_each_) +
               (found_at < step ? "; it came before: " + sentence : ", nor is the reward");
  }
  throw TrialFailure(BP_E_NUMERIC, env_.id(), sentence);
}

std::optional<std::string> CandidateScorer::ReplayForNonFinite(uint64_t row, uint64_t job, int64_t steps, int64_t* out_step) {
  const std::string whose = fmt::format("candidate {}", job / episodes_each_);
  Begin(row, job);
  for (int64_t step = 0; step <= steps; ++step) {
    if (step > 0) {
      Act({row, row + 1});
      StepEnv({row, row + 1});
    }
    *out_step = step;
    if (auto found = NonFiniteEntry(obs_, 0, row, obs_per_row_, whose)) return found;
    if (state_ == nullptr) continue;
    if (auto found = NonFiniteEntry(*state_, 0, row, state_per_row_, whose)) return found;
  }
  return std::nullopt;
}

}  // namespace backplane
