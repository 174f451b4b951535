// The commands of Slurm: their arguments, and the meaning of their answers.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/engine_needs.hpp"
#include "cluster/program_call.hpp"
#include "cluster/work_folder.hpp"

namespace backplane {

// The arguments of `sbatch` for an array of `tasks` workers, of which each runs `slots` trials at once.
std::vector<std::string> SbatchArguments(const EngineRequest& request, const WorkFolder& at, size_t tasks, size_t slots);
// What it runs: the shell gives its place to the worker, so that signals of Slurm reach that.
std::string WorkerScript(const EngineRequest& request, const WorkFolder& at, const std::string& token, size_t slots);
// How the worker of a task of an array calls itself.
std::string WorkerName(const std::string& job, const std::string& task);
// The array of a worker; empty: it has no such name.
std::string ArrayOf(const std::string& worker);

// The words of sbatch, whose input is the script.
std::vector<std::string> SbatchWords(std::vector<std::string> arguments);
// The array's number that sbatch --parsable printed; absent: it printed none.
std::optional<std::string> ReadJobNumber(const std::string& text);

struct SlurmTasks {
  std::set<std::string> running, pending, ended;  // worker names
  std::string why_pending;                        // the reason of one of them in Slurm's words; may be empty
  bool forgotten = false;                         // Slurm knows none of the arrays any more

  bool HasArray(const std::string& job) const;
};
std::vector<std::string> SqueueWords(const std::vector<std::string>& jobs);
// Reads squeue's lines "job task state why". Absent: a line cannot be read, so the state of the tasks is not known.
std::optional<SlurmTasks> ReadTasks(const std::string& text);
// Reads the end of a call of squeue. Absent: the state of the tasks is not known, and `failure` has the reason.
std::optional<SlurmTasks> TasksOf(const CallEnd& end, std::string* failure);

std::vector<std::string> ScancelWords(const std::vector<std::string>& jobs, bool only_pending);
// Waits for its end. Returns a sentence if it failed, so that they may still be there.
std::string CancelJobs(const std::vector<std::string>& jobs, bool only_pending,
                       std::chrono::milliseconds limit = ClusterPatience());

}  // namespace backplane
