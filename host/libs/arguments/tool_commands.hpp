// The commands of `backplane` that tools carry out. These tools are installed with it.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

struct ToolCommand {
  const char* name;
  const char* tool;  // the program is backplane-TOOL
  const char* help;
};

inline constexpr ToolCommand kBenchCommand = {
    "bench", "study", "How fast an experiment runs on this machine, where its time goes, and which setting is faster"};
inline constexpr ToolCommand kTuneCommand = {
    "tune", "study",
    "Make an experiment faster: try what its findings propose one at a time, keep what gains, check the learning"};
inline constexpr ToolCommand kCompareCommand = {
    "compare", "study", "Find out which learner, version or setting is better, and whether the evidence is enough"};
inline constexpr ToolCommand kGateCommand = {"gate", "study",
                                             "Fail if something became worse than a saved baseline by more than a limit"};
inline constexpr ToolCommand kGateSaveCommand = {"gate save", "study",
                                                 "Keep the scores and plugin files of a finished experiment as a baseline"};
inline constexpr ToolCommand kNewCommand = {
    "new", "author",
    "Begin a plugin: write a folder NAME with code, tests and an experiment, which builds and trains as it is"};
inline constexpr ToolCommand kPluginValidateCommand = {
    "plugin validate", "validate", "Try whether a plugin keeps every rule of the contract (exit 1: it does not)"};
inline constexpr ToolCommand kRunTrialCommand = {"run-trial", "trial",
                                                 "Run one prepared trial in this process (what `run` starts for each trial)"};
inline constexpr ToolCommand kSdkCommand = {"sdk", "author", "Print the folders of the headers and the CMake package"};

}  // namespace backplane
