#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "fake_host.hpp"
#include "host/libs/machine/fake_machine.hpp"
#include "sampler.hpp"

namespace backplane::resources {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr int kTrial = 9'000'000, kChild = 9'000'100;  // numbers that no process has
constexpr int64_t kSecond_ns = 1'000'000'000;

class SamplerTest : public FakeMachine {
 protected:
  SamplerTest() { Process(kTrial, 1, 0); }

  void Start(const std::string& nvml_library = "libno-such-driver.so.1") {
    sampler_.emplace(Source{
        .root = kTrial, .proc = proc(), .sys = root_ / "sys", .nvml_library = nvml_library, .visible_gpus = std::nullopt});
    sampler_->Read(0);
  }
  // Omits absent measures.
  std::map<std::string, double> Read(int64_t t_ns = kSecond_ns) {
    std::map<std::string, double> present;
    const auto values = sampler_->Read(t_ns);
    for (size_t i = 0; i < kColumnCount; ++i) {
      if (!std::isnan(values[i])) present[kColumns[i].metric + std::strlen("resources/")] = values[i];
    }
    return present;
  }
  void UseCpu(double total_s) { Process(kTrial, 1, total_s * static_cast<double>(sysconf(_SC_CLK_TCK))); }

  std::optional<Sampler> sampler_;
};

TEST_F(SamplerTest, UseIsSinceTheLastReadingAndOfTheQuota) {
  IsInVersion2("/a");
  Put("v2/a/cpu.max", "25000 100000\n");
  Start();
  UseCpu(2);
  auto now = Read(10 * kSecond_ns);
  EXPECT_DOUBLE_EQ(now["cpu_cores_used"], 0.2);
  EXPECT_DOUBLE_EQ(now["cpu_quota_pct"], 80);
  UseCpu(4);
  EXPECT_DOUBLE_EQ(Read(14 * kSecond_ns)["cpu_cores_used"], 0.5);
}

TEST_F(SamplerTest, WaitingIsRelativeToCpuTime) {
  Thread(kTrial, kTrial, 1);
  Start();
  UseCpu(2), Thread(kTrial, kTrial, 1.5);
  EXPECT_DOUBLE_EQ(Read()["run_queue_wait_pct"], 25);
  Thread(kTrial, kTrial, 1.6);
  EXPECT_THAT(Read(2 * kSecond_ns), Not(Contains(Pair("run_queue_wait_pct", ::testing::_)))) << "no CPU time to compare with";
}

TEST_F(SamplerTest, AProcessMissedOnceIsNotCountedTwice) {
  Process(kChild, kTrial, 10'000), Thread(kTrial, kTrial, 0, std::to_string(kChild));
  Start();
  Thread(kTrial, kTrial, 0, "");
  EXPECT_EQ(Read()["cpu_cores_used"], 0);
  Thread(kTrial, kTrial, 0, std::to_string(kChild));
  EXPECT_EQ(Read(2 * kSecond_ns)["cpu_cores_used"], 0);
}

TEST_F(SamplerTest, ThrottledPeriodsComeFromTheGroupWithTheQuota) {
  IsInVersion2("/a/b");
  Put("v2/a/cpu.max", "200000 100000\n"), Put("v2/a/b/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
  Put("v2/a/cpu.stat", "nr_periods 100\nnr_throttled 50\n");
  Start();
  EXPECT_THAT(Read(), Not(Contains(Pair("throttled_periods_pct", ::testing::_)))) << "no period has passed";
  Put("v2/a/cpu.stat", "nr_periods 140\nnr_throttled 60\n");
  EXPECT_DOUBLE_EQ(Read(2 * kSecond_ns)["throttled_periods_pct"], 25);
}

TEST_F(SamplerTest, WithoutALimitThereIsNoShareOfIt) {
  Put("proc/meminfo", "MemTotal: 40960 kB\nMemAvailable: 30720 kB\n");
  Start();
  const auto now = Read();
  EXPECT_FALSE(now.contains("memory_limit_pct"));
  EXPECT_DOUBLE_EQ(now.at("ram_system_pct"), 25);
}

TEST_F(SamplerTest, ThePeakStaysWhenItsProcessHasEnded) {
  Process(kChild, kTrial, 0), Thread(kTrial, kTrial, 0, std::to_string(kChild));
  Start();
  Thread(kTrial, kTrial, 0, "");
  const auto now = Read();
  EXPECT_EQ(now.at("rss_mb"), 2);
  EXPECT_EQ(now.at("rss_peak_mb"), 8);
}

TEST_F(SamplerTest, MissingSourcesHaveNoMeasure) {
  Start();
  std::vector<std::string> names;
  for (const auto& [name, value] : Read()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("cpu_cores_used", "cpu_quota_pct", "processes", "rss_mb", "rss_peak_mb", "threads"));
}

TEST_F(SamplerTest, PressureAndTheMachinesLoadHaveColumnsOfTheirOwn) {
  const auto stalled = [&](const char* resource, long total_us) {
    Put(std::string("proc/pressure/") + resource, "some avg10=99.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total_us) +
                                                      "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  };
  for (const char* resource : {"cpu", "memory", "io"}) stalled(resource, 7'000'000);
  Put("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
  Start();
  Put("proc/stat", "cpu  30 0 0 10 0 0 0 0 0 0\n");
  stalled("cpu", 7'700'000), stalled("io", 9'100'000);
  const auto now = Read(2 * kSecond_ns);
  EXPECT_NEAR(now.at("psi_cpu_some_pct"), 35, 1e-6) << "time before the last reading does not count";
  EXPECT_EQ(now.at("psi_memory_some_pct"), 0);
  EXPECT_EQ(now.at("psi_io_some_pct"), 100) << "the file is read later than the clock";
  EXPECT_EQ(now.at("cpu_system_pct"), 75);
}

TEST_F(SamplerTest, HeatOfTheCpusIsNextToTheirUse) {
  const std::string cpu = "sys/devices/system/cpu/cpu" + std::to_string(GrantedCpus().front());
  Put("sys/class/hwmon/hwmon0/name", "k10temp\n"), Put("sys/class/hwmon/hwmon0/temp1_input", "71500\n");
  Put(cpu + "/cpufreq/scaling_cur_freq", "2400000\n");
  Put(cpu + "/thermal_throttle/core_throttle_count", "7\n");
  Start();
  const auto cool = Read();
  EXPECT_EQ(cool.at("cpu_temperature_c"), 71.5);
  EXPECT_EQ(cool.at("cpu_frequency_mhz"), 2400);
  EXPECT_EQ(cool.at("cpu_heat_throttled_pct"), 0) << "throttles before the trial do not count";
  Put(cpu + "/thermal_throttle/core_throttle_count", "9\n");
  EXPECT_EQ(Read(2 * kSecond_ns).at("cpu_heat_throttled_pct"), 100);
  EXPECT_EQ(Read(3 * kSecond_ns).at("cpu_heat_throttled_pct"), 0);
}

TEST_F(SamplerTest, GpusHaveTheirColumnsToo) {
  Start(FAKE_NVML_FILE);
  const auto now = Read();
  EXPECT_EQ(now.at("gpu_util_pct"), 50);
  EXPECT_EQ(now.at("vram_used_mb"), 256 + 2048 + 256 + 4096);
  EXPECT_EQ(now.at("gpu_clock_event_bits"), 0x24);
  EXPECT_EQ(now.at("gpu_throttled_pct"), 100);
  EXPECT_EQ(now.at("sm_util_pct"), 40);
  EXPECT_EQ(now.at("gpu_pcie_sent_mbps"), 100);
  EXPECT_EQ(now.at("gpu_pcie_received_mbps"), 300);
  EXPECT_EQ(now.at("gpu_pcie_replays"), 4) << "two of each device";
  EXPECT_EQ(now.at("gpu_ecc_corrected"), 1) << "since the first reading";
  EXPECT_EQ(now.at("gpu_ecc_uncorrected"), 0);
  EXPECT_EQ(now.at("gpu_whole_device"), 1) << "the test, not the trial, calls it";
}

TEST_F(SamplerTest, AnIdleGpuIsNotThrottled) {
  setenv("FAKE_NVML", "idle", 1);
  Start(FAKE_NVML_FILE);
  const auto now = Read();
  unsetenv("FAKE_NVML");
  EXPECT_EQ(now.at("gpu_clock_event_bits"), 0x1);
  EXPECT_EQ(now.at("gpu_throttled_pct"), 0);
}

// The plugin through its function table.
class Plugin : public FakeMachine {
 protected:
  explicit Plugin(const std::string& max_rows = "36000") : host_(*bp_module_v1()->descriptor(0), {{"max_rows", max_rows}}) {
    std::filesystem::create_directories(root_);
    EXPECT_EQ(api_->create(&host_.host, &host_.config, &monitor_), BP_OK) << host_.error;
  }
  ~Plugin() override { api_->destroy(monitor_); }

  void SampleAfter(double seconds) {
    EXPECT_EQ(api_->sample(monitor_, start_ns_ + static_cast<int64_t>(seconds * 1e9)), BP_OK) << host_.error;
  }
  void EndIteration(uint64_t finished) {
    const bp_event event{.struct_size = sizeof event, .type = BP_EVENT_ITER, .iteration = finished};
    EXPECT_EQ(api_->on_events(monitor_, &event, 1), BP_OK) << host_.error;
  }
  // The named column of resources.csv.
  std::vector<std::string> Column(const std::string& name) {
    EXPECT_EQ(api_->finish(monitor_, root_.c_str()), BP_OK) << host_.error;
    std::ifstream file(root_ / "resources.csv");
    std::vector<std::string> column;
    size_t place = 0;
    for (std::string line, cell; std::getline(file, line);) {
      std::istringstream cells(line + ",");
      std::vector<std::string> row;
      while (std::getline(cells, cell, ',')) row.push_back(cell);
      if (column.empty()) place = static_cast<size_t>(std::find(row.begin(), row.end(), name) - row.begin());
      column.push_back(row.at(place));
    }
    column.erase(column.begin());
    return column;
  }

  test_support::FakeHost host_;
  const bp_monitor_api* api_ = static_cast<const bp_monitor_api*>(bp_module_v1()->api("monitor.resources"));
  bp_monitor* monitor_ = nullptr;
  int64_t start_ns_ = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
};

class FullPlugin : public Plugin {
 protected:
  FullPlugin() : Plugin("4") {}
};

TEST_F(Plugin, HasARowForEachSampleNotTooSoonAfterTheLast) {
  for (const double t_s : {1.0, 2.0, 2.05, 3.0}) SampleAfter(t_s);
  EXPECT_EQ(Column("rss_mb").size(), 3u);
}

TEST_F(Plugin, ARowAtTheEndOfAnIterationBelongsToIt) {
  EXPECT_EQ(api_->interests(monitor_), uint64_t{1} << BP_EVENT_ITER);
  EndIteration(1);
  SampleAfter(5);
  EndIteration(2);  // before 5 s, too soon for a separate row
  SampleAfter(6);
  EXPECT_THAT(Column("iteration"), ElementsAre("0", "1", "2"));
}

TEST_F(Plugin, CellsOfMissingSourcesAreEmpty) {
  SampleAfter(1);
  EXPECT_THAT(Column("sm_util_pct"), ElementsAre(IsEmpty()));
  EXPECT_THAT(Column("cpu_cores_used"), ElementsAre(Not(IsEmpty())));
}

TEST_F(FullPlugin, EverySecondRowGoesAndLaterOnesComeHalfAsOften) {
  for (int t_s = 1; t_s <= 4; ++t_s) SampleAfter(t_s);
  EXPECT_EQ(Column("time_s").size(), 2u) << "1 s and 3 s are left";
  for (int t_s = 5; t_s <= 6; ++t_s) SampleAfter(t_s);
  EXPECT_EQ(Column("time_s").size(), 3u) << "5 s comes too soon after 4 s";
}

TEST_F(Plugin, AnUnwritableFileIsAnError) {
  EXPECT_EQ(api_->finish(monitor_, "/nonexistent"), BP_E_IO);
  EXPECT_EQ(host_.error, "cannot write /nonexistent/resources.csv.tmp");
}

}  // namespace
}  // namespace backplane::resources
