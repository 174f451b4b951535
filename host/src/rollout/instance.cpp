#include "rollout/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "backplane/ext/memory.h"

namespace backplane {

constinit thread_local const char* tls_running_plugin = "";

namespace {

// Channels are an array of structs whose size is element 0's, which may be larger than ours.
std::vector<const bp_channel*> Walk(const bp_channel* first, uint64_t n) {
  std::vector<const bp_channel*> out;
  for (uint64_t i = 0; i < n; ++i)
    out.push_back(reinterpret_cast<const bp_channel*>(reinterpret_cast<const char*>(first) + i * first->struct_size));
  return out;
}

std::vector<std::string> Names(const char* const* list) {
  std::vector<std::string> out;
  for (; list != nullptr && *list != nullptr; ++list) out.emplace_back(*list);
  return out;
}

template <class Slot>
void Require(Slot slot, const std::string& id, const char* name) {
  if (slot == nullptr) throw TrialFailure(BP_E_INTERNAL, id, fmt::format("its function table has no '{}'", name));
}

uint64_t Elements(const bp_channel& c) {
  uint64_t n = 1;
  for (uint16_t i = 0; i < c.ndim; ++i) n *= static_cast<uint64_t>(c.shape[i]);
  return n;
}

std::string Layout(const bp_channel* c) {
  std::string shape;
  for (uint16_t i = 0; i < c->ndim; ++i) shape += (i ? "x" : "") + std::to_string(c->shape[i]);
  return fmt::format("[{}] of type code {}, {} bits, scope {}", shape, c->dtype.code, c->dtype.bits, c->scope);
}

std::string Describe(const bp_channel* c) { return c ? fmt::format("{}, role {}", Layout(c), c->role) : "none"; }

// What the channel says of the values it may hold, on which whoever draws an action relies.
void CheckValues(const bp_channel& c, const std::string& id) {
  const auto refuse = [&](const std::string& wanted, const std::string& found) {
    throw TrialFailure(BP_E_INTERNAL, id, fmt::format("channel '{}': wanted {}, found {}", c.name, wanted, found));
  };
  const uint64_t elements = Elements(c);
  if (c.space == BP_SPACE_DISCRETE || c.space == BP_SPACE_TOKENS || c.space == BP_SPACE_MULTI_DISCRETE) {
    if (c.nvec == nullptr) refuse("the numbers of choices in nvec", "NULL");
    for (uint64_t i = 0; i < (c.space == BP_SPACE_MULTI_DISCRETE ? elements : 1); ++i)
      if (c.nvec[i] < 1) refuse("1 choice or more", fmt::format("nvec[{}] = {}", i, c.nvec[i]));
  }
  if (c.n_bounds > 1 && c.n_bounds != elements)
    refuse(fmt::format("bounds for none, for all or for each of its {} elements", elements),
           fmt::format("n_bounds = {}", c.n_bounds));
  if (c.n_bounds > 0 && (c.low == nullptr || c.high == nullptr))
    refuse(fmt::format("low and high, since n_bounds = {}", c.n_bounds), c.low == nullptr ? "low = NULL" : "high = NULL");
}

}  // namespace

EnvInstance::EnvInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                         const InstanceOptions& options, uint64_t rows)
    : services_(id, &sinks),
      api_(module.api<bp_env_api>(id)),
      rows_(rows),
      flags_(module.descriptor(id).flags),
      resets_itself_((flags_ & BP_FLAG_NATIVE_AUTORESET) != 0),
      env_(nullptr, api_->destroy) {
  Require(api_->create, id, "create");
  Require(api_->destroy, id, "destroy");
  Require(api_->spec, id, "spec");
  Require(api_->bind, id, "bind");
  Require(api_->reset, id, "reset");
  Require(api_->step, id, "step");
  const OptionView view(options.options, options.origin, options.prefix);
  bp_env* made = nullptr;
  const bp_status status = CallPlugin(this->id(), [&] { return api_->create(services_.get(), view.get(), rows, &made); });
  if (status != BP_OK) Fail(status, "create");
  env_.reset(made);
  spec_ = api_->spec(made);
  channels_ = Walk(spec_->channels, spec_->n_channels);
  CheckSpec();
}

