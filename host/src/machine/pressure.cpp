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
    if (ReadSomeAvg10(place)) return place;
  }
  return std::nullopt;
}

std::optional<double> ReadSomeAvg10(const std::filesystem::path& pressure) {
  constexpr std::string_view kBefore = "some avg10=";
  const std::string text = ReadKernelFile(pressure).value_or("");
  return text.starts_with(kBefore) ? std::optional(std::strtod(text.c_str() + kBefore.size(), nullptr)) : std::nullopt;
}

}  // namespace backplane
