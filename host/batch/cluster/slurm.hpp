// The commands of Slurm: their arguments and answers.
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

// The arguments of `sbatch` for an array of `tasks` workers with `slots` parallel trials each.
std::vector<std::string> SbatchArguments(const EngineRequest& request, const WorkFolder& at, size_t tasks, size_t slots);
// The job's script. The shell execs the worker, so that Slurm's signals reach it.
std::string WorkerScript(const EngineRequest& request, const WorkFolder& at, const std::string& token, size_t slots);
// The name of the worker in a task of an array.
std::string WorkerName(const std::string& job, const std::string& task);
// The array of a worker; empty if the name contains none.
std::string ArrayOf(const std::string& worker);

// The command line of sbatch. The script is its input.
std::vector<std::string> SbatchWords(std::vector<std::string> arguments);
// The array's number that sbatch --parsable printed; absent: it printed none.
std::optional<std::string> ReadJobNumber(const std::string& text);

struct SlurmTasks {
  std::set<std::string> running, pending, ended;  // worker names
  std::string why_pending;                        // Slurm's reason for the pending tasks that explains most; may be empty
  bool forgotten = false;                         // Slurm knows none of the arrays any more

  bool HasArray(const std::string& job) const;
};
std::vector<std::string> SqueueWords(const std::vector<std::string>& jobs);
// Parses squeue's lines "job task state why". Absent: a line is malformed, so the state of the tasks is unknown.
std::optional<SlurmTasks> ReadTasks(const std::string& text);
// Evaluates a finished call of squeue. Absent: the state of the tasks is unknown, and `failure` contains the reason.
std::optional<SlurmTasks> TasksOf(const CallEnd& end, std::string* failure);

std::vector<std::string> ScancelWords(const std::vector<std::string>& jobs, bool only_pending);
// Waits for the end of scancel. Returns a sentence if it failed; the jobs may then still exist.
std::string CancelJobs(const std::vector<std::string>& jobs, bool only_pending,
                       std::chrono::milliseconds limit = ClusterPatience());

}  // namespace backplane