void EnvInstance::CheckSpec() const {
  const std::pair<uint16_t, const char*> needed[] = {
      {BP_ROLE_OBS, "obs"}, {BP_ROLE_ACTION, "action"}, {BP_ROLE_REWARD, "reward"}, {BP_ROLE_TERMINATED, "terminated"}};
  for (const auto& [role, name] : needed)
    if (FindRole(role) == nullptr)
      throw TrialFailure(BP_E_INTERNAL, id(), fmt::format("declares no channel of the role of '{}'", name));
  const auto refuse = [&](bool bad, const char* what) {
    if (bad) throw TrialFailure(BP_E_UNSUPPORTED, id(), fmt::format("{}, which this version of the host does not serve", what));
  };
  refuse(flags_ & BP_FLAG_SINGLETON, "allows only one instance (SINGLETON)");
  refuse((flags_ & BP_FLAG_OWNS_TIME_LIMIT) && FindRole(BP_ROLE_TRUNCATED) == nullptr,
         "owns its time limit and has no channel 'truncated'");
  CheckResets();
  for (const bp_channel* c : channels_) {
    CheckValues(*c, id());
    const auto want = [&](bool ok, const char* wanted) {
      if (!ok)
        throw TrialFailure(BP_E_INTERNAL, id(),
                           fmt::format("channel '{}': wanted {}, found type code {} of {} bits with {} elements a row", c->name,
                                       wanted, c->dtype.code, c->dtype.bits, Elements(*c)));
    };
    const bool is_float = c->dtype.code == BP_DTYPE_FLOAT, one = Elements(*c) == 1;
    if (c->role == BP_ROLE_REWARD) want(is_float && c->dtype.bits == 32 && one, "one float32");
    if (c->role == BP_ROLE_TERMINATED || c->role == BP_ROLE_TRUNCATED)
      want(c->dtype.code == BP_DTYPE_UINT && c->dtype.bits == 8 && one && c->scope == BP_SCOPE_ROW, "one uint8 in row scope");
    if (c->role == BP_ROLE_INFO && IsEpisodeInfo(*c))
      want(is_float && (c->dtype.bits == 32 || c->dtype.bits == 64) && one, "one float");
  }
}

// What an env that resets itself, or that works on a device, must offer for the host to keep its books.
void EnvInstance::CheckResets() const {
  const auto refuse = [&](const std::string& what) { throw TrialFailure(BP_E_INTERNAL, id(), what); };
  if (on_device() && !resets_itself_)
    refuse(
        "keeps its channels on a device and does not reset itself (NATIVE_AUTORESET): the host would wait for every step to "
        "look "
        "at its flags");
  if (on_device() && Extension<bp_env_memory_1>(BP_ENV_MEMORY_1) == nullptr)
    refuse("keeps its channels on a device and does not offer " BP_ENV_MEMORY_1 ", with which the host makes buffers there");
  if (!resets_itself_) return;
  if (Extension<bp_env_autoreset_1>(BP_ENV_AUTORESET_1) == nullptr)
    refuse("resets itself (NATIVE_AUTORESET) and does not offer " BP_ENV_AUTORESET_1 ", through which it gets its seeds");
  if ((flags_ & BP_FLAG_OWNS_TIME_LIMIT) == 0)
    refuse("resets itself (NATIVE_AUTORESET) and leaves its time limit to the host (no OWNS_TIME_LIMIT), which looks too late");
  for (const auto& [role, final_role, name] :
       {std::tuple{BP_ROLE_OBS, BP_ROLE_FINAL_OBS, "FINAL_OBS"}, {BP_ROLE_STATE, BP_ROLE_FINAL_STATE, "FINAL_STATE"}}) {
    const bp_channel *like = FindRole(role), *last = FindRole(final_role);
    if (like == nullptr) continue;
    const std::string wanted = fmt::format("resets itself (NATIVE_AUTORESET): wanted a channel of the role {} like '{}', {}",
                                           name, like->name, Layout(like));
    if (last == nullptr) refuse(wanted + ", found none");
    if (Layout(last) != Layout(like)) refuse(fmt::format("{}, found '{}', {}", wanted, last->name, Layout(last)));
  }
}

bool IsEpisodeInfo(const bp_channel& channel) {
  return channel.role == BP_ROLE_INFO && channel.scope == BP_SCOPE_ROW && std::string_view(channel.name).starts_with("ep/");
}

const bp_channel* EnvInstance::Find(const std::string& name) const {
  const auto it = std::find_if(channels_.begin(), channels_.end(), [&](const bp_channel* c) { return name == c->name; });
  return it == channels_.end() ? nullptr : *it;
}

const bp_channel* EnvInstance::FindRole(uint16_t role) const {
  const auto it = std::find_if(channels_.begin(), channels_.end(), [&](const bp_channel* c) { return c->role == role; });
  return it == channels_.end() ? nullptr : *it;
}

void CheckSameSpaces(const EnvInstance& training, const EnvInstance& evaluation) {
  const auto compare = [&](const EnvInstance& a, const EnvInstance& b) {
    for (const bp_channel* c : a.channels()) {
      const std::string here = Describe(training.Find(c->name)), there = Describe(evaluation.Find(c->name));
      if (here != there)
        throw TrialFailure(
            BP_E_CONFIG, a.id(),
            fmt::format("evaluation.env.options change channel '{}' from {} to {}, and the learner was made for the first",
                        c->name, here, there));
    }
    if (a.agents() != b.agents()) throw TrialFailure(BP_E_CONFIG, a.id(), "evaluation.env.options change the number of agents");
    if (a.spec().device.type != b.spec().device.type)
      throw TrialFailure(BP_E_CONFIG, a.id(),
                         "evaluation.env.options change the device, and the learner was made for the first");
  };
  compare(training, evaluation);
  compare(evaluation, training);
}

