#include "workers/group.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr int kLookAtStop_ms = 100;

std::string WithLastWords(const WorkerLink& link) {
  const std::string words = link.LastWords();
  return words.empty() ? "" : "; its last output: " + words;
}

}  // namespace

WorkerGroup::WorkerGroup(WorkerLinks links, Setup setup) : setup_(std::move(setup)), workers_(links.size()) {
  for (size_t i = 0; i < links.size(); ++i) {
    workers_[i].link = std::move(links[i]);
    workers_[i].name = fmt::format("worker {}", i + 1);
  }
}

WorkerGroup::~WorkerGroup() = default;

void WorkerGroup::BeginTurn(const bp_limits& limits, std::vector<std::byte> state) {
  turn_.limits = limits;
  turn_.state = std::move(state);
}

bool WorkerGroup::Play(const bp_request& request, JobQueue* queue, CandidateScores* scores, std::vector<PhaseClock>& clocks) {
  const auto& asked = request.u.evaluate;
  const int64_t began_ns = NowNs();
  clock_.Look();
  {
    const PhaseSpan waits(clocks[0], Phase::kIdle);
    if (!AwaitHellos()) return false;
    dealer_.Start(queue, asked.candidates * asked.episodes_each, workers_.size());
    StartTurn(request);
    while (!AllAreDone()) {
      if (MustEnd()) return false;
      Listen(scores);
      if (!dealer_.finished())
        DealToAll();
      else if (!std::exchange(end_sent_, true))
        for (size_t i = 0; i < workers_.size(); ++i) EndTurnOf(i);
    }
  }
  if (!dealer_.finished()) dealer_.GiveBack(asked.candidates, asked.episodes_each);
  CountTime(clocks, began_ns);
  return true;
}

// Workers load plugins in parallel with the trial and take as long. False if cancelled.
bool WorkerGroup::AwaitHellos() {
  const auto missing = [](const Worker& worker) { return !worker.said_hello && !worker.gone; };
  while (std::any_of(workers_.begin(), workers_.end(), missing)) {
    if (MustEnd()) return false;
    Listen(nullptr);
  }
  return true;
}

void WorkerGroup::StartTurn(const bp_request& request) {
  ++turn_.number;
  request_ = DigestOf(request);
  end_sent_ = false;
  phases_ = {};
  cpu_s_ = most_cpu_s_ = 0;
  threads_ = 0;
  for (Worker& worker : workers_) {
    worker.ready = worker.done = false;
    worker.silent_s = 0;
    if (worker.at_work()) threads_ += worker.hello.threads;
  }
  if (threads_ == 0) return;
  // Deals half of an even share at a time, so that faster workers get more.
  const uint64_t jobs = request_.candidates * request_.episodes_each, parts = 2 * threads_;
  turn_.most = std::clamp<uint64_t>((jobs + parts - 1) / parts, 1, setup_.chunk_rows);
  const std::vector<std::byte> bytes = ToBytes(turn_);
  for (size_t i = 0; i < workers_.size(); ++i)
    if (workers_[i].at_work()) Send(i, bytes);
}

// Waits for messages, but not long, because a stop must be noticed.
void WorkerGroup::Listen(CandidateScores* scores) {
  std::vector<pollfd> fds;
  std::vector<size_t> whose;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].gone) continue;
    const int events = workers_[i].unsent.empty() ? POLLIN : POLLIN | POLLOUT;
    fds.push_back({workers_[i].link->fd(), static_cast<short>(events), 0});
    whose.push_back(i);
  }
  const int ready = poll(fds.data(), fds.size(), kLookAtStop_ms);
  for (size_t n = 0; ready > 0 && n < fds.size(); ++n) {
    if (fds[n].revents == 0) continue;
    const size_t i = whose[n];
    Worker& worker = workers_[i];
    if ((fds[n].revents & POLLOUT) != 0) SendRest(i);
    if (worker.gone || fds[n].revents == POLLOUT) continue;  // its loss was found meanwhile
    const Received received = ReceiveInto(worker.link->fd(), false, &worker.reader);
    try {
      while (!worker.gone) {
        const std::optional<Frame> frame = worker.reader.Next();
        if (!frame) break;
        Hear(i, *frame, scores);
      }
    } catch (const FrameError& e) {
      Refuse(worker, e.what());
    }
    if (received == Received::kEnd) Lose(i);
  }
  EndSilent(scores != nullptr || rollout_);
}

