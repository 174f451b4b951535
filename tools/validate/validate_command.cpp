// plugin validate: tests every rule of the plugin contract, each in its own process.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "arguments/tool_commands.hpp"
#include "base/format_count.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "contract/value.hpp"
#include "plugin/plugin_error.hpp"
#include "plugin/plugin_search.hpp"
#include "plugin/validated_files.hpp"
#include "rollout/clocks.hpp"
#include "validate/by_cause.hpp"
#include "validate/commands.hpp"
#include "validate/run_case.hpp"

namespace backplane {
namespace {

struct ValidateArgs {
  std::string program, name, env;
  std::vector<std::string> plugin_path, cases, set, env_set;
  bool only_failed = false, in_process = false, json = false, list = false;
  uint64_t seed = 0;
  double limit_s = RunCaseOptions().limit_s;
};

// An error of the command line: exit 2.
struct ValidateUsage {
  std::string text;
};

// Every option of the plugin with its default, or as given by NAME=VALUE.
nlohmann::json OptionsOf(const PluginInfo& info, const std::vector<std::string>& given, std::vector<std::string>* names) {
  nlohmann::json out = nlohmann::json::object();
  const auto rule_of = [](const OptionInfo& option) {
    return ValueRule{static_cast<ValueType>(option.type), option.range.value_or("")};
  };
  for (const OptionInfo& option : info.options) {
    std::string why_not;
    const auto value = option.def ? ReadDefault(*option.def, rule_of(option), &why_not) : std::nullopt;
    out[option.path] = value ? *value : nlohmann::json(nullptr);
  }
  for (const std::string& word : given) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw ValidateUsage{fmt::format("expected NAME=VALUE, got '{}'", word)};
    const std::string name = word.substr(0, equals);
    const auto option = std::ranges::find_if(info.options, [&](const OptionInfo& one) {
      return one.path == name || std::ranges::find(one.aliases, name) != one.aliases.end();
    });
    if (option == info.options.end()) {
      std::vector<std::string> known;
      for (const OptionInfo& one : info.options) known.push_back(one.path);
      throw ValidateUsage{
          fmt::format("{} has no option '{}'{}", info.id, name, DidYouMean(NearestOrLonger(name, Candidates(known))))};
    }
    std::string why_not;
    const auto value = ReadDefault(word.substr(equals + 1), rule_of(*option), &why_not);
    if (!value) throw ValidateUsage{fmt::format("{}: {}", name, why_not)};
    out[option->path] = *value;
    if (names) names->push_back(option->path);
  }
  return out;
}

// How to validate the plugin of a source file: the built file, or else the build. Empty: it is no source.
std::string HintForSource(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path file = name, folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (file.extension() != ".cpp" && file.extension() != ".c" && file.extension() != ".hpp") return "";
  std::error_code error;
  for (const fs::path& place : {folder / "build", folder})
    for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".so") return "backplane plugin validate " + ShellArgument(it->path().string());
  const std::string source = ShellArgument(folder.string()), build = ShellArgument((folder / "build").string());
  return fmt::format("cmake -S {} -B {} -Dbackplane_DIR=$(backplane sdk --cmakedir) && cmake --build {}", source, build, build);
}

std::vector<const PluginInfo*> FindSubjects(Catalog* catalog, const std::string& name) {
  std::vector<const PluginInfo*> found;
  if (name.ends_with(".yaml") || name.ends_with(".yml"))
    throw ValidateUsage{
        fmt::format("expected a plugin, got the experiment file '{0}'\nhint: backplane config check {0}", name)};
  if (const std::string hint = HintForSource(name); !hint.empty())
    throw ValidateUsage{fmt::format("expected a plugin file (.so), got the source '{}'\nhint: {}", name, hint)};
  const bool is_file = name.find('/') != std::string::npos || name.ends_with(".so");
  if (is_file) {
    const std::filesystem::path file = std::filesystem::absolute(name).lexically_normal();
    catalog->AddFile(file);
    for (const PluginInfo& info : catalog->plugins())
      if (info.file == file) found.push_back(&info);
    for (const Refusal& refusal : catalog->refusals())
      if (refusal.file == file) throw ValidateUsage{refusal.reason};
    for (const PluginInfo* info : found)
      if (info->kind == BP_KIND_PART)
        throw ValidateUsage{fmt::format("{} is a part of a plugin; validate that plugin", info->file.string())};
    return found;
  }
  std::string refused;
  for (const uint32_t kind : {BP_KIND_ENV, BP_KIND_LEARNER, BP_KIND_MONITOR}) {
    std::string why_not;
    PluginMiss reason{};
    if (const PluginInfo* info = catalog->Find(kind, name, &why_not, &reason)) {
      found.push_back(info);
    } else if (reason != PluginMiss::kUnknown) {
      refused = why_not;  // two files with one id, or an unusable one
    }
  }
  if (found.empty() && !refused.empty()) throw ValidateUsage{refused};
  if (found.empty()) throw ValidateUsage{fmt::format("there is no plugin '{}' ({})", name, catalog->Searched())};
  return found;
}

