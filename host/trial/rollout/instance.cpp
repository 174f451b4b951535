#include "rollout/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "backplane/ext/memory.h"
#include "rollout/readable.hpp"

namespace backplane {

constinit thread_local const char* tls_running_plugin = "";

namespace {

std::vector<const bp_channel*> Pointers(const ChannelTable& table) {
  std::vector<const bp_channel*> out;
  for (const bp_channel& channel : table.channels()) out.push_back(&channel);
  return out;
}

template <class Slot>
void Require(Slot slot, const std::string& id, const char* name) {
  if (slot == nullptr) throw TrialFailure(BP_E_INTERNAL, id, fmt::format("its function table has no '{}'", name));
}

// Checks the result of a successful `create`.
template <class T>
T* RequireMade(T* made, const std::string& id) {
  if (made == nullptr) throw TrialFailure(BP_E_INTERNAL, id, "create: expected an instance, got NULL and the status BP_OK");
  return made;
}

// True if the plugin repeats the host's error about its own part. The file is then damaged, whatever status the plugin returns.
bool RepeatsPartError(const HostServices& services, const std::string& reason) {
  return !services.part_error().empty() && reason.find(services.part_error()) != std::string::npos;
}

// Adds the sentence of a service that failed with this status. Throws DiskFailure if the disk is at fault.
void AddServiceError(const HostServices::ServiceError& error, bp_status status, std::string* reason) {
  if (error.sentence.empty() || error.status != status) return;
  if (error.of_machine) throw DiskFailure(error.sentence);
  if (reason->find(error.sentence) == std::string::npos) *reason += ": " + error.sentence;
}

std::string Describe(const bp_channel* c) { return c ? fmt::format("{}, role {}", Layout(*c), c->role) : "none"; }

}  // namespace

void FailIn(HostServices& services, bp_status status, const std::string& doing) {
  if (status == BP_E_OOM_HOST) ReleaseMemoryReserve();
  const bool explained = services.HasError();
  std::string reason = services.TakeError();
  const auto broken = [&](const std::string& what) {
    throw TrialFailure(BP_E_INTERNAL, services.plugin_id(), fmt::format("{}: {} ({})", doing, what, reason));
  };
  if (status > BP_OK || status < BP_E_INTERNAL)
    broken(fmt::format("expected a status from {} to 0, got {}", int{BP_E_INTERNAL}, status));
  if (RepeatsPartError(services, reason)) status = BP_E_INTERNAL;
  AddServiceError(services.service_error(), status, &reason);
  if (status == BP_E_CANCELLED && !services.cancelled()) broken("returned BP_E_CANCELLED without a request to stop");
  throw TrialFailure(status, services.plugin_id(), fmt::format("{}: {}", doing, reason), explained);
}

const void* CheckExtensionTable(const std::string& id, const char* extension, const void* table, uint32_t bytes) {
  if (table == nullptr) return nullptr;
  const auto refuse = [&](const std::string& wanted, const std::string& found) {
    throw TrialFailure(BP_E_INTERNAL, id, fmt::format("extension {}: expected {}, got {}", extension, wanted, found));
  };
  uint32_t size = 0;
  if (!CopyReadable(&size, table, sizeof size)) refuse("a table of functions", "memory that cannot be read");
  if (size < bytes) refuse(fmt::format("a table of {} bytes or more", bytes), fmt::format("struct_size {}", size));
  constexpr uint32_t kFirst = 8;  // after struct_size and a number
  std::vector<const void*> functions((bytes - kFirst) / sizeof(void*));
  if (!CopyReadable(functions.data(), static_cast<const char*>(table) + kFirst, bytes - kFirst))
    refuse("a table of functions", "memory that cannot be read");
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i] == nullptr)
      refuse(fmt::format("{} functions", functions.size()), fmt::format("NULL as function {}", i + 1));
  return table;
}

EnvInstance::EnvInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                         const InstanceOptions& options, uint64_t rows, std::unique_ptr<EnvInstance> below)
    : PluginInstance(module, id, sinks),
      below_(below ? std::make_unique<EnvBelow>(std::move(below)) : nullptr),
      rows_(rows),
      resets_itself_((flags_ & BP_FLAG_NATIVE_AUTORESET) != 0) {
  Require(api_->create, id, "create");
  Require(api_->destroy, id, "destroy");
  Require(api_->spec, id, "spec");
  Require(api_->bind, id, "bind");
  Require(api_->reset, id, "reset");
  Require(api_->step, id, "step");
  CheckWrapper();
  if (below_) services_.OfferEnv(EnvBelow::Api(), below_.get());
  const OptionView view(options.options, options.origin, options.prefix);
  bp_env* made = nullptr;
  const bp_status status = CallPlugin(this->id(), [&] { return api_->create(services_.get(), view.get(), rows, &made); });
  if (status != BP_OK) Fail(status, "create");
  made_.reset(RequireMade(made, id));
  if (below_) flags_ = FlagsOfChain(flags_, below_->env().flags());
  spec_ = ReadSpec();
  channels_ = Pointers(spec_.table);
  CheckResets();
  steps_whole_ = ReadStepsWhole();
}

