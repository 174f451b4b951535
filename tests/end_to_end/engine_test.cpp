// Checks of `run --engine` before the first trial. Slurm's commands are shell scripts here; scripts/check_cluster runs the real
// ones.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

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

  ~EngineOption() override { unsetenv("BACKPLANE_CLUSTER_PATIENCE"); }

  void Script(const std::string& name, const std::string& text) {
    std::filesystem::permissions(Write("bin/" + name, "#!/bin/sh\n" + text + "\n"), std::filesystem::perms::owner_all);
  }
  // A Slurm that accepts arrays; squeue prints the given lines.
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

TEST_F(EngineOption, AnUnknownEngineIsAnErrorWithItsPlace) {
  const Finished option = Run("run two.yaml --engine slurn");
  EXPECT_EQ(option.exit, 2);
  EXPECT_THAT(option.err, HasSubstr("engine.kind: expected one of local|slurm|ray, got 'slurn'"));
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
  EXPECT_THAT(slurm.err, HasSubstr("sbatch does not work here"));
  const Finished dry = Run("run two.yaml --dry-run --engine slurm");
  EXPECT_EQ(dry.exit, 0);
  EXPECT_THAT(dry.err, HasSubstr("apt-get install slurm-client"));
  EXPECT_THAT(Run("doctor").out, HasSubstr("-> engine.kind slurm: sbatch does not work here"));
  Script("python", "exec python3 -S -s -E \"$@\"");  // hides the packages of this machine
  const Finished ray = Run("run two.yaml --engine ray --set engine.python=" + (dir_ / "bin/python").string());
  EXPECT_EQ(ray.exit, 2);
  EXPECT_THAT(ray.err, HasSubstr("does not have the package ray"));
  EXPECT_THAT(Run("run two.yaml --dry-run --engine ray --set engine.python=" + (dir_ / "bin/python").string()).err,
              HasSubstr("bin/python -m pip install ray"));
  EXPECT_THAT(ray.err, HasSubstr("nothing was started"));
  EXPECT_FALSE(std::filesystem::exists(Out("two")));
}

TEST_F(EngineOption, RejectsPartsOfADeviceOnSlurm) {
  FakeSlurm("true");
  EXPECT_THAT(Run("run two.yaml --dry-run --engine slurm").err, testing::Not(HasSubstr("sbatch")));
  const Finished run = Run("run two.yaml --engine slurm --set resources.gpus=0.5");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("expected a whole number under Slurm, got 0.5"));
}

TEST_F(EngineOption, NothingStartsIfNoWorkerFindsTheFolder) {
  FakeSlurm("echo 12 0 COMPLETED");  // the array has ended, and no node agent reported
  const Finished run = Run("run two.yaml --engine slurm --set 'engine.options=[\"--qos=x\"]'");
  EXPECT_EQ(run.exit, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Slurm ran job 12, but no node agent reported"));
  EXPECT_TRUE(NothingStarted());
  EXPECT_THAT(ReadFile(dir_ / "sbatch.words"), HasSubstr("--qos=x\n"));
  EXPECT_THAT(ReadFile(dir_ / "scancel.words"), HasSubstr("12"));
  EXPECT_FALSE(std::filesystem::exists(Out("two") / "engine"));
  EXPECT_EQ(Run("run two.yaml --engine local").exit, 0) << "the same folder resumes here";
}

TEST_F(EngineOption, ReportsSbatchErrorsVerbatim) {
  FakeSlurm("true");
  Script("sbatch", "test \"$1\" = --version && exit 0\necho 'sbatch: error: invalid partition specified: long' >&2; exit 1");
  const Finished run = Run("run two.yaml --engine slurm");
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("invalid partition specified: long"));
}

