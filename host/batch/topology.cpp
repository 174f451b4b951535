#include "batch/topology.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/files.hpp"
#include "text/split_list.hpp"

namespace backplane {
namespace {

using CoreMembers = std::map<int, std::vector<int>>;  // physical core -> its numbers

CoreMembers ByPhysicalCore(const std::vector<Cpu>& cpus) {
  CoreMembers cores;
  for (const Cpu& cpu : cpus) {
    cores[cpu.physical_core].push_back(cpu.number);
  }
  return cores;
}

// The nodes, in the order of use for `count` cores.
std::vector<std::vector<Cpu>> NodesInOrder(const std::vector<Cpu>& free, size_t count) {
  std::map<int, std::vector<Cpu>> by_node;
  for (const Cpu& cpu : free) {
    by_node[cpu.node].push_back(cpu);
  }
  std::vector<std::vector<Cpu>> nodes;
  for (const auto& [node, cpus] : by_node) {
    nodes.push_back(cpus);
  }
  // Nodes that suffice on their own come first, the fullest of them first. Then the others follow, the emptiest first, so that
  // few are needed.
  std::stable_sort(nodes.begin(), nodes.end(), [count](const std::vector<Cpu>& a, const std::vector<Cpu>& b) {
    const bool a_fits = a.size() >= count, b_fits = b.size() >= count;
    return a_fits != b_fits ? a_fits : a_fits ? a.size() < b.size() : a.size() > b.size();
  });
  return nodes;
}

void TakeFromNode(const CoreMembers& all, const std::vector<Cpu>& free, size_t count, std::vector<int>* taken) {
  std::vector<int> broken, rest;
  for (const auto& [core, numbers] : ByPhysicalCore(free)) {
    const bool whole = numbers.size() == all.at(core).size();
    std::vector<int>* to = !whole ? &broken : taken->size() + numbers.size() <= count ? taken : &rest;
    to->insert(to->end(), numbers.begin(), numbers.end());
  }
  for (const std::vector<int>* from : {&broken, &rest}) {
    const size_t more = std::min(from->size(), count - taken->size());
    taken->insert(taken->end(), from->begin(), from->begin() + static_cast<std::ptrdiff_t>(more));
  }
}

}  // namespace

std::vector<int> ParseCpuList(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& range : SplitList(text)) {
    int first = 0, last = 0;
    const char* end = range.data() + range.size();
    const auto [dash, error] = std::from_chars(range.data(), end, first);
    if (error != std::errc()) {
      continue;
    }
    last = first;
    if (dash != end && *dash == '-') {
      std::from_chars(dash + 1, end, last);
    }
    for (int number = first; number <= last; ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::vector<Cpu> ReadTopology(const std::vector<int>& numbers, const std::filesystem::path& sys) {
  const std::filesystem::path devices = sys / "devices/system";
  std::map<int, int> node_of;
  for (const int node : ParseCpuList(ReadFile(devices / "node/online").value_or(""))) {
    const std::string folder = "node/node" + std::to_string(node);
    for (const int number : ParseCpuList(ReadFile(devices / folder / "cpulist").value_or(""))) {
      node_of[number] = node;
    }
  }
  std::vector<Cpu> cpus;
  for (const int number : numbers) {
    const std::string file = "cpu/cpu" + std::to_string(number) + "/topology/thread_siblings_list";
    const std::vector<int> siblings = ParseCpuList(ReadFile(devices / file).value_or(""));
    const int core = siblings.empty() ? number : *std::min_element(siblings.begin(), siblings.end());
    cpus.push_back({number, core, node_of[number]});
  }
  return cpus;
}

std::vector<int> ChooseCores(const std::vector<Cpu>& all, const std::vector<Cpu>& free, size_t count) {
  const CoreMembers cores = ByPhysicalCore(all);
  std::vector<int> taken;
  for (const std::vector<Cpu>& node : NodesInOrder(free, count)) {
    TakeFromNode(cores, node, count, &taken);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace backplane
