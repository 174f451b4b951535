// The commands of Slurm: its words, and no more of it than these words.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/engine_needs.hpp"
#include "cluster/work_folder.hpp"

namespace backplane {

// The arguments of `sbatch` for an array of `tasks` workers, of which each runs `slots` trials at once.
std::vector<std::string> SbatchArguments(const EngineRequest& request, const WorkFolder& at, size_t tasks, size_t slots);
// What it runs: the shell gives its place to the worker, so that signals of Slurm reach that.
std::string WorkerScript(const EngineRequest& request, const WorkFolder& at, const std::string& token, size_t slots);
// How the worker of a task of an array calls itself.
std::string WorkerName(const std::string& job, const std::string& task);

// The array's number; throws std::runtime_error with what sbatch said.
std::string Sbatch(const std::vector<std::string>& arguments, const std::string& script);

struct SlurmTasks {
  std::set<std::string> running, pending;  // worker names; what ends, for whatever reason, is in neither
};
// Of these arrays. Absent: nobody answered, and so nothing is known.
std::optional<SlurmTasks> AskSlurm(const std::vector<std::string>& jobs);
// Of the text that squeue printed, a line "job task state" for each.
SlurmTasks ReadTasks(const std::string& text);
// Why a task waits, as Slurm says it; empty: it does not say.
std::string WhyPending(const std::string& job);

void CancelJobs(const std::vector<std::string>& jobs, bool only_pending);

}  // namespace backplane