// Slurm 22.05 accepts a job over a limit of its partition, and leaves it in the queue.
TEST_F(EngineOption, RejectsJobsThatSlurmNeverStartsWithTheNumbers) {
  FakeSlurm("echo 12 0 PENDING PartitionConfig");
  Script("sinfo", "echo 'test test* 2 1000 infinite'; echo 'short short 2 1000 1:00'");
  Script("scontrol", "echo PartitionName=$4 MaxNodes=UNLIMITED MinNodes=0 MaxCPUsPerNode=1");
  const Finished run = Run("run two.yaml --engine slurm --set engine.partition=short --set resources.cpus=2");
  EXPECT_EQ(run.exit, 2) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("Slurm never starts job 12 (PartitionConfig): each job requests --cpus-per-task=2 "
                        "--partition=short; partition short has nodes of 2 CPUs and 1000 MiB and a time limit of 1:00, "
                        "MaxCPUsPerNode=1"));
  EXPECT_TRUE(NothingStarted());
  EXPECT_THAT(ReadFile(dir_ / "scancel.words"), HasSubstr("12"));
  Script("sbatch",
         "test \"$1\" = --version && exit 0\necho 'sbatch: error: CPU count per node can not be satisfied' >&2; exit 1");
  EXPECT_THAT(
      Run("run two.yaml --engine slurm --set resources.cpus=3").err,
      HasSubstr("CPU count per node can not be satisfied; each job requests --cpus-per-task=3; partition test has nodes of 2 "
                "CPUs and 1000 MiB"));
}

TEST_F(EngineOption, ShowsWaitingTrialsAndTheSchedulersReason) {
  FakeSlurm("echo 12 0 PENDING Resources; test -e answered && touch again; touch answered");
  const pid_t pid = Start("run two.yaml --engine slurm");
  ASSERT_TRUE(Until([&] { return std::filesystem::exists(dir_ / "again"); })) << ErrorsOf(pid);
  const Finished status = Run("status " + Out("two").string());
  EXPECT_THAT(status.out, HasSubstr("0 of 2 done, waiting (Slurm: Resources)"));
  EXPECT_EQ(nlohmann::json::parse(ReadFile(Out("two") / "progress.json"))["waits_for"], "Slurm: Resources");
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid).exit, 130);
}

// Slurm in one line: the array's script runs in parallel with the batch, as on a node.
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

TEST_F(EngineOption, CompareRunsItsTrialsOnTheCluster) {
  Write("arms.yaml",
        ReadFile(dir_ / "two.yaml").substr(0, ReadFile(dir_ / "two.yaml").find("sweep:")) +
            "evaluation: {episodes: 2}\n"
            "compare:\n  arms: [{name: this}, {name: that, learner.options.horizon: 17}]\n  looks: {n: 4, max: 1}\n");
  FakeSlurm("kill -0 \"$(cat worker.pid)\" 2>/dev/null && echo 12 0 RUNNING; true");
  Script(
      "sbatch",
      "test \"$1\" = --version && exec echo slurm 22\ncat > sbatch.script\n"
      "SLURM_ARRAY_JOB_ID=12 SLURM_ARRAY_TASK_ID=0 setsid sh sbatch.script >worker.log 2>&1 & echo $! > worker.pid; echo 12");
  const Finished compare = Run("compare arms.yaml --set engine.kind=slurm --quiet");
  EXPECT_EQ(compare.exit, 0) << compare.err << ReadFile(dir_ / "worker.log");
  int on_node = 0;
  for (const nlohmann::json& event : Lines(Out("two") / "events.jsonl"))
    on_node += event["kind"] == "attempt.end" && event.contains("host") ? 1 : 0;
  EXPECT_EQ(on_node, 8);
}

class ClusterPrograms : public EngineOption {
 protected:
  ClusterPrograms() { setenv("BACKPLANE_CLUSTER_PATIENCE", "2", 1); }

  static constexpr char kVersion[] = "test \"$1\" = --version && exec echo slurm 22\n";
  // Arrays 12, 13, ... of one node agent each, which runs in parallel with the batch as on a node. squeue lists them.
  void LiveSlurm(const std::string& squeue_first = "") {
    Script("sbatch", std::string(kVersion) +
                         "n=$(( $(cat arrays 2>/dev/null || echo 11) + 1 )); echo $n > arrays; cat > sbatch.script\n"
                         "SLURM_ARRAY_JOB_ID=$n SLURM_ARRAY_TASK_ID=0 setsid sh sbatch.script >worker.log 2>&1 &\n"
                         "echo $! > worker.$n; echo $n");
    Script("squeue", squeue_first +
                         "\nfor f in worker.[0-9]*; do state=RUNNING\n"
                         "grep -q '^State:.[^ZX]' /proc/$(cat $f)/status 2>/dev/null || state=NODE_FAIL\n"
                         "echo ${f#worker.} 0 $state; done");
    Script("scancel", "echo \"$@\" >> scancel.words");
  }
  // Two trials by command that take `seconds`, with an occasional sign of life.
  void WriteSlow(double seconds) {
    Write("slow.py",
          "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nn = 0\n"
          "while time.monotonic() < end or n == 0:\n    n += 1\n    print(f'score={n}', flush=True)\n    time.sleep(0.1)\n");
    Write("slow.yaml", "learner: {command: [python3, " + (dir_ / "slow.py").string() + ", \"" + std::to_string(seconds) +
                           "\"], metrics: {score: \"score=([0-9]+)\"}}\nsweep: {seeds: {n: 2}}\noutput: {page: false}\n");
  }
  int Starts(const std::string& experiment) const {
    int starts = 0;
    for (const nlohmann::json& event : Lines(Out(experiment) / "events.jsonl")) starts += event["kind"] == "attempt.start";
    return starts;
  }
  bool ScriptsAreGone() const { return Processes({(dir_ / "bin").string()}).empty() && Processes({"sleep", "600"}).empty(); }
};