// A wrapper gets the flags of its chain. EnvBelow counts its time limits and writes TRUNCATED.
void EnvInstance::CheckWrapper() const {
  const bool is_wrapper = (flags_ & BP_FLAG_WRAPPER) != 0;
  if (is_wrapper && !below_)
    throw TrialFailure(BP_E_CONFIG, id(), "is a wrapper: expected an env below it, got none; name it in env.wrappers");
  if (!is_wrapper && below_)
    throw TrialFailure(BP_E_CONFIG, id(), "expected a wrapper in env.wrappers, got an env of its own; name it in env.plugin");
  if (is_wrapper && (flags_ & (BP_FLAG_NATIVE_AUTORESET | BP_FLAG_OWNS_TIME_LIMIT)) != 0)
    throw TrialFailure(BP_E_INTERNAL, id(), "is a wrapper: expected neither NATIVE_AUTORESET nor OWNS_TIME_LIMIT, got one");
}

uint64_t FlagsOfChain(uint64_t wrapper, uint64_t below) {
  return (wrapper & below & BP_FLAG_ROWS_CONCURRENT) | (below & (BP_FLAG_MANY_ROWS | BP_FLAG_NATIVE_AUTORESET)) |
         BP_FLAG_OWNS_TIME_LIMIT | BP_FLAG_WRAPPER;
}

CheckedEnvSpec EnvInstance::ReadSpec() const {
  const bp_env_spec* said = CallPlugin(id(), [&] { return api_->spec(made_.get()); });
  if (!below_) return CheckSpec(id(), said, flags_, rows_);
  const auto* wrapper = Extension<bp_env_wrapper_1>(BP_ENV_WRAPPER_1);
  return below_->Join(id(), said, flags_, [&](const char* channel) {
    return wrapper != nullptr && CallPlugin(id(), [&] { return wrapper->hides(made_.get(), channel); }) != 0;
  });
}

void EnvInstance::CheckUnchanged() const {
  if (below_) below_->env().CheckUnchanged(), below_->CheckGuards();
  if (const auto found = Difference(spec_, ReadSpec())) throw TrialFailure(BP_E_INTERNAL, id(), "spec has changed: " + *found);
}

// Requirements for an env that resets itself or works on a device, so that the host can count its episodes.
void EnvInstance::CheckResets() {
  const auto refuse = [&](const std::string& what) { throw TrialFailure(BP_E_INTERNAL, id(), what); };
  if (on_device() && !resets_itself_)
    refuse(
        "keeps its channels on a device, but does not reset itself (NATIVE_AUTORESET), so the host would wait for its flags in "
        "every step");
  if (on_device() && Extension<bp_env_memory_1>(BP_ENV_MEMORY_1) == nullptr)
    refuse("keeps its channels on a device, but does not offer " BP_ENV_MEMORY_1 ", which allocates buffers there");
  takes_seeds_ = innermost().Extension<bp_env_autoreset_1>(BP_ENV_AUTORESET_1) != nullptr;
  if (!resets_itself_) return;
  if (!takes_seeds_)
    refuse("resets itself (NATIVE_AUTORESET), but does not offer " BP_ENV_AUTORESET_1 ", which receives its seeds");
  if ((flags_ & BP_FLAG_OWNS_TIME_LIMIT) == 0)
    refuse("resets itself (NATIVE_AUTORESET), but leaves its time limit to the host (no OWNS_TIME_LIMIT), which acts too late");
  for (const auto& [role, final_role, name] :
       {std::tuple{BP_ROLE_OBS, BP_ROLE_FINAL_OBS, "FINAL_OBS"}, {BP_ROLE_STATE, BP_ROLE_FINAL_STATE, "FINAL_STATE"}}) {
    const std::vector<const bp_channel*> like = bp::FindChannels(spec(), role), last = bp::FindChannels(spec(), final_role);
    for (size_t i = 0; i < like.size(); ++i) {
      const std::string wanted =
          fmt::format("resets itself (NATIVE_AUTORESET): expected a channel of the role {} like '{}', {}", name, like[i]->name,
                      Layout(*like[i]));
      if (i >= last.size()) refuse(wanted + ", got none");
      if (Layout(*last[i]) != Layout(*like[i]))
        refuse(fmt::format("{}, got '{}', {}", wanted, last[i]->name, Layout(*last[i])));
    }
  }
}

bool EnvInstance::ReadStepsWhole() const {
  const auto* batch = Extension<bp_env_batch_1>(BP_ENV_BATCH_1);
  if (batch == nullptr || CallPlugin(id(), [&] { return batch->whole(made_.get()); }) == 0) return false;
  if ((flags_ & (BP_FLAG_ROWS_CONCURRENT | BP_FLAG_NATIVE_AUTORESET)) != 0)
    throw TrialFailure(BP_E_INTERNAL, id(), BP_ENV_BATCH_1 ": expected neither ROWS_CONCURRENT nor NATIVE_AUTORESET, got one");
  return true;
}

