#include "machine/pressure.hpp"

#include <cstdlib>
#include <vector>

#include "machine/cgroup_path.hpp"
#include "machine/kernel_file.hpp"

namespace backplane {

std::optional<std::filesystem::path> FindPressure(const std::string& resource, const std::filesystem::path& proc) {
  std::vector<std::filesystem::path> places;
  if (const auto v2 = FindCgroup("", proc / "self")) places.push_back(v2->own / (resource + ".pressure"));
  places.push_back(proc / "pressure" / resource);
  for (const std::filesystem::path& place : places) {
    if (ReadSomeStalled(place)) return place;
  }
  return std::nullopt;
}

std::optional<double> ReadSomeStalled(const std::filesystem::path& pressure) {
  constexpr std::string_view kSome = "some ", kTotal = " total=";
  const std::string text = ReadKernelFile(pressure).value_or("");
  if (!text.starts_with(kSome)) return std::nullopt;
  const std::string line = text.substr(0, text.find('\n'));
  const size_t total = line.find(kTotal);
  if (total == std::string::npos) return std::nullopt;
  return 1e-6 * static_cast<double>(std::strtoull(line.c_str() + total + kTotal.size(), nullptr, 10));
}

}  // namespace backplane
