// A monitor in C++ that ends its trial, as the host asks it.
#include "backplane/ext/verdict.h"

#include "backplane/monitor.hpp"
#include "event_host.hpp"

struct StopsAtReturn : bp::MonitorPlugin<StopsAtReturn> {
  static constexpr bp::About kAbout{
      .id = "monitor.stops_at_return", .version = "1.0.0", .summary = "Ends a trial at a return."};
  using MonitorPlugin::MonitorPlugin;

  void OnIteration(const bp::Iteration& iteration) override {
    if (const auto reached = iteration.Metric("return"); reached && *reached >= 10)
      EndTrial("return " + std::to_string(static_cast<int>(*reached)));
  }
};
BP_PLUGINS(StopsAtReturn);

namespace backplane::test_support {
namespace {

class Verdict : public MonitorTest {
 protected:
  Verdict() { Create("monitor.stops_at_return"); }
  void EndIteration(double episode_return) {
    bp_event metric = Event(BP_EVENT_METRIC, "return", 9, episode_return);
    Send({Event(BP_EVENT_ITER, "iteration", 9, 100), metric});
  }
  // "": the trial continues.
  std::string Asked() {
    const auto* api = static_cast<const bp_monitor_verdict_1*>(api_->get_extension(monitor_, BP_MONITOR_VERDICT_1));
    const char* reason = "";
    const uint32_t verdict = api->verdict(monitor_, &reason);
    EXPECT_EQ(verdict, *reason == '\0' ? BP_VERDICT_CONTINUE : BP_VERDICT_STOP);
    return reason;
  }
};

TEST_F(Verdict, KeepsTheFirstReason) {
  EXPECT_EQ(Asked(), "");
  EndIteration(9.5);
  EXPECT_EQ(Asked(), "");
  EndIteration(12);
  EndIteration(20);
  EXPECT_EQ(Asked(), "return 12");
}

TEST_F(Verdict, HasNoOtherRevision) {
  EXPECT_EQ(api_->get_extension(monitor_, "bp.monitor.verdict/2"), nullptr);
  EXPECT_EQ(api_->get_extension(monitor_, "bp.monitor.verdict/1 "), nullptr);
}

}  // namespace
}  // namespace backplane::test_support
