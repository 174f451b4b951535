#include "study/gate_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "record/batch_record.hpp"
#include "record/measurements.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// "learner.x path short" -> {"learner.x path", "short"}
std::map<std::string, std::string> ByName(const std::vector<std::string>& facts) {
  std::map<std::string, std::string> by_name;
  for (const std::string& fact : facts) {
    const size_t space = fact.rfind(' ');
    by_name[fact.substr(0, space)] = space == std::string::npos ? "" : fact.substr(space + 1);
  }
  return by_name;
}

// Shared facts with a changed value: "learner.x 1.0.0, now 1.1.0".
std::vector<std::string> Changed(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& now) {
  std::vector<std::string> changed;
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found == now.end() || value.empty() || found->second.empty() || found->second == value) continue;
    changed.push_back(fmt::format("{} {}, now {}", name, value, found->second));
  }
  return changed;
}

std::map<std::string, std::string> VersionsOf(const RunVersions& versions) {
  std::map<std::string, std::string> all = versions.plugins;
  all.insert({{"backplane", versions.backplane}, {"its compiler", versions.compiler}, {"LibTorch", versions.torch}});
  return all;
}

std::string DevicesText(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const DeviceInfo& device : devices) names.push_back(device.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void AddFacts(const fs::path& out, const std::string& trial_id, GateBaseline* baseline) {
  const ResultsFolder folder{out};
  const auto run = ReadTolerantly<RunInfo>(nlohmann::json::parse(ReadFile(folder.run()).value_or(""), nullptr, false));
  baseline->host = run.host;
  baseline->devices = run.devices;
  baseline->versions = run.versions;
  baseline->config_file = run.config_file;
  const BatchRecord record = ReadBatchRecord(folder.events());
  const TrialRecord* known = record.Find(trial_id);
  if (known != nullptr && !known->attempts.empty())
    baseline->facts = ReadMeasurements(folder.attempt(trial_id, known->attempts.back().number)).facts;
}

std::vector<std::string> OtherThanInBaseline(const GateBaseline& baseline, const fs::path& out) {
  const std::vector<PlanLine> plan = ReadPlanFile(ResultsFolder{out}.plan());
  const auto first = std::ranges::find(plan, false, &PlanLine::dropped);
  if (first == plan.end()) return {};
  GateBaseline now;
  AddFacts(out, first->trial_id, &now);
  std::vector<std::string> sentences;
  if (now.host.cpu != baseline.host.cpu) {
    sentences.push_back(
        fmt::format("The baseline ran on a different processor ({}, now {}), so the last digits of scores may differ.",
                    baseline.host.cpu, now.host.cpu));
  } else if (now.host.cpu_flags != baseline.host.cpu_flags) {
    sentences.push_back("The baseline's processor has different instructions, so the last digits of scores may differ.");
  }
  if (const std::string before = DevicesText(baseline.devices), after = DevicesText(now.devices); before != after)
    sentences.push_back(fmt::format("The baseline ran on different devices ({}, now {}).", before, after));
  if (const auto changed = Changed(VersionsOf(baseline.versions), VersionsOf(now.versions)); !changed.empty())
    sentences.push_back(fmt::format("The baseline ran with different versions: {}.", fmt::join(changed, "; ")));
  if (const auto changed = Changed(ByName(baseline.facts), ByName(now.facts)); !changed.empty())
    sentences.push_back(fmt::format("Plugins made different choices in the baseline: {}.", fmt::join(changed, "; ")));
  return sentences;
}

}  // namespace backplane
