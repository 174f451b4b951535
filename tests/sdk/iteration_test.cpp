// bp::Iteration: host events as seen by a monitor of the SDK.
#include "backplane/iteration.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "backplane/monitor.hpp"
#include "support/env_harness.hpp"

namespace {

using ::testing::ElementsAre;

std::vector<bp::Iteration> g_seen;

class Listens : public bp::MonitorPlugin<Listens> {
 public:
  static constexpr bp::About kAbout{"monitor.listens", "1.0.0", "Listens."};
  using MonitorPlugin::MonitorPlugin;
  bp::IterationParts Wants() const override { return {.phases = g_seen.empty(), .episodes = true}; }
  void OnIteration(const bp::Iteration& iteration) override {
    if (iteration.number == 77) throw bp::Error(BP_E_IO, "the disk is full");
    g_seen.push_back(iteration);
  }
};

class WantsNothing : public bp::MonitorPlugin<WantsNothing> {
 public:
  static constexpr bp::About kAbout{"monitor.wants_nothing", "1.0.0", "Samples alone."};
  using MonitorPlugin::MonitorPlugin;
};

class IterationTest : public ::testing::Test {
 protected:
  // An event of a newer host, longer than this struct.
  struct Newer {
    bp_event event;
    uint64_t more = ~uint64_t{0};
  };
  IterationTest() {
    g_seen.clear();
    EXPECT_EQ(api_->create(host_.get(), config_.get(), &monitor_), BP_OK) << host_.error;
  }
  ~IterationTest() override { api_->destroy(monitor_); }

  static Newer Event(uint32_t type, uint64_t iteration, const char* name = "", double value = 0, uint32_t instance = 0) {
    Newer newer{};
    newer.event.struct_size = sizeof(Newer), newer.event.type = type, newer.event.iteration = iteration;
    newer.event.env_steps = 100 * iteration, newer.event.t_ns = 1000 + static_cast<int64_t>(iteration);
    newer.event.name = name, newer.event.value = value, newer.event.instance = instance;
    newer.event.duration_ns = 50, newer.event.count = 3;
    return newer;
  }
  bp_status Send(const std::vector<Newer>& events) { return api_->on_events(monitor_, &events[0].event, events.size()); }

