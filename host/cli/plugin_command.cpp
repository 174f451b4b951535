#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <tuple>

#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/reference_text.hpp"
#include "config/declaration.hpp"
#include "plugin/plugin_search.hpp"
#include "plugin/seal.hpp"
#include "record/fields.hpp"

namespace backplane {
namespace {

struct PluginArgs {
  std::vector<std::string> plugin_path, parts;
  std::string name;  // describe: an id; seal: a file
  bool json = false, markdown = false;
};

// What `plugin list --json` and `plugin describe --json` print.
struct OptionAnswer {
  const OptionInfo& option;

  static constexpr void Fields(auto& self, auto&& visit) {
    const OptionInfo& option = self.option;
    visit("path", option.path);
    visit("type", std::string(OptionTypeName(option.type)));
    visit("required", (option.flags & BP_PARAM_REQUIRED) != 0);
    visit("unit", option.unit);
    visit("default", NullIfAbsent(option.def));
    visit("range", NullIfAbsent(option.range));
    visit("doc", option.doc);
    visit("aliases", option.aliases);
    visit("helps", option.helps);
    visit("reads_budget", option.reads_budget);
  }
};

struct PluginAnswer {
  const PluginInfo& info;
  std::optional<std::vector<OptionAnswer>> options;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("kind", std::string(KindName(self.info.kind)));
    visit("id", self.info.id);
    visit("version", self.info.version);
    visit("summary", self.info.summary);
    visit("license", self.info.license);
    visit("aliases", self.info.aliases);
    visit("rows", self.info.rows);
    visit("file", self.info.file);
    visit("options", self.options);
  }
};

nlohmann::json InfoJson(const PluginInfo& info, bool with_options) {
  PluginAnswer answer{info, {}};
  if (with_options) answer.options.emplace();
  for (const OptionInfo& option : info.options)
    if (with_options) answer.options->push_back({option});
  return ToJson(answer);
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::vector<const PluginInfo*> Sorted(const Catalog& catalog) {
  std::vector<const PluginInfo*> plugins;
  for (const PluginInfo& info : catalog.plugins()) {
    plugins.push_back(&info);
  }
  std::stable_sort(plugins.begin(), plugins.end(), [](const PluginInfo* a, const PluginInfo* b) {
    return std::tie(a->kind, a->id) < std::tie(b->kind, b->id);
  });
  return plugins;
}

void PrintTable(const Catalog& catalog, const std::vector<const PluginInfo*>& plugins) {
  size_t id_width = 2, version_width = 7;
  for (const PluginInfo* info : plugins) {
    id_width = std::max(id_width, info->short_id().size());
    version_width = std::max(version_width, info->version.size());
  }
  fmt::print("{:<8}  {:<{}}  {:<{}}  {}\n", "kind", "id", id_width, "version", version_width, "summary");
  for (const PluginInfo* info : plugins) {
    const std::string twice = catalog.IsAmbiguous(*info) ? "  ambiguous: " + info->file.string() : "";
    fmt::print("{:<8}  {:<{}}  {:<{}}  {}{}\n", KindName(info->kind), Printable(info->short_id()), id_width,
               Printable(info->version), version_width, Printable(info->summary), Printable(twice));
  }
}

void PrintOption(const OptionInfo& option) {
  std::string facts = OptionTypeName(option.type);
  facts += option.def ? ", default " + *option.def : (option.flags & BP_PARAM_REQUIRED) != 0 ? ", required" : "";
  facts += option.range ? ", " + *option.range : "";
  facts += option.unit.empty() ? "" : ", in " + option.unit;
  fmt::print("  {}: {}\n      {}\n", Printable(option.path), Printable(facts), Printable(option.doc));
  if (!option.aliases.empty()) {
    fmt::print("      also: {}\n", Printable(Join(option.aliases)));
  }
  if (!option.reads_budget.empty()) fmt::print("      reads the budget if the value is {}\n", Printable(option.reads_budget));
}

// "name" or "env.name" or a file. A short id that several kinds share describes each.
std::vector<const PluginInfo*> FindAll(Catalog* catalog, const std::string& name, std::string* why_not) {
  std::vector<const PluginInfo*> found;
  for (const uint32_t kind : {BP_KIND_ENV, BP_KIND_LEARNER, BP_KIND_MONITOR}) {
    const std::string prefix = std::string(KindName(kind)) + ".";
    if (name.starts_with(prefix)) {
      const PluginInfo* info = catalog->Find(kind, name.substr(prefix.size()), why_not);
      return info != nullptr ? std::vector{info} : found;
    }
  }
  *why_not = fmt::format("no plugin '{}'; `backplane plugin list` lists all plugins ({})", name, catalog->Searched());
  for (const uint32_t kind : {BP_KIND_MONITOR, BP_KIND_LEARNER, BP_KIND_ENV}) {
    std::string sentence;
    const auto has_the_name = [&](const PluginInfo& info) { return info.kind == kind && info.short_id() == name; };
    if (const PluginInfo* info = catalog->Find(kind, name, &sentence)) {
      found.push_back(info);
    } else if (std::any_of(catalog->plugins().begin(), catalog->plugins().end(), has_the_name)) {
      *why_not = sentence;  // more than one file has it
    }
  }
  return found;
}

int PluginListCommand(const PluginArgs& args) {
  PluginSearch search(args.plugin_path);
  const Catalog& catalog = search.All();
  const std::vector<const PluginInfo*> plugins = Sorted(catalog);
  if (args.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const PluginInfo* info : plugins) {
      list.push_back(InfoJson(*info, false));
    }
    fmt::print("{}\n", list.dump(1));
  } else if (!plugins.empty()) {
    PrintTable(catalog, plugins);
  }
  const auto ambiguous = [&](const PluginInfo* info) { return catalog.IsAmbiguous(*info); };
  if (std::any_of(plugins.begin(), plugins.end(), ambiguous)) {
    fmt::print(stderr, "ambiguous: several files have the same id\nhint: name the file (plugin: ./x.so)\n");
  }
  for (const Refusal& refusal : catalog.refusals()) {
    fmt::print(stderr, "rejected: {}: {}\n", Printable(refusal.file.string()), Printable(refusal.reason));
  }
  if (plugins.empty()) {
    fmt::print(stderr, "no plugins found in:\n");
    for (const std::filesystem::path& folder : search.folders()) {
      fmt::print(stderr, "  {}\n", folder.string());
    }
  }
  return kOk;
}

int PluginDescribeCommand(const PluginArgs& args) {
  PluginSearch search(args.plugin_path);
  std::string why_not;
  const std::vector<const PluginInfo*> found = FindAll(&search.All(), args.name, &why_not);
  if (found.empty()) {
    fmt::print(stderr, "backplane: {}\n", Printable(why_not));
    return kUsage;
  }
  for (const PluginInfo* info : found) {
    if (args.json) {
      fmt::print("{}\n", InfoJson(*info, true).dump(1));
      continue;
    }
    if (args.markdown) {
      fmt::print("{}", OptionsMarkdown(*info));
      continue;
    }
    fmt::print("{} {} ({})\n{}\n{}\n", Printable(info->id), Printable(info->version), Printable(info->license),
               Printable(info->summary), info->file.string());
    if (!info->aliases.empty()) fmt::print("also: {}\n", Printable(Join(info->aliases)));
    if (info->rows > 0) fmt::print("default number of envs: {}\n", info->rows);
    fmt::print("{}\n", info->options.empty() ? "\nno options" : "\noptions");
    for (const OptionInfo& option : info->options) {
      PrintOption(option);
    }
  }
  return kOk;
}

int PluginSealCommand(const PluginArgs& args) {
  Seal(args.name, CheckBeforeSeal, {args.parts.begin(), args.parts.end()});  // its error is a sentence for the user
  return kOk;
}

}  // namespace

