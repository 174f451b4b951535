// Monitors that do not return, simulated by a monitor in this program that runs given functions.
#include "trial/monitor_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <tuple>

#include "rollout/clocks.hpp"
#include "trial/metrics.hpp"
#include "trial/monitors.hpp"

namespace backplane {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::function<void(const bp_host*)> g_on_sample;
std::function<bp_status(const bp_host*)> g_on_create;

struct Obeys {
  const bp_host* host;
  std::function<void(const bp_host*)> on_sample;
};

// Blocks a call. An abandoned monitor may still wait here after the test.
class Gate {
 public:
  void Wait() {
    Set(&reached_);
    open_.wait(false);
  }
  void AwaitReached() { reached_.wait(false); }
  void Open() { Set(&open_); }

 private:
  static void Set(std::atomic<bool>* flag) {
    *flag = true;
    flag->notify_all();
  }
  std::atomic<bool> reached_{false}, open_{false};
};

std::atomic<const char*> g_reason{nullptr};  // to end the trial; NULL: none

const bp_monitor_verdict_1 kVerdict = {sizeof(bp_monitor_verdict_1), 0, [](const bp_monitor*, const char** reason) -> uint32_t {
                                         *reason = g_reason;
                                         return *reason != nullptr ? BP_VERDICT_STOP : BP_VERDICT_CONTINUE;
                                       }};

const bp_monitor_api kApi = {sizeof(bp_monitor_api),
                             0,
                             [](const bp_host* host, const bp_config*, bp_monitor** out) -> bp_status {
                               if (const bp_status status = g_on_create ? g_on_create(host) : BP_OK; status != BP_OK)
                                 return status;
                               *out = reinterpret_cast<bp_monitor*>(new Obeys{host, g_on_sample});
                               return BP_OK;
                             },
                             [](bp_monitor* monitor) { delete reinterpret_cast<Obeys*>(monitor); },
                             [](const bp_monitor*) -> uint64_t { return ~uint64_t{0}; },
                             nullptr,
                             [](bp_monitor* monitor, int64_t) -> bp_status {
                               const auto* self = reinterpret_cast<const Obeys*>(monitor);
                               self->on_sample(self->host);
                               return BP_OK;
                             },
                             nullptr,
                             [](const bp_monitor*, const char* id) -> const void* {
                               return std::strcmp(id, BP_MONITOR_VERDICT_1) == 0 ? &kVerdict : nullptr;
                             }};
const bp_descriptor kDescriptor = {
    sizeof(bp_descriptor), BP_KIND_MONITOR, "monitor.obeys", "1", "a toy", "Apache-2.0", 0, nullptr, nullptr, 0};
const bp_module kModule{sizeof(bp_module),
                        BP_ABI_MINOR,
                        0,
                        0,
                        "",
                        "{}",
                        nullptr,
                        nullptr,
                        [] { return 1u; },
                        [](uint32_t i) { return i == 0 ? &kDescriptor : nullptr; },
                        [](const char* id) -> const void* { return std::strcmp(id, kDescriptor.id) == 0 ? &kApi : nullptr; }};

class AMonitor : public testing::Test {
 protected:
  void Start(std::function<void(const bp_host*)> on_sample, const HostSinks& sinks = {}, const MonitorPatience& patience = {}) {
    g_on_sample = std::move(on_sample);
    monitor_ = std::make_unique<MonitorThread>(*module_, "monitor.obeys", sinks,
                                               InstanceOptions{nlohmann::json::object(), {}, "monitors[0].options"},
                                               std::make_shared<EventNames>(), patience);
    monitor_->Start();
  }

