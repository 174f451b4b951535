#include "validate/subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backplane/ext/wrapper.h"
#include "plugin/part.hpp"
#include "rollout/phase_service.hpp"
#include "validate/doing.hpp"
#include "validate/env_for_learners.hpp"
#include "validate/verdict.hpp"
#include "validate/watched_calls.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

void RunAlone(uint64_t n, void (*piece)(void*, uint64_t), void* context) {
  for (uint64_t i = 0; i < n; ++i) piece(context, i);
}

bool Needs(const PluginInfo& info, const char* id) { return std::ranges::find(info.needs, id) != info.needs.end(); }

}  // namespace

bool NeedsTorch(const PluginInfo& info, const ValidateSetting& setting) {
  return !info.build.torch.empty() || (setting.env && !setting.env->build.torch.empty());
}

Subject::Subject(const PluginInfo& info, const ValidateSetting& setting, fs::path folder)
    : info_(info), setting_(setting), folder_(std::move(folder)), folder_text_(folder_.string()), trial_dir_(folder_text_) {
  trial_ = {sizeof trial_, 1, "0000000000000000", folder_text_.c_str(), trial_dir_.c_str()};
  sinks_.log = [](const std::string&, int, const std::string&) {};
  sinks_.cancelled = &cancelled_;
  bare_sinks_ = sinks_;
  sinks_.metrics = MetricsHub::Api();
  sinks_.metrics_impl = info.kind == BP_KIND_MONITOR ? metrics_.machine() : metrics_.experiment();
  if (info.kind != BP_KIND_MONITOR) {
    sinks_.fact = [](const std::string&, const std::string&, const std::string&) {};
    sinks_.phase = PhaseService();
    sinks_.parallel = RunAlone;
    sinks_.part = [this](const std::string& id, const std::string& name) { return OpenPart(id, name); };
  }
  env_sinks_ = sinks_;
  if (info.kind != BP_KIND_ENV) sinks_.trial = &trial_;
  if (Needs(info, BP_HOST_METRICS_1)) bare_sinks_.metrics = sinks_.metrics, bare_sinks_.metrics_impl = sinks_.metrics_impl;
  if (Needs(info, BP_HOST_FACTS_1)) bare_sinks_.fact = sinks_.fact;
  if (Needs(info, BP_HOST_PHASE_1)) bare_sinks_.phase = sinks_.phase;
  if (Needs(info, BP_HOST_PARALLEL_1)) bare_sinks_.parallel = sinks_.parallel;
  if (Needs(info, BP_HOST_PART_1)) bare_sinks_.part = sinks_.part;
  if (Needs(info, BP_HOST_TRIAL_1)) bare_sinks_.trial = sinks_.trial;
}

void Subject::LoadTorch() {
  if (!torch_version_.empty() || !NeedsTorch(info_, setting_)) return;
  const fs::path lib = FindTorchLib();
  if (lib.empty())
    SkipCase("the plugin or its env needs LibTorch, which was not found; set BACKPLANE_TORCH_LIB to the folder of libtorch.so");
  NowDoing("loading LibTorch");
  torch_version_ = PreloadTorch(lib);
}

const LoadedModule& Subject::module() {
  if (module_) return *module_;
  LoadTorch();
  NowDoing("loading the file");
  try {
    const InCall loading(PluginCall::kLoading);
    module_ = WatchSubject(LoadedModule::Load(info_.file, torch_version_));
  } catch (const PluginError& e) {
    FailCase("load", "a file that can be loaded", e.what());
  }
  return *module_;
}

const void* Subject::OpenPart(const std::string& plugin_id, const std::string& name) {
  const bool of_env = setting_.env && setting_.env->id == plugin_id;
  const PluginInfo part = FindPart(of_env ? *setting_.env : info_, name);
  std::unique_ptr<LoadedModule>& module = parts_[part.file];
  if (!module) {
    if (!part.build.torch.empty() && torch_version_.empty()) {
      const fs::path lib = FindTorchLib();
      if (lib.empty()) throw PluginError("no LibTorch was found");
      torch_version_ = PreloadTorch(lib);
    }
    module = LoadedModule::Load(part.file, torch_version_);
  }
  return module->api<void>(part.id);
}

