#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "arguments/tool_commands.hpp"
#include "author/commands.hpp"
#include "base/files.hpp"
#include "base/shell_argument.hpp"
#include "log/log.hpp"
#include "plugin/installation.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct NewArgs {
  std::string program;
  std::string kind, name, lang = "cpp";
  bool agents = false, mujoco = false, wrapper = false, off_policy = false, recurrent = false, python = false;
};

// The template's folder in templates/KIND: the language, or the special kind of env or learner.
std::string Variant(const NewArgs& args) {
  if (args.python) return "python";
  if (args.off_policy) return args.lang == "rust" ? "off_policy_rust" : "off_policy";
  if (args.kind == "learner") return args.recurrent ? "recurrent" : args.lang;
  return args.agents ? "agents" : args.mujoco ? "mujoco" : args.wrapper ? "wrapper" : args.lang;
}

// A combination without a template.
std::string WhyNoTemplate(const NewArgs& args) {
  const std::string form = args.agents ? "--agents" : args.mujoco ? "--mujoco" : args.wrapper ? "--wrapper" : "";
  const std::string flag = !form.empty() ? form : args.lang == "c" ? "--lang c" : "";
  const std::string of_learners = args.python       ? "--python"
                                  : args.off_policy ? "--off-policy"
                                  : args.recurrent  ? "--recurrent"
                                                    : "";
  if (args.kind != "learner" && !of_learners.empty())
    return fmt::format("{}: expected a learner, got {}", of_learners, args.kind == "env" ? "an env" : "a monitor");
  if (args.python && (args.off_policy || args.recurrent || args.lang != "cpp"))
    return fmt::format("--python: expected no other template, got {}", args.off_policy  ? "--off-policy"
                                                                       : args.recurrent ? "--recurrent"
                                                                                        : "--lang " + args.lang);
  if (args.lang == "rust" && !args.off_policy)
    return "--lang rust: expected a learner with --off-policy; for an env in Rust, copy examples/rust";
  if (args.off_policy && args.recurrent) return "expected --off-policy or --recurrent, got both; no template has both";
  if (args.kind != "env" && !flag.empty()) return fmt::format("{}: expected an env, got a {}", flag, args.kind);
  if (args.agents && args.mujoco) return "expected --agents or --mujoco, got both; no template has several agents in MuJoCo";
  if (args.wrapper && (args.agents || args.mujoco))
    return fmt::format("expected --wrapper or {}, got both; a wrapper gets agents and physics from the env below", form);
  if (args.lang == "c" && !form.empty())
    return fmt::format("{}: expected --lang cpp, got c; the C template is for plain envs only", form);
  return "";
}

std::string WhyBadName(const NewArgs& args) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz", kLater = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const std::string_view name = args.name;
  if (name.empty() || kLetters.find(name[0]) == name.npos || name.find_first_not_of(kLater) != name.npos)
    return fmt::format("NAME: expected a lower-case letter, then lower-case letters, digits and underscores, got '{}'",
                       args.name);
  return "";
}

// An error if another file has this id, because the id would be ambiguous.
std::string WhyTaken(const NewArgs& args) {
  PluginSearch search({});
  for (const PluginInfo& info : search.All().plugins()) {
    if (!args.python && info.id == args.kind + "." + args.name)
      return fmt::format("expected a new name, got '{}', which is the name of the {} in {}", args.name, args.kind,
                         info.file.string());
  }
  std::error_code error;
  if (fs::exists(fs::symlink_status(args.name, error)))
    return fmt::format("expected a new name, got '{}', which already exists in this folder", args.name);
  return "";
}

std::string Replaced(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) text.replace(at, word.size(), by);
  return text;
}

