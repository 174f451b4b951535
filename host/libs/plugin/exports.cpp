#include "plugin/exports.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "plugin/elf.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

constexpr size_t kMostBytes = 60;

// The name in the source, cut to a line.
std::string SourceName(const std::string& symbol) {
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                         &std::free);
  const std::string text = name ? name.get() : symbol;
  return text.size() <= kMostBytes ? text : text.substr(0, kMostBytes) + "...";
}

}  // namespace

std::vector<std::string> SurplusExports(const std::filesystem::path& file) {
  std::vector<std::string> names = ElfFile(file).Exports();
  std::erase(names, "bp_module_v1");
  return names;
}

std::string SurplusExportsText(const std::filesystem::path& file) try {
  const std::vector<std::string> names = SurplusExports(file);
  if (names.empty()) return "";
  return fmt::format(
      "{}: expected bp_module_v1 as the only exported symbol, got {} more, such as '{}'; plugins of one trial share them and "
      "can change each other's results. Build with backplane_add_plugin, or with "
      "`g++ -std=c++20 $(backplane sdk --cflags) plugin.cpp -o {}`",
      file.string(), names.size(), SourceName(names.front()), file.filename().string());
} catch (const PluginError&) {
  return "";  // loading it reports the reason
}

}  // namespace backplane