TEST_F(ClusterPrograms, RejectMalformedAnswersOfSbatch) {
  const std::pair<const char*, const char*> answers[] = {
      {"exec sleep 600", "sbatch did not answer within 2 s and was killed"},
      {"kill -STOP $$", "sbatch did not answer within 2 s and was killed"},
      {"exit 1", "sbatch ended with exit code 1 and printed no reason"},
      {"printf '\\033[2Jbusy\\n' >&2; exit 1", "sbatch ended with exit code 1: \\x1b[2Jbusy"},
      {"true", "expected a job number from sbatch, got nothing"},
      {"echo 0", "expected a job number from sbatch, got 0"},
      {"echo Submitted batch job 12", "expected a job number from sbatch, got Submitted batch job 12"},
      {"exec cat /dev/zero", "sbatch printed more than 16 MiB and was killed"}};
  for (const auto& [answer, words] : answers) {
    SCOPED_TRACE(answer);
    FakeSlurm("true");
    Script("sbatch", kVersion + std::string(answer));
    const Finished run = Run("run two.yaml --engine slurm");
    EXPECT_EQ(run.exit, 2);
    EXPECT_THAT(run.err, HasSubstr(words));
    EXPECT_TRUE(NothingStarted());
    EXPECT_FALSE(std::filesystem::exists(dir_ / "scancel.words")) << "there is no job to cancel";
    EXPECT_TRUE(ScriptsAreGone());
  }
}

TEST_F(ClusterPrograms, GiveUpIfSqueueDoesNotAnswerBeforeTheFirstWorker) {
  const std::pair<const char*, const char*> answers[] = {
      {"exec sleep 600", "the job's state is unknown: squeue did not answer within 2 s and was killed"},
      {"echo down >&2; exit 1", "the job's state is unknown: squeue ended with exit code 1: down"},
      {"echo nonsense", "the job's state is unknown: expected lines \"JOB TASK STATE\" from squeue, got nonsense"},
      {"true", "Slurm ran job 12, but no node agent reported"}};
  for (const auto& [answer, words] : answers) {
    SCOPED_TRACE(answer);
    FakeSlurm(answer);
    const Finished run = Run("run two.yaml --engine slurm");
    EXPECT_EQ(run.exit, 2);
    EXPECT_THAT(run.err, HasSubstr(words));
    EXPECT_TRUE(NothingStarted());
    EXPECT_TRUE(ScriptsAreGone());
  }
}

TEST_F(ClusterPrograms, AnswerAStopWhileTheyHang) {
  setenv("BACKPLANE_CLUSTER_PATIENCE", "3600", 1);
  for (const char* program : {"sbatch", "squeue"}) {
    SCOPED_TRACE(program);
    FakeSlurm("true");
    Script(program, kVersion + std::string("touch hangs; exec sleep 600"));
    const pid_t pid = Start("run two.yaml --engine slurm");
    ASSERT_TRUE(Until([&] { return std::filesystem::remove(dir_ / "hangs"); })) << ErrorsOf(pid);
    kill(pid, SIGINT);
    const Finished run = Wait(pid);
    EXPECT_EQ(run.exit, 130) << run.err;
    EXPECT_TRUE(ScriptsAreGone());
  }
}