// Copies every file of a template and replaces the template's name, template_<folder>.
void Copy(const fs::path& from, const NewArgs& args) {
  const auto renamed = [&](const std::string& text) {
    return Replaced(Replaced(text, "template_" + from.filename().string(), args.name), "template_kind", args.kind);
  };
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    const fs::path to = fs::path(args.name) / renamed(entry.path().lexically_relative(from).string());
    fs::create_directories(to.parent_path());
    WriteFileAtomic(to, renamed(ReadFile(entry.path()).value_or("")));
  }
}

bool HasProgram(const std::string& name) {
  const std::vector<fs::path> folders = FoldersOf("PATH");
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) { return fs::exists(folder / name); });
}

void SayWhatIsNext(const NewArgs& args) {
  const std::string program = ShellArgument(args.program), name = args.name;
  if (args.python)
    return fmt::print(
        "{0}/ is ready: {0}/{0}.py is the learner, {0}/README.md describes the other files. Next:\n"
        "  {1} run {0}/{0}.yaml\n  python3 {0}/{0}_test.py {1}\n",
        name, program);
  const bool rust = args.lang == "rust";
  std::string next = fmt::format("{0}/ is ready: {0}/plugin.{1} is the {2}, {0}/README.md describes the other files. Next:\n",
                                 name, rust ? "rs" : args.lang, args.kind);
  if (rust && !HasProgram("rustc")) next += "  sudo apt-get install rustc\n";
  if (!HasProgram("cmake") || !HasProgram("make") || !HasProgram("c++")) next += "  sudo apt-get install cmake g++ make\n";
  next += fmt::format("  cmake -S {0} -B {0}/build -Dbackplane_DIR=\"$({1} sdk --cmakedir)\" && cmake --build {0}/build\n",
                      name, program);
  next += fmt::format("  {} plugin validate {}/build/{}_{}.so\n", program, name, args.kind, name);
  next += fmt::format("  {0} run {1}/{1}.yaml\n", program, name);
  fmt::print("{}", next);
}

int CreatePlugin(const NewArgs& args) {
  const fs::path templates = OwnShare() / "templates", own = templates / args.kind / Variant(args);
  std::string why_not = WhyTaken(args);
  if (why_not.empty() && !fs::is_directory(own))
    why_not = fmt::format("expected the template in {}, got no such folder", own.string());
  if (why_not.empty()) {
    try {
      fs::create_directory(args.name);
      if (!args.python) Copy(templates / "common", args);  // how to build it
      Copy(own, args);
      SayWhatIsNext(args);
      return kOk;
    } catch (const std::exception& error) {
      why_not = error.what();
      std::error_code ignored;
      fs::remove_all(args.name, ignored);
    }
  }
  LogError("backplane new: {}\nthis folder is unchanged", why_not);
  return kUsage;
}

}  // namespace

Command NewCommand() {
  const auto declare = [](NewArgs* args, Arguments* add) {
    args->program = add->program();
    add->Add("kind", "env|learner|monitor", &args->kind, "Kind of plugin").OneOf({"env", "learner", "monitor"}).Required();
    add->Add("name", "NAME", &args->name, "Name of the folder, the file and the id").Required();
    add->Add("--lang", "LANG", &args->lang, "Language: c for an env in C11, rust with --off-policy")
        .OneOf({"cpp", "c", "rust"})
        .ShowsDefault();
    add->Flag("--agents", &args->agents, "Create an env with several agents");
    add->Flag("--mujoco", &args->mujoco, "Create an env on MuJoCo");
    add->Flag("--wrapper", &args->wrapper, "Create a wrapper, an env over another env");
    add->Flag("--off-policy", &args->off_policy, "Create a learner with a replay buffer");
    add->Flag("--recurrent", &args->recurrent, "Create a learner whose policy has a memory");
    add->Flag("--python", &args->python, "Create a learner in Python");
    add->Check([args] {
      const std::string bad = WhyBadName(*args);
      return bad.empty() ? WhyNoTemplate(*args) : bad;
    });
  };
  return MakeCommand<NewArgs>(kNewCommand.name, kNewCommand.help, declare, CreatePlugin);
}

}  // namespace backplane
