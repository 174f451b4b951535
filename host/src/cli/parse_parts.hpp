// What the files of the command line share. They alone include CLI11: it costs several seconds of compile time wherever it
// stands.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "trial/run_trial.hpp"

namespace backplane {

// What was typed, and what was chosen by it.
struct TrialArgs {
  std::vector<std::filesystem::path> trial_jsons;
  TrialTask task;
};

struct Arguments {
  RunArgs run;
  std::string only_failed, gpus;  // of run, as typed
  unsigned jobs = 0;              // of run; 0: not given
  BenchArgs bench;
  std::string bench_rows;  // of bench, as typed
  TuneArgs tune;
  std::string tune_budget;  // of tune, as typed
  ReplayArgs replay;
  RenderArgs render;
  TrialArgs trial;
  ConfigCheckArgs check;
  ConfigShowArgs show;
  PluginArgs plugin;
  BatchArgs watch, rebuild;
  StatusArgs status;
  StopArgs stop;
  ReportArgs report;
  ExportArgs exported;
  DoctorArgs doctor;
  std::function<int()> chosen;
};

// Arguments that several commands take.
void AddPluginPath(CLI::App* app, std::vector<std::string>* target);
void AddFile(CLI::App* app, FileArgs* args);

// Commands that run trials: run, bench, tune, replay, render, run-trial.
void AddTrialCommands(CLI::App* root, Arguments* args);

// The sentence for a mistyped command or option; empty if the error is another one. CLI11 only says "A subcommand is required".
std::string ExplainTypo(const CLI::App& root, int argc, char** argv);

}  // namespace backplane
