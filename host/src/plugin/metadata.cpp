#include "plugin/metadata.hpp"

#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::string Text(const char* text) { return text ? text : ""; }

json TextOrNull(const char* text) { return text ? json(text) : json(nullptr); }

std::optional<std::string> OptionalText(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<std::string>(value.get<std::string>());
}

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

json ParamJson(const bp_param& param) {
  return {{"path", Text(param.path)},
          {"type", param.type},
          {"flags", param.flags},
          {"def", TextOrNull(param.def)},
          {"range", TextOrNull(param.range)},
          {"unit", Text(param.unit)},
          {"doc", Text(param.doc)},
          {"aliases", Text(param.aliases)},
          {"helps", Text(param.helps)}};
}

json ParamsJson(const bp_descriptor& descriptor) {
  json params = json::array();
  if (!BP_HAS(&descriptor, n_params) || descriptor.n_params == 0) return params;
  // An array of structs is walked by the size its writer knew.
  const uint32_t stride = descriptor.params->struct_size;
  if (stride < sizeof(bp_param)) {
    throw PluginError("plugin '" + Text(descriptor.id) + "': an option's struct_size should be at least " +
                      std::to_string(sizeof(bp_param)) + ", got " + std::to_string(stride));
  }
  const auto* bytes = reinterpret_cast<const char*>(descriptor.params);
  for (uint64_t i = 0; i < descriptor.n_params; ++i)
    params.push_back(ParamJson(*reinterpret_cast<const bp_param*>(bytes + i * stride)));
  return params;
}

json DescriptorJson(const bp_descriptor& descriptor) {
  if (!BP_HAS(&descriptor, flags) || !descriptor.id) throw PluginError("a descriptor has no id");
  json needs = json::array();
  if (BP_HAS(&descriptor, needs) && descriptor.needs) {
    for (const char* const* need = descriptor.needs; *need; ++need) needs.push_back(*need);
  }
  return {{"kind", descriptor.kind},
          {"id", descriptor.id},
          {"version", Text(descriptor.version)},
          {"summary", Text(descriptor.summary)},
          {"license", Text(descriptor.license)},
          {"flags", descriptor.flags},
          {"needs", needs},
          {"params", ParamsJson(descriptor)}};
}

OptionInfo OptionOf(const json& param) {
  OptionInfo option;
  option.path = param.at("path").get<std::string>();
  option.type = param.at("type").get<uint16_t>();
  option.flags = param.at("flags").get<uint16_t>();
  option.def = OptionalText(param.at("def"));
  option.range = OptionalText(param.at("range"));
  option.unit = param.at("unit").get<std::string>();
  option.doc = param.at("doc").get<std::string>();
  option.aliases = Words(param.at("aliases").get<std::string>());
  option.helps = Words(param.at("helps").get<std::string>());
  return option;
}

BuildFacts BuildOf(const json& build) {
  BuildFacts facts;
  facts.compiler = build.value("compiler", "");
  facts.torch = build.value("torch", "");
  facts.mujoco = build.value("mujoco", "");
  facts.sanitizer = build.value("sanitizer", "");
  facts.debug = build.value("debug", false);
  const auto cxx11abi = build.find("cxx11abi");
  if (cxx11abi != build.end() && !cxx11abi->is_null()) facts.cxx11abi = cxx11abi->get<int>();
  return facts;
}

PluginInfo PluginOf(const json& plugin) {
  PluginInfo info;
  info.kind = plugin.at("kind").get<uint32_t>();
  info.id = plugin.at("id").get<std::string>();
  info.version = plugin.at("version").get<std::string>();
  info.summary = plugin.at("summary").get<std::string>();
  info.license = plugin.at("license").get<std::string>();
  info.flags = plugin.at("flags").get<uint64_t>();
  info.needs = plugin.at("needs").get<std::vector<std::string>>();
  for (const json& param : plugin.at("params")) info.options.push_back(OptionOf(param));
  return info;
}

}  // namespace

std::string MetadataOf(const bp_module& module) try {
  json plugins = json::array();
  for (uint32_t i = 0; i < module.count(); ++i) {
    const bp_descriptor* descriptor = module.descriptor(i);
    if (!descriptor)
      throw PluginError("descriptor " + std::to_string(i) + " of " + std::to_string(module.count()) + " is NULL");
    plugins.push_back(DescriptorJson(*descriptor));
  }
  const json metadata = {{"bp_meta", kMetadataFormat},
                         {"abi", {BP_ABI_MAJOR, module.abi_minor, module.min_minor}},
                         {"plugins", plugins},
                         {"build", json::parse(module.build ? module.build : "{}")}};
  return metadata.dump();
} catch (const json::exception& e) {
  // Build facts that are not JSON, or text that is not UTF-8.
  throw PluginError(std::string("its build facts or texts cannot be written as JSON: ") + e.what());
}

std::vector<PluginInfo> ParseMetadata(const std::string& text, const std::filesystem::path& file) try {
  if (IsNestedTooDeeply(text)) throw PluginError(file.string() + ": its metadata section is corrupt: it is nested too deeply");
  const json metadata = json::parse(text);
  const int format = metadata.at("bp_meta").get<int>();
  if (format != kMetadataFormat) {
    throw PluginError(file.string() + ": its metadata has another format; wanted " + std::to_string(kMetadataFormat) +
                      ", found " + std::to_string(format));
  }
  std::vector<PluginInfo> plugins;
  for (const json& plugin : metadata.at("plugins")) {
    PluginInfo info = PluginOf(plugin);
    info.abi_major = metadata.at("abi").at(0).get<uint32_t>();
    info.abi_minor = metadata.at("abi").at(1).get<uint32_t>();
    info.abi_min_minor = metadata.at("abi").at(2).get<uint32_t>();
    info.build = BuildOf(metadata.at("build"));
    info.file = file;
    plugins.push_back(std::move(info));
  }
  return plugins;
} catch (const json::exception& e) {
  throw PluginError(file.string() + ": its metadata section is corrupt: " + e.what());
}

}  // namespace backplane
