// Arguments for Slurm's commands and parsing of their output. scripts/check_cluster tests both with the real commands.
#include "cluster/slurm.hpp"

#include <gmock/gmock.h>

#include "cluster/slurm_limits.hpp"

namespace backplane {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

EngineRequest Request() {
  EngineRequest request;
  request.config.kind = "slurm";
  request.name = "sweep";
  request.program = "/opt/back plane/bin/backplane";
  request.needs.trials = 100;
  return request;
}

const WorkFolder kAt{"/shared/it's here/engine/1"};

TEST(SbatchArguments, RequestResourcesOfAllSlotsAndTheirOwnMemory) {
  EngineRequest request = Request();
  request.needs.cpus = 4;
  request.needs.memory_bytes = uint64_t{3} << 30;
  request.needs.gpus = 1;
  const auto words = SbatchArguments(request, kAt, 5, 2);
  EXPECT_THAT(words, Contains("--array=0-4"));
  EXPECT_THAT(words, Contains("--cpus-per-task=8"));
  EXPECT_THAT(words, Contains("--mem=6272M"));
  EXPECT_THAT(words, Contains("--gres=gpu:2"));
  EXPECT_THAT(words, Contains("--nodes=1"));
  EXPECT_THAT(words, Not(Contains(StartsWith("--time"))));
}

TEST(SbatchArguments, GiveTimeForAllTrialsOfAWorker) {
  EngineRequest request = Request();
  request.needs.wall_time_s = 600;
  // 100 trials in 10 slots: 10 turns of 10 minutes, each with a minute before and after.
  EXPECT_THAT(SbatchArguments(request, kAt, 5, 2), Contains("--time=110"));
}

TEST(SbatchArguments, EndWithOptionsOfTheFile) {
  EngineRequest request = Request();
  request.config.partition = "long";
  request.config.account = "lab";
  request.config.options = {"--qos=x", "--time=7"};
  const auto words = SbatchArguments(request, kAt, 1, 1);
  EXPECT_THAT(words, Contains("--partition=long"));
  EXPECT_THAT(words, Contains("--account=lab"));
  EXPECT_THAT(std::vector<std::string>(words.end() - 2, words.end()), ElementsAre("--qos=x", "--time=7"));
}

TEST(WorkerScript, RunsTheWorkerAndQuotesBlanks) {
  const std::string script = WorkerScript(Request(), kAt, "token", 3);
  EXPECT_THAT(script, StartsWith("#!/bin/sh\nexec '/opt/back plane/bin/backplane' work "));
  EXPECT_THAT(script, HasSubstr("--worker=\"$SLURM_ARRAY_JOB_ID.$SLURM_ARRAY_TASK_ID\" --slots=3"));
}

TEST(ReadTasks, SortsTasksByTheirState) {
  const std::optional<SlurmTasks> tasks = ReadTasks(
      "12 0 RUNNING None\n12 1 PENDING (Resources, and more)\n12 2 COMPLETING\n12 3 NODE_FAIL\n\n12 4 CONFIGURING\n13 0 "
      "FAILED\n13 1 "
      "SUSPENDED\n");
  ASSERT_TRUE(tasks);
  EXPECT_THAT(tasks->running, ElementsAre("12.0", "13.1"));
  EXPECT_THAT(tasks->pending, ElementsAre("12.1", "12.4"));
  EXPECT_THAT(tasks->ended, ElementsAre("12.2", "12.3", "13.0"));
  EXPECT_TRUE(tasks->HasArray("13"));
  EXPECT_FALSE(tasks->HasArray("1")) << "a prefix is a different number";
}

// Lines that Slurm 22.05 printed: a job over a limit of its partition, one that waits, and a new one.
TEST(ReadTasks, KeepsTheReasonThatExplainsMost) {
  const char* const lines[] = {"3 0 PENDING PartitionConfig\n", "16 0 PENDING Resources\n", "15 0 PENDING None\n"};
  EXPECT_EQ(ReadTasks(std::string(lines[0]) + lines[1] + lines[2])->why_pending, "PartitionConfig");
  EXPECT_EQ(ReadTasks(std::string(lines[1]) + lines[0])->why_pending, "PartitionConfig");
  EXPECT_EQ(ReadTasks(std::string(lines[1]) + lines[2])->why_pending, "Resources");
  EXPECT_EQ(ReadTasks("20 0 PENDING ReqNodeNotAvail, UnavailableNodes:node1\n")->why_pending,
            "ReqNodeNotAvail, UnavailableNodes:node1");
  EXPECT_EQ(ReadTasks(lines[2])->why_pending, "") << "not known yet";
  // Every node was dead.
  const std::string
      first = "4 0 PENDING Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions\n",
      second = "4 1 PENDING Priority\n";
  for (const std::string& text : {first + second, second + first})
    EXPECT_THAT(ReadTasks(text)->why_pending, StartsWith("Nodes required for job are DOWN"));
  EXPECT_EQ(ReadTasks(second)->why_pending, "Priority");
}

TEST(IsNever, DistinguishesLimitsFromWaiting) {
  for (const char* reason : {"PartitionConfig", "PartitionTimeLimit", "MaxMemPerLimit", "PartitionNodeLimit", "BadConstraints",
                             "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit"})
    EXPECT_TRUE(IsNever(reason)) << reason;
  for (const char* reason : {"", "Resources", "Priority", "BeginTime", "JobHeldUser", "PartitionDown", "QOSMaxJobsPerUserLimit",
                             "ReqNodeNotAvail, UnavailableNodes:node1",
                             "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"})
    EXPECT_FALSE(IsNever(reason)) << reason;
}

TEST(PartitionLimits, AreThoseThatSlurmPrints) {
  constexpr char kSinfo[] = "test test* 2 1000 infinite\nshort short 2 1000 1:00\nnarrow narrow 2 1000 infinite\n";
  constexpr char kNarrow[] =
      "PartitionName=narrow AllowGroups=ALL Default=NO GraceTime=0 Hidden=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=2 "
      "LLN=NO MaxCPUsPerNode=1 Nodes=node1 State=UP TotalCPUs=2 DefMemPerNode=UNLIMITED MaxMemPerNode=100 TRES=cpu=2\n";
  EXPECT_EQ(PartitionLimits(kSinfo, "", "short"), "partition short has nodes of 2 CPUs and 1000 MiB and a time limit of 1:00");
  EXPECT_EQ(PartitionLimits(kSinfo, "PartitionName=test MaxNodes=UNLIMITED MinNodes=0\n", ""),
            "partition test has nodes of 2 CPUs and 1000 MiB and a time limit of infinite");
  EXPECT_EQ(PartitionLimits(kSinfo, kNarrow, "narrow"),
            "partition narrow has nodes of 2 CPUs and 1000 MiB and a time limit of infinite, MinNodes=2, MaxCPUsPerNode=1, "
            "MaxMemPerNode=100");
  EXPECT_EQ(PartitionLimits(kSinfo, "", "missing"), "");
  EXPECT_EQ(PartitionLimits("slurm_load_partitions: error\n", "", ""), "");
}

TEST(ReadTasks, RejectsMalformedAnswers) {
  EXPECT_TRUE(ReadTasks("")) << "an empty answer may miss tasks";
  for (const char* text : {"squeue: busy\n", "12 0\n", "12 0 FLOATING\n", "JOBID TASK STATE\n", "12 0 RUNNING\n<html>\n",
                           "-1 0 RUNNING\n", "0 0 RUNNING\n", "12 0 running\n", "123456789012 0 RUNNING\n"})
    EXPECT_FALSE(ReadTasks(text)) << text;
}

TEST(ReadJobNumber, ReadsOnlyNumbersOfJobs) {
  EXPECT_EQ(ReadJobNumber("4711\n"), "4711");
  EXPECT_EQ(ReadJobNumber("4711;cluster\n"), "4711");
  for (const char* text :
       {"", "\n", "0", "0;c", "-5", "4711 4712", "Submitted batch job 4711", "12\n13\n", "4711x", "99999999999", ";c"})
    EXPECT_EQ(ReadJobNumber(text), std::nullopt) << text;
}

TEST(ArrayOf, ReadsTheArrayOfAWorker) {
  EXPECT_EQ(ArrayOf("4711.3"), "4711");
  for (const char* name : {"", "4711", ".3", "ray.7", "a.3", "0.1"}) EXPECT_EQ(ArrayOf(name), "") << name;
}

TEST(TasksOf, DistinguishesForgottenJobsFromNoAnswer) {
  std::string failure;
  EXPECT_EQ(TasksOf({.failure = "squeue did not answer within 30 s and was killed"}, &failure), std::nullopt);
  EXPECT_EQ(failure, "squeue did not answer within 30 s and was killed");
  EXPECT_EQ(TasksOf({.out = "\x1b[2J?\n"}, &failure), std::nullopt);
  EXPECT_EQ(failure, "expected lines \"JOB TASK STATE\" from squeue, got \\x1b[2J?");
  const auto forgotten =
      TasksOf({.err = "slurm_load_jobs error: Invalid job id specified\n", .failure = "exit code 1"}, &failure);
  ASSERT_TRUE(forgotten);
  EXPECT_TRUE(forgotten->forgotten);
}

}  // namespace
}  // namespace backplane