TEST_F(ClusterPrograms, ShareOneDeadlineAfterAStop) {
  setenv("BACKPLANE_CLUSTER_PATIENCE", "3600", 1);
  WriteSlow(600);
  LiveSlurm();
  std::string sbatch = ReadFile(dir_ / "bin/sbatch");
  sbatch.replace(sbatch.rfind("echo $n"), std::string::npos, "exec sleep 600\n");
  std::ofstream(dir_ / "bin/sbatch") << sbatch;
  Script("scancel", "exec sleep 600");
  const pid_t pid = Start("run slow.yaml --engine slurm");
  ASSERT_TRUE(Until([&] { return Starts("slow") > 0; })) << ErrorsOf(pid);
  kill(pid, SIGINT);
  const Finished run = Wait(pid);
  const double ended = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_EQ(run.exit, 130) << run.err;
  double last = 0;
  for (const nlohmann::json& event : Lines(Out("slow") / "events.jsonl"))
    if (event["kind"] == "attempt.end") last = event["t"];
  EXPECT_LT(ended - last, 2.7);
  EXPECT_TRUE(ScriptsAreGone());
}

TEST_F(ClusterPrograms, RunNoHealthyTrialAgainIfSqueueCannotBeRead) {
  WriteSlow(7);
  for (const char* answer : {"echo nonsense; exit 0", "exit 0", "exit 1", "echo 12 0; exit 0", "sleep 600"}) {
    SCOPED_TRACE(answer);
    std::filesystem::remove(dir_ / "healthy");
    LiveSlurm("test -e healthy || { touch healthy; false; } && { " + std::string(answer) + "; }");
    const Finished run = Run("run slow.yaml --engine slurm --fresh");
    EXPECT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(Starts("slow"), 2);
    EXPECT_TRUE(ScriptsAreGone());
  }
}

TEST_F(ClusterPrograms, ReportScancelThatHangs) {
  LiveSlurm();
  Script("scancel", "exec sleep 600");
  const Finished run = Run("run two.yaml --engine slurm");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("scancel did not answer within 5 s and was killed\nhint: `scancel 12` ends the jobs that may be left"));
  EXPECT_TRUE(ScriptsAreGone());
}

// The trials kill their node agent, as the end of a node does.
TEST_F(ClusterPrograms, ExitThreeAndCountNodesIfTrialsLoseTheirNodes) {
  LiveSlurm();
  Write("dies.py",
        "import os, sys, time\nprint('score=1', flush=True)\n"
        "here = os.path.dirname(os.path.abspath(__file__)) + '/'\n"
        "if sys.argv[1] == 'dies':\n"
        "    os.kill(int(open(here + 'worker.' + open(here + 'arrays').read().strip()).read()), 9)\n"
        "    time.sleep(600)\n");
  const auto file = [this](const std::string& values) {
    return "learner: {command: [python3, " + (dir_ / "dies.py").string() +
           ", \"{how}\"], options: {how: lives}, metrics: {score: \"score=([0-9]+)\"}}\n"
           "sweep: {grid: {learner.options.how: [" +
           values + "]}}\noutput: {page: false}\n";
  };
  Write("dies.yaml", file("lives, dies"));
  const Finished run = Run("run dies.yaml --engine slurm --jobs 1");
  EXPECT_EQ(run.exit, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("PLANNED: 4 nodes were lost, the last one because "));
  EXPECT_THAT(run.out, HasSubstr("1 COMPLETED, 1 PLANNED"));
  Write("all_die.yaml", file("dies"));
  const Finished json = Run("run all_die.yaml --engine slurm --jobs 1 --json");
  EXPECT_EQ(json.exit, 1) << "no trial is usable";
  EXPECT_EQ(nlohmann::json::parse(json.out)["trials"][0]["lost_nodes"], 4);
}

// Replaces engine.python. It answers like Ray's driver, or wrongly as the file `fault` requests.
constexpr char kDriver[] = R"py(#!/usr/bin/env python3
import json, os, re, signal, subprocess, sys, time
fault = open(os.path.dirname(os.path.abspath(__file__)) + "/fault").read()
requests, replies = (int(fd) for fd in re.findall(r"os[.]dup2[(](\d+), [01][)]", sys.argv[2])[:2])
def say(text): os.write(replies, (text if isinstance(text, str) else json.dumps(text)).encode() + b"\n")
for line in os.fdopen(requests):
    told = json.loads(line)
    op = next((key for key in ("address", "open", "submit", "ping") if key in told), "")
    exec(fault)
    if op == "address": program = told["backplane"]; say({"ready": {"cpus": 2, "gpus": 0, "nodes": 1, "job": "1"}})
    if op == "open": at = told["open"]; say({"opened": ""})
    if op == "ping": say({"pong": told["ping"]})
    if op == "submit":
        job = told["submit"]["job"]
        subprocess.run([program, "work", f"--folder={at['folder']}", f"--token={at['token']}", f"--worker=ray.{job}", f"--job={job}"])
        say({"done": job})
)py";

