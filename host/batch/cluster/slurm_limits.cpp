#include "cluster/slurm_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "cluster/program_call.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kForLimits{5};
constexpr std::string_view kPartition = "--partition=";
// Reasons of squeue's %r. Reasons that contain kPerJob are never satisfied either.
constexpr std::string_view kNever[] = {"PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit",
                                       "MaxMemPerLimit",  "BadConstraints",     "AccountNotAllowed",
                                       "QOSNotAllowed",   "InvalidAccount",     "InvalidQOS"};
constexpr std::string_view kPerJob = "PerJob";
constexpr std::string_view kResources[] = {
    "--cpus-per-task=", "--mem=", "--gres=", "--time=", "--exclusive", "--qos=", "--constraint=", kPartition};
constexpr std::string_view kLimits[] = {"MaxCPUsPerNode=", "MaxMemPerNode=", "MaxNodes=", "MinNodes="};
constexpr std::string_view kNoLimit[] = {"=UNLIMITED", "=0"};

bool StartsWithAny(std::string_view word, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return word.starts_with(prefix); });
}

std::string Answer(std::vector<std::string> words) {
  const CallEnd end = ProgramCall(std::move(words), kForLimits).Await();
  return end.ok() ? end.out : "";
}

struct Partition {
  std::string name, marked, cpus, mib, time;  // marked: ends with * if it is the default
};

std::optional<Partition> FindPartition(const std::string& sinfo, const std::string& wanted) {
  std::istringstream lines(sinfo);
  for (std::string line; std::getline(lines, line);) {
    Partition found;
    std::istringstream words(line);
    const bool whole = static_cast<bool>(words >> found.name >> found.marked >> found.cpus >> found.mib >> found.time);
    if (whole && (wanted.empty() ? found.marked.ends_with('*') : found.name == wanted)) return found;
  }
  return std::nullopt;
}

}  // namespace

bool IsNever(const std::string& reason) {
  return std::find(std::begin(kNever), std::end(kNever), reason) != std::end(kNever) ||
         reason.find(kPerJob) != std::string::npos;
}

std::string RequestedResources(const std::vector<std::string>& sbatch_arguments) {
  std::string text = "each job requests";
  for (const std::string& argument : sbatch_arguments)
    if (StartsWithAny(argument, kResources)) text += " " + argument;
  return text;
}

std::string PartitionLimits(const std::string& sinfo, const std::string& scontrol, const std::string& wanted) {
  const std::optional<Partition> partition = FindPartition(sinfo, wanted);
  if (!partition) return "";
  std::string text = fmt::format("partition {} has nodes of {} CPUs and {} MiB and a time limit of {}", partition->name,
                                 partition->cpus, partition->mib, partition->time);
  std::istringstream words(scontrol);
  for (std::string word; words >> word;) {
    const bool is_set = std::none_of(std::begin(kNoLimit), std::end(kNoLimit), [&](auto end) { return word.ends_with(end); });
    if (is_set && StartsWithAny(word, kLimits)) text += ", " + word;
  }
  return text;
}

std::string AskPartitionLimits(const std::vector<std::string>& sbatch_arguments) {
  std::string wanted;  // the last one counts
  for (const std::string& argument : sbatch_arguments)
    if (argument.starts_with(kPartition)) wanted = argument.substr(kPartition.size());
  const std::string sinfo = Answer({"sinfo", "--noheader", kSinfoFormat});
  const std::optional<Partition> partition = FindPartition(sinfo, wanted);
  if (!partition) return "";
  return PartitionLimits(sinfo, Answer({"scontrol", "--oneliner", "show", "partition", partition->name}), wanted);
}

}  // namespace backplane