// True if the trial waits for an answer of the worker.
bool WorkerGroup::Owes(size_t i, bool in_turn) const {
  const Worker& worker = workers_[i];
  if (worker.gone) return false;
  if (!worker.said_hello) return true;
  if (rollout_) return worker.ordered && !worker.done;
  return in_turn && (!worker.ready || dealer_.HasJobs(i) || (end_sent_ && !worker.done));
}

// The trial's own watchdog fires later, so that a hung worker is not blamed on the trial's plugins.
void WorkerGroup::EndSilent(bool in_turn) {
  const double passed_s = clock_.Passed();
  for (size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    worker.silent_s = Owes(i, in_turn) ? worker.silent_s + passed_s : 0;
    if (worker.silent_s <= setup_.silence_s) continue;
    worker.link->End();
    Lose(i, fmt::format("it gave no sign of life for {:g} s{} and was ended: ", setup_.silence_s,
                        worker.said_hello ? "" : " before it loaded the plugins"));
  }
}

void WorkerGroup::Hear(size_t i, const Frame& frame, CandidateScores* scores) {
  Worker& worker = workers_[i];
  worker.silent_s = 0;
  if (frame.kind == FrameKind::kFailed) Fail(MessageOf<Failed>(frame));
  if (frame.kind == FrameKind::kHello) return Hear(&worker, MessageOf<Hello>(frame));
  if (!worker.said_hello) Refuse(worker, "expected its hello first, got a different message");
  if (scores == nullptr && !worker.ordered && frame.kind != FrameKind::kBeat) Refuse(worker, "it replied without a request");
  if (setup_.beat) setup_.beat();
  if (rollout_ && frame.kind == FrameKind::kPlayed) return Hear(i, MessageOf<PlayedChunk>(frame));
  switch (frame.kind) {
    case FrameKind::kBeat: return;
    case FrameKind::kReady: return Hear(i, MessageOf<Ready>(frame));
    case FrameKind::kScore: return Hear(i, MessageOf<Score>(frame), scores);
    case FrameKind::kDone: return Hear(&worker, MessageOf<Done>(frame));
    default:
      Refuse(worker,
             fmt::format("expected a message that a worker sends, got one of kind {}", static_cast<uint32_t>(frame.kind)));
  }
}

void WorkerGroup::Hear(Worker* worker, const Hello& hello) {
  if (worker->said_hello) Refuse(*worker, "expected one hello, got a second one");
  if (hello.protocol != kWorkerProtocol)
    Refuse(*worker, fmt::format("expected protocol {}, got {}", kWorkerProtocol, hello.protocol));
  if (hello.trial_id != setup_.trial_id || hello.token != setup_.token)
    Refuse(*worker, fmt::format("expected a worker of trial {}, got one of trial {}", setup_.trial_id, hello.trial_id));
  if (hello.threads < 1 || hello.rows < 1)
    Refuse(*worker, fmt::format("expected 1 or more threads and rows, got {} and {}", hello.threads, hello.rows));
  if (const std::string here = ProcessorOfThis(); hello.processor != here) {
    const std::string differs =
        fmt::format("{} runs on a different type of processor ({}) than the trial ({})", worker->name, hello.processor, here);
    if (std::getenv("BACKPLANE_MIXED_NODES") == nullptr)
      throw TrialFailure(
          BP_E_CONFIG, "",
          differs + ", so results would depend on the nodes; use nodes of one type, or set BACKPLANE_MIXED_NODES=1");
    setup_.warn(differs + ", so its results may differ in the last bits (BACKPLANE_MIXED_NODES)");
  }
  worker->hello = hello;
  worker->said_hello = true;
}

void WorkerGroup::Hear(size_t i, const Ready& ready) {
  Worker& worker = workers_[i];
  if (ready.turn != turn_.number)
    Refuse(worker, fmt::format("expected a ready message for turn {}, got one for turn {}", turn_.number, ready.turn));
  if (worker.ready) Refuse(worker, fmt::format("it sent two ready messages for turn {}", ready.turn));
  if (ready.request != request_)
    throw TrialFailure(
        BP_E_INTERNAL, setup_.learner,
        fmt::format("plan: with the same saved state and limits, it asks for {} in {}, but for {} in the trial; make "
                    "the plan depend only on them, or set rollout.workers: 0",
                    ToText(ready.request), worker.name, ToText(request_)));
  worker.ready = true;
  dealer_.Join(i, std::min(worker.hello.rows, worker.hello.threads * turn_.most));
  if (end_sent_) EndTurnOf(i);  // the others were done before it was ready
}