void EnvInstance::Bind(const std::vector<bp_frame>& frames) {
  const bp_status status = CallPlugin(id(), [&] { return api_->bind(env_.get(), frames.data(), frames.size()); });
  if (status != BP_OK) Fail(status, "bind");
}

void EnvInstance::NextSeeds(uint64_t per_row, const std::vector<uint64_t>& seeds) {
  const auto* autoreset = Extension<bp_env_autoreset_1>(BP_ENV_AUTORESET_1);
  const bp_status status = CallPlugin(id(), [&] { return autoreset->next_seeds(env_.get(), per_row, seeds.data()); });
  if (status != BP_OK) Fail(status, "next_seeds");
}

void EnvInstance::Fail(bp_status status, const std::string& doing) {
  throw TrialFailure(status, id(), fmt::format("{}: {}", doing, services_.TakeError()));
}

LearnerInstance::LearnerInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                                 const InstanceOptions& options, const EnvInstance& env, uint64_t seed)
    : services_(id, &sinks),
      api_(module.api<bp_learner_api>(id)),
      flags_(module.descriptor(id).flags),
      learner_(nullptr, api_->destroy) {
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
  learner_.reset(made);
  spec_ = api_->spec(made);
  act_out_ = Walk(spec_->act_out, spec_->n_act_out);
  act_in_ = Names(spec_->act_in);
  keep_ = Names(spec_->keep);
  CheckSpec(env);
}

void LearnerInstance::CheckSpec(const EnvInstance& env) {
  const bp_channel& obs = *env.FindRole(BP_ROLE_OBS);
  if ((spec_->flags & BP_LEARNER_OBS_MOMENTS) && env.on_device())
    throw TrialFailure(
        BP_E_UNSUPPORTED, id(),
        fmt::format("wants moments of the observations, which the host computes, and {} keeps them on a device", env.id()));
  if ((spec_->flags & BP_LEARNER_OBS_MOMENTS) && (obs.dtype.code != BP_DTYPE_FLOAT || obs.dtype.bits != 32))
    throw TrialFailure(BP_E_UNSUPPORTED, id(),
                       fmt::format("wants moments of the observations, which must then be float32 in {}", env.id()));
  for (const std::string& name : act_in_)
    if (env.Find(name) == nullptr)
      throw TrialFailure(BP_E_UNSUPPORTED, id(), fmt::format("reads the channel '{}', which {} does not have", name, env.id()));
  for (const std::string& name : keep_) {
    const bool written = std::any_of(act_out_.begin(), act_out_.end(), [&](const bp_channel* c) { return name == c->name; });
    const bool by_host = name == "truncated" && env.FindRole(BP_ROLE_TRUNCATED) == nullptr;
    if (env.Find(name) == nullptr && !written && !by_host)
      throw TrialFailure(BP_E_UNSUPPORTED, id(),
                         fmt::format("wants to keep the channel '{}', which neither it nor {} writes", name, env.id()));
  }
  for (const bp_channel* want : env.channels()) {
    if (want->role != BP_ROLE_ACTION) continue;
    const auto it =
        std::find_if(act_out_.begin(), act_out_.end(), [&](const bp_channel* c) { return std::string(c->name) == want->name; });
    if (it == act_out_.end())
      throw TrialFailure(BP_E_UNSUPPORTED, id(),
                         fmt::format("does not write the channel '{}' that {} needs", want->name, env.id()));
    if (Elements(**it) != Elements(*want) || (*it)->dtype.code != want->dtype.code || (*it)->dtype.bits != want->dtype.bits)
      throw TrialFailure(BP_E_UNSUPPORTED, id(),
                         fmt::format("writes '{}' with {} elements of {} bits, {} wants {} of {}", want->name, Elements(**it),
                                     (*it)->dtype.bits, env.id(), Elements(*want), want->dtype.bits));
  }
}

bp_request LearnerInstance::Plan(const bp_limits& limits) {
  bp_request request{};
  request.struct_size = sizeof request;
  const bp_status status = CallPlugin(id(), [&] { return api_->plan(learner_.get(), &limits, &request); });
  if (status != BP_OK) Fail(status, "plan");
  return request;
}

void LearnerInstance::Consume(const bp_delivery& delivery) {
  const bp_status status = CallPlugin(id(), [&] { return api_->consume(learner_.get(), &delivery); });
  if (status != BP_OK) Fail(status, "consume");
}

void LearnerInstance::Fail(bp_status status, const std::string& doing) {
  throw TrialFailure(status, id(), fmt::format("{}: {}", doing, services_.TakeError()));
}

}  // namespace backplane
