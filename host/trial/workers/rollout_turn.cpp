// A rollout, or one of its parts, that the workers play, chunk by chunk.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "log/log.hpp"
#include "workers/group.hpp"

namespace backplane {
namespace {

constexpr uint64_t kMostRestarts = 2;  // of a worker, per rollout
constexpr uint64_t kMostLossesInResult = 20;

}  // namespace

bool WorkerGroup::PlayRollout(const RolloutPart& part, const std::optional<std::vector<std::byte>>& policy,
                              RolloutCollector* collector, std::vector<PhaseClock>& clocks) {
  const int64_t began_ns = NowNs();
  clock_.Look();
  deadline_ns_ = std::numeric_limits<int64_t>::max();
  collector->BeginShared(part, clocks[0]);
  std::vector<uint64_t> left;
  {
    const PhaseSpan waits(clocks[0], Phase::kIdle);
    StartRollout(part, policy, collector);
    for (OrderChunks(); !ChunksAreDone(); OrderChunks()) {
      if (MustEnd()) return false;
      Listen(nullptr);
      RestartLost();
    }
    for (uint64_t c = 0; c < rollout_->played.size(); ++c)
      if (!rollout_->played[c]) left.push_back(c);
    for (Worker& worker : workers_) {
      if (worker.done) threads_ += worker.hello.threads;
      worker.ordered = false;
    }
    rollout_.reset();
  }
  CountTime(clocks, began_ns);
  if (!left.empty() && !collector->PlayShared(left, clocks)) return false;
  for (const uint64_t c : left) holders_[c].reset();
  collector->EndShared(clocks[0]);
  return true;
}

void WorkerGroup::StartRollout(const RolloutPart& part, const std::optional<std::vector<std::byte>>& policy,
                               RolloutCollector* collector) {
  ++turn_.number;
  end_sent_ = true;  // a worker is done when it has played its chunks
  phases_ = {};
  cpu_s_ = most_cpu_s_ = 0;
  threads_ = 0;
  RolloutOrder order{.number = turn_.number,
                     .policy_steps = collector->policy_steps(),
                     .part = part,
                     .whole = policy ? uint8_t{0} : uint8_t{1},
                     .limits = turn_.limits,
                     .state = policy ? *policy : turn_.state,
                     .shared = setup_.memory ? setup_.memory->block() : SharedMemory::Block(),
                     .chunks = {}};
  if (setup_.memory && !setup_.memory->failure().empty() && !std::exchange(warned_of_memory_, true))
    setup_.warn("rollout workers send their results over sockets, which takes longer, because the trial cannot get " +
                setup_.memory->failure());
  // Buffers in a new place lack the workers' last states.
  if (std::exchange(block_, order.shared) != order.shared || !collector->holds_elsewhere()) holders_.clear();
  rollout_.emplace(SharedTurn{collector, std::move(order), std::vector<bool>(collector->chunks(), false)});
  holders_.resize(collector->chunks());
  ShareChunks(collector->chunks());
  for (Worker& worker : workers_) {
    worker.ordered = worker.done = false;
    worker.restarts = 0;
    worker.silent_s = 0;
  }
  RestartLost();
}

// Neighbouring chunks. Ends workers that would get none, unless the learner may evaluate candidates, too.
void WorkerGroup::ShareChunks(uint64_t chunks) {
  if (workers_.size() > chunks && rollout_->order.whole == 0) {
    setup_.warn(
        fmt::format("rollout.workers: {} of {} rollout workers were ended, because the envs form {} of rollout.chunk_rows "
                    "envs, and each is played by one process",
                    workers_.size() - chunks, workers_.size(), chunks == 1 ? "1 chunk" : fmt::format("{} chunks", chunks)));
    for (size_t i = chunks; i < workers_.size(); ++i) workers_[i].link->End();
    workers_.resize(chunks);
  }
  const uint64_t n = workers_.size();
  for (uint64_t i = 0; i < n; ++i) {
    workers_[i].chunks.clear();
    for (uint64_t c = i * chunks / n; c < (i + 1) * chunks / n; ++c) workers_[i].chunks.push_back(c);
  }
}

void WorkerGroup::OrderChunks() {
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].at_work() && !workers_[i].ordered) OrderChunks(i);
}

void WorkerGroup::OrderChunks(size_t i) {
  Worker& worker = workers_[i];
  worker.ordered = true;
  RolloutOrder& order = rollout_->order;
  order.chunks.clear();
  for (const uint64_t c : worker.chunks) {
    if (rollout_->played[c]) continue;  // by its process before
    order.chunks.push_back(c);
    if (holders_[c] != Holder{i, worker.life}) Send(i, ToBytes(StartMessage{rollout_->collector->StartOf(c)}));
  }
  Send(i, ToBytes(order));
}

void WorkerGroup::Hear(size_t i, const PlayedChunk& message) {
  const Worker& worker = workers_[i];
  const uint64_t c = message.played.chunk;
  const bool its_own = std::find(worker.chunks.begin(), worker.chunks.end(), c) != worker.chunks.end();
  if (message.turn != turn_.number || !worker.ordered || !its_own || rollout_->played[c])
    Refuse(worker, fmt::format("it played chunk {} in turn {}, which was not assigned to it", c, message.turn));
  if (!rollout_->collector->SetPlayed(message.played))
    Refuse(worker, fmt::format("the results of chunk {} do not have the size of its envs and steps", c));
  rollout_->played[c] = true;
  holders_[c] = Holder{i, worker.life};
}

bool WorkerGroup::CanRestart(const Worker& worker) const { return setup_.restart && worker.restarts < kMostRestarts; }

// A worker may be lost in every iteration, and results keep all warnings.
void WorkerGroup::WarnOfLoss(const Worker& worker, const std::string& how) {
  const std::string words = worker.link->LastWords();
  const std::string sentence = fmt::format("{} in turn {}; {}{}{}", how, turn_.number,
                                           CanRestart(worker) ? "it is started again" : "the trial plays its envs",
                                           words.empty() ? "" : "; its last output: ", words);
  if (++losses_ > kMostLossesInResult) return LogWarning("warning: {}", sentence);
  setup_.warn(sentence + (losses_ == kMostLossesInResult ? "; the log lists further losses" : ""));
}

void WorkerGroup::RestartLost() {
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    const auto played = [this](uint64_t c) { return static_cast<bool>(rollout_->played[c]); };
    if (!worker.gone || std::all_of(worker.chunks.begin(), worker.chunks.end(), played)) continue;
    while (worker.gone && CanRestart(worker)) {
      ++worker.restarts;
      std::unique_ptr<WorkerLink> link = setup_.restart(i + 1);
      if (!link) continue;
      worker.link = std::move(link);
      worker.reader = {};
      worker.unsent = {};
      worker.said_hello = worker.gone = worker.ordered = worker.done = false;
      worker.silent_s = 0;
      ++worker.life;
    }
  }
}

bool WorkerGroup::ChunksAreDone() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.gone || (worker.ordered && worker.done); });
}

}  // namespace backplane
