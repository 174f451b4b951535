#include "embed/open_env.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "base/error_words.hpp"
#include "base/json_text.hpp"
#include "config/option_aliases.hpp"
#include "config/options.hpp"
#include "config/plugins.hpp"
#include "embed/last_error.hpp"
#include "rollout/failure.hpp"
#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TrialFailure NotFound(const std::string& text) { return TrialFailure(BP_E_INVALID_ARG, "", text); }

PluginInfo LookUp(const char* so, const char* id) {
  Catalog catalog("BACKPLANE_PLUGIN_PATH");
  std::string name = id ? id : "", why_not;
  const PluginInfo* found = nullptr;
  if (so) {
    const std::string file = fs::absolute(so).string();  // contains a '/', so it is no name
    catalog.AddFile(file);
    found = catalog.Find(BP_KIND_ENV, id && !catalog.plugins().empty() ? name : file, &why_not);
  } else {
    if (!id) throw NotFound("expected a plugin file or an env's id, got neither");
    AddPluginFolders(&catalog);
    found = catalog.Find(BP_KIND_ENV, name, &why_not);
  }
  if (!found) throw NotFound(why_not);
  return *found;
}

// Writes a value into a file's tree. Dumps it again, because YAML does not support all of JSON's escapes.
void SetJson(const std::string& path, const json& value, Node* root, Errors* errors) {
  const std::string text = value.dump();
  if (std::optional<Node> node = ParseDocument(text, MakeArgumentSource("options", text, 0), errors))
    SetPath(root, path, node->mark, *node);
}

// Takes the option kWrapperChain and reads it like an experiment file does.
void ReadWrappers(json* options, Values* host, EnvToOpen* env, Errors* errors) {
  if (!options->is_object() || !options->contains(kWrapperChain)) return;
  const json given = (*options)[kWrapperChain];
  options->erase(kWrapperChain);
  if (!given.is_array())
    throw TrialFailure(BP_E_CONFIG, "", std::string(kWrapperChain) + ": expected a list, got " + JsonText(given));
  Node root;
  root.kind = Node::Kind::kMap;
  SetJson(kWrapperChain, given, &root, errors);
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string path = std::string(kWrapperChain) + "." + std::to_string(i);
    Node* const item = FindPath(&root, path);
    if (item == nullptr) return;
    ReadWrapper(item, errors);
    const Node* const name = FindPath(root, path + ".plugin");
    if (name == nullptr) continue;
    const PluginInfo info = LookUp(nullptr, name->text.c_str());
    if (const std::string why = WhyNotHere(info); !why.empty()) throw TrialFailure(BP_E_UNSUPPORTED, "", why);
    NameWrapperValue(info, item);
    const std::vector<PluginSlot> slots{{BP_KIND_ENV, path, std::make_shared<OptionTable>(info)}};
    RewriteAliases(&root, slots, errors);
    json own = ReadOptions(root, slots.front(), slots, host, errors);
    AddHostNamed(info, json::object(), &own);
    env->wrappers.push_back({info, std::move(own), slots.front().options_path()});
  }
}

json ReadJson(const char* text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    throw TrialFailure(BP_E_CONFIG, "",
                       "options: expected a JSON object such as {\"name\": 1}, got malformed JSON: " + WordsOf(e));
  }
}

// Takes the option on_error, unless the env has its own.
bool EndsEpisodes(const OptionTable& table, json* options) {
  if (!options->is_object() || !options->contains(kOnError) || table.Find(kOnError) != nullptr) return false;
  const json given = (*options)[kOnError];
  options->erase(kOnError);
  if (given == kEndEpisode) return true;
  if (given == "raise") return false;
  throw TrialFailure(BP_E_CONFIG, "", "on_error: expected raise or end_episode, got " + JsonText(given));
}

void ReadGiven(const char* text, EnvToOpen* env) {
  Errors errors;
  const std::vector<PluginSlot> slots{{BP_KIND_ENV, "env", std::make_shared<OptionTable>(env->info)}};
  json options = text ? ReadJson(text) : json::object();
  env->ends_episodes = EndsEpisodes(*slots.front().table, &options);
  Values host;
  ReadWrappers(&options, &host, env, &errors);
  Node root;
  root.kind = Node::Kind::kMap;
  SetJson("env.options", options, &root, &errors);
  RewriteAliases(&root, slots, &errors);
  env->options = ReadOptions(root, slots.front(), slots, &host, &errors);
  for (const Entry& entry : root.entries)
    if (entry.key != "env") errors.Add(entry.mark, "the host's key '" + entry.key + "' has no effect on an embedded env");
  std::string text_of_all;
  for (const Diagnostic& error : errors.Sorted()) text_of_all += (text_of_all.empty() ? "" : "\n") + error.message;
  json unknown = json::array();
  if (const Node* given = FindPath(root, "env.options"); given != nullptr && given->IsMap())
    for (const Entry& entry : given->entries)
      if (slots.front().table->Find(entry.key) == nullptr) unknown.push_back(entry.key);
  if (!unknown.empty()) throw UnknownOptionsError(JsonText(unknown), text_of_all);
  if (!errors.empty()) throw TrialFailure(BP_E_CONFIG, "", text_of_all);
  AddHostNamed(env->info, json::object(), &env->options);
  env->origin = std::move(host.origin);
}

}  // namespace

fs::path Home() {
  if (const char* named = std::getenv("BACKPLANE_HOME"); named && *named) return fs::absolute(named).lexically_normal();
  Dl_info about;
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&FindEnv), &about) != 0 && about.dli_fname) {
    const fs::path library = fs::weakly_canonical(about.dli_fname, error);
    if (!error) return library.parent_path().parent_path();
  }
  throw NotFound("cannot find the folder of this library\nhint: set BACKPLANE_HOME to the installation");
}

void AddPluginFolders(Catalog* catalog) {
  std::set<fs::path> seen;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(folder, error);
    if (error) whole = fs::absolute(folder).lexically_normal();
    if (seen.insert(whole).second) catalog->AddFolder(whole);
  };
  const char* variable = std::getenv("BACKPLANE_PLUGIN_PATH");
  std::istringstream list(variable ? variable : "");
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty()) add(folder);
  add(Home() / "lib/backplane/plugins");
}

std::string WhyNotHere(const PluginInfo& env) {
  if (env.build.torch.empty()) return "";
  return env.id + ": is built against LibTorch " + env.build.torch +
         ", which this process may lack or have in a different version\nhint: `backplane run` starts a process for it";
}

EnvToOpen FindEnv(const char* so, const char* id, const char* options) {
  EnvToOpen env{LookUp(so, id), {}, {}};
  if (const std::string why = WhyNotHere(env.info); !why.empty()) throw TrialFailure(BP_E_UNSUPPORTED, "", why);
  ReadGiven(options, &env);
  return env;
}

}  // namespace backplane
