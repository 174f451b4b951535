#include "validate/watched_calls.hpp"

#include <mutex>
#include <string_view>

#include "backplane/env.h"
#include "backplane/ext/autoreset.h"
#include "backplane/ext/batch.h"
#include "backplane/ext/clock.h"
#include "backplane/ext/device_use.h"
#include "backplane/ext/held_out.h"
#include "backplane/ext/inject.h"
#include "backplane/ext/labels.h"
#include "backplane/ext/memory.h"
#include "backplane/ext/parameters.h"
#include "backplane/ext/policy.h"
#include "backplane/ext/render.h"
#include "backplane/ext/snapshot.h"
#include "backplane/ext/source.h"
#include "backplane/ext/state.h"
#include "backplane/ext/tensors.h"
#include "backplane/ext/verdict.h"
#include "backplane/learner.h"
#include "backplane/monitor.h"
#include "validate/doing.hpp"

namespace backplane {
namespace {

enum class Watch { kSubject = 1, kEnvOfLearner };

constexpr PluginCall As(Watch who, PluginCall call) { return who == Watch::kSubject ? call : PluginCall::kEnvOfLearner; }

template <Watch kWho, class Api>
struct Table {
  static inline const Api* original = nullptr;
  static inline Api watched{};
};

// The content of a slot: the same function within an InCall.
template <Watch kWho, PluginCall kCall, auto kSlot>
struct Slot;
template <Watch kWho, PluginCall kCall, class Api, class Result, class... Args, Result (*Api::*kSlot)(Args...)>
struct Slot<kWho, kCall, kSlot> {
  static Result Run(Args... args) {
    const InCall in(As(kWho, kCall));
    return (Table<kWho, Api>::original->*kSlot)(args...);
  }
  static void Set(Api* table) {
    if (table->*kSlot != nullptr) table->*kSlot = Run;
  }
};

// The watched copy of a plugin's table. `set` fills its slots. A plugin has one table of each sort and may return it often.
template <Watch kWho, class Api, class Set>
const void* WatchTable(const void* raw, const Set& set) {
  const auto* original = static_cast<const Api*>(raw);
  if (original == nullptr || original->struct_size < sizeof(Api)) return raw;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Table<kWho, Api>::original == original) return &Table<kWho, Api>::watched;
  Table<kWho, Api>::original = original;
  Table<kWho, Api>::watched = *original;
  Table<kWho, Api>::watched.struct_size = sizeof(Api);
  set(&Table<kWho, Api>::watched);
  return &Table<kWho, Api>::watched;
}

template <Watch kWho, class Api, PluginCall kCall, auto... kSlots>
const void* WatchAll(const void* raw) {
  return WatchTable<kWho, Api>(raw, [](Api* table) { (Slot<kWho, kCall, kSlots>::Set(table), ...); });
}

template <Watch kWho>
const void* WatchExtension(std::string_view id, const void* raw) {
  using enum PluginCall;
  if (id == BP_ENV_AUTORESET_1) return WatchAll<kWho, bp_env_autoreset_1, kNextSeeds, &bp_env_autoreset_1::next_seeds>(raw);
  if (id == BP_ENV_BATCH_1) return WatchAll<kWho, bp_env_batch_1, kOtherExtension, &bp_env_batch_1::whole>(raw);
  if (id == BP_ENV_CLOCK_1) return WatchAll<kWho, bp_env_clock_1, kOtherExtension, &bp_env_clock_1::step_s>(raw);
  if (id == BP_ENV_INJECT_1)
    return WatchAll<kWho, bp_env_inject_1, kInject, &bp_env_inject_1::part, &bp_env_inject_1::get, &bp_env_inject_1::set>(raw);
  if (id == BP_ENV_LABELS_1) return WatchAll<kWho, bp_env_labels_1, kOtherExtension, &bp_env_labels_1::label>(raw);
  if (id == BP_ENV_MEMORY_1)
    return WatchAll<kWho, bp_env_memory_1, kOtherExtension, &bp_env_memory_1::allocate, &bp_env_memory_1::release,
                    &bp_env_memory_1::to_host, &bp_env_memory_1::to_device, &bp_env_memory_1::copy, &bp_env_memory_1::gather>(
        raw);
  if (id == BP_ENV_PARAMETERS_1)
    return WatchAll<kWho, bp_env_parameters_1, kOtherExtension, &bp_env_parameters_1::parameter, &bp_env_parameters_1::scale>(
        raw);
  if (id == BP_ENV_RENDER_1)
    return WatchAll<kWho, bp_env_render_1, kRender, &bp_env_render_1::size, &bp_env_render_1::backdrop,
                    &bp_env_render_1::frame>(raw);
  if (id == BP_ENV_SNAPSHOT_1)
    return WatchAll<kWho, bp_env_snapshot_1, kSnapshot, &bp_env_snapshot_1::row_bytes, &bp_env_snapshot_1::get,
                    &bp_env_snapshot_1::set>(raw);
  if (id == BP_ENV_SOURCE_1)
    return WatchAll<kWho, bp_env_source_1, kSource, &bp_env_source_1::length, &bp_env_source_1::read>(raw);
  if (id == BP_ENV_STATE_1)
    return WatchTable<kWho, bp_env_state_1>(raw, [](bp_env_state_1* table) {
      Slot<kWho, kSave, &bp_env_state_1::save>::Set(table);
      Slot<kWho, kLoad, &bp_env_state_1::load>::Set(table);
    });
  if (id == BP_LEARNER_STATE_1)
    return WatchTable<kWho, bp_learner_state_1>(raw, [](bp_learner_state_1* table) {
      Slot<kWho, kSave, &bp_learner_state_1::save>::Set(table);
      Slot<kWho, kLoad, &bp_learner_state_1::load>::Set(table);
    });
  if (id == BP_LEARNER_POLICY_1)
    return WatchTable<kWho, bp_learner_policy_1>(raw, [](bp_learner_policy_1* table) {
      Slot<kWho, kSave, &bp_learner_policy_1::save>::Set(table);
      Slot<kWho, kLoad, &bp_learner_policy_1::load>::Set(table);
      Slot<kWho, kOtherExtension, &bp_learner_policy_1::form>::Set(table);
      Slot<kWho, kLoad, &bp_learner_policy_1::start>::Set(table);
    });
  if (id == BP_LEARNER_TENSORS_1) return WatchAll<kWho, bp_learner_tensors_1, kTensors, &bp_learner_tensors_1::get>(raw);
  if (id == BP_LEARNER_HELD_OUT_1)
    return WatchAll<kWho, bp_learner_held_out_1, kOtherExtension, &bp_learner_held_out_1::loss>(raw);
  if (id == BP_LEARNER_DEVICE_USE_1)
    return WatchAll<kWho, bp_learner_device_use_1, kOtherExtension, &bp_learner_device_use_1::read,
                    &bp_learner_device_use_1::reset_peak>(raw);
  if (id == BP_MONITOR_VERDICT_1)
    return WatchAll<kWho, bp_monitor_verdict_1, kOtherExtension, &bp_monitor_verdict_1::verdict>(raw);
  return raw;
}

// get_extension, which also returns the watched table.
template <Watch kWho, class Api, class Instance>
const void* GetExtension(const Instance* instance, const char* id) {
  const void* const table = Slot<kWho, PluginCall::kGetExtension, &Api::get_extension>::Run(instance, id);
  return id == nullptr ? table : WatchExtension<kWho>(id, table);
}

// The slots common to all three kinds.
template <Watch kWho, class Instance, class Api>
void SetCommon(Api* table) {
  Slot<kWho, PluginCall::kCreate, &Api::create>::Set(table);
  Slot<kWho, PluginCall::kDestroy, &Api::destroy>::Set(table);
  if (table->get_extension != nullptr) table->get_extension = GetExtension<kWho, Api, Instance>;
}

template <Watch kWho>
void SetEnv(bp_env_api* table) {
  SetCommon<kWho, bp_env>(table);
  Slot<kWho, PluginCall::kSpec, &bp_env_api::spec>::Set(table);
  Slot<kWho, PluginCall::kBind, &bp_env_api::bind>::Set(table);
  Slot<kWho, PluginCall::kReset, &bp_env_api::reset>::Set(table);
  Slot<kWho, PluginCall::kStep, &bp_env_api::step>::Set(table);
}

template <Watch kWho>
void SetLearner(bp_learner_api* table) {
  SetCommon<kWho, bp_learner>(table);
  Slot<kWho, PluginCall::kSpec, &bp_learner_api::spec>::Set(table);
  Slot<kWho, PluginCall::kPlan, &bp_learner_api::plan>::Set(table);
  Slot<kWho, PluginCall::kConsume, &bp_learner_api::consume>::Set(table);
  Slot<kWho, PluginCall::kAct, &bp_learner_api::act>::Set(table);
}

template <Watch kWho>
void SetMonitor(bp_monitor_api* table) {
  SetCommon<kWho, bp_monitor>(table);
  Slot<kWho, PluginCall::kInterests, &bp_monitor_api::interests>::Set(table);
  Slot<kWho, PluginCall::kOnEvents, &bp_monitor_api::on_events>::Set(table);
  Slot<kWho, PluginCall::kSample, &bp_monitor_api::sample>::Set(table);
  Slot<kWho, PluginCall::kFinish, &bp_monitor_api::finish>::Set(table);
}

// A module in front of the plugin's, whose api returns the watched tables.
template <Watch kWho>
struct Module {
  static inline std::unique_ptr<LoadedModule> original;
  static inline bp_module watched{};

