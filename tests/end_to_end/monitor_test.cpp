// Files of the default monitor for a trial, with and without a driver.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <thread>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

constexpr char kMonitoredWalk[] = R"(experiment: walk
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 64}}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
budget: {env_steps: 20000}
evaluation: {episodes: 0}
)";

// Its learner claims to compute on a GPU.
const std::string kWalkOnAGpu = "plugin_path: [" BACKPLANE_BINARY_DIR R"(/tests/fixtures/plugins]
experiment: walk
env: {plugin: cartpole}
learner: {plugin: toils}
rollout: {num_env_runners: 2, num_envs_per_env_runner: 8}
budget: {env_steps: 20000}
resources: {gpus: 1}
)";

class MonitorTest : public ProgramTest {
 protected:
  MonitorTest() {
    Write("walk.yaml", kMonitoredWalk);
    Write("gpu.yaml", kWalkOnAGpu);
  }
  ~MonitorTest() override { unsetenv("LD_LIBRARY_PATH"), unsetenv("FAKE_NVML"); }

  // The last row of resources.csv: cells by column.
  std::map<std::string, std::string> LastRow() { return LastRow(Attempt("walk")); }
  std::map<std::string, std::string> LastRow(const std::filesystem::path& attempt) {
    std::istringstream file(ReadFile(attempt / "resources.csv"));
    std::string header, line, last, name, cell;
    std::getline(file, header);
    while (std::getline(file, line)) last = line;
    std::map<std::string, std::string> row;
    std::istringstream names(header), cells(last);
    while (std::getline(names, name, ',')) row[name] = std::getline(cells, cell, ',') ? cell : "";
    return row;
  }
};

TEST_F(MonitorTest, ATrialWithoutAGpuHasItsGpuColumnsEmpty) {
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  const auto row = LastRow();
  EXPECT_GT(std::stod(row.at("cpu_cores_used")), 0);
  EXPECT_EQ(row.at("processes"), "1");
  for (const char* column :
       {"gpu_util_pct", "gpu_memory_pct", "vram_used_mb", "gpu_power_w", "sm_util_pct", "gpu_whole_device"})
    EXPECT_EQ(row.at(column), "") << column;
}

TEST_F(MonitorTest, ATrialSamplesTheGpuItWasGranted) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  const Finished run = Run("run gpu.yaml");
  ASSERT_EQ(run.exit, 0) << run.err;
  const auto row = LastRow();
  EXPECT_EQ(row.at("gpu_util_pct"), "40.0");
  EXPECT_EQ(row.at("vram_used_mb"), "1024.0");
  EXPECT_EQ(row.at("gpu_whole_device"), "0");
}

TEST_F(MonitorTest, RejectsAGpuThatWouldIdle) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  const Finished run = Run("run walk.yaml --set resources.gpus=1");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("resources.gpus: expected a learner or an env that computes on a GPU, got "
                                          "learner.random and env.cartpole with 1, which would idle"));
  EXPECT_THAT(run.err, testing::HasSubstr("hint: --set resources.gpus=0"));
}

TEST_F(MonitorTest, RejectsAGpuThatTheLearnersLibTorchCannotUse) {
  if (!HasPlugin("learner_ppo_torch.so")) GTEST_SKIP() << "built without LibTorch";
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  Write("ppo.yaml",
        "experiment: ppo\nenv: {plugin: cartpole}\nlearner: {plugin: ppo}\nbudget: {iterations: 1}\nresources: {gpus: 1}\n");
  const Finished run = Run("run ppo.yaml");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("device: auto: expected a LibTorch built for the GPU that resources.gpus grants"));
}

TEST_F(MonitorTest, AGrantedGpuIsShownWithItsTargetsDuringTheTrial) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  const Finished run = Run("run gpu.yaml --set budget.env_steps=null --set budget.wall_time=3s --set sweep.seeds.n=2");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out + run.err, testing::HasSubstr("gpu_util_pct 40 (target 90)"));
  EXPECT_THAT(run.out + run.err, testing::HasSubstr("gpu_power_w 100"));
}

