// The trial's messages, checks and fallback, against workers that the test plays by hand.
#include "workers/group.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kCandidates = 12;

class FakeLink : public WorkerLink {
 public:
  explicit FakeLink(int fd) : fd_(fd) {}
  ~FakeLink() override { close(fd_); }
  int fd() const override { return fd_; }
  void End() override { shutdown(fd_, SHUT_RDWR); }
  std::string HowItEnded() override { return "it fell"; }
  std::string LastWords() const override { return "oh"; }

 private:
  int fd_;
};

// The other end of a link.
class FakeWorker {
 public:
  explicit FakeWorker(int fd) : fd_(fd) {}
  FakeWorker(FakeWorker&& other) noexcept : fd_(std::exchange(other.fd_, -1)), reader_(std::move(other.reader_)) {}
  ~FakeWorker() { Leave(); }
  void Leave() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  template <class Message>
  void Say(const Message& message) {
    SendAll(fd_, ToBytes(message));
  }
  void SayBytes(const std::vector<std::byte>& bytes) { SendAll(fd_, bytes); }
  std::optional<Frame> Hear() {
    for (;;) {
      if (auto frame = reader_.Next()) return frame;
      if (ReceiveInto(fd_, true, &reader_) == Received::kEnd) return std::nullopt;
    }
  }
  void SayHello(const std::string& trial = "t1", uint64_t threads = 1) {
    Say(Hello{.token = "", .trial_id = trial, .number = 1, .threads = threads, .rows = 4, .processor = ProcessorOfThis()});
  }
  // Plays turns until the trial is gone, or `most` jobs, and then leaves. The score of a job is its number.
  void Play(const bp_request& request, uint64_t most = ~uint64_t{0}) {
    uint64_t turn = 0;
    while (const std::optional<Frame> frame = Hear()) {
      if (frame->kind == FrameKind::kTurn) {
        turn = MessageOf<Turn>(*frame).number;
        Say(Ready{turn, DigestOf(request)});
      } else if (frame->kind == FrameKind::kJobs) {
        for (const uint64_t job : MessageOf<JobList>(*frame).jobs) {
          if (most-- == 0) return Leave();
          Say(Score{turn, job, {static_cast<double>(job), static_cast<int64_t>(job) + 1, {}, {1, 0.5, 0.25}}});
          ++played;
        }
      } else {
        Done done{.turn = turn, .phases = {}, .cpu_s = 0.5, .most_cpu_s = 0.5};
        done.phases.ns[static_cast<size_t>(Phase::kEnvStep)] = 1;
        Say(done);
      }
    }
  }

  uint64_t played = 0;

 private:
  int fd_;
  FrameReader reader_;
};

class Group : public testing::Test {
 protected:
  Group() {
    for (uint64_t c = 0; c < kCandidates; ++c) seeds_.push_back(100 + c);
    request_.kind = BP_REQ_EVALUATE;
    request_.u.evaluate = {kCandidates, 1, 0, 0, seeds_.data()};
    clocks_[0].Start(Phase::kSync);
  }
  void Make(size_t workers, double silence_s = 60) {
    std::vector<std::unique_ptr<WorkerLink>> links;
    for (size_t i = 0; i < workers; ++i) {
      int pair[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      links.push_back(std::make_unique<FakeLink>(pair[0]));
      workers_.emplace_back(pair[1]);
    }
    group_ = std::make_unique<WorkerGroup>(
        std::move(links), WorkerGroup::Setup{.trial_id = "t1",
                                             .learner = "learner.toy",
                                             .token = "",
                                             .chunk_rows = 8,
                                             .silence_s = silence_s,
                                             .cancelled = &cancelled_,
                                             .beat = nullptr,
                                             .warn = [this](const std::string& text) { warnings_.push_back(text); }});
  }
  bool Play() {
    group_->BeginTurn({}, {});
    queue_.Start(kCandidates, 1, 0);
    scores_.Start(kCandidates, 1);
    return group_->Play(request_, &queue_, &scores_, clocks_);
  }
  std::string FailureOfPlay() {
    try {
      Play();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }
  std::vector<double> Fitness() {
    scores_.Finish();
    std::vector<double> fitness;
    for (const Episode& episode : scores_.episodes()) fitness.push_back(episode.episode_return);
    return fitness;
  }
  // Ends all workers' turns and waits for them.
  void End(std::vector<std::thread>* threads) {
    group_.reset();
    for (std::thread& thread : *threads) thread.join();
  }

  std::vector<uint64_t> seeds_;
  bp_request request_{};
  std::atomic<bool> cancelled_{false};
  std::deque<FakeWorker> workers_;
  std::unique_ptr<WorkerGroup> group_;
  JobQueue queue_;
  CandidateScores scores_{0, 1};
  std::vector<PhaseClock> clocks_ = std::vector<PhaseClock>(2);
  std::vector<std::string> warnings_;
};

TEST_F(Group, HasEachJobPlayedOnce) {
  Make(2);
  std::vector<std::thread> threads;
  for (FakeWorker& worker : workers_)
    threads.emplace_back([&] {
      worker.SayHello();
      worker.Play(request_);
    });
  for (int turn = 0; turn < 3; ++turn) {
    ASSERT_TRUE(Play());
    EXPECT_TRUE(queue_.finished());
    EXPECT_THAT(Fitness(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  }
  End(&threads);
  EXPECT_EQ(workers_[0].played + workers_[1].played, 3 * kCandidates);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Group, TimeOfWorkersCountsForTheTrialsThreads) {
  Make(1);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    workers_[0].SayHello();
    workers_[0].Play(request_);
  });
  ASSERT_TRUE(Play());
  End(&threads);
  EXPECT_GT(clocks_[0].ns(Phase::kEnvStep), 0);
  EXPECT_EQ(clocks_[0].ns(Phase::kEnvStep), clocks_[1].ns(Phase::kEnvStep)) << "the other thread rested as long";
  EXPECT_LT(clocks_[0].ns(Phase::kIdle), 1'000'000) << "waiting for workers is not idle time";
}

TEST_F(Group, OtherWorkerPlaysJobsOfALostOne) {
  Make(2);
  for (auto& worker : workers_) worker.SayHello();  // so that both work in the first turn
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    workers_[0].Play(request_, 2);
    workers_[1].Play(request_);  // not earlier: it could play all jobs of the first turn
  });
  ASSERT_TRUE(Play());
  EXPECT_TRUE(queue_.finished());
  EXPECT_THAT(Fitness(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  ASSERT_TRUE(Play()) << "without it";
  End(&threads);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], testing::StartsWith("worker 1: it fell in turn 1; the other workers play"));
  EXPECT_THAT(warnings_[0], HasSubstr("its last output: oh"));
}