  harness::FakeHost host_;
  bp_descriptor descriptor_{};
  harness::FakeConfig config_{descriptor_, nlohmann::json::object()};
  const bp_monitor_api* api_ = static_cast<const bp_monitor_api*>(Listens::Api());
  bp_monitor* monitor_ = nullptr;
};

TEST_F(IterationTest, ContainsItsEventsAndMetrics) {
  ASSERT_EQ(Send({Event(BP_EVENT_PHASE, 0, "env_step", 0, 1), Event(BP_EVENT_EPISODE, 0, "return", 4.5, 7)}), BP_OK);
  EXPECT_TRUE(g_seen.empty()) << "it has not ended";
  ASSERT_EQ(Send({Event(BP_EVENT_EPISODE, 0, "return", 5.5, 2), Event(BP_EVENT_ITER, 1, "iteration", 2000),
                  Event(BP_EVENT_METRIC, 1, "return", 5), Event(BP_EVENT_METRIC, 1, "sps", 2000, BP_METRIC_MACHINE)}),
            BP_OK);
  ASSERT_EQ(g_seen.size(), 1u);
  const bp::Iteration& iteration = g_seen[0];
  EXPECT_TRUE(iteration.ended);
  EXPECT_EQ(iteration.number, 1u);
  EXPECT_EQ(iteration.env_steps, 100u);
  EXPECT_EQ(iteration.end_ns, 1001);
  EXPECT_EQ(iteration.duration_ns, 50);
  EXPECT_DOUBLE_EQ(iteration.seconds(), 50e-9);
  EXPECT_EQ(iteration.sps, 2000);
  EXPECT_EQ(iteration.Metric("return"), 5);
  EXPECT_EQ(iteration.Metric("retur"), std::nullopt);
  ASSERT_EQ(iteration.metrics.size(), 2u);
  EXPECT_FALSE(iteration.metrics[0].of_machine);
  EXPECT_TRUE(iteration.metrics[1].of_machine);
  ASSERT_EQ(iteration.phases.size(), 1u);
  EXPECT_EQ(iteration.phases[0].name, "env_step");
  EXPECT_EQ(iteration.phases[0].thread, 1u);
  EXPECT_EQ(iteration.phases[0].begin_ns, 950);
  EXPECT_EQ(iteration.phases[0].spans, 3u);
  ASSERT_EQ(iteration.episodes.size(), 2u);
  EXPECT_EQ(iteration.episodes[0].row, 7u);
  EXPECT_EQ(iteration.episodes[1].episode_return, 5.5);
}

TEST_F(IterationTest, SeveralOfOneBatchComeOneByOne) {
  ASSERT_EQ(Send({Event(BP_EVENT_ITER, 1), Event(BP_EVENT_METRIC, 1, "a", 1), Event(BP_EVENT_EPISODE, 1, "return", 8),
                  Event(BP_EVENT_ITER, 2), Event(BP_EVENT_METRIC, 2, "a", 2), Event(BP_EVENT_ITER, 3)}),
            BP_OK);
  ASSERT_EQ(g_seen.size(), 3u);
  EXPECT_EQ(g_seen[0].Metric("a"), 1);
  EXPECT_TRUE(g_seen[0].episodes.empty());
  EXPECT_EQ(g_seen[1].Metric("a"), 2);
  EXPECT_EQ(g_seen[1].episodes.size(), 1u);
  EXPECT_TRUE(g_seen[2].metrics.empty());
}

TEST_F(IterationTest, MeasurementsBeforeTheFirstAreNotAnIteration) {
  ASSERT_EQ(Send({Event(BP_EVENT_METRIC, 0, "eval/return", NAN)}), BP_OK);
  ASSERT_EQ(Send({Event(BP_EVENT_ITER, 0)}), BP_OK);
  ASSERT_EQ(g_seen.size(), 2u);
  EXPECT_FALSE(g_seen[0].ended);
  EXPECT_EQ(g_seen[0].duration_ns, 0);
  EXPECT_TRUE(std::isnan(*g_seen[0].Metric("eval/return")));
  EXPECT_TRUE(g_seen[1].ended);
}

TEST_F(IterationTest, EventsOfAnUnfinishedOneAreDeliveredAtTheEnd) {
  ASSERT_EQ(Send({Event(BP_EVENT_ITER, 1), Event(BP_EVENT_PHASE, 1, "env_step"), Event(BP_EVENT_EPISODE, 1, "return", 3)}),
            BP_OK);
  ASSERT_EQ(g_seen.size(), 1u);
  ASSERT_EQ(api_->finish(monitor_, "."), BP_OK);
  ASSERT_EQ(api_->finish(monitor_, "."), BP_OK);
  ASSERT_EQ(g_seen.size(), 2u);
  EXPECT_FALSE(g_seen[1].ended);
  EXPECT_TRUE(g_seen[1].metrics.empty());
  EXPECT_EQ(g_seen[1].phases.size(), 1u);
  EXPECT_EQ(g_seen[1].episodes.size(), 1u);
}

TEST_F(IterationTest, KeepsABoundedNumberOfPhasesAndEpisodes) {
  ASSERT_EQ(Send(std::vector(140'000, Event(BP_EVENT_EPISODE, 0, "return", 1))), BP_OK);
  ASSERT_EQ(Send({Event(BP_EVENT_ITER, 1)}), BP_OK);
  EXPECT_EQ(g_seen[0].episodes.size(), 131'072u);
  EXPECT_EQ(g_seen[0].left_out, 140'000u - 131'072u);
}

TEST_F(IterationTest, AcceptsUnknownEventsAndMissingNames) {
  ASSERT_EQ(Send({Event(77, 1), Event(BP_EVENT_ITER, 1, nullptr), Event(BP_EVENT_METRIC, 1, nullptr, 1)}), BP_OK);
  EXPECT_EQ(g_seen.at(0).Metric(""), 1);
}

TEST_F(IterationTest, ReportsTheMonitorsException) {
  EXPECT_EQ(Send({Event(BP_EVENT_ITER, 77), Event(BP_EVENT_METRIC, 77, "a", 1)}), BP_E_IO);
  EXPECT_EQ(host_.error, "the disk is full");
}

uint64_t Bits(std::initializer_list<int> types) {
  uint64_t bits = 0;
  for (const int type : types) bits |= uint64_t{1} << type;
  return bits;
}

TEST_F(IterationTest, BuildsOnlyRequestedParts) {
  EXPECT_EQ(api_->interests(monitor_), Bits({BP_EVENT_ITER, BP_EVENT_METRIC, BP_EVENT_PHASE, BP_EVENT_EPISODE}));
  ASSERT_EQ(Send({Event(BP_EVENT_ITER, 1)}), BP_OK);
  EXPECT_EQ(api_->interests(monitor_), Bits({BP_EVENT_ITER, BP_EVENT_METRIC, BP_EVENT_EPISODE})) << "requested again";

  const auto* idle = static_cast<const bp_monitor_api*>(WantsNothing::Api());
  bp_monitor* monitor = nullptr;
  ASSERT_EQ(idle->create(host_.get(), config_.get(), &monitor), BP_OK);
  EXPECT_EQ(idle->interests(monitor), 0u);
  EXPECT_TRUE(!idle->on_events && !idle->sample && !idle->finish) << "hooks that the class does not override";
  EXPECT_TRUE(api_->on_events && !api_->sample && api_->finish) << "the last iteration comes with the end";
  idle->destroy(monitor);
}

}  // namespace