// With two cores, two of them run at the same time.
TEST_F(MonitorTest, ThreeTrialsHaveADeviceEach) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  setenv("FAKE_NVML", "three", 1);
  const Finished run =
      Run("run gpu.yaml --jobs 3 --gpus 0,1,2 --set sweep.seeds.n=3 --set budget.env_steps=null --set "
          "budget.wall_time=1s");
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::map<std::string, std::string> use = {
      {"GPU-11111111-aaaa", "40.0"}, {"GPU-22222222-bbbb", "60.0"}, {"GPU-33333333-cccc", "80.0"}};
  std::map<std::string, std::string> running;  // a trial's device
  size_t most = 0;
  for (const nlohmann::json& event : Lines(Out("walk") / "events.jsonl")) {
    const std::string trial = event.value("trial_id", "");
    if (event["kind"] == "attempt.end") running.erase(trial);
    if (event["kind"] != "attempt.start") continue;
    ASSERT_EQ(event["gpus"].size(), 1u);
    const std::string device = event["gpus"][0];
    for (const auto& [other, its_device] : running) EXPECT_NE(device, its_device);
    EXPECT_EQ(LastRow(Out("walk") / "trials" / trial / "attempt-1").at("gpu_util_pct"), use.at(device)) << "its own device";
    running[trial] = device, most = std::max(most, running.size());
  }
  EXPECT_EQ(most, std::min<size_t>(3, std::thread::hardware_concurrency()));
}

// The first simulated device has 8 GiB.
TEST_F(MonitorTest, LimitOfDeviceMemoryReachesTheTrialsProcesses) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  Write("limit.yaml", R"(experiment: limit
learner: {command: [sh, -c, "echo jax $XLA_PYTHON_CLIENT_MEM_FRACTION torch $PYTORCH_ALLOC_CONF"]}
)");
  const std::string command = "run limit.yaml --fresh --gpus 0 --set resources.device_memory=";
  const auto printed = [&](const std::string& limit, const std::string& gpus) {
    const Finished run = Run(command + limit + " --set resources.gpus=" + gpus);
    EXPECT_EQ(run.exit, 0) << run.err;
    return ReadFile(Attempt("limit") / "stdout.log");
  };
  EXPECT_THAT(printed("85%", "1"), testing::HasSubstr("jax 0.850000 torch per_process_memory_fraction:0.850000\n"));
  EXPECT_THAT(printed("50%", "0.5"), testing::HasSubstr("jax 0.250000 "));
  EXPECT_THAT(printed("2GiB", "1"), testing::HasSubstr("jax 0.250000 "));
  // On a node without a driver.
  EXPECT_THAT(printed("85%", "1"), testing::HasSubstr("jax 0.85"));
  unsetenv("LD_LIBRARY_PATH");
  const Finished node = Run("run-trial " + (Attempt("limit").parent_path() / "trial.json").string());
  EXPECT_EQ(node.exit, 64);
  EXPECT_THAT(node.err,
              testing::HasSubstr("expected a GPU whose memory the driver reports, for 85% of it, got none; set a size"));
}

TEST_F(MonitorTest, AReportNamesTheGpusOfTheMachine) {
  setenv("LD_LIBRARY_PATH", BACKPLANE_BINARY_DIR "/tests/fake_nvml", 1);
  ASSERT_EQ(Run("run gpu.yaml --set +report.kind=comparison").exit, 0);
  const nlohmann::json devices = nlohmann::json::parse(ReadFile(dir_ / "outputs/walk/run.json")).at("devices");
  ASSERT_FALSE(devices.empty());
  EXPECT_NE(ReadFile(dir_ / "outputs/walk/report/comparison_report.txt").find(devices[0].at("name").get<std::string>()),
            std::string::npos);
}

TEST_F(MonitorTest, TheResultHasTheCostOfMonitoring) {
  ASSERT_EQ(Run("run walk.yaml").exit, 0);
  const nlohmann::json cost = Result("walk")["monitors"];
  EXPECT_GT(cost.at("cpu_s"), 0);
  EXPECT_LT(cost.at("cpu_s"), cost.at("process_cpu_s"));
}

}  // namespace
}  // namespace backplane::end_to_end
