// A batch of many trials, of which some fail, against an engine that only makes believe: what is tested is the supervisor.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/files.hpp"
#include "places.hpp"
#include "plugin/catalog.hpp"
#include "record/batch_record.hpp"
#include "record/results_folder.hpp"
#include "supervise/batch.hpp"
#include "supervise/layout.hpp"
#include "supervise/local_engine.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = BACKPLANE_BINARY_DIR "/bin/backplane";

// Its jobs end at once, in any order, as a dice says. What is no trial (the check of the options) runs on this machine.
class DiceEngine : public Engine {
 public:
  struct Rolled {
    unsigned attempts = 0, results = 0;
    bool runs = false;
  };

  JobId Start(const TrialCommand& command) override {
    if (command.child.arguments.at(1) == "--check") return local_.Start(command);
    const auto trial = nlohmann::json::parse(*ReadFile(command.child.arguments.at(1)));
    Rolled& rolled = trials[trial.at("trial_id")];
    twice |= std::exchange(rolled.runs, true);
    ++rolled.attempts;
    JobEnd& end = jobs_.emplace_back(std::pair(trial.at("trial_id"), JobEnd{})).second;
    end.job = kFirst + ++last_;
    const unsigned dice = static_cast<unsigned>(random_() % 100);
    if (dice < 4) {
      end.exit.signal = SIGSEGV;
    } else if (dice < 7) {
      end.exit.code = kExitNan;
    } else if (dice < 10) {
      end.exit.code = kExitHostOom;
    } else {
      std::ofstream(fs::path(trial.at("attempt_dir")) / "result.json") << R"({"state": "COMPLETED", "outcome": "ok"})";
      ++rolled.results;
    }
    return end.job;
  }
  void Stop(JobId job, StopHow how) override {
    if (job < kFirst) local_.Stop(job, how);
  }
  std::optional<StatusFile> Status(JobId job) override { return job < kFirst ? local_.Status(job) : std::nullopt; }
  std::vector<JobEnd> Wait(int timeout_ms) override {
    std::vector<JobEnd> ended = jobs_.empty() ? local_.Wait(timeout_ms) : std::vector<JobEnd>();
    std::shuffle(jobs_.begin(), jobs_.end(), random_);
    for (size_t left = jobs_.size() / 2; jobs_.size() > left;) {
      trials[jobs_.back().first].runs = false;
      ended.push_back(jobs_.back().second);
      jobs_.pop_back();
    }
    return ended;
  }

  std::map<std::string, Rolled> trials;
  bool twice = false;  // one was started while it ran

 private:
  static constexpr JobId kFirst = 1 << 20;  // of these; before it, of the other engine

  std::mt19937 random_{7};  // NOLINT(bugprone-random-generator-seed): the same every time
  LocalEngine local_{kProgram};
  std::vector<std::pair<std::string, JobEnd>> jobs_;
  JobId last_ = 0;
};

double ResidentMiB() {
  std::istringstream statm(ReadFile("/proc/self/statm").value_or(""));
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class ManyTrials : public testing::Test {
 protected:
  ManyTrials() { fs::create_directories(folder_); }
  ~ManyTrials() override { fs::remove_all(folder_); }

  Plan PlanOf(uint64_t trials) const {
    static Catalog catalog = [] {
      Catalog plugins;
      plugins.AddFolder(BACKPLANE_PLUGIN_DIR);
      return plugins;
    }();
    std::ofstream(folder_ / "e.yaml") << "env: cartpole\nlearner: random\nbudget: {iterations: 1}\n"
                                         "stop_sweep: {flapping: 0, initial_failures: 0}\nmonitors: []\n"
                                         "sweep: {seeds: {n: "
                                      << trials << "}}\n";
    PlanOptions options;
    options.lookup = [](uint32_t kind, const std::string& name, const std::vector<fs::path>&, std::string* why_not) {
      return catalog.Find(kind, name, why_not);
    };
    PlanResult result = MakePlan(folder_ / "e.yaml", options);
    for (const Diagnostic& error : result.errors) ADD_FAILURE() << Format(error);
    return result.plan.value_or(Plan());
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("many_trials_" + std::to_string(getpid()));
};

TEST_F(ManyTrials, ComeToTheirEndAndTheEventsSayTheSame) {
  const char* const asked = std::getenv("BACKPLANE_MANY_TRIALS");
  const uint64_t n = asked != nullptr ? std::stoull(asked) : 300;
  BatchRequest request;
  request.plan = PlanOf(n);
  ASSERT_EQ(request.plan.trials.size(), n);
  request.out = folder_ / "out";
  request.quiet = true;
  request.program = kProgram;
  request.arguments.emplace();
  Machine machine;
  for (int i = 0; i < 16; ++i) machine.cpus.push_back({i, i, 0});
  machine.granted_cores = 16;
  ResourcePool pool(machine, {16u, std::nullopt});
  DiceEngine engine;
  const double before = ResidentMiB();
  const BatchReport report = RunBatch(&request, &engine, &pool);
  const double grown = ResidentMiB() - before;

  EXPECT_EQ(report.paused, "");
  EXPECT_EQ(report.Count(TrialState::kPlanned) + report.Count(TrialState::kRunning), 0u);
  EXPECT_FALSE(engine.twice);
  EXPECT_EQ(engine.trials.size(), n) << "each was begun";
  const auto begun = std::chrono::steady_clock::now();
  const BatchRecord record = ReadBatchRecord(ResultsFolder{request.out}.events());
  const double read_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  for (size_t i = 0; i < n; ++i) {
    const std::string& id = request.plan.trials[i].id;
    const DiceEngine::Rolled& rolled = engine.trials[id];
    const TrialRecord* told = record.Find(id);
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->state, report.trials[i].state);
    EXPECT_EQ(told->attempts.size(), rolled.attempts);
    EXPECT_EQ(rolled.results, told->state == TrialState::kCompleted ? 1u : 0u) << "no result is lost, and none made twice";
  }
  RecordProperty("events_read_ms", static_cast<int>(read_s * 1e3));
  std::printf("%zu trials: %zu completed, %zu infeasible, %zu failed; memory +%.1f MiB; the events read in %.3f s\n",
              static_cast<size_t>(n), report.Count(TrialState::kCompleted), report.Count(TrialState::kInfeasible),
              report.Count(TrialState::kFailed), grown, read_s);
}

}  // namespace
}  // namespace backplane
