// Maps the kernel's core numbers to physical cores and NUMA nodes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace backplane {

struct Cpu {
  int number = 0;
  int physical_core = 0;  // the smallest number among its SMT siblings
  int node = 0;           // NUMA
};

// Cores missing in /sys count as separate physical cores on node 0.
std::vector<Cpu> ReadTopology(const std::vector<int>& numbers, const std::filesystem::path& sys = "/sys");

// "0-3,8", in the kernel's format.
std::vector<int> ParseCpuList(const std::string& text);

// Chooses `count` free cores: from one NUMA node if one has enough (the fullest one), whole physical cores first, and for an
// odd rest a core with a busy sibling. Returns fewer only if fewer are free.
std::vector<int> ChooseCores(const std::vector<Cpu>& all, const std::vector<Cpu>& free, size_t count);

}  // namespace backplane
