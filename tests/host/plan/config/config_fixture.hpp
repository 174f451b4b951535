// A small language for tests of the experiment file: write files, load them against three fake plugins, check the result.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backplane/ext/wrapper.h"
#include "config/loader.hpp"
#include "contract/schema.hpp"

namespace backplane {

inline OptionInfo Option(std::string path, uint16_t type, std::optional<std::string> def,
                         std::optional<std::string> range = {}) {
  OptionInfo option;
  option.path = std::move(path);
  option.type = type;
  option.def = std::move(def);
  option.range = std::move(range);
  option.doc = "an option of a test";
  return option;
}

// A value that differs from the default, for each type of the table.
inline std::string OtherValue(const HostKey& key) {
  if (key.path == "learner.function") return "/bin/sh:g";
  if (key.path == "checkpoint.best.metric") return "eval/return";
  if (key.path == "checkpoint.best.direction") return "minimize";
  if (key.path == "schedule_budget") return "{iterations: 2}";
  if (key.path == "env.wrappers") return "[{stack: 2}]";
  switch (key.type) {
    case ValueType::kNumber: return "0.5";
    case ValueType::kInteger:
    case ValueType::kSeed: return "17";
    case ValueType::kFlag: return key.def && std::string_view(key.def) == "true" ? "false" : "true";
    case ValueType::kDuration: return "1h30m";
    case ValueType::kSize: return "1.5GiB";
    case ValueType::kTextList: return "[--qos=long]";
    case ValueType::kPathList: return key.of_command ? "[/bin/sh]" : "[/a, /b]";  // paths of a command are read
    case ValueType::kWords: return "[other, \"{seed}\", \"{n}\"]";
    case ValueType::kPatterns: return "{return: \"return=([0-9]+)\"}";
    case ValueType::kMeasureList: return "[ep/length, train/loss]";
    case ValueType::kPluginName: return key.path == "env.plugin" ? "swimmer" : "hiker";
    case ValueType::kPluginOptions: return key.path == "learner.options" ? "{lr: 0.25}" : "{reward: 9.5}";
    case ValueType::kMonitors: return "[plotter]";
    case ValueType::kEnum: return key.path == "engine.kind" ? "slurm" : "parallel_efficiency";
    case ValueType::kPercent:
    case ValueType::kSizeOrShare: return "2.5%";
    case ValueType::kFailurePolicy: return "{retry: 7}";
    case ValueType::kFlapping: return "4 in 10s";
    case ValueType::kGoal: return "{eval/return: 475, for: 3}";
    case ValueType::kStructure: return "{n: \"+3\"}";  // of kMinimalCommand
    case ValueType::kJson: return "{rollout.threads: 2}";
    default: return "other";
  }
}

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    folder_ = std::filesystem::temp_directory_path() / ("config_test_" + std::to_string(getpid()) + "_" +
                                                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    OptionInfo lr = Option("lr", BP_PARAM_F64, "3e-4", "(0,1]");
    lr.aliases = {"learning_rate", "alpha"};
    Add(BP_KIND_ENV, "walker", {Option("reward", BP_PARAM_F64, "1.0"), Option("legs", BP_PARAM_I64, "4", "[1,8]")});
    Add(BP_KIND_ENV, "swimmer", {Option("reward", BP_PARAM_F64, "0.5"), Option("fins", BP_PARAM_I64, "2")});
    Add(BP_KIND_ENV, "stack", {Option("frames", BP_PARAM_I64, "4")}).flags = BP_FLAG_WRAPPER;
    Add(BP_KIND_LEARNER, "climber",
        {lr, Option("epochs", BP_PARAM_I64, "10", "[1,)"), Option("hidden", BP_PARAM_I64_LIST, "[64, 64]", "[1,)"),
         Option("norm", BP_PARAM_BOOL, "true"), Option("device", BP_PARAM_ENUM, "cpu", "cpu|cuda"),
         Option("note", BP_PARAM_STR, ""), Option("grad_clip", BP_PARAM_F64, {}), Option("data", BP_PARAM_PATH, {})});
    OptionInfo schedule = Option("schedule", BP_PARAM_ENUM, "linear", "constant|linear");
    schedule.reads_budget = "linear";
    Add(BP_KIND_LEARNER, "annealer", {schedule, lr});
  }
  ~ConfigTest() override { std::filesystem::remove_all(folder_); }

