#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "event_host.hpp"

namespace backplane::test_support {
namespace {

class TraceMonitor : public MonitorTest {
 protected:
  static bp_event Phase(uint32_t thread, const char* name, int64_t begin_ns, int64_t duration_ns, uint64_t count = 1) {
    bp_event event = Event(BP_EVENT_PHASE, name, begin_ns + duration_ns, 0);
    event.instance = thread, event.duration_ns = duration_ns, event.count = count;
    return event;
  }
  static bp_event Iteration(int64_t begin_ns, int64_t duration_ns) {
    bp_event event = Event(BP_EVENT_ITER, "iteration", begin_ns + duration_ns, 1000);
    event.duration_ns = duration_ns, event.iteration = 1;
    return event;
  }
  static bp_event Metric(const char* name, double value, uint32_t of) {
    bp_event event = Event(BP_EVENT_METRIC, name, 9000, value);
    event.instance = of;
    return event;
  }
  nlohmann::json Written() {
    EXPECT_EQ(api_->finish(monitor_, attempt_dir_.c_str()), BP_OK) << host_->error;
    std::ifstream file(attempt_dir_ / "trace.json");
    return nlohmann::json::parse(file)["traceEvents"];
  }
  size_t Count(const nlohmann::json& events, const std::string& kind) {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const auto& e) { return e["ph"] == kind; }));
  }
};

TEST_F(TraceMonitor, SpansAreOnTheirThreadsTrackToTheNanosecond) {
  Create("monitor.trace");
  Send({Phase(0, "sync", 5'000'000'000'001, 1'234'567), Phase(1, "env_step", 5'000'001'000'000, 2'000'000, 40),
        Iteration(5'000'000'000'001, 3'000'000)});
  const nlohmann::json events = Written();
  const auto find = [&](const char* name) {
    return *std::find_if(events.begin(), events.end(), [&](const auto& e) { return e["ph"] == "X" && e["name"] == name; });
  };
  EXPECT_EQ(find("sync")["ts"], 0.0) << "times count from the first event";
  EXPECT_EQ(find("sync")["dur"], 1234.567);
  EXPECT_EQ(find("env_step")["ts"], 999.999);
  EXPECT_EQ(find("env_step")["args"]["merged_spans"], 40);
  EXPECT_FALSE(find("sync").contains("args"));
  EXPECT_NE(find("sync")["tid"], find("env_step")["tid"]);
  EXPECT_NE(find("iteration")["tid"], find("sync")["tid"]);
  EXPECT_EQ(events[0]["args"]["name"], "trial 0123abcd");
}

TEST_F(TraceMonitor, IgnoresPhasesAfterTheTracedIterations) {
  Create("monitor.trace", {{"iterations", "2"}});
  EXPECT_TRUE(Wants(BP_EVENT_PHASE));
  Send({Phase(0, "sync", 0, 10), Iteration(0, 10)});
  EXPECT_TRUE(Wants(BP_EVENT_PHASE));
  Send({Iteration(10, 10), Phase(0, "sync", 20, 10), Iteration(20, 10)});
  EXPECT_FALSE(Wants(BP_EVENT_PHASE));
  EXPECT_TRUE(Wants(BP_EVENT_ITER)) << "iterations are shown to the end";
  EXPECT_EQ(Count(Written(), "X"), 4u) << "one phase, three iterations";
}

TEST_F(TraceMonitor, CountsTheMachinesMeasures) {
  Create("monitor.trace");
  Send({Metric("resources/rss_mb", 12.5, BP_METRIC_MACHINE), Metric("train/loss", 1, BP_METRIC_EXPERIMENT),
        Metric("sps", 5, BP_METRIC_MACHINE),
        Metric("resources/nan", std::numeric_limits<double>::quiet_NaN(), BP_METRIC_MACHINE),
        Metric("odd/\"name\\\n", 1, BP_METRIC_MACHINE)});
  const nlohmann::json events = Written();
  EXPECT_EQ(Count(events, "C"), 2u) << events;
  EXPECT_EQ(events.back()["name"], "odd/\"name\\ ");
}

TEST_F(TraceMonitor, KeepsRoomForIterationsAndNeverMoreThanItsLimit) {
  Create("monitor.trace", {{"max_events", "100"}, {"iterations", "1000"}});
  for (int i = 0; i < 200; ++i) Send({Phase(0, "sync", i, 1)});
  Send({Iteration(0, 200)});
  EXPECT_EQ(Count(Written(), "X"), 50u + 1u) << "phases get half";
  for (int i = 0; i < 200; ++i) Send({Iteration(i, 1)});
  const nlohmann::json events = Written();
  EXPECT_EQ(Count(events, "X") + Count(events, "C"), 100u);
}

TEST_F(TraceMonitor, IsValidWithoutAnyEventAndWhenFinishedTwice) {
  Create("monitor.trace");
  EXPECT_EQ(Count(Written(), "X"), 0u);
  Send({Iteration(0, 1)});
  EXPECT_EQ(Count(Written(), "X"), 1u);
  EXPECT_EQ(Count(Written(), "X"), 1u);
  EXPECT_EQ(api_->finish(monitor_, "/nonexistent"), BP_E_INTERNAL);
  EXPECT_NE(host_->error.find("/nonexistent/trace.json"), std::string::npos) << host_->error;
}

}  // namespace
}  // namespace backplane::test_support
