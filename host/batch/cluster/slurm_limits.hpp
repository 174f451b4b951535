// Numbers for jobs that Slurm rejects or never starts: the requested resources and the limits of the partition.
#pragma once

#include <string>
#include <vector>

#include "contract/experiment.hpp"

namespace backplane {

// True if waiting does not help, by a reason of squeue such as PartitionConfig.
bool IsNever(const std::string& reason);

// "each job requests --cpus-per-task=8 --mem=6272M --time=110": the resources among the arguments of sbatch.
std::string RequestedResources(const std::vector<std::string>& sbatch_arguments);

// "partition short has nodes of 2 CPUs and 1000 MiB and a time limit of 1:00, MaxCPUsPerNode=1". `sinfo`: lines of
// kSinfoFormat. `scontrol`: a line of `scontrol --oneliner show partition`; may be empty. `wanted` empty: the default
// partition.
inline constexpr char kSinfoFormat[] = "--format=%R %P %c %m %l";
std::string PartitionLimits(const std::string& sinfo, const std::string& scontrol, const std::string& wanted);

// Asks Slurm for the limits of the partition that these jobs use. Empty: it does not answer within seconds.
std::string AskPartitionLimits(const std::vector<std::string>& sbatch_arguments);

}  // namespace backplane