TEST_F(Group, TrialPlaysTheRestIfNoWorkerIsLeft) {
  Make(1);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    workers_[0].SayHello();
    workers_[0].Play(request_, 5);
  });
  ASSERT_TRUE(Play());
  EXPECT_FALSE(queue_.finished());
  size_t rest = 0;
  while (queue_.Take()) ++rest;
  EXPECT_EQ(rest, kCandidates - 5);
  ASSERT_TRUE(Play());
  EXPECT_EQ(queue_.Take(), 0u) << "all of the next one";
  End(&threads);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("the trial plays")));
}

TEST_F(Group, BlamesTheLearnerForADifferentPlan) {
  Make(1);
  bp_request other = request_;
  std::vector<uint64_t> seeds = seeds_;
  seeds.back() += 1;
  other.u.evaluate.seeds = seeds.data();
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    workers_[0].SayHello();
    workers_[0].Play(other);
  });
  try {
    Play();
    ADD_FAILURE() << "expected a failure";
  } catch (const TrialFailure& failure) {
    EXPECT_EQ(failure.status(), BP_E_INTERNAL);
    EXPECT_THAT(failure.what(),
                HasSubstr("learner.toy: plan: with the same saved state and limits, it asks for 12 candidates"));
  }
  End(&threads);
}

TEST_F(Group, AFailureOfAWorkerIsTheTrialsOwn) {
  Make(1);
  workers_[0].SayHello();
  workers_[0].Say(Failed{BP_E_NUMERIC, "env.toy", "a reward is not finite"});
  try {
    Play();
    ADD_FAILURE() << "expected a failure";
  } catch (const TrialFailure& failure) {
    EXPECT_EQ(failure.status(), BP_E_NUMERIC);
    EXPECT_EQ(failure.plugin(), "env.toy");
    EXPECT_STREQ(failure.what(), "env.toy: a reward is not finite");
  }
}

TEST_F(Group, WorkerThatEndsBeforeItsStartIsAnError) {
  Make(1);
  workers_[0].Leave();
  EXPECT_EQ(FailureOfPlay(), "worker 1: it fell before it loaded the plugins; its last output: oh");
}

TEST_F(Group, AWrongWorkerIsAnError) {
  const auto failure = [&](auto&& misbehave) {
    workers_.clear();
    Make(1);
    std::thread thread([&] { misbehave(workers_[0]); });
    const std::string text = FailureOfPlay();
    group_.reset();
    thread.join();
    return text;
  };
  EXPECT_THAT(failure([](FakeWorker& w) { w.SayHello("t2"); }),
              HasSubstr("expected a worker of trial t1, got one of trial t2"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.Say(Hello{.protocol = 9, .token = "", .trial_id = "t1"}); }),
              HasSubstr("expected protocol 5, got 9"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.Say(Hello{.token = "", .trial_id = "t1", .processor = "fma, glibc 1.0"}); }),
              HasSubstr("worker 1 runs on a different type of processor (fma, glibc 1.0) than the trial"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.SayBytes(std::vector<std::byte>(64, std::byte{'x'})); }),
              HasSubstr("worker 1: expected a frame that begins with"));
  EXPECT_THAT(failure([](FakeWorker& w) {
                w.SayHello(), w.Hear(), w.Say(Score{1, 0, {}});
              }),
              HasSubstr("which was not assigned to it"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.SayHello(), w.Hear(), w.Say(Ready{7, {}}); }), HasSubstr("got one for turn 7"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.SayHello(), w.Hear(), w.Say(Done{.turn = 1, .phases = {}}); }),
              HasSubstr("it ended turn 1 before the trial asked for its end"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.SayHello(), w.SayHello(); }), HasSubstr("got a second one"));
  EXPECT_THAT(failure([](FakeWorker& w) { w.Say(Ready{}); }), HasSubstr("expected its hello first, got a different message"));
}

