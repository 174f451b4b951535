// The commands of `backplane` that other installed programs carry out.
#pragma once

#include "arguments/command.hpp"

namespace backplane {

struct ToolCommand {
  const char* name;
  const char* tool;  // the program is backplane-TOOL
  const char* help;
};

inline constexpr ToolCommand kBenchCommand = {"bench", "study", "Measure the speed of an experiment and find its bottleneck"};
inline constexpr ToolCommand kTuneCommand = {"tune", "study",
                                             "Make an experiment faster by trying the changes that its findings propose"};
inline constexpr ToolCommand kCompareCommand = {"compare", "study", "Find out which learner, version or setting is better"};
inline constexpr ToolCommand kGateCommand = {"gate", "study", "Fail if a result is worse than a saved baseline"};
inline constexpr ToolCommand kGateSaveCommand = {"gate save", "study",
                                                 "Save the scores and plugin files of an experiment as a baseline"};
inline constexpr ToolCommand kEvaluateCommand = {"evaluate", "policy", "Play many episodes with a trained policy"};
inline constexpr ToolCommand kInspectCommand = {"inspect", "policy", "Replay a trial to one step and show it"};
inline constexpr ToolCommand kPackCommand = {"pack", "archive", "Pack the results of an experiment into one file"};
inline constexpr ToolCommand kUnpackCommand = {"unpack", "archive", "Unpack a packed experiment into a results folder"};
inline constexpr ToolCommand kVerifyCommand = {"verify", "archive", "Find damage in a packed or unpacked experiment"};
inline constexpr ToolCommand kGcCommand = {"gc", "archive", "Delete checkpoints that finished trials no longer need"};
inline constexpr ToolCommand kExportPolicyCommand = {"export policy", "export",
                                                     "Write a trained policy as C, ONNX, NumPy and Python"};
inline constexpr ToolCommand kImportPolicyCommand = {"import policy", "export",
                                                     "Convert a policy of another program, to start trials from it"};
inline constexpr ToolCommand kImportCommand = {"import", "runs", "Read the runs of other tools into a results folder"};
inline constexpr ToolCommand kExportRunsCommands[] = {
    {"export wandb", "runs", "Write offline runs of W&B, once or while a batch runs"},
    {"export mlflow", "runs", "Write runs of MLflow, once or while a batch runs"},
    {"export trackio", "runs", "Write runs of Trackio, once or while a batch runs"}};
inline constexpr ToolCommand kNewCommand = {"new", "author", "Create a plugin with code, tests and an experiment that trains"};
inline constexpr ToolCommand kPluginValidateCommand = {"plugin validate", "validate",
                                                       "Check a plugin against every rule of the contract"};
inline constexpr ToolCommand kRunTrialCommand = {"run-trial", "trial",
                                                 "Run one prepared trial in this process (`run` starts it per trial)"};
inline constexpr ToolCommand kSetupTorchCommand = {"setup torch", "author", "Install LibTorch for the plugins that need it"};
inline constexpr ToolCommand kSdkCommand = {"sdk", "author", "Print the folders of headers, CMake package and configs"};

}  // namespace backplane
