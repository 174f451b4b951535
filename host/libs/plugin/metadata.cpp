#include "plugin/metadata.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error_words.hpp"
#include "base/json_depth.hpp"
#include "plugin/plugin_error.hpp"
#include "record/fields.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string Text(const char* text) { return text ? text : ""; }

std::optional<std::string> TextIfAny(const char* text) { return text ? std::optional<std::string>(text) : std::nullopt; }

// The layout of the section in the file.
struct SealedOption {
  std::string path;
  uint16_t type = 0, flags = 0;
  std::optional<std::string> def, range;
  std::string unit, doc, aliases, helps, reads_budget;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("type", self.type);
    visit("flags", self.flags);
    visit("def", NullIfAbsent(self.def));
    visit("range", NullIfAbsent(self.range));
    visit("unit", self.unit);
    visit("doc", self.doc);
    visit("aliases", self.aliases);
    visit("helps", self.helps);
    visit("reads_budget", LeftOutIfEmpty(self.reads_budget));
  }
};

struct SealedPlugin {
  uint32_t kind = 0;
  std::string id, version, summary, license;
  uint64_t flags = 0;
  std::vector<std::string> needs;
  std::vector<SealedOption> params;
  std::string aliases;
  uint64_t rows = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("id", self.id);
    visit("version", self.version);
    visit("summary", self.summary);
    visit("license", self.license);
    visit("flags", self.flags);
    visit("needs", self.needs);
    visit("params", self.params);
    visit("aliases", DefaultIfMissing(self.aliases));
    visit("rows", DefaultIfMissing(self.rows));
  }
};

struct SealedPart : PartInfo {
  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("file", self.file);
    visit("sha256", self.sha256);
  }
};

struct SealedBuild : BuildFacts {
  static constexpr void Fields(auto& self, auto&& visit) {
    visit("compiler", DefaultIfMissing(self.compiler));
    visit("torch", DefaultIfMissing(self.torch));
    visit("mujoco", DefaultIfMissing(self.mujoco));
    visit("sanitizer", DefaultIfMissing(self.sanitizer));
    visit("debug", DefaultIfMissing(self.debug));
    visit("cxx11abi", self.cxx11abi);
  }
};

struct SealedFormat {
  int bp_meta = kMetadataFormat;

  static constexpr void Fields(auto& self, auto&& visit) { visit("bp_meta", self.bp_meta); }
};

struct Sealed : SealedFormat {
  std::array<uint32_t, 3> abi{};  // major, minor, the oldest minor that it can do with
  std::vector<SealedPlugin> plugins;
  nlohmann::json build;  // as the build wrote it: a SealedBuild and further facts
  std::vector<SealedPart> parts;

  static constexpr void Fields(auto& self, auto&& visit) {
    SealedFormat::Fields(self, visit);
    visit("abi", self.abi);
    visit("plugins", self.plugins);
    visit("build", self.build);
    visit("parts", LeftOutIfEmpty(self.parts));
  }
};

// "a, b" -> {"a", "b"}.
std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ',') {
    if (c == ',') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return words;
}

SealedOption OptionOf(const bp_param& param) {
  return {Text(param.path),
          param.type,
          param.flags,
          TextIfAny(param.def),
          TextIfAny(param.range),
          Text(param.unit),
          Text(param.doc),
          Text(param.aliases),
          Text(param.helps),
          BP_HAS(&param, reads_budget) ? Text(param.reads_budget) : ""};
}

std::vector<SealedOption> OptionsOf(const bp_descriptor& descriptor) {
  std::vector<SealedOption> options;
  if (!BP_HAS(&descriptor, n_params) || descriptor.n_params == 0) return options;
  // An array of structs is walked by the size its writer knew.
  const uint32_t stride = descriptor.params->struct_size;
  constexpr size_t kLeast = offsetof(bp_param, reads_budget);  // with the headers of 0.1
  if (stride < kLeast) {
    throw PluginError("plugin '" + Text(descriptor.id) + "': expected an option's struct_size of at least " +
                      std::to_string(kLeast) + ", got " + std::to_string(stride));
  }
  const auto* bytes = reinterpret_cast<const char*>(descriptor.params);
  for (uint64_t i = 0; i < descriptor.n_params; ++i)
    options.push_back(OptionOf(*reinterpret_cast<const bp_param*>(bytes + i * stride)));
  return options;
}