// Hangs at each point where the trial waits for a worker.
TEST_F(Group, EndsWorkerThatHangsAndPlaysItsJobsElsewhere) {
  const auto hangs = [&](const char* where, auto&& misbehave) {
    SCOPED_TRACE(where);
    workers_.clear();
    warnings_.clear();
    Make(2, /*silence_s=*/2);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      misbehave(workers_[0]);
      while (workers_[0].Hear()) {
      }
    });
    threads.emplace_back([&] {
      workers_[1].SayHello();
      workers_[1].Play(request_);
    });
    ASSERT_TRUE(Play());
    EXPECT_TRUE(queue_.finished());
    EXPECT_THAT(Fitness(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    ASSERT_TRUE(Play()) << "without it";
    End(&threads);
    EXPECT_THAT(warnings_, ElementsAre(testing::StartsWith("worker 1: it gave no sign of life for 2 s")));
  };
  const auto begin = [this](FakeWorker& w) { w.SayHello(), w.Hear(), w.Say(Ready{1, DigestOf(request_)}), w.Hear(); };
  hangs("before its hello", [](FakeWorker&) {});
  hangs("within its hello", [](FakeWorker& w) {
    std::vector<std::byte> half = ToBytes(Hello{.token = "", .trial_id = "t1", .number = 1});
    half.resize(half.size() / 2);
    w.SayBytes(half);
  });
  hangs("before it is ready", [](FakeWorker& w) { w.SayHello(); });
  hangs("with jobs", begin);
  hangs("within a score", [&](FakeWorker& w) {
    begin(w);
    std::vector<std::byte> half = ToBytes(Score{1, 0, {0, 1, {}, {1, 0.5, 0.25}}});
    half.resize(half.size() - 3);
    w.SayBytes(half);
  });
  hangs("at its end", [&](FakeWorker& w) {
    w.SayHello();
    while (const std::optional<Frame> frame = w.Hear()) {
      if (frame->kind == FrameKind::kTurn) w.Say(Ready{1, DigestOf(request_)});
      if (frame->kind == FrameKind::kEndTurn) return;
      if (frame->kind != FrameKind::kJobs) continue;
      for (const uint64_t job : MessageOf<JobList>(*frame).jobs)
        w.Say(Score{1, job, {static_cast<double>(job), static_cast<int64_t>(job) + 1, {}, {1, 0.5, 0.25}}});
    }
  });
}

TEST_F(Group, PlaysAllJobsItselfIfAllWorkersHang) {
  Make(3, /*silence_s=*/0.3);
  workers_[0].SayHello();
  workers_[1].SayHello();
  ASSERT_TRUE(Play());
  EXPECT_FALSE(queue_.finished());
  size_t rest = 0;
  while (queue_.Take()) ++rest;
  EXPECT_EQ(rest, kCandidates);
  EXPECT_EQ(warnings_.size(), 3u);
  EXPECT_THAT(warnings_.back(), HasSubstr("the trial plays"));
}

TEST_F(Group, WaitsForWorkerThatGivesSignsOfLife) {
  Make(1, /*silence_s=*/3);
  std::thread thread([&] {
    workers_[0].SayHello();
    for (int i = 0; i < 15; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      workers_[0].SayBytes(BytesOf({FrameKind::kBeat, {}}));
    }
    workers_[0].Play(request_);
  });
  EXPECT_TRUE(Play());
  EXPECT_TRUE(queue_.finished());
  group_.reset();
  thread.join();
  EXPECT_THAT(warnings_, IsEmpty());
}

// A state larger than a socket's buffer, for a worker that does not read.
TEST_F(Group, DoesNotWaitForWorkerThatDoesNotRead) {
  Make(2, /*silence_s=*/2);
  std::thread thread([&] {
    workers_[1].SayHello();
    workers_[1].Play(request_);
  });
  workers_[0].SayHello();
  group_->BeginTurn({}, std::vector<std::byte>(32 << 20));
  queue_.Start(kCandidates, 1, 0);
  scores_.Start(kCandidates, 1);
  EXPECT_TRUE(group_->Play(request_, &queue_, &scores_, clocks_));
  EXPECT_TRUE(queue_.finished());
  group_.reset();
  thread.join();
  EXPECT_THAT(warnings_, ElementsAre(testing::StartsWith("worker 1: it gave no sign of life for 2 s")));
}

TEST_F(Group, StopsWhileItWaits) {
  Make(1);
  cancelled_ = true;
  EXPECT_FALSE(Play()) << "no hello has arrived";
}

}  // namespace
}  // namespace backplane
