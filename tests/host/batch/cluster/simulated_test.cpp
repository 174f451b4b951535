// A long plan on a simulated cluster: trials fail in every way, nodes disappear under them, and no process runs.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <random>

#include "base/files.hpp"
#include "batch/batch.hpp"
#include "cluster/engine_needs.hpp"
#include "host/plan/sweep/sweep_fixture.hpp"
#include "record/batch_record.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

constexpr char kCompleted[] = R"({"schema": 1, "state": "COMPLETED", "outcome": "ok", "iterations": 1, "env_steps": 1})";

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class SimulatedCluster : public Engine {
 public:
  explicit SimulatedCluster(JobId look_at) : look_at_(look_at) {}

  // After this many starts.
  uint64_t resident_bytes() const { return resident_bytes_; }

  JobId Start(const TrialCommand& command) override {
    if (last_ == look_at_) resident_bytes_ = ResidentBytes();
    running_.emplace_back(++last_, command.status_file.parent_path());
    return last_;
  }
  void Stop(JobId, StopHow) override {}
  std::optional<StatusFile> Status(JobId) override { return std::nullopt; }
  bool IsElsewhere() const override { return true; }
  std::vector<EngineJob> NewJobs() override { return std::exchange(jobs_, {}); }

  std::vector<JobEnd> Wait(int) override {
    std::vector<JobEnd> ended;
    for (size_t n = running_.empty() ? 0 : 1 + random_() % running_.size(); n > 0; --n) {
      std::swap(running_.front(), running_[random_() % running_.size()]);
      JobEnd end;
      end.job = running_.front().first;
      end.host = "node" + std::to_string(random_() % 16);
      Decide(running_.front().second, &end);
      running_.pop_front();
      ended.push_back(end);
    }
    return ended;
  }

 private:
  void Decide(const std::filesystem::path& attempt, JobEnd* end) {
    const auto dice = random_() % 100;
    if (dice < 80) {
      std::ofstream(AttemptFolder(attempt).result()) << kCompleted;
      if (dice < 3) end->lost = "its node was lost after the trial's end";
    } else if (dice < 88) {
      end->exit.code = -1;
      end->lost = "its node was lost";
    } else if (dice < 93) {
      end->exit.signal = 11;
    } else if (dice < 97) {
      end->exit.code = 103;
    } else {
      end->exit.code = 101;
    }
  }

  std::mt19937_64 random_{7};
  std::deque<std::pair<JobId, std::filesystem::path>> running_;
  std::vector<EngineJob> jobs_{{"simulated", "1"}};
  JobId last_ = 0, look_at_;
  uint64_t resident_bytes_ = 0;
};

class Simulated : public SweepTest {
 protected:
  Simulated() { std::filesystem::remove_all(out_); }
  ~Simulated() override { std::filesystem::remove_all(out_); }

  // Skip the check of options: it would need more cores than this machine has.
  BatchReport Run(const Plan& plan, Engine* engine) {
    BatchRequest request;
    request.plan = plan;
    request.out = out_;
    request.quiet = true;
    request.program = "/bin/false";
    const EngineNeeds needs = NeedsOf(plan);
    ResourcePool none(SlotsOf({}, 1), {}), slots(SlotsOf(needs, 64), {.jobs = 64, .gpus = {}});
    request.check_here = {engine, &none};
    return RunBatch(&request, engine, &slots);
  }

  // In memory if possible: each event waits for the disk, and this test does not measure disks.
  static std::filesystem::path Place() {
    return access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::path(testing::TempDir());
  }
  const std::filesystem::path out_ = Place() / ("simulated_test_" + std::to_string(getpid()));
};

// docs/decisions/0049-engines.md uses BACKPLANE_SIMULATED_TRIALS=10000.
TEST_F(Simulated, CompletesEveryTrialOnce) {
  const char* const wanted = std::getenv("BACKPLANE_SIMULATED_TRIALS");
  const auto trials = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 300;
  const Plan plan = GoodPlan(
      "resources: {cpus: 2}\nstop_sweep: {flapping: 0, initial_failures: 0}\noutput: {page: false}\nsweep: {seeds: {n: " +
      std::to_string(trials) + "}}\n");
  SimulatedCluster cluster(trials / 10);
  const BatchReport report = Run(plan, &cluster);
  const auto grown = static_cast<int64_t>(ResidentBytes() - cluster.resident_bytes());
  const auto begun = std::chrono::steady_clock::now();
  const BatchRecord record = ReadBatchRecord(ResultsFolder{out_}.events());
  const std::chrono::duration<double> replayed = std::chrono::steady_clock::now() - begun;
  RecordProperty("replayed_ms", static_cast<int>(replayed.count() * 1000));
  RecordProperty("grown_kib", static_cast<int>(grown / 1024));
  EXPECT_LT(grown, 4 << 20) << "from a tenth of the trials to their end";
  EXPECT_EQ(record.trials.size(), trials);
  EXPECT_THAT(record.sessions.back().jobs, testing::SizeIs(1));
  size_t stale = 0, left = 0;
  std::map<std::string, size_t> lost_by_id;
  for (const auto& [id, trial] : record.trials) {
    size_t finished = 0, lost = 0;
    for (const AttemptRecord& attempt : trial.attempts) {
      ASSERT_TRUE(attempt.ended) << id;
      EXPECT_EQ(finished, 0u) << id << " was started again after it had finished";
      finished += attempt.end.outcome == Outcome::kOk ? 1 : 0;
      lost += attempt.end.outcome == Outcome::kStale ? 1 : 0;
    }
    stale += lost;
    lost_by_id[id] = lost;
    EXPECT_EQ(finished == 1, trial.state == TrialState::kCompleted) << id;
    // A lost node is not the trial's fault, unless it has lost four.
    EXPECT_EQ(trial.state == TrialState::kPlanned, lost > 3) << id;
    left += trial.state == TrialState::kPlanned ? 1 : 0;
  }
  for (size_t i = 0; i < trials; ++i) EXPECT_EQ(report.trials[i].lost_nodes, lost_by_id[plan.trials[i].id]) << i;
  EXPECT_GT(stale, trials / 20);
  EXPECT_EQ(report.Count(TrialState::kPlanned), left);
}

}  // namespace
}  // namespace backplane