void WorkerGroup::Hear(size_t i, const Score& score, CandidateScores* scores) {
  const Worker& worker = workers_[i];
  if (score.turn != turn_.number || !dealer_.Finish(i, score.job))
    Refuse(worker, fmt::format("it scored job {} in turn {}, which was not assigned to it", score.job, score.turn));
  if (!scores->Set(score.job, score.score))
    Refuse(worker, fmt::format("expected {} infos and {} moments per job, got {} and {}", scores->infos(), scores->moments(),
                               score.score.infos.size(), score.score.moments.size()));
}

void WorkerGroup::Hear(Worker* worker, const Done& done) {
  if (done.turn != turn_.number)
    Refuse(*worker, fmt::format("expected the end of turn {}, got the end of turn {}", turn_.number, done.turn));
  if (!end_sent_ || worker->done)
    Refuse(*worker,
           fmt::format("it ended turn {} {}", done.turn, worker->done ? "twice" : "before the trial asked for its end"));
  worker->done = true;
  for (size_t p = 0; p < kPhaseCount; ++p) {
    phases_.ns[p] += done.phases.ns[p];
    phases_.cpu_ns[p] += done.phases.cpu_ns[p];
    phases_.cpu_wall_ns[p] += done.phases.cpu_wall_ns[p];
  }
  cpu_s_ += done.cpu_s;
  most_cpu_s_ = std::max(most_cpu_s_, done.most_cpu_s);
}

// Fails as the job would have failed here.
void WorkerGroup::Fail(const Failed& failed) const {
  if (failed.status == BP_OK) throw std::runtime_error(failed.text);
  throw TrialFailure(failed.status, failed.plugin, failed.text);
}

void WorkerGroup::Refuse(const Worker& worker, const std::string& why) const {
  throw std::runtime_error(worker.name + ": " + why + WithLastWords(*worker.link));
}

void WorkerGroup::DealToAll() {
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i].at_work() || !workers_[i].ready) continue;
    if (const JobList list{dealer_.Deal(i)}; !list.jobs.empty()) Send(i, ToBytes(list));
  }
}

void WorkerGroup::EndTurnOf(size_t i) {
  if (workers_[i].at_work() && workers_[i].ready) Send(i, BytesOf({FrameKind::kEndTurn, {}}));
}

// Never waits: a worker that does not read must not delay the others.
void WorkerGroup::Send(size_t i, const std::vector<std::byte>& bytes) {
  std::vector<std::byte>& unsent = workers_[i].unsent;
  unsent.insert(unsent.end(), bytes.begin(), bytes.end());
  SendRest(i);
}

void WorkerGroup::SendRest(size_t i) {
  Worker& worker = workers_[i];
  const std::optional<size_t> sent = SendSome(worker.link->fd(), worker.unsent);
  if (!sent) return Lose(i);
  if (*sent > 0) worker.silent_s = 0;
  worker.unsent.erase(worker.unsent.begin(), worker.unsent.begin() + static_cast<std::ptrdiff_t>(*sent));
}

// A worker that ended before its start would do so in the next attempt, too. `why`: it did not end on its own.
void WorkerGroup::Lose(size_t i, const std::string& why) {
  Worker& worker = workers_[i];
  if (std::exchange(worker.gone, true)) return;
  worker.unsent = {};
  const std::string how = worker.name + ": " + why + worker.link->HowItEnded();
  if (!worker.said_hello && worker.life == 0 && why.empty())
    throw std::runtime_error(how + " before it loaded the plugins" + WithLastWords(*worker.link));
  if (rollout_) return WarnOfLoss(worker, how);
  const uint64_t jobs = dealer_.Lose(i);
  setup_.warn(fmt::format("{} in turn {}; {} {} of its {}{}", how, turn_.number,
                          AtWork() > 0 ? "the other workers play" : "the trial plays", jobs, jobs == 1 ? "job" : "jobs",
                          WithLastWords(*worker.link)));
}

uint64_t WorkerGroup::AtWork() const {
  return static_cast<uint64_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.at_work(); }));
}

bool WorkerGroup::AllAreDone() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.gone || worker.done; });
}

// The trial's threads were idle; their time is reported like the workers'.
void WorkerGroup::CountTime(std::vector<PhaseClock>& clocks, int64_t began_ns) {
  const int64_t wall_ns = NowNs() - began_ns;
  for (size_t i = 0; i < clocks.size(); ++i) clocks[i].TakeOver(phases_, wall_ns, i == 0);
  const double threads = std::max(static_cast<double>(threads_), 1.0),
               wall_s = std::max(static_cast<double>(wall_ns) * 1e-9, 1e-9);
  use_ = {most_cpu_s_ > 0 ? cpu_s_ / threads / most_cpu_s_ : 1, cpu_s_ / (threads * wall_s)};
}

}  // namespace backplane
