#include "plugin/part.hpp"

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "plugin/metadata.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

PluginInfo ReadPart(const fs::path& file) {
  const PluginInfo info = ReadPlugins(file).front();
  if (info.kind != BP_KIND_PART)
    throw PluginError(file.string() + ": expected a part of a plugin, got the " + KindName(info.kind) + " '" + info.id + "'");
  return info;
}

}  // namespace

PartInfo DescribePart(const fs::path& plugin, const fs::path& part) {
  const fs::path whole = fs::absolute(plugin).lexically_normal(), file = fs::absolute(part).lexically_normal();
  const std::string stem = whole.stem().string() + "_", name = file.stem().string();
  if (file.parent_path() != whole.parent_path() || !name.starts_with(stem) || name == stem)
    throw PluginError(file.string() + ": is not a part of " + whole.string() + ": expected " +
                      (whole.parent_path() / (stem + "NAME.so")).string());
  ReadPart(file);
  return {name.substr(stem.size()), file.filename().string(), Sha256OfFile(file)};
}

PluginInfo FindPart(const PluginInfo& plugin, const std::string& name) {
  for (const PartInfo& part : plugin.parts) {
    if (part.name != name) continue;
    const fs::path file = plugin.file.parent_path() / part.file;
    const std::string belongs =
        "the part '" + name + "' of '" + plugin.id + "', with which " + plugin.file.string() + " was sealed";
    if (!fs::exists(file)) throw PluginError(file.string() + ": is missing; expected " + belongs);
    if (Sha256OfFile(file) != part.sha256) throw PluginError(file.string() + ": differs from " + belongs);
    return ReadPart(file);
  }
  throw PluginError(plugin.file.string() + ": '" + plugin.id + "' was sealed without its part '" + name +
                    "'; seal it again with --part");
}

}  // namespace backplane
