// Which of the cores the kernel counts are threads of one physical core, and which lie at one memory.
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

// What /sys does not tell counts as a core of its own at node 0.
std::vector<Cpu> ReadTopology(const std::vector<int>& numbers, const std::filesystem::path& sys = "/sys");

// "0-3,8" as the kernel writes it.
std::vector<int> ParseCpuList(const std::string& text);

// `count` of the free cores: of one NUMA node if one has enough (the fullest that does), whole physical cores first, and for an
// odd rest one whose sibling is taken already. Fewer only if there are not so many.
std::vector<int> ChooseCores(const std::vector<Cpu>& all, const std::vector<Cpu>& free, size_t count);

}  // namespace backplane