void CheckSameSpaces(const EnvInstance& training, const EnvInstance& evaluation) {
  const auto compare = [&](const EnvInstance& a, const EnvInstance& b) {
    for (const bp_channel* c : a.channels()) {
      const std::string here = Describe(bp::FindChannel(training.spec(), c->name)),
                        there = Describe(bp::FindChannel(evaluation.spec(), c->name));
      if (here != there)
        throw TrialFailure(
            BP_E_CONFIG, a.id(),
            fmt::format("evaluation.env.options change channel '{}' from {} to {}, but the learner was created for the former",
                        c->name, here, there));
    }
    if (a.agents() != b.agents() || GroupsText(a.spec()) != GroupsText(b.spec()))
      throw TrialFailure(BP_E_CONFIG, a.id(), "evaluation.env.options change the number of agents");
    if (a.spec().device.type != b.spec().device.type)
      throw TrialFailure(BP_E_CONFIG, a.id(),
                         "evaluation.env.options change the device, but the learner was created for the training's");
  };
  compare(training, evaluation);
  compare(evaluation, training);
}

void EnvInstance::Bind(const std::vector<bp_frame>& frames) {
  CheckUnchanged();
  const std::vector<bp_frame>& own = below_ ? below_->Bind(spec_, frames) : frames;
  const bp_status status = CallPlugin(id(), [&] { return api_->bind(made_.get(), own.data(), own.size()); });
  if (status != BP_OK) Fail(status, "bind");
}

std::string EnvInstance::ReplacesStates() const {
  if (!below_) return "";
  return below_->replaces_states() ? id() : below_->env().ReplacesStates();
}

void EnvInstance::NextSeeds(uint64_t per_row, const std::vector<uint64_t>& seeds) {
  if (below_) return below_->env().NextSeeds(per_row, seeds);
  const auto* autoreset = Extension<bp_env_autoreset_1>(BP_ENV_AUTORESET_1);
  Call("next_seeds", [&](bp_env* env) { return autoreset->next_seeds(env, per_row, seeds.data()); });
}

LearnerInstance::LearnerInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                                 const InstanceOptions& options, const EnvInstance& env, uint64_t seed)
    : PluginInstance(module, id, sinks), files_(OfferFiles(&services_)), memory_(OfferMemory(&services_)) {
  Require(api_->create, id, "create");
  Require(api_->destroy, id, "destroy");
  Require(api_->spec, id, "spec");
  Require(api_->plan, id, "plan");
  Require(api_->consume, id, "consume");
  Require(api_->act, id, "act");
  const OptionView view(options.options, options.origin, options.prefix);
  bp_learner* made = nullptr;
  const bp_status status =
      CallPlugin(this->id(), [&] { return api_->create(services_.get(), view.get(), &env.spec(), env.rows(), seed, &made); });
  if (status != BP_OK) Fail(status, "create");
  made_.reset(RequireMade(made, id));
  memory_->EndCreate();
  spec_ = ReadSpec(env);
  act_out_ = Pointers(spec_.act_out);
  for (const bp_channel* c : act_out_)
    if (c->role == BP_ROLE_CARRY) carry_.push_back(c);
}

LearnerFiles& LearnerInstance::OfferFiles(HostServices* services) {
  auto files = std::make_shared<LearnerFiles>(services, services->sinks().file_folder);
  services->OfferFiles(LearnerFiles::Api(), files);
  return *files;
}

std::shared_ptr<LearnerMemory> LearnerInstance::OfferMemory(HostServices* services) {
  auto memory = std::make_shared<LearnerMemory>();
  services->OfferShared(LearnerMemory::Api(), memory);
  return memory;
}

CheckedLearnerSpec LearnerInstance::ReadSpec(const EnvInstance& env) const {
  const bp_learner_spec* said = CallPlugin(id(), [&] { return api_->spec(made_.get()); });
  return CheckSpec(id(), said, env.id(), env.checked_spec());
}

void LearnerInstance::CheckUnchanged(const EnvInstance& env) const {
  if (const auto found = Difference(spec_, ReadSpec(env)))
    throw TrialFailure(BP_E_INTERNAL, id(), "spec has changed: " + *found);
}

bp_request LearnerInstance::Plan(const bp_limits& limits) {
  bp_request request{};
  request.struct_size = sizeof request;
  const bp_status status = CallPlugin(id(), [&] { return api_->plan(made_.get(), &limits, &request); });
  if (status != BP_OK) Fail(status, "plan");
  return request;
}

void LearnerInstance::Consume(const bp_delivery& delivery) {
  const bp_status status = CallPlugin(id(), [&] { return api_->consume(made_.get(), &delivery); });
  if (status != BP_OK) Fail(status, "consume");
}

}  // namespace backplane