const OptionInfo* Subject::MissingOption() const {
  const auto found = std::ranges::find_if(info_.options, [&](const OptionInfo& option) {
    return (option.flags & BP_PARAM_REQUIRED) != 0 && std::ranges::find(setting_.given, option.path) == setting_.given.end();
  });
  return found == info_.options.end() ? nullptr : &*found;
}

template <class Make>
auto Subject::Made(Make&& make) {
  module();
  if (const OptionInfo* option = MissingOption())
    SkipCase(fmt::format("option '{0}' has no default; use --set {0}=VALUE", option->path));
  NowDoing("create");
  try {
    auto made = make();
    made_ = true;
    NowDoing("the time after create");
    return made;
  } catch (const TrialFailure& e) {
    if (!made_) SkipCase(std::string("create failed: ") + e.what());
    throw;
  }
}

std::unique_ptr<EnvInstance> Subject::MakeEnv(uint64_t rows, bool bare) {
  return Made(
      [&] { return std::make_unique<EnvInstance>(*module_, info_.id, sinks(bare), Options(), rows, MakeEnvBelow(rows)); });
}

bool Subject::IsWrapper() { return (module().descriptor(info_.id).flags & BP_FLAG_WRAPPER) != 0; }

void Subject::NeedNoWrapper(const char* why) {
  if (IsWrapper()) SkipCase(std::string("is a wrapper, and ") + why);
}

std::unique_ptr<EnvInstance> Subject::MakeEnvBelow(uint64_t rows) {
  if (!IsWrapper()) return nullptr;
  return setting_.env ? MakeGivenEnv(rows) : MakeOwnEnv(EnvsForLearners().descriptor(0)->id, rows);
}

std::unique_ptr<EnvInstance> Subject::MakeGivenEnv(uint64_t rows) {
  if (!env_module_) {
    const InCall loading(PluginCall::kEnvOfLearner);
    env_module_ = WatchEnvOfLearner(LoadedModule::Load(setting_.env->file, torch_version_));
  }
  return std::make_unique<EnvInstance>(*env_module_, setting_.env->id, env_sinks_,
                                       InstanceOptions{setting_.env_options, {}, "env.options"}, rows);
}

std::unique_ptr<EnvInstance> Subject::MakeOwnEnv(const std::string& id, uint64_t rows) {
  if (!env_module_) env_module_ = LoadedModule::FromTable(EnvsForLearners());
  return std::make_unique<EnvInstance>(*env_module_, id, env_sinks_,
                                       InstanceOptions{nlohmann::json::object(), {}, "env.options"}, rows);
}

std::unique_ptr<EnvInstance> Subject::MakeEnvFor(uint64_t rows) {
  module();
  if (setting_.env) return MakeGivenEnv(rows);
  if (!env_id_.empty()) return MakeOwnEnv(env_id_, rows);
  std::string& why_not = why_no_env_ = "";
  for (uint32_t i = 0; i < EnvsForLearners().count(); ++i) {
    const std::string id = EnvsForLearners().descriptor(i)->id;
    std::unique_ptr<EnvInstance> env = MakeOwnEnv(id, rows);
    NowDoing("create for " + id);
    try {
      probe_ = std::make_unique<LearnerInstance>(*module_, info_.id, sinks_, Options(), *env, seed());
      probe_env_ = env.get();
      env_id_ = id;
      return env;
    } catch (const TrialFailure& e) {
      if (e.status() != BP_E_CONFIG && e.status() != BP_E_UNSUPPORTED && e.status() != BP_E_INVALID_ARG) throw;
      why_not += fmt::format("{}{}", why_not.empty() ? "" : "; ", e.what());
    }
  }
  SkipCase("learns in none of the validator's envs; name one with --env ENV: " + why_not);
}