SealedPlugin PluginOf(const bp_descriptor& descriptor) {
  if (!BP_HAS(&descriptor, flags) || !descriptor.id) throw PluginError("a descriptor has no id");
  SealedPlugin plugin{descriptor.kind,
                      descriptor.id,
                      Text(descriptor.version),
                      Text(descriptor.summary),
                      Text(descriptor.license),
                      descriptor.flags,
                      {},
                      OptionsOf(descriptor)};
  if (BP_HAS(&descriptor, needs) && descriptor.needs) {
    for (const char* const* need = descriptor.needs; *need; ++need) plugin.needs.push_back(*need);
  }
  if (BP_HAS(&descriptor, aliases)) plugin.aliases = Text(descriptor.aliases);
  if (BP_HAS(&descriptor, rows)) plugin.rows = descriptor.rows;
  return plugin;
}

PluginInfo InfoOf(const SealedPlugin& plugin) {
  PluginInfo info;
  info.kind = plugin.kind;
  info.id = plugin.id;
  info.version = plugin.version;
  info.summary = plugin.summary;
  info.license = plugin.license;
  info.flags = plugin.flags;
  info.needs = plugin.needs;
  info.aliases = Words(plugin.aliases);
  info.rows = plugin.rows;
  for (const SealedOption& option : plugin.params) {
    info.options.push_back({option.path, option.type, option.flags, option.def, option.range, option.unit, option.doc,
                            Words(option.aliases), Words(option.helps), option.reads_budget});
  }
  return info;
}

}  // namespace

std::string MetadataOf(const bp_module& module, const std::vector<PartInfo>& parts) try {
  Sealed sealed;
  for (const PartInfo& part : parts) sealed.parts.push_back({part});
  sealed.abi = {BP_ABI_MAJOR, module.abi_minor, module.min_minor};
  for (uint32_t i = 0; i < module.count(); ++i) {
    const bp_descriptor* descriptor = module.descriptor(i);
    if (!descriptor)
      throw PluginError("descriptor " + std::to_string(i) + " of " + std::to_string(module.count()) + " is NULL");
    sealed.plugins.push_back(PluginOf(*descriptor));
  }
  sealed.build = json::parse(module.build ? module.build : "{}");
  return ToJson(sealed).dump();
} catch (const json::exception& e) {
  // Build facts that are not JSON, or text that is not UTF-8.
  throw PluginError("its build facts or texts cannot be written as JSON: " + WordsOf(e));
}

std::vector<PluginInfo> ParseMetadata(const std::string& text, const std::filesystem::path& file) {
  const auto corrupt = [&file](const char* why) {
    return PluginError(file.string() + ": its metadata section is corrupt: " + why);
  };
  if (IsNestedTooDeeply(text)) throw corrupt("it is nested too deeply");
  try {
    const json metadata = json::parse(text);
    if (const int format = RecordFromJson<SealedFormat>(metadata).bp_meta; format != kMetadataFormat) {
      throw PluginError(file.string() + ": its metadata has a different format: expected " + std::to_string(kMetadataFormat) +
                        ", got " + std::to_string(format));
    }
    const Sealed sealed = RecordFromJson<Sealed>(metadata);
    std::vector<PluginInfo> plugins;
    for (const SealedPlugin& plugin : sealed.plugins) {
      PluginInfo& info = plugins.emplace_back(InfoOf(plugin));
      info.abi_major = sealed.abi[0];
      info.abi_minor = sealed.abi[1];
      info.abi_min_minor = sealed.abi[2];
      info.build = RecordFromJson<SealedBuild>(sealed.build);
      info.parts.assign(sealed.parts.begin(), sealed.parts.end());
      info.file = file;
    }
    return plugins;
  } catch (const json::exception& e) {
    throw corrupt(WordsOf(e).c_str());
  } catch (const RecordError& e) {
    throw corrupt(e.what());
  }
}

}  // namespace backplane