  const std::unique_ptr<LoadedModule> module_ = LoadedModule::FromTable(kModule);
  std::unique_ptr<MonitorThread> monitor_;
};

TEST_F(AMonitor, WarningContainsItsTime) {
  const auto gate = std::make_shared<Gate>();
  Start([gate](const bp_host*) { gate->Wait(); });
  gate->AwaitReached();
  constexpr int64_t kWaitedNs = 3'000'000'000'000;
  suspended_ns -= kWaitedNs;  // advances the clock by as much
  monitor_->AskToEnd({});
  EXPECT_FALSE(monitor_->AwaitEnd(NowNs() + kWaitedNs, kWaitedNs)) << "its time began with the call";
  monitor_->LeaveBehind();
  suspended_ns += kWaitedNs;
  ASSERT_EQ(monitor_->warnings().size(), 1u);
  EXPECT_THAT(monitor_->warnings()[0], HasSubstr("monitor.obeys was abandoned in sample, which did not return within 30"));
  gate->Open();
}

TEST_F(AMonitor, EndsTheTrialByItsFirstVerdict) {
  std::atomic<int> samples{0};
  Start([&samples](const bp_host*) {
    ++samples;
    samples.notify_all();
  });
  samples.wait(0);
  EXPECT_FALSE(monitor_->verdict());
  g_reason = "enough";
  samples.wait(1);
  for (int i = 0; i < 1000 && !monitor_->verdict(); ++i) usleep(10'000);
  g_reason = "too late";
  samples.wait(2);
  ASSERT_TRUE(monitor_->verdict());
  EXPECT_EQ(monitor_->verdict()->plugin, "monitor.obeys");
  EXPECT_EQ(monitor_->verdict()->reason, "enough");
  g_reason = nullptr;
  monitor_.reset();
}

// Memory given to a monitor lives as long as its thread, even if nothing waits for the thread.
TEST_F(AMonitor, KeepsItsMemoryAfterBeingAbandoned) {
  struct Shared {
    MetricsHub metrics;
    const std::string id = "a trial whose id is long enough to lie in memory of its own";
    const bp_host_trial_1 trial{sizeof trial, 1, id.c_str(), id.c_str(), id.c_str()};
  };
  auto shared = std::make_shared<Shared>();
  HostSinks sinks;
  sinks.metrics = MetricsHub::Api();
  sinks.metrics_impl = shared->metrics.machine();
  sinks.trial = &shared->trial;
  sinks.owner = shared;
  const auto gate = std::make_shared<Gate>(), done = std::make_shared<Gate>();
  const auto id = std::make_shared<std::string>();
  Start(
      [gate, done, id](const bp_host* host) {
        gate->Wait();
        const auto* metrics = static_cast<const bp_host_metrics_1*>(host->get_extension(host, BP_HOST_METRICS_1));
        metrics->record(host, metrics->add(host, "late", nullptr, 0, nullptr), 1);
        *id = static_cast<const bp_host_trial_1*>(host->get_extension(host, BP_HOST_TRIAL_1))->trial_id;
        done->Wait();
      },
      sinks);
  gate->AwaitReached();
  const std::weak_ptr<Shared> there = shared;
  sinks = {};
  shared.reset();
  monitor_.reset();  // gives up after a while
  EXPECT_FALSE(there.expired());
  gate->Open();
  done->AwaitReached();
  EXPECT_EQ(id->substr(0, 7), "a trial");
  done->Open();
}

// The exit() handler parks the calling thread for good; the trial does not wait for it.
TEST_F(AMonitor, IsSwitchedOffIfItCallsExit) {
  Start([](const bp_host*) {
    MonitorThread::ParkWhereItExits("monitor.obeys called exit()");
    ADD_FAILURE() << "it does not return";
  });
  monitor_->AskToEnd({});
  constexpr int64_t kForEverNs = int64_t{1} << 60;
  EXPECT_TRUE(monitor_->AwaitEnd(NowNs() + kForEverNs, kForEverNs));
  EXPECT_FALSE(monitor_->Wants(BP_EVENT_METRIC));
  monitor_->LeaveBehind();
  EXPECT_THAT(monitor_->warnings(), ElementsAre("monitor.obeys was switched off: monitor.obeys called exit()"));
  MonitorThread::ParkWhereItExits("another thread's exit() is none of a monitor's");
}

TEST(MonitorPatience, IsShorterThanHangTimeout) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  for (const auto& [hang_timeout_s, start_s, end_s] :
       {std::tuple{3.0, 1.0, 1.5}, {15.0, 5.0, 7.5}, {300.0, 5.0, 10.0}, {1e300, 5.0, 10.0}}) {
    const MonitorPatience patience = MonitorPatience::Within(hang_timeout_s);
    EXPECT_EQ(static_cast<double>(patience.start_ns), start_s * kSecondNs) << hang_timeout_s;
    EXPECT_EQ(static_cast<double>(patience.end_ns), end_s * kSecondNs) << hang_timeout_s;
  }
}

TEST_F(AMonitor, IsAbandonedWithinItsPatience) {
  const auto gate = std::make_shared<Gate>();
  g_on_sample = [gate](const bp_host*) { gate->Wait(); };
  const HostSinks sinks;
  MonitorHost host(sinks, MonitorPatience::Within(0.4));
  host.Add(*module_, "monitor.obeys", {nlohmann::json::object(), {}, "monitors[0].options"});
  host.Start();
  gate->AwaitReached();
  EXPECT_EQ(host.Unfinished(), "monitor.obeys");
  const int64_t start = NowNs();
  int late = 0;
  host.Finish({}, [&] { ++late; });
  EXPECT_LT(NowNs() - start, 5'000'000'000) << "0.2 s and what a busy machine adds";
  EXPECT_EQ(late, 1);
  EXPECT_EQ(host.Unfinished(), "monitor.obeys");
  EXPECT_THAT(host.warnings(), ElementsAre(HasSubstr("monitor.obeys was abandoned in sample")));
  gate->Open();
}

class MonitorCreate : public AMonitor {
 protected:
  ~MonitorCreate() override { g_on_create = nullptr; }
};

// Start is not called after an error in create: the thread must not wait for it.
TEST_F(MonitorCreate, FailsTheTrialImmediatelyIfItRejectsIt) {
  for (const bp_status status : {BP_E_CONFIG, BP_E_INVALID_ARG, BP_E_UNSUPPORTED}) {
    g_on_create = [status](const bp_host* host) { return host->fail(host, status, "no"); };
    try {
      Start([](const bp_host*) {});
      ADD_FAILURE();
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), status);
      EXPECT_EQ(failure.plugin(), "monitor.obeys");
      EXPECT_STREQ(failure.what(), "monitor.obeys: create: no");
    }
  }
}