  static const void* Api(const char* id) {
    const void* raw = nullptr;
    {
      const InCall in(As(kWho, PluginCall::kLoading));
      raw = original->module().api(id);
    }
    if (raw == nullptr) return raw;
    switch (original->descriptor(id).kind) {
      case BP_KIND_ENV: return WatchTable<kWho, bp_env_api>(raw, SetEnv<kWho>);
      case BP_KIND_LEARNER: return WatchTable<kWho, bp_learner_api>(raw, SetLearner<kWho>);
      case BP_KIND_MONITOR: return WatchTable<kWho, bp_monitor_api>(raw, SetMonitor<kWho>);
      default: return raw;
    }
  }

  static std::unique_ptr<LoadedModule> Of(std::unique_ptr<LoadedModule> module) {
    original = std::move(module);
    watched = original->module();
    watched.struct_size = sizeof watched;
    watched.api = Api;
    return LoadedModule::FromTable(watched, original->file());
  }
};

}  // namespace

std::unique_ptr<LoadedModule> WatchSubject(std::unique_ptr<LoadedModule> module) {
  return Module<Watch::kSubject>::Of(std::move(module));
}

std::unique_ptr<LoadedModule> WatchEnvOfLearner(std::unique_ptr<LoadedModule> module) {
  return Module<Watch::kEnvOfLearner>::Of(std::move(module));
}

}  // namespace backplane
