// Supervisor and worker on both sides of the folder, on this machine and without a cluster: workers are child processes.
#include "cluster/folder_engine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>

#include <fstream>

#include "base/files.hpp"
#include "host/batch/engine_fixture.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// FindLost returns the workers that a test has lost.
class FakeCluster : public FolderEngine {
 public:
  explicit FakeCluster(const std::filesystem::path& out) : FolderEngine(out) { MakeFolder(); }
  ~FakeCluster() override { TellEnd("ask"); }

  using FolderEngine::at;
  using FolderEngine::token;
  std::vector<Lost> lost;
  bool refuses = false;

  void Lose(JobId job, const std::string& why) { lost.push_back({job, why}); }

 private:
  void Ordered(const WorkOrder&) override {
    if (refuses) throw std::runtime_error("the cluster is gone");
  }
  std::vector<Lost> FindLost() override { return std::exchange(lost, {}); }
};

class FolderEngineTest : public EngineTest {
 protected:
  std::unique_ptr<Child> StartWorker(const std::string& name, std::vector<std::string> more = {}) {
    ChildCommand command;
    command.program = kBackplane;
    command.arguments = {"work", "--folder=" + cluster_.at().folder.string(), "--token=" + cluster_.token(),
                         "--worker=" + name};
    command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    command.environment = {mark_};
    command.stdout_file = command.stderr_file = folder_ / (name + ".log");
    return std::make_unique<Child>(command);
  }

  TrialCommand Trial(const std::string& id, std::vector<std::string> arguments) {
    const std::filesystem::path attempt = folder_ / "trials" / id / "attempt-1";
    std::filesystem::create_directories(attempt);
    TrialCommand command = Fake(std::move(arguments));
    command.child.stdout_file = attempt / "stdout.log";
    command.child.stderr_file = attempt / "stderr.log";
    command.allocation.cores = {0};
    command.status_file = attempt / "status";
    return command;
  }

  std::vector<JobEnd> Ends(size_t count) {
    std::vector<JobEnd> ends;
    while (ends.size() < count)
      for (JobEnd& end : cluster_.Wait(1000)) ends.push_back(std::move(end));
    return ends;
  }
  bool Ready(const std::string& id) const {
    return ReadFile(folder_ / "trials" / id / "attempt-1/stdout.log").value_or("").find("ready") != std::string::npos;
  }

  FakeCluster cluster_{folder_};
};

TEST_F(FolderEngineTest, WorkersRunEachOrderOnce) {
  const auto first = StartWorker("a"), second = StartWorker("b", {"--slots=2"});
  std::set<JobId> started, ended;
  for (int i = 0; i < 12; ++i) started.insert(cluster_.Start(Trial(std::to_string(i), {"exit", "7"})));
  for (const JobEnd& end : Ends(12)) {
    EXPECT_TRUE(ended.insert(end.job).second) << end.job;
    EXPECT_EQ(end.exit.code, 7);
    EXPECT_THAT(end.lost, IsEmpty());
    EXPECT_FALSE(end.host.empty());
  }
  EXPECT_EQ(started, ended);
  EXPECT_THAT(NamesIn(cluster_.at().taken()), IsEmpty());
  EXPECT_THAT(NamesIn(cluster_.at().ended()), IsEmpty());
}

TEST_F(FolderEngineTest, CountsNodeAsLostIfItDoesNotAnswerAStop) {
  setenv("BACKPLANE_CLUSTER_PATIENCE", "1", 1);
  for (const StopHow how : {StopHow::kKill, StopHow::kAsk}) {
    const JobId job = cluster_.Start(Trial(std::to_string(static_cast<int>(how)), {"sleep"}));
    std::filesystem::rename(cluster_.at().order(job), cluster_.at().taken_by(job, "gone"));
    cluster_.Stop(job, StopHow::kWhere);
    cluster_.Stop(job, how);
    EXPECT_EQ(Ends(1)[0].lost, fmt::format("its node was lost: it did not answer a request to stop within {} s",
                                           how == StopHow::kAsk ? "1.1" : "1"))
        << "the grace counts, too";
  }
  unsetenv("BACKPLANE_CLUSTER_PATIENCE");
}

TEST_F(FolderEngineTest, NamesNodeWithoutSignOfLifeUntilItIsBack) {
  setenv("BACKPLANE_CLUSTER_PATIENCE", "1", 1);
  const auto worker = StartWorker("a");
  const JobId job = cluster_.Start(Trial("1", {"sleep"}));
  Until([&] { return Ready("1"); });
  EXPECT_EQ(cluster_.Silence(job), "");
  const auto silent = [&] {
    cluster_.Wait(10);
    return !cluster_.Silence(job).empty();
  };
  worker->Signal(SIGSTOP);
  Until(silent);
  EXPECT_THAT(cluster_.Silence(job), testing::MatchesRegex("its node .+ has given no sign of life for 5 s"));
  worker->Signal(SIGCONT);
  Until([&] { return !silent(); });
  unsetenv("BACKPLANE_CLUSTER_PATIENCE");
}

TEST(WorkFolder, IgnoresUnfinishedFiles) {
  EXPECT_EQ(WorkFolder::Job("00000012"), 12u);
  EXPECT_EQ(WorkFolder::Job("00000012@3.1"), 12u);
  EXPECT_EQ(WorkFolder::Job("123456789"), 123456789u) << "more digits than most";
  EXPECT_EQ(WorkFolder::Stop("00000012.kill")->job, 12u);
  for (const char* name : {"00000012.tmp", "00000012.tmp-77", "00000012.ask", "12", "", "x0000012", "session"})
    EXPECT_EQ(WorkFolder::Job(name), std::nullopt) << name;
  for (const char* name : {"00000012", "00000012.ask.tmp", "00000012.asked", ".ask"})
    EXPECT_FALSE(WorkFolder::Stop(name)) << name;
}

