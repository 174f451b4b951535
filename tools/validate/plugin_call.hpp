// Sets of a plugin's functions: those that a case calls, and those that a process is in.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "record/fields.hpp"

namespace backplane {

enum class PluginCall : uint32_t {
  kOutside = 1,  // none of them: static objects, the plugin's own threads
  kLoading,      // while the file is loaded
  kCreate,
  kDestroy,
  kSpec,
  kGetExtension,
  kBind,
  kReset,
  kStep,
  kNextSeeds,
  kSnapshot,
  kInject,
  kSource,
  kRender,
  kOtherExtension,
  kPlan,
  kConsume,
  kAct,
  kSave,
  kLoad,
  kTensors,
  kInterests,
  kOnEvents,
  kSample,
  kFinish,
  kEnvOfLearner,  // any function of the env used to test a learner
  kExit,          // while the process ends
  kEnd
};

constexpr auto WordsOf(PluginCall) {
  using enum PluginCall;
  return std::to_array<WordOf<PluginCall>>({{kOutside, "code outside its functions"},
                                            {kLoading, "loading"},
                                            {kCreate, "create"},
                                            {kDestroy, "destroy"},
                                            {kSpec, "spec"},
                                            {kGetExtension, "get_extension"},
                                            {kBind, "bind"},
                                            {kReset, "reset"},
                                            {kStep, "step"},
                                            {kNextSeeds, "next_seeds"},
                                            {kSnapshot, "a function of bp.env.snapshot"},
                                            {kInject, "a function of bp.env.inject"},
                                            {kSource, "a function of bp.env.source"},
                                            {kRender, "a function of bp.env.render"},
                                            {kOtherExtension, "an extension"},
                                            {kPlan, "plan"},
                                            {kConsume, "consume"},
                                            {kAct, "act"},
                                            {kSave, "save"},
                                            {kLoad, "load"},
                                            {kTensors, "tensors"},
                                            {kInterests, "interests"},
                                            {kOnEvents, "on_events"},
                                            {kSample, "sample"},
                                            {kFinish, "finish"},
                                            {kEnvOfLearner, "the env"},
                                            {kExit, "code at exit"}});
}

class CallSet {
 public:
  constexpr CallSet() = default;
  constexpr CallSet(std::initializer_list<PluginCall> calls) {
    for (const PluginCall call : calls) bits_ |= Bit(call);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Has(PluginCall call) const { return (bits_ & Bit(call)) != 0; }
  // The first in the order above; kEnd: none.
  constexpr PluginCall First() const {
    uint32_t call = 1;
    while (call < static_cast<uint32_t>(PluginCall::kEnd) && !Has(static_cast<PluginCall>(call))) ++call;
    return static_cast<PluginCall>(call);
  }
  constexpr CallSet operator|(CallSet other) const { return CallSet(bits_ | other.bits_); }
  constexpr CallSet operator&(CallSet other) const { return CallSet(bits_ & other.bits_); }
  constexpr CallSet Without(CallSet other) const { return CallSet(bits_ & ~other.bits_); }
  constexpr CallSet& operator|=(CallSet other) { return *this = *this | other; }
  constexpr bool operator==(const CallSet&) const = default;

 private:
  explicit constexpr CallSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t Bit(PluginCall call) { return uint32_t{1} << static_cast<uint32_t>(call); }

  uint32_t bits_ = 0;
};

// The functions that most cases call.
inline constexpr CallSet kLoads = {PluginCall::kOutside, PluginCall::kLoading};
inline constexpr CallSet kMakes = kLoads | CallSet{PluginCall::kCreate, PluginCall::kDestroy, PluginCall::kSpec,
                                                   PluginCall::kGetExtension, PluginCall::kEnvOfLearner};
inline constexpr CallSet kPlays =
    kMakes | CallSet{PluginCall::kBind, PluginCall::kReset, PluginCall::kStep, PluginCall::kNextSeeds};
inline constexpr CallSet kActs = kMakes | CallSet{PluginCall::kAct};
inline constexpr CallSet kTrains = kActs | CallSet{PluginCall::kPlan, PluginCall::kConsume, PluginCall::kOtherExtension};
inline constexpr CallSet kListens =
    kMakes | CallSet{PluginCall::kInterests, PluginCall::kOnEvents, PluginCall::kSample, PluginCall::kFinish};
inline constexpr CallSet kUses = kPlays | kTrains | kListens | CallSet{PluginCall::kSave};

}  // namespace backplane