  PluginInfo& Add(uint32_t kind, const std::string& name, std::vector<OptionInfo> options) {
    PluginInfo info;
    info.kind = kind;
    info.id = std::string(KindName(kind)) + "." + name;
    info.options = std::move(options);
    return plugins_[name] = std::move(info);
  }

  std::filesystem::path Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  PluginLookup Lookup() {
    return [this](uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>& folders,
                  std::string* why_not) -> const PluginInfo* {
      asked_.push_back(name);
      folders_ = folders;
      auto found = plugins_.find(std::filesystem::path(name).stem().string());
      if (found != plugins_.end() && found->second.kind == kind) return &found->second;
      *why_not = std::string("no ") + KindName(kind) + " plugin '" + name + "'";
      return nullptr;
    };
  }

  LoadResult Load(const std::filesystem::path& file, std::vector<std::string> set = {}) {
    return LoadExperiment(file, {std::move(set), Lookup()});
  }

  LoadResult LoadText(const std::string& text, std::vector<std::string> set = {}) {
    return Load(Write("e.yaml", text), std::move(set));
  }

  // Loads an experiment that must be valid.
  LoadedExperiment Good(const std::string& text, std::vector<std::string> set = {}) {
    LoadResult result = LoadText(text, std::move(set));
    for (const Diagnostic& d : result.errors) ADD_FAILURE() << Format(d);
    return result.loaded.value_or(LoadedExperiment{});
  }

  // "3:7 message" for each error; an override has no line, so its text appears instead.
  std::vector<std::string> ErrorsOf(const std::string& text, std::vector<std::string> set = {}) {
    LoadResult result = LoadText(text, std::move(set));
    EXPECT_EQ(result.loaded.has_value(), result.errors.empty());
    std::vector<std::string> lines;
    for (const Diagnostic& d : result.errors) {
      std::string place = d.line ? std::to_string(d.line) + ":" + std::to_string(d.column) : d.file + " " + d.source_line;
      lines.push_back(place + " " + d.message);
    }
    return lines;
  }

  std::filesystem::path folder_;
  std::map<std::string, PluginInfo> plugins_;
  std::vector<std::string> asked_;
  std::vector<std::filesystem::path> folders_;
};

// Valid; tests append to it.
inline const std::string kMinimal =
    "experiment: first\n"
    "env: {plugin: walker}\n"
    "learner: {plugin: climber}\n"
    "budget: {iterations: 3}\n";

// A trial by command.
inline const std::string kMinimalCommand = "experiment: first\nlearner: {command: [program, \"{n}\"], options: {n: 3}}\n";
inline const std::string kMinimalFunction = "experiment: first\nlearner: {function: /bin/sh:f}\n";  // not looked into

// The shortest file in which the key is valid.
inline const std::string& MinimalFor(const HostKey& key) {
  static const std::string of_best = kMinimal + "evaluation: {episodes: 3, every_iterations: 1}\n";
  static const std::string of_direction = of_best + "checkpoint: {best: eval/return}\n";
  static const std::string of_schedule =
      "experiment: first\nenv: {plugin: walker}\nlearner: {plugin: annealer}\nbudget: {iterations: 3}\n";
  static const std::string of_start =
      "experiment: first\nenv: {plugin: walker}\nlearner: {plugin: climber, start_from: other}\nbudget: {iterations: 3}\n";
  if (key.path == "schedule_budget") return of_schedule;
  if (key.path == "learner.start_optimizer") return of_start;
  if (key.path == "checkpoint.best.metric" || key.path == kUntil) return of_best;
  if (key.path == "checkpoint.best.direction") return of_direction;
  if (key.path == "learner.function" || key.path == "learner.python") return kMinimalFunction;
  return key.of_command ? kMinimalCommand : kMinimal;
}

}  // namespace backplane