TEST_F(FolderEngineTest, ReportsSignalThatEndedATrial) {
  const auto worker = StartWorker("a");
  cluster_.Start(Trial("1", {"die", std::to_string(SIGSEGV)}));
  EXPECT_EQ(Ends(1)[0].exit.signal, SIGSEGV);
}

TEST_F(FolderEngineTest, StopEndsRunningTrialsAndDropsWaitingOrders) {
  const JobId waiting = cluster_.Start(Trial("0", {"exit", "7"}));
  EXPECT_FALSE(cluster_.HasBegun(waiting));
  cluster_.Stop(waiting, StopHow::kAsk);
  const JobEnd never = Ends(1)[0];
  EXPECT_EQ(never.exit.code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trials/0/attempt-1/stdout.log"));

  const auto worker = StartWorker("a");
  const JobId job = cluster_.Start(Trial("1", {"sleep"}));
  Until([&] { return Ready("1"); });
  EXPECT_TRUE(cluster_.HasBegun(job));
  cluster_.Stop(job, StopHow::kAsk);
  EXPECT_EQ(Ends(1)[0].exit.signal, SIGTERM);
}

TEST_F(FolderEngineTest, LostJobEndsOnceWithItsProcesses) {
  const auto worker = StartWorker("a");
  const JobId job = cluster_.Start(Trial("1", {"sleep"}));
  Until([&] { return Ready("1"); });
  cluster_.Lose(job, "its node was lost: a test says so");
  const JobEnd end = Ends(1)[0];
  EXPECT_THAT(end.lost, HasSubstr("a test says so"));
  // The cluster was wrong: the worker lives. It ends the trial and releases its lock, for which the next attempt on a different
  // node waits.
  const std::filesystem::path lock = folder_ / "trials/1/node.lock";
  const int fd = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  Until([&] { return flock(fd, LOCK_EX | LOCK_NB) == 0; });
  close(fd);
  EXPECT_THAT(cluster_.Wait(200), IsEmpty()) << "its end is reported twice";
}

TEST_F(FolderEngineTest, WorkerWaitsForTrialThatRunsOnADifferentNode) {
  const auto command = Trial("1", {"exit", "7"});
  const int fd = open((folder_ / "trials/1/node.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  const auto worker = StartWorker("a");
  const JobId job = cluster_.Start(command);
  Until([&] { return cluster_.HasBegun(job); });
  EXPECT_THAT(cluster_.Wait(300), IsEmpty());
  close(fd);
  EXPECT_EQ(Ends(1)[0].exit.code, 7);
}

TEST_F(FolderEngineTest, WorkerOfOneJobEndsWithIt) {
  const JobId first = cluster_.Start(Trial("1", {"exit", "7"})), second = cluster_.Start(Trial("2", {"exit", "8"}));
  const auto worker = StartWorker("b", {"--job=" + std::to_string(second)});
  EXPECT_EQ(Ends(1)[0].exit.code, 8);
  std::optional<ChildExit> end;
  while (!(end = worker->Wait(1000))) {
  }
  EXPECT_EQ(end->code, 0);
  EXPECT_FALSE(cluster_.HasBegun(first));
}

TEST_F(FolderEngineTest, WorkerRunsNothingInAReplacedFolder) {
  cluster_.Start(Trial("1", {"exit", "7"}));
  std::ofstream(cluster_.at().session()) << "of another supervisor";
  const auto worker = StartWorker("a");
  std::optional<ChildExit> end;
  while (!(end = worker->Wait(1000))) {
  }
  EXPECT_EQ(end->code, 64);
  EXPECT_THAT(ReadFile(folder_ / "a.log").value_or(""), HasSubstr("the nodes do not share a file system"));
}

TEST_F(FolderEngineTest, WorkerStopsItsTrialsAtSigterm) {
  const auto worker = StartWorker("a", {"--slots=2"});
  cluster_.Start(Trial("1", {"sleep"}));
  cluster_.Start(Trial("2", {"sleep"}));
  Until([&] { return Ready("1") && Ready("2"); });
  worker->Signal(SIGTERM);
  for (const JobEnd& end : Ends(2)) EXPECT_THAT(end.lost, HasSubstr("took its node back"));
  while (!worker->Wait(1000)) {
  }
  EXPECT_THAT(Left(), IsEmpty());
  EXPECT_THAT(NamesIn(cluster_.at().workers()), IsEmpty());
}

TEST_F(FolderEngineTest, OrderThatTheClusterRejectsIsDropped) {
  cluster_.refuses = true;
  EXPECT_THROW(cluster_.Start(Trial("1", {"exit", "7"})), std::runtime_error);
  cluster_.Lose(1, "its node was lost");
  EXPECT_THAT(cluster_.Wait(50), IsEmpty());
  EXPECT_THAT(NamesIn(cluster_.at().orders()), IsEmpty());
}

TEST_F(FolderEngineTest, MovedFolderLosesAllJobs) {
  const auto worker = StartWorker("a");
  const JobId job = cluster_.Start(Trial("1", {"sleep"}));
  Until([&] { return Ready("1"); });
  std::filesystem::rename(folder_ / "engine", folder_ / "elsewhere");
  const JobEnd end = Ends(1)[0];
  EXPECT_EQ(end.job, job);
  EXPECT_THAT(end.lost, HasSubstr("the results folder was moved"));
  while (!worker->Wait(1000)) {
  }
  EXPECT_THAT(Left(), IsEmpty());
}

}  // namespace
}  // namespace backplane
