#include "plugin/catalog.hpp"

#include <algorithm>
#include <utility>

#include "base/suggest.hpp"
#include "plugin/metadata.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// "ALE/Breakout-v5" is an id of another library, "./env-v5" a file.
bool IsVersionedId(const std::string& name) {
  if (name.starts_with('.') || name.starts_with('/')) return false;
  const size_t version = name.rfind("-v");
  return version != name.npos && version + 2 < name.size() && name.find_first_not_of("0123456789", version + 2) == name.npos;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// At most two lines of names.
std::string Listed(std::vector<std::string> names) {
  constexpr size_t kMostLetters = 150;
  std::sort(names.begin(), names.end());
  const size_t all = names.size();
  while (Join(names).size() > kMostLetters) names.pop_back();
  return Join(names) + (names.size() < all ? " and " + std::to_string(all - names.size()) + " more" : "");
}

// The end of an error about an unknown name, and a line with one that exists.
std::string Suggestion(uint32_t kind, const std::string& name, const std::vector<std::string>& known,
                       const std::deque<PluginInfo>& plugins, const std::string& searched) {
  const std::string key = KindName(kind);
  const auto line = [&](const std::string& value) {
    return "\nhint: " + (kind == BP_KIND_MONITOR ? "monitors: [" + value + "]" : key + ": " + value);
  };
  if (known.empty()) return "; no " + key + " is installed" + searched;
  const std::vector<std::string> near = Nearest(name, Candidates(known));
  if (!near.empty()) return DidYouMean(near) + searched + line(near.front());
  std::vector<std::string> ids, of_other_tools, without_options;
  std::string by_id;  // an env of another library, which a plugin finds by its id
  for (const PluginInfo& info : plugins) {
    if (info.kind != kind) continue;
    ids.push_back(info.short_id());
    const auto required = [](const OptionInfo& option) { return (option.flags & BP_PARAM_REQUIRED) != 0; };
    if (std::ranges::none_of(info.options, required)) without_options.push_back(info.short_id());
    if (!info.aliases.empty()) of_other_tools.push_back(info.short_id());
    for (const OptionInfo& option : info.options)
      if (option.path == "id" && option.doc.find("-v") != option.doc.npos) by_id = info.short_id();
  }
  if (kind == BP_KIND_ENV && IsVersionedId(name) && !by_id.empty())
    return searched + line("{plugin: " + by_id + ", options: {id: " + name + "}}");
  std::vector<std::string>& choice = !of_other_tools.empty()    ? of_other_tools
                                     : !without_options.empty() ? without_options
                                                                : ids;
  std::sort(choice.begin(), choice.end());
  const std::string best =
      kind == BP_KIND_MONITOR && choice.size() > 1 ? choice[1] : choice[0];  // the first one is the default
  return "; installed: " + Listed(ids) + searched + "; see docs/plugins.md" + line(best);
}

}  // namespace

bool IsPluginPath(const std::string& name, const fs::path& file) {
  if (name.ends_with(".so")) return true;
  std::error_code error;
  return name.find('/') != name.npos && (!IsVersionedId(name) || fs::is_regular_file(file, error));
}

void Catalog::AddFolder(const fs::path& folder) {
  folders_.push_back(folder);
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".so") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    named_alone_.erase(fs::absolute(file).lexically_normal());
    AddFile(file);
  }
}

void Catalog::AddFile(const fs::path& file) {
  const fs::path absolute = fs::absolute(file).lexically_normal();
  const auto is_same = [&](const auto& entry) { return entry.file == absolute; };
  if (std::any_of(plugins_.begin(), plugins_.end(), is_same) || std::any_of(refusals_.begin(), refusals_.end(), is_same))
    return;
  try {
    for (PluginInfo& info : ReadPlugins(absolute)) plugins_.push_back(std::move(info));
  } catch (const PluginError& e) {
    refusals_.push_back({absolute, e.what()});
  }
}

Catalog::Matched Catalog::Matches(uint32_t kind, const std::string& name, const fs::path& file) const {
  const std::string kind_name = KindName(kind);
  Matched matched;
  std::vector<const PluginInfo*> found_by_alias;
  for (const PluginInfo& info : plugins_) {
    if (info.kind != kind || (file.empty() && named_alone_.contains(info.file))) continue;
    matched.known.push_back(info.id.substr(std::min(info.id.size(), kind_name.size() + 1)));
    matched.known.insert(matched.known.end(), info.aliases.begin(), info.aliases.end());
    if (!file.empty() ? info.file == file : info.id == kind_name + "." + name || info.id == name) {
      matched.found.push_back(&info);
    } else if (file.empty() && std::ranges::find(info.aliases, name) != info.aliases.end()) {
      found_by_alias.push_back(&info);
    }
  }
  if (matched.found.empty()) matched.found = std::move(found_by_alias);
  return matched;
}

const PluginInfo* Catalog::Find(uint32_t kind, const std::string& name, std::string* why_not, PluginMiss* reason) {
  const auto not_found = [&](PluginMiss why, std::string sentence) {
    *why_not = std::move(sentence);
    if (reason != nullptr) *reason = why;
    return nullptr;
  };
  const std::string kind_name = KindName(kind);
  const fs::path file = IsPluginPath(name, name) ? fs::absolute(name).lexically_normal() : fs::path();
  if (!file.empty()) {
    const size_t before = plugins_.size();
    AddFile(file);
    if (plugins_.size() > before) named_alone_.insert(file);
  }

  const auto [found, known] = Matches(kind, name, file);
  std::vector<std::string> found_in;
  for (const PluginInfo* info : found) found_in.push_back(file.empty() ? info->file.string() : info->id);
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    return not_found(PluginMiss::kAmbiguous, "there is more than one " + kind_name + " '" + name + "': " + Join(found_in));
  for (const Refusal& refusal : refusals_) {
    if (!file.empty() ? refusal.file != file : refusal.file.stem() != kind_name + "_" + name) continue;
    return not_found(PluginMiss::kUnusable, refusal.reason);
  }
  const auto other = std::ranges::find_if(plugins_, [&](const PluginInfo& info) { return info.short_id() == name; });
  if (!file.empty()) return not_found(PluginMiss::kUnknown, file.string() + ": contains no " + kind_name);
  const std::string what = "there is no " + kind_name + " '" + name + "'";
  if (other != plugins_.end())
    return not_found(PluginMiss::kUnknown,
                     what + "; the plugin '" + name + "' is of kind " + KindName(other->kind) + " (" + Searched() + ")");
  return not_found(PluginMiss::kUnknown, what + Suggestion(kind, name, known, plugins_, " (" + Searched() + ")"));
}

std::string Catalog::Searched() const {
  std::vector<std::string> names;
  for (const fs::path& folder : folders_) names.push_back(folder.string() + (fs::is_directory(folder) ? "" : " (missing)"));
  return "searched: " + (names.empty() ? "no folder" : Join(names)) + "; " + adds_ + " adds a folder";
}

bool Catalog::IsAmbiguous(const PluginInfo& info) const {
  return std::count_if(plugins_.begin(), plugins_.end(),
                       [&](const PluginInfo& other) { return other.kind == info.kind && other.id == info.id; }) > 1;
}

}  // namespace backplane
