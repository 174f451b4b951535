// Checks that this host can load a file, as far as possible without running plugin code.
#include <algorithm>

#include "plugin/elf.hpp"
#include "plugin/host_services.hpp"
#include "plugin/metadata.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

constexpr const char* kEntry = "bp_module_v1";
constexpr std::string_view kEntryStem = "bp_module_v";
static_assert(BP_ABI_MAJOR == 1, "kEntry carries the major");

void CheckEntry(const ElfFile& elf, const std::string& file) {
  const std::vector<std::string> exports = elf.Exports();
  if (std::find(exports.begin(), exports.end(), kEntry) != exports.end()) return;
  for (const std::string& name : exports) {
    if (name.starts_with(kEntryStem)) {
      throw PluginError(file + ": is built for a different ABI major: expected " + kEntry + ", got " + name);
    }
  }
  throw PluginError(file + ": does not export " + kEntry + ", so it is not a plugin (" + std::to_string(exports.size()) +
                    " other exports)");
}

std::string SealedText(const ElfFile& elf, const std::string& file) {
  const ElfSection* section = elf.Find(BP_META_SECTION);
  if (!section)
    throw PluginError(file + ": has no section " BP_META_SECTION "; add BP_META_RESERVE or BP_PLUGINS to its source");
  const std::string bytes = elf.Read(*section);
  // Reserved as {1, 0, 0, ...}; sealing writes JSON over it.
  if (bytes.empty() || bytes[0] == '\1' || bytes[0] == '\0') {
    throw PluginError(file + ": is not sealed; run `backplane plugin seal " + file + "` after linking");
  }
  return bytes.c_str();
}

void CheckAbi(const PluginInfo& info) {
  if (info.abi_major != BP_ABI_MAJOR) {
    throw PluginError(info.file.string() + ": its metadata is of a different ABI major: expected " +
                      std::to_string(BP_ABI_MAJOR) + ", got " + std::to_string(info.abi_major));
  }
  if (info.abi_min_minor > BP_ABI_MINOR) {
    throw PluginError(info.file.string() + ": needs a newer host: expected ABI " + std::to_string(info.abi_major) + "." +
                      std::to_string(info.abi_min_minor) + " or newer, got " + std::to_string(BP_ABI_MAJOR) + "." +
                      std::to_string(BP_ABI_MINOR));
  }
}

void CheckBuild(const PluginInfo& info) {
  const auto quoted = [](const std::string& sanitizer) { return sanitizer.empty() ? "none" : "'" + sanitizer + "'"; };
  if (info.build.sanitizer != BP_BUILD_SANITIZER) {
    throw PluginError(info.file.string() + ": is built with a different sanitizer: expected " + quoted(BP_BUILD_SANITIZER) +
                      ", got " + quoted(info.build.sanitizer));
  }
  // A plugin written in C has no C++ ABI to disagree about.
  if (info.build.cxx11abi && *info.build.cxx11abi != _GLIBCXX_USE_CXX11_ABI) {
    throw PluginError(info.file.string() +
                      ": is built with a different C++ ABI: expected _GLIBCXX_USE_CXX11_ABI " BP_BUILD_CXX11ABI ", got " +
                      std::to_string(*info.build.cxx11abi));
  }
}

void CheckNeeds(const PluginInfo& info) {
  std::string known;
  for (const HostService& service : HostServiceTable()) known += (known.empty() ? "" : ", ") + std::string(service.id);
  for (const std::string& need : info.needs) {
    const auto has = [&](const HostService& service) { return need == service.id; };
    if (std::none_of(HostServiceTable().begin(), HostServiceTable().end(), has)) {
      throw PluginError(info.file.string() + ": '" + info.id + "' needs the host service '" + need +
                        "', which this host does not have; it has " + known);
    }
  }
}

}  // namespace

std::vector<PluginInfo> ReadPlugins(const std::filesystem::path& file) {
  const std::filesystem::path absolute = std::filesystem::absolute(file).lexically_normal();
  const ElfFile elf(absolute);
  CheckEntry(elf, absolute.string());
  std::vector<PluginInfo> plugins = ParseMetadata(SealedText(elf, absolute.string()), absolute);
  if (plugins.empty()) throw PluginError(absolute.string() + ": expected one or more plugins in its metadata, got none");
  for (const PluginInfo& info : plugins) {
    CheckAbi(info);
    CheckBuild(info);
    CheckNeeds(info);
  }
  return plugins;
}

}  // namespace backplane