std::unique_ptr<LearnerInstance> Subject::MakeLearner(const EnvInstance& env, uint64_t seed, bool bare) {
  return Made([&] {
    std::unique_ptr<LearnerInstance> probe = std::move(probe_);
    if (probe && probe_env_ == &env && seed == this->seed() && !bare) return probe;
    probe.reset();
    return std::make_unique<LearnerInstance>(*module_, info_.id, sinks(bare), Options(), env, seed);
  });
}

void Subject::NextAttempt() {
  folder_ = fs::path(trial_dir_) / fmt::format("attempt-{}", ++trial_.attempt);
  fs::create_directories(folder_);
  folder_text_ = folder_.string();
  trial_.attempt_dir = folder_text_.c_str();
}

std::unique_ptr<MonitorInstance> Subject::MakeMonitor(bool bare) {
  module();
  NextAttempt();
  return std::make_unique<MonitorInstance>(*module_, info_.id, sinks(bare), Options());
}

void Subject::TryCreate(const nlohmann::json& options) {
  module();
  const InstanceOptions with{options, {}, "options"};
  switch (info_.kind) {
    case BP_KIND_ENV: {
      NowDoing("create");
      const EnvInstance env(*module_, info_.id, sinks_, with, 3, MakeEnvBelow(3));
      break;
    }
    case BP_KIND_LEARNER: {
      const std::unique_ptr<EnvInstance> env = MakeEnvFor(8);
      NowDoing("create");
      const LearnerInstance learner(*module_, info_.id, sinks_, with, *env, seed());
      break;
    }
    default: {
      NextAttempt();
      NowDoing("create");
      const MonitorInstance monitor(*module_, info_.id, sinks_, with);
    }
  }
  NowDoing("the time after destroy");
}

MonitorInstance::MonitorInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                                 const InstanceOptions& options)
    : services_(id, &sinks), api_(module.api<bp_monitor_api>(id)), monitor_(nullptr, {&services_.plugin_id(), api_->destroy}) {
  if (!api_->create || !api_->destroy)
    throw TrialFailure(BP_E_INTERNAL, id, "expected a function table with create and destroy, got one without");
  const OptionView view(options.options, options.origin, options.prefix);
  NowDoing("create");
  bp_monitor* made = nullptr;
  const bp_status status = CallPlugin(services_.plugin_id(), [&] { return api_->create(services_.get(), view.get(), &made); });
  const bool explained = services_.HasError();
  if (status != BP_OK) throw TrialFailure(status, id, "create: " + services_.TakeError(), explained);
  if (made == nullptr) throw TrialFailure(BP_E_INTERNAL, id, "create: expected an instance, got NULL and the status BP_OK");
  monitor_.reset(made);
}

uint64_t MonitorInstance::Interests() const {
  if (!api_->interests) return ~uint64_t{0};
  return CallPlugin(services_.plugin_id(), [&] { return api_->interests(monitor_.get()); });
}
bp_status MonitorInstance::OnEvents(const bp_event* events, uint64_t n) {
  if (!api_->on_events) return BP_OK;
  return CallPlugin(services_.plugin_id(), [&] { return api_->on_events(monitor_.get(), events, n); });
}
bp_status MonitorInstance::Sample(int64_t t_ns) {
  if (!api_->sample) return BP_OK;
  return CallPlugin(services_.plugin_id(), [&] { return api_->sample(monitor_.get(), t_ns); });
}
bp_status MonitorInstance::Finish(const std::string& folder) {
  if (!api_->finish) return BP_OK;
  return CallPlugin(services_.plugin_id(), [&] { return api_->finish(monitor_.get(), folder.c_str()); });
}
const void* MonitorInstance::Extension(const char* id) const {
  if (!api_->get_extension) return nullptr;
  return CallPlugin(services_.plugin_id(), [&] { return api_->get_extension(monitor_.get(), id); });
}
uint32_t MonitorInstance::Verdict(const bp_monitor_verdict_1& table, const char** reason) const {
  return CallPlugin(services_.plugin_id(), [&] { return table.verdict(monitor_.get(), reason); });
}

}  // namespace backplane
