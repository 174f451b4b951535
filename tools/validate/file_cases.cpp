// Cases of the plugin file and its loading.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plugin/elf.hpp"
#include "plugin/exports.hpp"
#include "plugin/metadata.hpp"
#include "plugin/part.hpp"
#include "plugin/plugin_error.hpp"
#include "rollout/clocks.hpp"
#include "validate/case_table.hpp"
#include "validate/doing.hpp"
#include "validate/driven_env.hpp"

namespace backplane {
namespace {

std::string Listed(const std::vector<std::string>& words, size_t most = 4) {
  std::string text;
  for (size_t i = 0; i < std::min(most, words.size()); ++i) text += (i ? ", " : "") + words[i];
  return words.size() > most ? text + fmt::format(", ... ({} in total)", words.size()) : text;
}

std::string BytesOf(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void ExportsOneSymbol(Subject& subject, CaseResult*) {
  const std::vector<std::string> more = SurplusExports(subject.info().file);
  if (!more.empty()) FailCase("the table of exported symbols", "only bp_module_v1", "also " + Listed(more));
}

bool Contains(const std::string& bytes, std::string_view words) { return bytes.find(words) != std::string::npos; }

bool AnyStartsWith(const std::vector<std::string>& names, std::string_view with) {
  return std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(with); });
}

void BundlesNothing(Subject& subject, CaseResult*) {
  const ElfFile elf(subject.info().file);
  const std::vector<std::string> needed = elf.Needed();
  const std::string bytes = BytesOf(subject.info().file);
  // Texts that only the libraries contain.
  if (!AnyStartsWith(needed, "libstdc++") && Contains(bytes, "terminate called after throwing an instance of"))
    FailCase("the file", "the C++ library of the process", "a copy of libstdc++ inside", "link without -static-libstdc++");
  if (!AnyStartsWith(needed, "libc10") && Contains(bytes, "N3c105ErrorE") && Contains(bytes, "PyTorch"))
    FailCase("the file", "the LibTorch of the process", "a copy of it inside", "USES torch");
  for (const std::string& name : needed)
    if (name.find('/') != std::string::npos)
      FailCase("the libraries it needs", "names without a path, found in the process or $ORIGIN", name);
}

void NeedsNoOpenMp(Subject& subject, CaseResult*) {
  const std::vector<std::string> needed = ElfFile(subject.info().file).Needed();
  if (!subject.info().build.torch.empty()) return;  // LibTorch brings one
  for (const char* library : {"libgomp", "libomp", "libiomp"})
    if (AnyStartsWith(needed, library)) FailCase("the libraries it needs", "no OpenMP", library);
}

void SearchesBesideItself(Subject& subject, CaseResult*) {
  const ElfFile elf(subject.info().file);
  for (const std::string& path : elf.SearchPaths())
    if (path != "$ORIGIN") FailCase("RPATH or RUNPATH", "$ORIGIN or none", path);
}

void TellsTheTruth(Subject& subject, CaseResult*) {
  const ElfFile elf(subject.info().file);
  std::string sealed = elf.Read(*elf.Find(BP_META_SECTION));
  sealed.resize(strnlen(sealed.data(), sealed.size()));
  subject.LoadTorch();
  NowDoing("loading the file");
  const InCall loading(PluginCall::kLoading);
  const std::string live = MetadataOf(OpenModule(subject.info().file), subject.info().parts);
  if (nlohmann::json::parse(sealed) != nlohmann::json::parse(live))
    FailCase("the section .bp.meta", "the facts that the code reports", "different facts");
}

int64_t CountEntries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

void LoadsQuietly(Subject& subject, CaseResult* result) {
  subject.LoadTorch();
  const int64_t threads = CountEntries("/proc/self/task"), files = CountEntries("/proc/self/fd");
  const int64_t begin = ThreadCpuNs();
  subject.module();
  const double ms = static_cast<double>(ThreadCpuNs() - begin) * 1e-6;
  if (const int64_t now = CountEntries("/proc/self/task"); now > threads)
    FailCase("loading", "no thread started", fmt::format("{} threads", now - threads));
  if (const int64_t now = CountEntries("/proc/self/fd"); now > files)
    FailCase("loading", "no file left open", fmt::format("{} files", now - files));
  result->note = fmt::format("{:.1f} ms of CPU", ms);
  constexpr double kMostMs = 1000;
  if (ms > kMostMs) WarnCase("loading", fmt::format("at most {:.0f} ms of CPU", kMostMs), fmt::format("{:.0f} ms", ms));
}

const void* ApiOf(Subject& subject, const std::string& id) {
  const InCall loading(PluginCall::kLoading);
  const bp_module& module = OpenModule(subject.info().file);
  NowDoing("api('" + id + "')");
  return CallPlugin(subject.info().id, [&] { return module.api(id.c_str()); });
}

void AnswersUnknownIds(Subject& subject, CaseResult*) {
  subject.module();
  const bp_module& module = OpenModule(subject.info().file);
  for (const std::string& id : {std::string("org.example.unknown"), subject.info().id + "x", std::string()})
    if (ApiOf(subject, id) != nullptr) FailCase("api('" + id + "')", "NULL", "a table");
  NowDoing("descriptor beyond the last");
  {
    const InCall loading(PluginCall::kLoading);
    if (CallPlugin(subject.info().id, [&] { return module.descriptor(module.count()); }) != nullptr)
      FailCase("descriptor(count())", "NULL", "a descriptor");
  }
  const auto ask = [&](const char* known, auto&& extension) {
    for (const std::string& id : {std::string("org.example.unknown/1"), std::string(known) + "x", std::string(known) + "0"}) {
      NowDoing("get_extension('" + id + "')");
      if (CallPlugin(subject.info().id, [&] { return extension(id.c_str()); }) != nullptr)
        FailCase("get_extension('" + id + "')", "NULL", "a table");
    }
  };
  switch (subject.info().kind) {
    case BP_KIND_ENV: {
      const auto env = subject.MakeEnv(2);
      const auto* api = subject.module().api<bp_env_api>(subject.info().id);
      if (api->get_extension) ask("bp.env.snapshot/1", [&](const char* id) { return api->get_extension(env->handle(), id); });
      break;
    }
    case BP_KIND_LEARNER: {
      const auto env = subject.MakeEnvFor(2);
      const auto learner = subject.MakeLearner(*env, subject.seed());
      const auto* api = subject.module().api<bp_learner_api>(subject.info().id);
      if (api->get_extension)
        ask("bp.learner.state/1", [&](const char* id) { return api->get_extension(learner->handle(), id); });
      break;
    }
    default: {
      const std::unique_ptr<MonitorInstance> monitor = subject.MakeMonitor();
      ask("bp.monitor.verdict/1", [&](const char* id) { return monitor->Extension(id); });
    }
  }
}

void InitTwice(Subject& subject, CaseResult*) {
  subject.module();
  const bp_module& module = OpenModule(subject.info().file);
  if (!module.init) SkipCase("has no init");
  NowDoing("init for the second time");
  const InCall loading(PluginCall::kLoading);
  const bp_status status = CallPlugin(subject.info().id, [&] { return module.init(subject.info().file.c_str()); });
  if (status != BP_OK) FailCase("init, for the second time", "BP_OK", fmt::format("status {}", status));
}

}  // namespace