TEST_F(MonitorCreate, SwitchesMonitorOffIfItFails) {
  g_on_create = [](const bp_host* host) { return host->fail(host, BP_E_IO, "a full disk"); };
  Start([](const bp_host*) {});
  EXPECT_THAT(monitor_->warnings(), ElementsAre("monitor.obeys was switched off: create: a full disk"));
  g_on_create = [](const bp_host*) -> bp_status { throw std::bad_alloc(); };
  Start([](const bp_host*) {});
  EXPECT_THAT(monitor_->warnings(), ElementsAre("monitor.obeys was switched off: create: monitor.obeys: out of memory"));
}

TEST_F(MonitorCreate, WarnsIfItHangsAndRejectsLate) {
  const auto gate = std::make_shared<Gate>();
  g_on_create = [gate](const bp_host* host) {
    gate->Wait();
    return host->fail(host, BP_E_CONFIG, "no");
  };
  Start([](const bp_host*) {}, {}, MonitorPatience::Within(0.3));
  EXPECT_THAT(monitor_->warnings(), ElementsAre(HasSubstr("still in create after 0.1 s; the trial starts without it")));
  gate->Open();
  constexpr int64_t kMinuteNs = 60'000'000'000;
  monitor_->AskToEnd({});
  EXPECT_TRUE(monitor_->AwaitEnd(NowNs() + kMinuteNs, kMinuteNs));
  EXPECT_THAT(monitor_->warnings(), Contains("monitor.obeys: create: no"));
}

}  // namespace
}  // namespace backplane
