// What is said to Slurm's commands and read of them. That they understand it, scripts/check_cluster tries with the real ones.
#include "cluster/slurm.hpp"

#include <gmock/gmock.h>

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

TEST(SbatchArguments, AskForCoresMemoryAndDevicesOfAllSlotsAndALittleMemoryOfTheirOwn) {
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

TEST(SbatchArguments, GiveTimeForAllTrialsThatAWorkerMayRunInTurn) {
  EngineRequest request = Request();
  request.needs.wall_time_s = 600;
  // 100 trials in 10 slots: 10 turns of 10 minutes, with a minute around each.
  EXPECT_THAT(SbatchArguments(request, kAt, 5, 2), Contains("--time=110"));
}

TEST(SbatchArguments, ThoseOfTheFileComeLast) {
  EngineRequest request = Request();
  request.config.partition = "long";
  request.config.account = "lab";
  request.config.options = {"--qos=x", "--time=7"};
  const auto words = SbatchArguments(request, kAt, 1, 1);
  EXPECT_THAT(words, Contains("--partition=long"));
  EXPECT_THAT(words, Contains("--account=lab"));
  EXPECT_THAT(std::vector<std::string>(words.end() - 2, words.end()), ElementsAre("--qos=x", "--time=7"));
}

TEST(WorkerScript, GivesItsPlaceToTheWorkerAndQuotesWhatHasBlanks) {
  const std::string script = WorkerScript(Request(), kAt, "token", 3);
  EXPECT_THAT(script, StartsWith("#!/bin/sh\nexec '/opt/back plane/bin/backplane' work "));
  EXPECT_THAT(script, HasSubstr("--worker=\"$SLURM_ARRAY_JOB_ID.$SLURM_ARRAY_TASK_ID\" --slots=3"));
}

TEST(ReadTasks, WhatEndsForWhateverReasonIsNeitherRunningNorPending) {
  const SlurmTasks tasks =
      ReadTasks("12 0 RUNNING\n12 1 PENDING\n12 2 COMPLETING\n12 3 NODE_FAIL\n12 4 CONFIGURING\n13 0 FAILED\n13 1 SUSPENDED\n");
  EXPECT_THAT(tasks.running, ElementsAre("12.0", "13.1"));
  EXPECT_THAT(tasks.pending, ElementsAre("12.1", "12.4"));
}

}  // namespace
}  // namespace backplane
