// The host's events, as received by a real monitor that records them.
#include "trial/monitors.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "places.hpp"
#include "trial/reporting.hpp"

namespace backplane {
namespace {

Iteration Line(uint64_t number) {
  Iteration line;
  line.iteration = number;
  line.step = 64;
  line.time.t = 1;
  line.time.sps = 100;
  return line;
}

class Monitors : public testing::Test {
 protected:
  Monitors() { std::filesystem::create_directories(folder_); }
  ~Monitors() override { std::filesystem::remove_all(folder_); }

  void Listen(int iterations, int max_events = 1'000'000) {
    module_ = LoadedModule::Load(BACKPLANE_PLUGIN_DIR "/monitor_trace.so", "");
    monitors_.Add(*module_, "monitor.trace",
                  {{{"iterations", iterations}, {"max_events", max_events}}, {}, "monitors[0].options"});
    monitors_.Start();
  }
  static void Spend(PhaseClock& clock, int spans) {
    clock.Start(Phase::kEnvStep);
    for (int i = 0; i < spans; ++i) clock.Switch(i % 2 ? Phase::kInfer : Phase::kEnvStep);
    clock.Stop();
  }
  void EndIteration(int number) { PostIteration(monitors_, Line(number), NowNs(), 1000); }
  // The monitors run on their own thread: gives them time to react.
  bool SoonWantsPhases(bool wanted) {
    for (int i = 0; i < 1000 && monitors_.Wants(BP_EVENT_PHASE) != wanted; ++i) usleep(10'000);
    return monitors_.Wants(BP_EVENT_PHASE);
  }
  std::vector<std::string> Names(const std::string& kind) {
    monitors_.Finish(folder_);
    EXPECT_THAT(monitors_.warnings(), testing::IsEmpty());
    std::ifstream file(folder_ / "trace.json");
    std::vector<std::string> names;
    const nlohmann::json trace = nlohmann::json::parse(file);
    for (const auto& event : trace["traceEvents"])
      if (event["ph"] == kind) names.push_back(event["name"]);
    return names;
  }

  const std::filesystem::path folder_{std::filesystem::path(testing::TempDir()) / ("monitors_" + std::to_string(getpid()))};
  HostSinks sinks_;
  std::unique_ptr<LoadedModule> module_;
  MonitorHost monitors_{sinks_};
};

TEST_F(Monitors, SendPhasesWhileAMonitorWantsThem) {
  Listen(1);
  std::vector<PhaseClock> clocks(2);
  PhaseEvents phases(clocks, monitors_);
  Spend(clocks[1], 10);
  phases.HandOver(1, 64);
  EndIteration(1);
  EXPECT_FALSE(SoonWantsPhases(false)) << "one iteration was enough for it";
  phases.HandOver(2, 64);  // sees the change
  Spend(clocks[1], 10);
  phases.HandOver(3, 64);
  EXPECT_EQ(monitors_.dropped(), 0u);
  EXPECT_THAT(Names("X"), testing::UnorderedElementsAre("env_step", "infer", "iteration"));
}

TEST_F(Monitors, SendNoPhasesWithoutAMonitor) {
  std::vector<PhaseClock> clocks(1);
  PhaseEvents phases(clocks, monitors_);
  Spend(clocks[0], 10);
  phases.HandOver(1, 64);
  EXPECT_EQ(monitors_.dropped(), 0u);
}

TEST_F(Monitors, CountDroppedSpans) {
  Listen(1, 1000);  // writing all of them would exceed the time of `finish` on a busy machine
  bp_event span{};
  span.type = BP_EVENT_PHASE, span.name = "idle", span.duration_ns = 1;
  monitors_.PostSpans(std::vector<bp_event>(MonitorHost::kSpanLimit + 5, span), 2);
  EXPECT_EQ(monitors_.dropped(), 7u);
  EndIteration(1);
  EXPECT_THAT(Names("X"), testing::Contains("iteration")) << "they do not displace other events";
}

TEST_F(Monitors, UseRecordedNamesOfMetricsThatAreNotUtf8) {
  Listen(0);
  Iteration line = Line(1);
  line.metrics["train/loss"] = 1;
  line.time.machine["gpu/gr\xf6\xdf"] = 2;
  PostIteration(monitors_, line, NowNs(), 1000);
  EXPECT_THAT(Names("C"), testing::UnorderedElementsAre("SPS", "gpu/gr\uFFFD\uFFFD"));
}

}  // namespace
}  // namespace backplane