const PluginInfo* FindEnv(Catalog* catalog, const std::string& name) {
  if (name.empty()) return nullptr;
  std::string why_not;
  const PluginInfo* info = catalog->Find(BP_KIND_ENV, name, &why_not);
  if (!info) throw ValidateUsage{why_not};
  return info;
}

std::vector<const Case*> CasesOf(const PluginInfo& info, const std::vector<std::string>& names) {
  std::vector<const Case*> cases;
  for (const Case& one : AllCases())
    if (one.Is(info.kind) && (names.empty() || std::ranges::find(names, one.name) != names.end())) cases.push_back(&one);
  return cases;
}

void CheckCaseNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (FindCase(name)) continue;
    std::vector<std::string> known;
    for (const Case& one : AllCases()) known.push_back(one.name);
    throw ValidateUsage{fmt::format("there is no case '{}'{}", name, DidYouMean(Nearest(name, Candidates(known))))};
  }
}

void PrintCase(const CaseResult& result) {
  fmt::print("{:<8} {:<24} {:>6.2f} s  {}\n", Word(result.verdict), result.name, result.seconds, Printable(result.note));
}

void PrintFailure(const ValidateArgs& args, const PluginInfo& info, const Failure& failure) {
  const CaseResult& result = *failure.first;
  PrintCase(result);
  const auto line = [](const char* what, const std::string& text) {
    if (!text.empty()) fmt::print("           {:<8} {}\n", what, Printable(text));
  };
  if (failure.is_of_rule) line("rule", FindCase(result.name)->rule);
  line("place", result.place);
  line("expected", result.wanted);
  line("got", result.found);
  line("fix", failure.is_of_rule && !result.cause.empty() ? FindCase(result.name)->mend : result.mend);
  std::string again = fmt::format("{} plugin validate {} --case {} --seed {}", ShellArgument(args.program),
                                  ShellArgument(info.file.string()), result.name, args.seed);
  for (const std::string& one : args.set) again += " --set " + ShellArgument(one);
  if (!args.env.empty()) again += " --env " + ShellArgument(args.env);
  for (const std::string& one : args.env_set) again += " --env-set " + ShellArgument(one);
  if (args.limit_s != RunCaseOptions().limit_s) again += fmt::format(" --limit {:g}", args.limit_s);
  for (const std::string& folder : args.plugin_path) again += " --plugin-path " + ShellArgument(folder);
  line("again", again + (result.verdict == CaseVerdict::kCrashed ? " --in-process, under gdb" : ""));
  const auto more = [&](uint64_t n, const char* what) {
    if (n > 0) line("and", fmt::format("{} more case{} {}", n, n == 1 ? "" : "s", what));
  };
  more(failure.same, failure.same == 1 ? "fails at the same place" : "fail at the same place");
  more(failure.hidden, failure.hidden == 1 ? "compares results and may fail only as a consequence"
                                           : "compare results and may fail only as a consequence");
}

// The first to fix comes first, and warnings come last.
void PrintFailures(const ValidateArgs& args, const PluginInfo& info, const std::vector<CaseResult>& results) {
  const std::vector<Failure> failures = ByCause(results);
  if (failures.size() > 1) fmt::print("Fix these in this order:\n");
  for (const Failure& failure : failures) PrintFailure(args, info, failure);
  for (const CaseResult& result : results)
    if (result.verdict == CaseVerdict::kWarning && !args.only_failed) PrintFailure(args, info, {&result, 0, 0, true});
}

// The result of one case. Skips a case if a function that it calls hung in an earlier case.
CaseResult TryCase(const ValidateArgs& args, const Case& one, const PluginInfo& info, const ValidateSetting& setting,
                   CallSet* stuck) {
  if (const auto call = StuckIn(one, *stuck))
    return {.name = one.name, .verdict = CaseVerdict::kSkipped, .note = fmt::format("not tried: {} hangs", Word(*call))};
  const auto on_slow = [&] { fmt::print(stderr, "RUNNING  {} ... (at most {:g} s)\n", one.name, args.limit_s); };
  CaseResult result = RunCase(one, info, setting, {args.in_process, args.limit_s, on_slow});
  *stuck |= result.stuck;
  return result;
}