class RayDriver : public ClusterPrograms {
 protected:
  Finished RunWith(const std::string& fault, const std::string& more = "") {
    std::filesystem::permissions(Write("driver", kDriver), std::filesystem::perms::owner_all);
    Write("fault", fault);
    return Run("run two.yaml --fresh --engine ray --set engine.python=" + (dir_ / "driver").string() + more);
  }
  bool DriverIsGone() const { return Processes({(dir_ / "driver").string()}).empty(); }
};

TEST_F(RayDriver, RunsTrialsAndIgnoresMalformedLines) {
  for (const char* fault :
       {"pass", "say('[]'), say('no json'), say({'lost': 'x'}), say({'done': -1}), say({'done': {}}), say({'pong': 'x'})"}) {
    const Finished run = RunWith(fault);
    EXPECT_EQ(run.exit, 0) << run.err;
    EXPECT_EQ(Starts("two"), 2) << fault;
    EXPECT_TRUE(DriverIsGone());
  }
}

TEST_F(RayDriver, RejectsMalformedClusters) {
  const std::pair<const char*, const char*> faults[] = {
      {"sys.exit(3)", "did not join the cluster; see "},
      {"say({'error': 'bad \\x1b[31m address'}), sys.exit()", "bad \\x1b[31m address"},
      {"say({'error': 7}), sys.exit()", "did not join the cluster and gave no reason"},
      {"say({'ready': 5})", "Ray's cluster has 0 cores and 0 GPUs in total"},
      {"say({'ready': {'cpus': 'many', 'gpus': None, 'job': []}})", "Ray's cluster has 0 cores and 0 GPUs in total"},
      {"say({'ready': {'cpus': 2, 'sizes': [{'cpus': 0.5}, {'gpus': 'x'}]}})",
       "a trial needs 1 core, but none of Ray's 2 nodes has them: 0.5 cores; 0 cores"},
      {"if op == 'open': say({'opened': 'no node sees it'})", "no node sees it"},
      {"if op == 'open': sys.exit()", "Ray's driver ended while it searched the nodes for the results folder"}};
  for (const auto& [fault, words] : faults) {
    SCOPED_TRACE(fault);
    const Finished run = RunWith(fault);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(words));
    EXPECT_TRUE(NothingStarted());
    EXPECT_TRUE(DriverIsGone());
  }
}

TEST_F(RayDriver, RejectsTrialsThatFitNoNode) {
  const std::string four = "say({'ready': {'cpus': 4, 'gpus': 0, 'sizes': 2 * [{'cpus': 2, 'gpus': 0, 'memory': 1 << 30}]}})";
  const std::pair<const char*, const char*> needs[] = {
      {"--set resources.cpus=3",
       "a trial needs 3 cores, but none of Ray's 2 nodes has them: 2 cores, 1024 MiB; 2 cores, 1024 MiB"},
      {"--set resources.memory=2GiB", "a trial needs 1 core, 2048 MiB, but none of Ray's 2 nodes has them"},
      {"--set resources.cpus=5", "a trial needs 5 cores, but Ray's cluster has 4 cores and 0 GPUs in total"},
      {"--set rollout.workers=4", "a trial needs 1 core and 4 cores for its rollout workers, but Ray's cluster has 4 cores"},
      {"--set rollout.workers=1 --set rollout.threads=3",
       "a trial needs 1 core and 3 cores for its rollout workers, but none of Ray's 2 nodes"}};
  for (const auto& [setting, words] : needs) {
    const Finished run = RunWith(four, " " + std::string(setting));
    EXPECT_EQ(run.exit, 2) << setting;
    EXPECT_THAT(run.err, HasSubstr(words));
  }
}

TEST_F(RayDriver, IsKilledIfItDoesNotAnswer) {
  const Finished run = RunWith("if op == 'submit': os.kill(os.getpid(), signal.SIGSTOP)", " --set on_failure.temp=fail");
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: Ray's driver did not answer within 4 s and was killed; its trials end"));
  EXPECT_TRUE(DriverIsGone());
}

TEST_F(EngineOption, ADryRunAsksNoCluster) {
  const Finished run = Run("run two.yaml --engine slurm --jobs 2 --set resources.gpus=2 --dry-run");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("2 trials at the same time"));
}

}  // namespace
}  // namespace backplane::end_to_end