std::vector<Command> PluginCommands() {
  const auto declare_list = [](PluginArgs* args, Arguments* add) {
    add->Flag("--json", &args->json, "Print JSON");
    add->PluginPath(&args->plugin_path);
  };
  const auto declare_describe = [](PluginArgs* args, Arguments* add) {
    add->Add("id", "ID", &args->name, "Plugin id, with or without its kind").Required();
    const Argument json = add->Flag("--json", &args->json, "Print JSON");
    add->Flag("--markdown", &args->markdown, "Print its options as a Markdown table").Excludes(json);
    add->PluginPath(&args->plugin_path);
  };
  const auto declare_seal = [](PluginArgs* args, Arguments* add) {
    add->Add("file", "FILE", &args->name, "Plugin file (.so)").Required();
    add->Add("--part", "FILE", &args->parts, "Part to seal, FILE_WORD.so for FILE.so; repeatable");
  };
  return {{"plugin", "List, describe, seal and validate plugins", nullptr},
          MakeCommand<PluginArgs>("plugin list", "List all plugins on the plugin path", declare_list, PluginListCommand),
          MakeCommand<PluginArgs>("plugin describe", "Describe one plugin and its options", declare_describe,
                                  PluginDescribeCommand),
          MakeCommand<PluginArgs>("plugin seal", "Write a plugin's description into its file (the build does this)",
                                  declare_seal, PluginSealCommand)};
}

}  // namespace backplane
