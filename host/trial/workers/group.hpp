// The workers of a trial: processes that play jobs of its evaluations of candidates. In each turn, a worker gets the learner's
// state from before the plan and the limits, makes the same plan, and returns the result of each of its jobs. Only the trial
// consumes, in the order of the jobs, so results are bitwise equal for any number of workers.
//
// In a rollout (rollout_turn.cpp), each worker always plays the same chunks of rows and keeps their state. It returns all that
// it has played, and snapshots of its rows. On one machine, it plays in the trial's buffers, so the channels are not sent.
//
// If a worker ends or hangs, no result changes: the others or, if none is left, the trial play its jobs. In a rollout it is
// started again, at most twice, and plays its chunks from the start of the rollout; then the trial plays them. If a worker
// reports a failure, the trial would have failed in the same way, so the attempt ends as without workers.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/awake_clock.hpp"
#include "rollout/play_elsewhere.hpp"
#include "rollout/rollout_collector.hpp"
#include "workers/job_dealer.hpp"
#include "workers/link.hpp"
#include "workers/messages.hpp"

namespace backplane {

class WorkerGroup : public PlayElsewhere {
 public:
  struct Setup {
    std::string trial_id, learner;  // ids
    std::string token;              // required of workers; empty: none
    uint64_t chunk_rows = 1;
    double silence_s = 100;  // kills a worker that owes an answer and is silent for so long
    const std::atomic<bool>* cancelled = nullptr;
    std::function<void()> beat;                    // called if a working worker sent a message
    std::function<void(const std::string&)> warn;  // called if a worker is lost
    SharedMemory* memory = nullptr;                // shared with them; NULL: none
    // Starts a lost worker again, from 1 on; NULL, or returns NULL: impossible.
    std::function<std::unique_ptr<WorkerLink>(uint64_t number)> restart = nullptr;
  };
  WorkerGroup(WorkerLinks links, Setup setup);
  ~WorkerGroup() override;  // kills them
  WorkerGroup(const WorkerGroup&) = delete;

  // Starts a turn before the next evaluation is planned: sends the learner's state to the workers.
  void BeginTurn(const bp_limits& limits, std::vector<std::byte> state);
  bool Play(const bp_request& request, JobQueue* queue, CandidateScores* scores, std::vector<PhaseClock>& clocks) override;
  // Plays a rollout, or one part, in `collector`, whose learner's policy is `policy`; absent: the workers load the state of
  // BeginTurn and plan. False if cancelled. Throws like Play.
  bool PlayRollout(const RolloutPart& part, const std::optional<std::vector<std::byte>>& policy, RolloutCollector* collector,
                   std::vector<PhaseClock>& clocks);
  PoolUse use() const override { return use_; }
  SharedMemory* memory() const { return setup_.memory; }  // for the rollout buffers
  // Play returns false at this time (NowNs). [control]
  void EndBy(int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

 private:
  struct Worker {
    std::unique_ptr<WorkerLink> link;
    FrameReader reader;
    std::string name;  // "worker 2"
    Hello hello;
    bool said_hello = false, gone = false, ready = false, done = false;
    double silent_s = 0;            // since its last frame, while it owes one
    std::vector<std::byte> unsent;  // waits for room in its stream
    uint64_t life = 0;              // distinguishes its processes; 0: the first
    // In a rollout.
    std::vector<uint64_t> chunks;  // its share
    bool ordered = false;          // it got the order
    uint64_t restarts = 0;
    bool at_work() const { return said_hello && !gone; }
  };
  // The process that played a chunk last and keeps its rows.
  struct Holder {
    size_t worker;
    uint64_t life;
    bool operator==(const Holder&) const = default;
  };
  // A rollout in progress.
  struct SharedTurn {
    RolloutCollector* collector;
    RolloutOrder order;  // with all but the chunks
    std::vector<bool> played;
  };

  bool AwaitHellos();
  void StartTurn(const bp_request& request);
  void Listen(CandidateScores* scores);
  void Hear(size_t i, const Frame& frame, CandidateScores* scores);
  void Hear(Worker* worker, const Hello& hello);
  void Hear(size_t i, const Ready& ready);
  void Hear(size_t i, const Score& score, CandidateScores* scores);
  void Hear(Worker* worker, const Done& done);
  [[noreturn]] void Fail(const Failed& failed) const;
  [[noreturn]] void Refuse(const Worker& worker, const std::string& why) const;
  void DealToAll();
  void EndTurnOf(size_t i);
  void Send(size_t i, const std::vector<std::byte>& bytes);
  void SendRest(size_t i);
  bool Owes(size_t i, bool in_turn) const;
  void EndSilent(bool in_turn);
  void Lose(size_t i, const std::string& why = "");
  bool AllAreDone() const;

  // rollout_turn.cpp
  void StartRollout(const RolloutPart& part, const std::optional<std::vector<std::byte>>& policy, RolloutCollector* collector);
  void ShareChunks(uint64_t chunks);
  void OrderChunks();
  void OrderChunks(size_t i);
  void RestartLost();
  void Hear(size_t i, const PlayedChunk& message);
  bool ChunksAreDone() const;
  bool CanRestart(const Worker& worker) const;
  void WarnOfLoss(const Worker& worker, const std::string& how);

  uint64_t AtWork() const;
  void CountTime(std::vector<PhaseClock>& clocks, int64_t began_ns);

  bool MustEnd() const { return setup_.cancelled->load() || NowNs() >= deadline_ns_; }

  const Setup setup_;
  int64_t deadline_ns_ = std::numeric_limits<int64_t>::max();
  std::vector<Worker> workers_;
  JobDealer dealer_;
  Turn turn_;
  RequestDigest request_;
  AwakeClock clock_{kPauseOfOurs_s};  // does not count the time while this process is stopped
  bool end_sent_ = false;             // of the turn, to the workers that were ready
  PhaseSums phases_;                  // in the turn
  double cpu_s_ = 0, most_cpu_s_ = 0;
  uint64_t threads_ = 0;
  PoolUse use_;
  std::optional<SharedTurn> rollout_;
  uint64_t losses_ = 0;        // in rollouts
  SharedMemory::Block block_;  // of the last rollout
  bool warned_of_memory_ = false;
  std::vector<std::optional<Holder>> holders_;  // per chunk; absent: the trial
};

}  // namespace backplane
