// An experiment file from text to document, configuration and plan. Its plugins are sealed descriptions of real plugins; no
// plugin code runs. Lines "#--" divide an input into parts: the file, then words of --set and --sweep.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/printable.hpp"
#include "places.hpp"
#include "plugin/catalog.hpp"
#include "scratch.hpp"
#include "sweep/identity.hpp"
#include "sweep/plan.hpp"

namespace {

using namespace backplane;

std::vector<std::string> Parts(const std::string& text) {
  constexpr std::string_view kDivider = "\n#--\n";
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = text.find(kDivider, from)) != std::string::npos; from = at + kDivider.size()) {
    parts.push_back(text.substr(from, at - from));
  }
  parts.push_back(text.substr(from));
  return parts;
}

// The working directory is private too, so that a file can be its own base and other runs do not interfere.
const std::filesystem::path& Folder() {
  static const std::filesystem::path& folder = []() -> const std::filesystem::path& {
    std::filesystem::current_path(fuzz::ScratchFolder());
    return fuzz::ScratchFolder();
  }();
  return folder;
}

PluginLookup Lookup() {
  static Catalog catalog = [] {
    Catalog plugins;
    plugins.AddFolder(BACKPLANE_PLUGIN_DIR);
    return plugins;
  }();
  return [](uint32_t kind, const std::string& name, const std::vector<std::filesystem::path>&, std::string* why_not) {
    if (name.find('/') == std::string::npos) return catalog.Find(kind, name, why_not);
    *why_not = "files are not looked for here";
    return static_cast<const PluginInfo*>(nullptr);
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> parts = Parts({reinterpret_cast<const char*>(data), size});
  const std::filesystem::path file = Folder() / "e.yaml";
  std::ofstream(file, std::ios::binary) << parts[0];
  PlanOptions options;
  options.lookup = Lookup();
  for (size_t i = 1; i < parts.size() && i < 8; ++i) (i % 2 == 1 ? options.set : options.sweep).push_back(parts[i]);
  try {
    const PlanResult result = MakePlan(file, options);
    if (result.plan.has_value() == !result.errors.empty()) __builtin_trap();  // one of the two
    for (const Diagnostic& diagnostic : result.errors) {
      const std::string text = Format(diagnostic);
      if (FindNotUtf8(text) != text.size() || text.find('\x1b') != std::string::npos) __builtin_trap();
    }
    if (result.plan && !result.plan->trials.empty()) {
      const PlannedTrial& trial = result.plan->trials.back();
      result.plan->Load(trial);
      if (IdOf(result.plan->Identity(trial)) != trial.id) __builtin_trap();
    }
  } catch (const std::runtime_error&) {
    // a data file that cannot be read
  }
  return 0;
}