struct Counts {
  uint64_t passed = 0, skipped = 0, warnings = 0, failed = 0, crashed = 0;
  uint64_t bad() const { return failed + crashed; }
  void Add(CaseVerdict verdict) {
    uint64_t* const of[] = {&passed, &skipped, &warnings, &failed, &crashed};
    ++*of[static_cast<size_t>(verdict) - 1];
  }
};

// `plugin validate --json`.
struct ValidateAnswer {
  std::string id, version;
  std::filesystem::path file;
  uint64_t seed = 0;
  Counts counts;
  double steps_per_s = 0;
  std::map<std::string, double> steps_per_s_beside;  // of the installation's own envs, by id
  std::vector<CaseResult> cases;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("version", self.version);
    visit("file", self.file);
    visit("seed", self.seed);
    visit("passed", self.counts.passed);
    visit("skipped", self.counts.skipped);
    visit("warnings", self.counts.warnings);
    visit("failed", self.counts.failed);
    visit("crashed", self.counts.crashed);
    visit("steps_per_s", LeftOutIfEmpty(self.steps_per_s));
    visit("steps_per_s_beside", LeftOutIfEmpty(self.steps_per_s_beside));
    visit("cases", self.cases);
  }
};

// Speeds of the installation's envs on this machine, measured briefly. Skips envs that need an option or LibTorch.
std::map<std::string, double> SpeedsOfOwnEnvs(const PluginInfo& but) {
  Catalog own;
  own.AddFolder(OwnPluginFolder());
  std::map<std::string, double> speeds;
  for (const PluginInfo& info : own.plugins()) {
    ValidateSetting setting;
    setting.speed_for_s = 0.03;
    if (info.kind != BP_KIND_ENV || info.id == but.id || NeedsTorch(info, setting)) continue;
    setting.options = OptionsOf(info, {}, nullptr);
    const CaseResult result = RunCase(*FindCase("steps-per-second"), info, setting, {.in_process = false, .limit_s = 5});
    if (result.steps_per_s > 0) speeds[info.id] = result.steps_per_s;
  }
  return speeds;
}

void PrintSpeeds(const ValidateAnswer& answer) {
  std::vector<std::pair<double, std::string>> speeds = {{answer.steps_per_s, answer.id}};
  for (const auto& [id, speed] : answer.steps_per_s_beside) speeds.emplace_back(speed, id);
  std::ranges::sort(speeds, std::greater());
  fmt::print("steps per CPU second, compared with the installation's envs:\n");
  for (const auto& [speed, id] : speeds)
    fmt::print("  {} {:>12} {}\n", id == answer.id ? '>' : ' ', FormatCount(static_cast<uint64_t>(speed)), Printable(id));
}

// `stuck`: functions that did not return. If one is the file's own, such as its loading, the next plugin of the file does not
// try it again.
ValidateAnswer Validate(const ValidateArgs& args, const PluginInfo& info, const PluginInfo* env, CallSet* stuck) {
  ValidateSetting setting;
  setting.seed = args.seed;
  setting.options = OptionsOf(info, args.set, &setting.given);
  setting.env = env;
  if (env) setting.env_options = OptionsOf(*env, args.env_set, nullptr);
  ValidateAnswer answer{info.id, info.version, info.file, args.seed, {}, 0, {}, {}};
  const bool shows = !args.json;
  if (shows) fmt::print("{} {}, {}, seed {}\n", Printable(info.id), Printable(info.version), info.file.string(), args.seed);
  const int64_t begin = NowNs();
  const ValidatedFiles files;
  const std::string entry = files.EntryOf(info.file, info.id);
  *stuck = *stuck & kLoads;
  std::vector<CaseResult> tried;
  for (const Case* one : CasesOf(info, args.cases)) {
    std::fflush(stdout);
    const CaseResult result = TryCase(args, *one, info, setting, stuck);
    answer.counts.Add(result.verdict);
    answer.steps_per_s = std::max(answer.steps_per_s, result.steps_per_s);
    tried.push_back(result);
    if (args.only_failed && !result.bad()) continue;
    answer.cases.push_back(result);
    if (shows && !args.only_failed) PrintCase(result);
  }
  if (shows) PrintFailures(args, info, tried);
  const Counts& n = answer.counts;
  // After all rules were tested, a first trial need not repeat them.
  if (args.cases.empty() && n.bad() == 0) files.Add(entry);
  const auto some = [](uint64_t count, const char* what) { return count > 0 ? fmt::format(", {} {}", count, what) : ""; };
  if (shows)
    fmt::print("{} passed{}{}{}{} in {:.1f} s\n", n.passed, some(n.skipped, "skipped"),
               some(n.warnings, n.warnings == 1 ? "warning" : "warnings"), some(n.failed, "failed"), some(n.crashed, "crashed"),
               static_cast<double>(NowNs() - begin) * 1e-9);
  if (answer.steps_per_s > 0) {
    answer.steps_per_s_beside = SpeedsOfOwnEnvs(info);
    if (shows) PrintSpeeds(answer);
  }
  return answer;
}

