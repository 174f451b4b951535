// C++ authoring, common to all kinds: options, errors, and the module that a plugin file exports. Header only; authors fill no
// tables. env.hpp, learner.hpp and monitor.hpp build on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/errors.hpp"
#include "backplane/host.h"
#include "backplane/module.h"
#include "backplane/options.hpp"
#include "backplane/phases.h"  // for PhaseScope

namespace bp {

// Adds a decision of the plugin to the run record ("bp.host.facts/1"); no effect if the host has no such service.
// [control], also in constructors
inline void RecordFact(const bp_host* host, const char* key, const char* value) {
  const auto* facts = static_cast<const bp_host_facts_1*>(host->get_extension(host, BP_HOST_FACTS_1));
  if (facts) facts->record(host, key, value);
}

// The table of a part ("bp.host.part/1"). It starts with its size, and part and plugin are built together. Throws Error.
// [control], also in constructors
template <class Table>
const Table& OpenPart(const bp_host* host, const char* name) {
  const auto* parts = static_cast<const bp_host_part_1*>(host->get_extension(host, BP_HOST_PART_1));
  if (!parts) throw Unsupported("needs its part '" + std::string(name) + "', but this host does not support parts");
  const char* why_not = "";
  const void* table = parts->open(host, name, &why_not);
  if (!table) throw Unsupported(why_not);
  if (*static_cast<const uint32_t*>(table) < sizeof(Table))
    throw Unsupported("its part '" + std::string(name) + "' is older than the plugin");
  return *static_cast<const Table*>(table);
}

// During its life, the thread's time counts for `phase` ("bp.host.phase/1"); no effect if the host has no such service. [any]
class PhaseScope {
 public:
  PhaseScope(const bp_host* host, const char* phase)
      : host_(host), service_(static_cast<const bp_host_phase_1*>(host->get_extension(host, BP_HOST_PHASE_1))) {
    if (service_) entered_ = service_->enter(host_, phase);
  }
  ~PhaseScope() {
    if (service_) service_->leave(host_, entered_);
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  const bp_host* host_;
  const bp_host_phase_1* service_;
  int32_t entered_ = 0;
};

// Self-description of a plugin class: `static constexpr bp::About kAbout{...}`.
struct About {
  const char* id;  // "env.name"
  const char* version;
  const char* summary;
  const char* license = "Apache-2.0";
  uint64_t flags = 0;             // BP_FLAG_*
  const char* aliases = nullptr;  // other names in experiment files, comma-separated: "CartPole-v1"
  uint64_t rows = 0;              // envs: rows of a trial whose experiment sets none; 0: 1
};

// The descriptor of a plugin class P with P::kAbout and P::kOptions (a bp::OptionTable; optional).
template <class P>
const bp_descriptor& DescriptorOf(uint32_t kind) {
  static const bp_descriptor descriptor = [kind] {
    bp_descriptor d{};
    d.struct_size = sizeof d;
    d.kind = kind;
    d.id = P::kAbout.id;
    d.version = P::kAbout.version;
    d.summary = P::kAbout.summary;
    d.license = P::kAbout.license;
    d.flags = P::kAbout.flags;
    d.aliases = P::kAbout.aliases;
    d.rows = P::kAbout.rows;
    if constexpr (requires { P::kOptions; }) {
      static const detail::ParamList list = P::kOptions.Params();
      d.params = list.params().data();
      d.n_params = list.params().size();
    }
    return d;
  }();
  return descriptor;
}

// Base of a part's class; its Api() is a table that starts with its size.
struct Part {
  static constexpr uint32_t kKind = BP_KIND_PART;
};

// The module of plugins Ps..., each a type with `static constexpr uint32_t kKind`, `kAbout` and `static const void* Api()`, as
// defined by env.hpp, learner.hpp and monitor.hpp.
template <class... Ps>
struct Module {
  static uint32_t Count() { return sizeof...(Ps); }
  static const bp_descriptor* Descriptor(uint32_t index) {
    const bp_descriptor* all[] = {&DescriptorOf<Ps>(Ps::kKind)...};
    return index < sizeof...(Ps) ? all[index] : nullptr;
  }
  static const void* Api(const char* id) {
    const void* found = nullptr;
    ((std::string_view(id) == Ps::kAbout.id ? void(found = Ps::Api()) : void()), ...);
    return found;
  }
};

}  // namespace bp

// Exports the module; use it once per plugin, at file scope: BP_PLUGINS(Walker) or BP_PLUGINS(Encoder, Decoder).
#define BP_PLUGINS(...) BP_PLUGINS_SINCE(0, __VA_ARGS__)

// The same for plugins that need a host of the minor version `minor` or newer, such as 1 for rollouts in parts.
#define BP_PLUGINS_SINCE(minor, ...)                                                     \
  BP_META_RESERVE();                                                                     \
  extern "C" BP_EXPORT const bp_module* bp_module_v1(void) {                             \
    using M = bp::Module<__VA_ARGS__>;                                                   \
    static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR,  minor,   0,       \
                                     bp_meta_section,   BP_BUILD_JSON, nullptr, nullptr, \
                                     M::Count,          M::Descriptor, M::Api};          \
    return &module;                                                                      \
  }                                                                                      \
  static_assert(true, "a semicolon follows")