std::vector<Case> FileCases() {
  return {
      {"exports-one-symbol", kOfAll, "A plugin exports only `bp_module_v1`, and no symbols of the type STB_GNU_UNIQUE.",
       "Build with backplane_add_plugin, or with `g++ -std=c++20 $(backplane sdk --cflags) plugin.cpp -o FILE`.",
       ExportsOneSymbol, CallSet{}},
      {"bundles-nothing", kOfAll, "A plugin contains no copy of libstdc++ or LibTorch, and names libraries without a path.",
       "Link these libraries dynamically, as backplane_add_plugin does.", BundlesNothing, CallSet{}},
      {"needs-no-openmp", kOfAll, "A plugin uses no OpenMP, because a process has only one and the host sets its threads.",
       "Build without -fopenmp; a learner runs pieces through bp.host.parallel/1.", NeedsNoOpenMp, CallSet{}},
      {"searches-beside-itself", kOfAll, "A plugin's RPATH is `$ORIGIN` or none, because build paths are useless elsewhere.",
       "Build with backplane_add_plugin, or link with -Wl,-rpath,'$ORIGIN'.", SearchesBesideItself, CallSet{}},
      {"section-is-true", kOfAll, "The sealed section contains the same as the code.",
       "Run `backplane plugin seal FILE` after linking.", TellsTheTruth, kLoads},
      {"loads-quietly", kOfAll, "Loading starts no thread and leaves no file open.",
       "Do it in create, not in a constructor of a static object.", LoadsQuietly, kLoads},
      {"unknown-ids", kOfAll, "Unknown ids of plugins and extensions return NULL, even if they start like a known one.",
       "Compare whole ids with strcmp.", AnswersUnknownIds, kMakes},
      {"init-twice", kOfAll, "`init` may be called again.", "Return BP_OK if everything is done already.", InitTwice, kLoads},
  };
}

}  // namespace backplane