int PluginValidateCommand(const ValidateArgs& args) try {
  if (args.list) {
    fmt::print("{}", CasesMarkdown());
    return kOk;
  }
  PluginSearch search(args.plugin_path);
  CheckCaseNames(args.cases);
  const std::vector<const PluginInfo*> subjects = FindSubjects(&search.All(), args.name);
  const PluginInfo* env = FindEnv(&search.All(), args.env);
  nlohmann::json answers = nlohmann::json::array();
  bool bad = false, any = false;
  CallSet stuck;
  std::filesystem::path file;
  for (const PluginInfo* info : subjects) {
    if (std::exchange(file, info->file) != info->file) stuck = {};
    if (!args.cases.empty() && CasesOf(*info, args.cases).empty()) continue;
    const ValidateAnswer answer = Validate(args, *info, env, &stuck);
    any = true, bad |= answer.counts.bad() > 0;
    if (args.json) answers.push_back(ToJson(answer));
  }
  if (!any) throw ValidateUsage{fmt::format("no {} has that case", KindName(subjects.front()->kind))};
  if (args.json) fmt::print("{}\n", JsonText(answers, kJsonIndent));
  return bad ? kFailed : kOk;
} catch (const ValidateUsage& usage) {
  const size_t hint = std::min(usage.text.find("\nhint: "), usage.text.size());  // in a line of its own
  fmt::print(stderr, "backplane: {}\n", Printable(usage.text.substr(0, hint)));
  if (hint < usage.text.size()) fmt::print(stderr, "{}\n", Printable(usage.text.substr(hint + 1)));
  return kUsage;
}

}  // namespace

Command ValidateCommand() {
  const auto declare = [](ValidateArgs* args, Arguments* add) {
    args->program = add->program();
    add->Add("file", "FILE", &args->name, "Plugin file (.so) or plugin id");
    add->Add("--case", "CASE", &args->cases, "Run only this case; may be repeated");
    add->Flag("--cases", &args->list, "Print the table of cases as Markdown; run none");
    add->Flag("--only-failed", &args->only_failed, "Show only cases that failed or crashed");
    add->Flag("--in-process", &args->in_process, "Run the cases in this process, for a debugger");
    add->Flag("--json", &args->json, "Print JSON");
    add->Add("--seed", "N", &args->seed, "Seed of actions and episodes, printed with each failure");
    add->Add("--limit", "SECONDS", &args->limit_s, "Time limit of a case; up to twice as long on a busy machine")
        .Within(0.1, 86400.0)
        .ShowsDefault();
    add->Add("-s,--set", "NAME=VALUE", &args->set, "Set an option of the plugin; may be repeated");
    add->Add("--env", "ENV", &args->env, "Env for a learner or below a wrapper, instead of the validator's own");
    add->Add("--env-set", "NAME=VALUE", &args->env_set, "Set an option of that env; may be repeated");
    add->PluginPath(&args->plugin_path);
    add->Check([args] { return std::string(args->name.empty() && !args->list ? "FILE is required" : ""); });
  };
  return MakeCommand<ValidateArgs>(kPluginValidateCommand.name, kPluginValidateCommand.help, declare, PluginValidateCommand);
}

std::vector<Candidate> OptionsOfPlugin(const std::vector<std::string>& words) {
  PluginSearch search({});
  std::vector<Candidate> names;
  for (const std::string& word : words) {
    try {
      for (const PluginInfo* info : FindSubjects(&search.All(), word))
        for (const OptionInfo& option : info->options) {
          names.push_back({option.path, option.path});
          for (const std::string& alias : option.aliases) names.push_back({alias, option.path});
        }
    } catch (const ValidateUsage&) {  // it names no plugin
    }
  }
  return names;
}

Offers OfferPluginFiles(const std::string& type, const TypedLine& line) {
  using Path = std::filesystem::path;
  if (type.find("DIR") != std::string::npos) return PathOffers(line, [](const Path&) { return false; });
  if (type.find("FILE") == std::string::npos) return {};
  Offers files = PathOffers(line, [](const Path& path) { return path.extension() == ".so"; });
  return files.empty() ? PathOffers(line, [](const Path&) { return true; }) : files;
}

}  // namespace backplane
