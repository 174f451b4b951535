#include "rollout/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "rollout/non_finite.hpp"

namespace backplane {
namespace {

// An env that resets itself gets seeds for this many steps in advance.
constexpr int64_t kSeedsAhead = 64;
constexpr uint64_t kShareOfChunk = 16;  // a chunk plays this share of the episodes that are left

std::string StepOfEvaluation(int64_t t) { return fmt::format("at step {} of the evaluation", t + 1); }

bool FloorsUse(const bp_channel& c) { return c.role == BP_ROLE_ACTION || c.role == BP_ROLE_ACTION_MASK; }

}  // namespace

std::vector<uint64_t> EpisodesOfChunks(uint64_t episodes, uint64_t rows, uint64_t chunk_rows) {
  std::vector<uint64_t> starts = {0};
  for (uint64_t begin = 0; begin < rows; begin += chunk_rows) {
    const uint64_t own = std::min(chunk_rows, rows - begin), after = rows - begin - own, left = episodes - starts.back();
    starts.push_back(starts.back() + (after == 0 ? left : std::min(std::max(own, left / kShareOfChunk), left - after)));
  }
  return starts;
}

uint64_t RowsForEpisodes(uint64_t episodes, uint64_t chunk_rows) {
  uint64_t rows = 0;
  for (uint64_t left = episodes; left > 0; left -= std::min(left, std::max(chunk_rows, left / kShareOfChunk)))
    rows += std::min(chunk_rows, left);
  return rows;
}

Evaluator::Evaluator(EnvInstance& env, LearnerInstance& learner, Runners runners, uint64_t chunk_rows, uint64_t seed,
                     const std::atomic<bool>& cancelled, std::function<void()> beat, uint64_t first_episode)
    : env_(env),
      learner_(learner),
      runners_(runners),
      chunk_rows_(env.resets_itself() || env.steps_whole() ? env.rows() : chunk_rows),
      seed_(seed),
      cancelled_(cancelled),
      beat_(std::move(beat)),
      look_([](double) {}),
      first_episode_(first_episode),
      may_be_endless_(env.spec().max_episode_steps == 0),
      buffers_(env, learner, [](const bp_channel& c) { return TellsOfAStep(c) || FloorsUse(c); }),
      tracker_(env, buffers_),
      rows_(env.rows()),
      episode_(env.rows()),
      start_(env.rows()),
      episodes_(env.rows()),
      gate_(runners.threads) {
  for (const bp_channel* c : env_.channels())
    if (TellsOfAStep(*c)) read_.push_back(&buffers_[c->name]);
  buffers_.Bind();
  FindActions();
  action_check_.Bind(env, [this](const std::string& name) { return &buffers_[name]; });
}

void Evaluator::CapEpisodes(uint64_t steps) {
  cap_ = SlotTracker::CapOf(env_, steps);
  tracker_.LimitTo(cap_);
}

void Evaluator::PlayEpisodes(uint64_t n) {
  episodes_ = n;
  starts_ = EpisodesOfChunks(n, env_.rows(), chunk_rows_);
}

void Evaluator::FindActions() {
  for (const bp_channel* c : env_.channels()) {
    if (c->role != BP_ROLE_ACTION) continue;
    const bp::MaskPlace place = bp::MaskPlaceOf(env_.spec(), *c);
    ActionChannel& action = actions_.emplace_back(ActionChannel{c, place.mask, std::nullopt});
    try {
      action.space.emplace(*c, place.mask, place.first_flag, place.flags);
    } catch (const std::invalid_argument&) {
      // Unsupported action spaces only lose the uniform baseline.
    }
  }
}

bool Evaluator::HasUniformActions() const {
  return std::all_of(actions_.begin(), actions_.end(), [](const ActionChannel& a) { return a.space.has_value(); });
}

void Evaluator::ActByItself(Policy policy, uint64_t begin, uint64_t end, int64_t t) {
  for (size_t c = 0; c < actions_.size(); ++c) {
    const ActionChannel& action = actions_[c];
    ChannelBuffer& out = buffers_[action.channel->name];
    if (action.mask) buffers_[action.mask->name].Fetch();
    const uint64_t lead = env_.Lead(*action.channel) / env_.rows();
    for (uint64_t i = begin * lead; i < end * lead; ++i) {
      if (!action.space) {
        std::memset(out.row(0, i), 0, out.row_bytes());
        continue;
      }
      const uint8_t* mask = action.space->masked() ? buffers_[action.mask->name].at<uint8_t>(0, i) : nullptr;
      // Channels use distant positions of one stream.
      const auto agent = static_cast<uint32_t>((first_episode_ + episode_[i / lead]) * lead + i % lead);
      bp_rng rng{bp_seed(seed_, BP_PURPOSE_ACT, agent, static_cast<uint64_t>(t - start_[i / lead])), uint64_t{c} << 32};
      policy == Policy::kUniform ? action.space->Uniform(&rng, mask, out.row(0, i)) : action.space->Zero(mask, out.row(0, i));
    }
    out.Send();
  }
}

EvaluationResult Evaluator::Play(Policy policy, std::vector<PhaseClock>& clocks, const Played& played) {
  EvaluationResult out;
  out.returns.resize(episodes_);
  out.lengths.resize(episodes_);
  for (const bp_channel* c : env_.channels())
    if (IsEpisodeInfo(*c)) out.infos[c->name].resize(episodes_);
  capped_ = out_of_time_ = 0;
  std::atomic<uint64_t> next{0};
  const PhaseSpan span(clocks[0], Phase::kEval);
  // Only a failure stops it, and that is thrown.
  run_.Run(runners_, clocks, [&](unsigned, PhaseClock& clock) {
    clock.Switch(Phase::kEval);
    for (uint64_t begin; !run_.stopped() && (begin = next.fetch_add(chunk_rows_)) < env_.rows();) {
      const uint64_t end = std::min(begin + chunk_rows_, env_.rows());
      PlayChunk(begin, end, policy, &out);
      if (played && !run_.stopped()) played(begin, end);
    }
  });
  if (gate_.on()) {
    buffers_.CheckGuards();
    gate_.TurnOff();
  }
  out.capped = capped_;
  out.out_of_time = out_of_time_;
  return out;
}

// The row's first seed, repeated, as for a row that the host resets.
void Evaluator::AssignSeeds(const std::vector<uint64_t>& seeds) {
  std::vector<uint64_t> next;
  for (const uint64_t seed : seeds) next.insert(next.end(), kSeedsAhead, seed);
  env_.NextSeeds(kSeedsAhead, next);
}

void Evaluator::Act(uint64_t begin, uint64_t end, int64_t t, bool checked) {
  std::optional<BoundsCheck> bounds;
  if (checked) bounds = CheckBoundsOfCall(learner_.id(), "act", begin, end, buffers_.OfAct());
  const bp_act act{sizeof(bp_act),    BP_ACT_GREEDY,      begin,   end,    first_episode_, seed_, static_cast<uint64_t>(t),
                   buffers_.act_in(), buffers_.act_out(), nullptr, nullptr};
  if (bp_status s = learner_.Act(act); s != BP_OK) learner_.Fail(s, "act");
  if (bounds) bounds->Compare();
  if (!action_check_.Allows(0, begin, end)) RefuseAction(begin, end, t);
  if (look_at_act_) look_at_act_(buffers_, begin, end);
  buffers_.Advance(begin, end);
}

void Evaluator::StepEnv(uint64_t begin, uint64_t end, bool checked) {
  std::optional<BoundsCheck> bounds;
  if (checked) bounds = CheckBoundsOfCall(env_.id(), "step", begin, end, buffers_.OfStep());
  if (bp_status s = env_.Step(0, begin, end); s != BP_OK) env_.Fail(s, "step");
  if (bounds) bounds->Compare();
}

void Evaluator::RefuseAction(uint64_t begin, uint64_t end, int64_t t) {
  const BadAction bad = action_check_.Find(0, begin, end);
  ChannelBuffer& obs = *buffers_.OfRole(BP_ROLE_OBS);
  const auto source = NonFiniteEntry(obs, 0, bad.row, obs.lead() / env_.rows(), fmt::format("row {}", bad.row));
  backplane::RefuseAction(bad, StepOfEvaluation(t), source, env_, learner_);
}

void Evaluator::StartEpisodes(uint64_t begin, uint64_t end, const std::vector<uint64_t>& seeds) {
  const BoundsCheckGate::Turn turn = gate_.on() ? gate_.Step(0) : BoundsCheckGate::Turn();
  buffers_.Forget(begin, end);  // in the turn, because the check of another chunk copies the rows next to its own
  std::optional<BoundsCheck> bounds;
  if (turn.alone()) bounds = CheckBoundsOfReset(env_.id(), begin, end, nullptr, buffers_.OfReset());
  if (bp_status s = env_.Reset(0, begin, end, nullptr, seeds.data()); s != BP_OK) env_.Fail(s, "reset");
  if (bounds) bounds->Compare();
  std::fill(rows_.begin() + static_cast<int64_t>(begin), rows_.begin() + static_cast<int64_t>(end), RowState());
}

void Evaluator::EndEpisode(uint64_t row, EvaluationResult* out) {
  const uint64_t episode = episode_[row];
  out->returns[episode] = rows_[row].episode_return;
  out->lengths[episode] = static_cast<double>(rows_[row].episode_length);
  for (auto& [name, values] : out->infos) values[episode] = buffers_[name].Number(0, row);
}

void Evaluator::EndEpisodes(unsigned flags, int64_t t, Chunk* chunk, EvaluationResult* out) {
  const bool host_counts = env_.spec().max_episode_steps > 0 && (env_.flags() & BP_FLAG_OWNS_TIME_LIMIT) == 0;
  for (uint64_t r = chunk->begin; r < chunk->end; ++r) {
    if (flags > 1) tracker_.CheckFlags(r, StepOfEvaluation(t));
    const bool ends = tracker_.ended(r) && chunk->done[r - chunk->begin] == 0;
    // A finished row plays further episodes, which are ignored, because no env may step past its end.
    chunk->restart[r] = tracker_.ended_by_env(r);
    if (chunk->restart[r] != 0 || ends) buffers_.Forget(r, r + 1);
    if (!ends) continue;
    EndEpisode(r, out);
    if (!host_counts && !tracker_.ended_by_env(r)) ++capped_;
    --chunk->left;
    if (chunk->next < chunk->past)
      StartEpisode(r, chunk->next++, t + 1, chunk), chunk->restart[r] = 1;
    else
      chunk->done[r - chunk->begin] = 1;
  }
}

void Evaluator::RestartEnded(const Chunk& chunk) {
  if (env_.resets_itself()) return;
  ForEachRun(chunk, [&](uint64_t begin, uint64_t end) {
    const auto first = chunk.restart.begin() + static_cast<int64_t>(begin);
    const auto last = chunk.restart.begin() + static_cast<int64_t>(end);
    if (std::find_if(first, last, [](uint8_t one) { return one != 0; }) == last) return;
    if (bp_status s = env_.Reset(0, begin, end, chunk.restart.data(), chunk.seeds.data()); s != BP_OK) env_.Fail(s, "reset");
  });
}

void Evaluator::EndLate(uint64_t begin, const std::vector<uint8_t>& done, EvaluationResult* out) {
  for (uint64_t i = 0; i < done.size(); ++i) {
    if (done[i] != 0) continue;
    EndEpisode(begin + i, out);
    ++out_of_time_;
  }
}

Evaluator::Chunk Evaluator::ChunkOf(uint64_t begin, uint64_t end) const {
  const uint64_t number = begin / chunk_rows_;
  const uint64_t first = starts_.empty() ? begin : starts_[number], past = starts_.empty() ? end : starts_[number + 1];
  return {begin,
          end,
          first,
          past,
          past - first,
          std::vector<uint8_t>(end - begin, 0),
          std::vector<uint8_t>(env_.rows(), 0),
          std::vector<uint64_t>(env_.rows())};
}

template <class Function>
void Evaluator::ForEachRun(const Chunk& chunk, Function&& function) const {
  if (starts_.empty()) return function(chunk.begin, chunk.end);
  const auto is_done = [&](uint64_t r) { return chunk.done[r - chunk.begin] != 0; };
  for (uint64_t begin = chunk.begin, end; begin < chunk.end; begin = end) {
    for (end = begin + 1; end < chunk.end && is_done(end) == is_done(begin);) ++end;
    if (!is_done(begin)) function(begin, end);
  }
}

void Evaluator::StartEpisode(uint64_t row, uint64_t episode, int64_t t, Chunk* chunk) {
  episode_[row] = episode;
  start_[row] = t;
  rows_[row] = RowState();
  chunk->seeds[row] = EpisodeSeeds(seed_, BP_PURPOSE_EVAL).Of(first_episode_ + episode, 0);
}

// Returns the flags of all rows that stepped.
unsigned Evaluator::StepChunk(Policy policy, int64_t t, bool checked, const Chunk& chunk) {
  unsigned flags = 0;
  ForEachRun(chunk, [&](uint64_t begin, uint64_t end) {
    policy == Policy::kLearner ? Act(begin, end, t, checked) : ActByItself(policy, begin, end, t);
    StepEnv(begin, end, checked);
  });
  for (ChannelBuffer* buffer : read_) buffer->Fetch();
  ForEachRun(chunk, [&](uint64_t begin, uint64_t end) { flags |= tracker_.Add(rows_.data(), begin, end).flags; });
  return flags;
}

void Evaluator::PlayChunk(uint64_t begin, uint64_t end, Policy policy, EvaluationResult* out) {
  Chunk chunk = ChunkOf(begin, end);
  for (uint64_t r = begin; r < end; ++r) StartEpisode(r, chunk.next++, 0, &chunk);
  StartEpisodes(begin, end, chunk.seeds);
  look_(0);
  LookPace pace(NowNs());
  for (int64_t t = 0; chunk.left > 0; ++t) {
    if (run_.stopped()) return;
    if (cancelled_.load(std::memory_order_relaxed)) throw TrialFailure(BP_E_CANCELLED, "", "stopped during the evaluation");
    if (env_.resets_itself() && t % kSeedsAhead == 0) AssignSeeds(chunk.seeds);
    const BoundsCheckGate::Turn turn = gate_.on() ? gate_.Step(static_cast<uint64_t>(t)) : BoundsCheckGate::Turn();
    const unsigned flags = StepChunk(policy, t, turn.alone(), chunk);
    look_(rows_[begin].episode_return);
    if (flags != 0) {
      EndEpisodes(flags, t, &chunk, out);
      RestartEnded(chunk);
    }
    if (!pace.IsDue(t)) continue;
    const int64_t now = NowNs();
    pace.Looked(t, now);
    beat_();
    if (now >= deadline_ns_) return EndLate(begin, chunk.done, out);
  }
}

}  // namespace backplane
