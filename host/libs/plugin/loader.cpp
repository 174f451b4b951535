#include "plugin/loader.hpp"

#include <algorithm>
#define BOOST_DLL_USE_STD_FS  // no library of Boost is needed then
#include <boost/dll/shared_library.hpp>
#include <utility>
#include <vector>

#include "backplane/env.h"
#include "backplane/learner.h"
#include "backplane/monitor.h"
#include "base/error_words.hpp"
#include "plugin/metadata.hpp"
#include "plugin/torch_folder.hpp"

namespace backplane {
namespace {

using EntryPoint = const bp_module*();

// The loader's own text out of Boost's "...(dlerror system message: TEXT): Bad file descriptor".
std::string LoaderText(const std::string& what) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const size_t begin = what.find(kBefore), end = what.rfind("): ");
  if (begin == std::string::npos || end == std::string::npos || end < begin + kBefore.size()) return what;
  return what.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

// Never closed, not even at exit: tensors, autograd nodes and static objects of a plugin may be used at any time.
boost::dll::shared_library& OpenForEver(const std::filesystem::path& file) {
  auto* library = new boost::dll::shared_library;
  static auto* const all = new std::vector<boost::dll::shared_library*>;
  all->push_back(library);  // keeps it reachable, so that leak checkers stay silent
  // Only this throwing form carries the text of dlerror.
  library->load(file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  return *library;
}

// "2.13.0" for "2.13.0+cpu". CPU and GPU builds of a release have the same interface.
std::string_view Release(std::string_view torch_version) { return torch_version.substr(0, torch_version.find('+')); }

void CheckTorch(const BuildFacts& build, const std::string& torch_version, const std::filesystem::path& file) {
  if (build.torch.empty() || Release(build.torch) == Release(torch_version)) return;
  throw PluginError(file.string() + ": was built against LibTorch " + build.torch + ", this process has " +
                    (torch_version.empty() ? std::string("none; ") : torch_version + "; ") + kSetUpTorch);
}

// A call of a function that the module exports. No exception may leave a plugin; one that does is reported with the file's
// name.
template <class Function>
auto CallModule(const std::filesystem::path& file, const char* name, Function&& function) {
  try {
    return function();
  } catch (const std::exception& e) {
    throw PluginError(file.string() + ": its function '" + name + "' threw an exception: " + WordsOf(e));
  } catch (...) {
    throw PluginError(file.string() + ": its function '" + name + "' threw an exception that is not a std::exception");
  }
}

const bp_descriptor* FindDescriptor(const bp_module& module, const std::string& id) {
  for (uint32_t i = 0; i < module.count(); ++i) {
    const bp_descriptor* descriptor = module.descriptor(i);
    if (descriptor && BP_HAS(descriptor, id) && descriptor->id && id == descriptor->id) return descriptor;
  }
  return nullptr;
}

// Compares the metadata, read before the code was loaded, with the code.
void CheckLive(const bp_module& module, const std::vector<PluginInfo>& sealed, const std::filesystem::path& file) {
  for (const PluginInfo& info : sealed) {
    const bp_descriptor* live = CallModule(file, "descriptor", [&] { return FindDescriptor(module, info.id); });
    if (live && live->kind == info.kind) continue;
    throw PluginError(file.string() + ": its metadata contains the " + KindName(info.kind) + " '" + info.id +
                      "', but its code does not; run `backplane plugin seal " + file.string() + "` again");
  }
}

// The size of a kind's table in ABI 1.0, below which no host can use it.
size_t TableBytes(uint32_t kind) {
  switch (kind) {
    case BP_KIND_ENV: return sizeof(bp_env_api);
    case BP_KIND_LEARNER: return sizeof(bp_learner_api);
    case BP_KIND_MONITOR: return sizeof(bp_monitor_api);
    case BP_KIND_PART: return sizeof(uint32_t);  // the rest is private to the plugin and its part
    default: return SIZE_MAX;
  }
}

}  // namespace

const bp_module& OpenModule(const std::filesystem::path& file) try {
  EntryPoint& entry = OpenForEver(file).get<EntryPoint>("bp_module_v1");
  const bp_module* module = CallModule(file, "bp_module_v1", [&] { return entry(); });
  if (!module || !BP_HAS(module, api) || !module->count || !module->descriptor || !module->api) {
    throw PluginError(file.string() + ": bp_module_v1 returned " +
                      (module ? "a module without count, descriptor or api" : "NULL instead of a module"));
  }
  return *module;
} catch (const std::system_error& e) {
  throw PluginError(file.string() + ": cannot be loaded: " + LoaderText(e.what()));
}

std::unique_ptr<LoadedModule> LoadedModule::Load(const std::filesystem::path& file, const std::string& torch_version) {
  const std::vector<PluginInfo> sealed = ReadPlugins(file);
  const std::filesystem::path& absolute = sealed.front().file;
  CheckTorch(sealed.front().build, torch_version, absolute);
  const bp_module& module = OpenModule(absolute);
  CheckLive(module, sealed, absolute);
  if (module.init) {
    const bp_status status = CallModule(absolute, "init", [&] { return module.init(absolute.c_str()); });
    if (status < 0) throw PluginError(absolute.string() + ": its init failed with status " + std::to_string(status));
  }
  std::unique_ptr<LoadedModule> loaded(new LoadedModule);
  loaded->file_ = absolute;
  loaded->module_ = &module;
  return loaded;
}

std::unique_ptr<LoadedModule> LoadedModule::FromTable(const bp_module& module, std::filesystem::path file) {
  std::unique_ptr<LoadedModule> loaded(new LoadedModule);
  loaded->file_ = std::move(file);
  loaded->module_ = &module;
  return loaded;
}

const bp_descriptor& LoadedModule::descriptor(const std::string& id) const {
  if (const bp_descriptor* found = FindDescriptor(*module_, id)) return *found;
  std::string known;
  for (uint32_t i = 0; i < module_->count(); ++i) {
    const bp_descriptor* descriptor = module_->descriptor(i);
    if (descriptor && descriptor->id) known += (known.empty() ? "" : ", ") + std::string(descriptor->id);
  }
  throw PluginError(file_.string() + ": has no plugin '" + id + "'; it has " + known);
}

const void* LoadedModule::RawApi(const std::string& id) const {
  const bp_descriptor& about = descriptor(id);
  const void* table = CallModule(file_, "api", [&] { return module_->api(id.c_str()); });
  if (!table) throw PluginError(file_.string() + ": describes '" + id + "' but provides no function table for it");
  const uint32_t size = *static_cast<const uint32_t*>(table);  // struct_size is the first member of every struct
  if (size < TableBytes(about.kind)) {
    throw PluginError(file_.string() + ": the function table of '" + id + "' is too short: expected at least " +
                      std::to_string(TableBytes(about.kind)) + " bytes for the kind " + KindName(about.kind) + ", got " +
                      std::to_string(size));
  }
  return table;
}

}  // namespace backplane
