// What `run --engine` refuses before the first trial. Commands of Slurm are shell scripts here; with the real ones
// scripts/check_cluster runs.
#include <gmock/gmock.h>

#include <cstdlib>

#include "places.hpp"
#include "program.hpp"

namespace backplane::end_to_end {
namespace {

using testing::HasSubstr;

class EngineOption : public ProgramTest {
 protected:
  EngineOption() {
    Write("two.yaml", R"(
experiment: two
env: {plugin: cartpole}
learner: {plugin: random, options: {horizon: 16}}
rollout: {num_env_runners: 1, num_envs_per_env_runner: 2}
budget: {iterations: 2}
monitors: []
output: {page: false}
sweep: {seeds: {n: 2}}
)");
    setenv("PATH", (dir_ / "bin:/usr/bin:/bin").c_str(), 1);
  }

  void Script(const std::string& name, const std::string& text) {
    std::filesystem::permissions(Write("bin/" + name, "#!/bin/sh\n" + text + "\n"), std::filesystem::perms::owner_all);
  }
  // Slurm that takes arrays, and lists of them what squeue is to print.
  void FakeSlurm(const std::string& squeue) {
    Script("sbatch",
           "test \"$1\" = --version && exec echo slurm 22\nprintf '%s\\n' \"$@\" > sbatch.words; cat > sbatch.script; echo 12");
    Script("squeue", squeue);
    Script("scancel", "echo \"$@\" >> scancel.words");
  }
  bool NothingStarted() const {
    return !std::filesystem::exists(Out("two") / "trials") || std::filesystem::is_empty(Out("two") / "trials");
  }
};

TEST_F(EngineOption, ThatThereIsNoneOfIsAnErrorWithItsPlace) {
  const Finished option = Run("run two.yaml --engine slurn");
  EXPECT_EQ(option.exit, 2);
  EXPECT_THAT(option.err, HasSubstr("engine.kind: wanted one of local|slurm|ray, found 'slurn'"));
  Write("key.yaml", ReadFile(dir_ / "two.yaml") + "engine: {kind: slurm, partitoin: long}\n");
  const Finished key = Run("run key.yaml");
  EXPECT_EQ(key.exit, 2);
  EXPECT_THAT(key.err, HasSubstr("key.yaml:10:"));
  EXPECT_THAT(key.err, HasSubstr("partition"));
}

TEST_F(EngineOption, WithoutSlurmOrRayNothingStarts) {
  if (std::filesystem::exists("/usr/bin/sbatch")) Script("sbatch", "exit 127");
  const Finished slurm = Run("run two.yaml --engine slurm");
  EXPECT_EQ(slurm.exit, 2);
  EXPECT_THAT(slurm.err, HasSubstr("there is no program sbatch here that works"));
  const Finished dry = Run("run two.yaml --dry-run --engine slurm");
  EXPECT_EQ(dry.exit, 0);
  EXPECT_THAT(dry.err, HasSubstr("apt-get install slurm-client"));
  EXPECT_THAT(Run("doctor").out, HasSubstr("-> engine.kind slurm: there is no program sbatch here"));
  Script("python", "exec python3 -S -s -E \"$@\"");  // without the packages of this machine
  const Finished ray = Run("run two.yaml --engine ray --set engine.python=" + (dir_ / "bin/python").string());
  EXPECT_EQ(ray.exit, 2);
  EXPECT_THAT(ray.err, HasSubstr("has no package ray"));
  EXPECT_THAT(Run("run two.yaml --dry-run --engine ray --set engine.python=" + (dir_ / "bin/python").string()).err,
              HasSubstr("bin/python -m pip install ray"));
  EXPECT_THAT(ray.err, HasSubstr("nothing was started"));
  EXPECT_FALSE(std::filesystem::exists(Out("two")));
}

TEST_F(EngineOption, PartsOfADeviceAreNotSlurms) {
  FakeSlurm("true");
  EXPECT_THAT(Run("run two.yaml --dry-run --engine slurm").err, testing::Not(HasSubstr("sbatch")));
  const Finished run = Run("run two.yaml --engine slurm --set resources.gpus=0.5");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("Slurm gives whole devices"));
}

TEST_F(EngineOption, WhereNoWorkerFindsTheFolderNothingStarts) {
  FakeSlurm("true");  // the array has ended, and no worker was heard of
  const Finished run = Run("run two.yaml --engine slurm --set 'engine.options=[\"--qos=x\"]'");
  EXPECT_EQ(run.exit, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Slurm has run job 12 and no worker of it was heard of"));
  EXPECT_TRUE(NothingStarted());
  EXPECT_THAT(ReadFile(dir_ / "sbatch.words"), HasSubstr("--qos=x\n"));
  EXPECT_THAT(ReadFile(dir_ / "scancel.words"), HasSubstr("12"));
  EXPECT_FALSE(std::filesystem::exists(Out("two") / "engine"));
  EXPECT_EQ(Run("run two.yaml --engine local").exit, 0) << "the same folder goes on here";
}

TEST_F(EngineOption, WhatSbatchRefusesIsSaidInItsWords) {
  FakeSlurm("true");
  Script("sbatch", "test \"$1\" = --version && exit 0\necho 'sbatch: error: invalid partition specified: long' >&2; exit 1");
  const Finished run = Run("run two.yaml --engine slurm");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("invalid partition specified: long"));
}

// Slurm in a line: the array's script runs beside the batch, as a node would run it.
TEST_F(EngineOption, AWorkerRunsTheTrialsAndTheEventsNameTheJob) {
  FakeSlurm("kill -0 \"$(cat worker.pid)\" 2>/dev/null && echo 12 0 RUNNING; true");
  Script(
      "sbatch",
      "test \"$1\" = --version && exec echo slurm 22\ncat > sbatch.script\n"
      "SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=0 setsid sh sbatch.script >worker.log 2>&1 & echo $! > worker.pid; echo 12");
  const Finished run = Run("run two.yaml --engine slurm");
  EXPECT_EQ(run.exit, 0) << run.err << ReadFile(dir_ / "worker.log");
  int jobs = 0, ends = 0;
  for (const nlohmann::json& event : Lines(Out("two") / "events.jsonl")) {
    if (event["kind"] == "engine.job") {
      ++jobs;
      EXPECT_EQ(event["job"], "12");
    }
    if (event["kind"] == "attempt.end") {
      ++ends;
      EXPECT_TRUE(event.contains("host")) << event;
    }
  }
  EXPECT_EQ(jobs, 1);
  EXPECT_EQ(ends, 2);
}

TEST_F(EngineOption, ADryRunAsksNoCluster) {
  const Finished run = Run("run two.yaml --engine slurm --jobs 2 --set resources.gpus=2 --dry-run");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 trials at once"));
}

}  // namespace
}  // namespace backplane::end_to_end
