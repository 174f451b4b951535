// C++ authoring, common to the three kinds: options, errors, and the module a plugin file exports. Header only; a plugin's
// author fills no table by hand. env.hpp, learner.hpp and monitor.hpp build on it.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/host.h"
#include "backplane/module.h"
#include "backplane/phases.h"  // for PhaseScope

namespace bp {

// Thrown inside a plugin; becomes a status and a sentence at the boundary.
class Error : public std::runtime_error {
 public:
  Error(bp_status code, const std::string& text) : std::runtime_error(text), code_(code) {}
  bp_status code() const { return code_; }

 private:
  bp_status code_;
};

inline Error ConfigError(const std::string& text) { return Error(BP_E_CONFIG, text); }
inline Error Unsupported(const std::string& text) { return Error(BP_E_UNSUPPORTED, text); }

// Runs `body` and turns whatever it throws into a status with a sentence: the only place where exceptions end.
template <class Body>
bp_status Guard(const bp_host* host, Body&& body) noexcept {
  try {
    body();
    return BP_OK;
  } catch (const Error& e) {
    return host->fail(host, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return host->fail(host, BP_E_OOM_HOST, "out of memory");
  } catch (const std::exception& e) {
    return host->fail(host, BP_E_INTERNAL, e.what());
  } catch (...) {
    return host->fail(host, BP_E_INTERNAL, "threw something that is not a std::exception");
  }
}

// The options of an instance, by path. Throws bp::Error for a path the table does not declare or of another type.
class Config {
 public:
  explicit Config(const bp_config* config) : config_(config) {}

  double F64(const char* path) const {
    double value = 0;
    Check(config_->f64(config_, path, &value), path, "a number");
    return value;
  }
  int64_t I64(const char* path) const {
    int64_t value = 0;
    Check(config_->i64(config_, path, &value), path, "an integer or a boolean");
    return value;
  }
  // Of an option whose range also has words, such as "auto|[1,)": nothing where a word stands.
  std::optional<double> F64OrWord(const char* path) const {
    double value = 0;
    const char* word = nullptr;
    if (config_->f64(config_, path, &value) == BP_OK) return value;
    Check(config_->str(config_, path, &word), path, "a number or a word");
    return std::nullopt;
  }
  std::optional<int64_t> I64OrWord(const char* path) const {
    int64_t value = 0;
    const char* word = nullptr;
    if (config_->i64(config_, path, &value) == BP_OK) return value;
    Check(config_->str(config_, path, &word), path, "an integer or a word");
    return std::nullopt;
  }
  bool Bool(const char* path) const { return I64(path) != 0; }
  std::string Str(const char* path) const {
    const char* value = nullptr;
    Check(config_->str(config_, path, &value), path, "a text");
    return value;
  }
  std::vector<double> List(const char* path) const {
    uint64_t n = 0;
    Check(config_->list(config_, path, 0, nullptr, &n), path, "a list");
    std::vector<double> values(n);
    Check(config_->list(config_, path, n, values.data(), &n), path, "a list");
    return values;
  }
  // Where the option was set, for messages.
  std::string Where(const char* path) const { return config_->where(config_, path); }

 private:
  static void Check(bp_status status, const char* path, const char* kind) {
    if (status != BP_OK) throw Error(BP_E_INTERNAL, std::string("option '") + path + "' is not declared as " + kind);
  }
  const bp_config* config_;
};

// One option of a plugin's table. `more` sets what is rarely needed: {.unit = "s", .aliases = "n_epochs"}.
struct OptionMore {
  uint16_t flags = BP_PARAM_TUNABLE;
  const char* unit = nullptr;
  const char* aliases = nullptr;
  const char* helps = nullptr;
};
constexpr bp_param Option(uint16_t type, const char* path, const char* def, const char* range, const char* doc,
                          OptionMore more = {}) {
  return {sizeof(bp_param), type, more.flags, path, def, range, more.unit, doc, more.aliases, more.helps};
}
constexpr bp_param F64(const char* path, const char* def, const char* range, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_F64, path, def, range, doc, more);
}
constexpr bp_param I64(const char* path, const char* def, const char* range, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_I64, path, def, range, doc, more);
}
constexpr bp_param Bool(const char* path, const char* def, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_BOOL, path, def, nullptr, doc, more);
}
constexpr bp_param Str(const char* path, const char* def, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_STR, path, def, nullptr, doc, more);
}
// `choices`: "a|b|c".
constexpr bp_param Enum(const char* path, const char* def, const char* choices, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_ENUM, path, def, choices, doc, more);
}
constexpr bp_param Path(const char* path, const char* def, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_PATH, path, def, nullptr, doc, more);
}
constexpr bp_param F64List(const char* path, const char* def, const char* range, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_F64_LIST, path, def, range, doc, more);
}
constexpr bp_param I64List(const char* path, const char* def, const char* range, const char* doc, OptionMore more = {}) {
  return Option(BP_PARAM_I64_LIST, path, def, range, doc, more);
}

// Tells the run record what the plugin decided by itself ("bp.host.facts/1"); nothing where the host has no such service.
// [control], also in constructors
inline void RecordFact(const bp_host* host, const char* key, const char* value) {
  const auto* facts = static_cast<const bp_host_facts_1*>(host->get_extension(host, BP_HOST_FACTS_1));
  if (facts) facts->record(host, key, value);
}

// While it lives, the thread's time counts for `phase` ("bp.host.phase/1"); nothing where the host has no such service. [any]
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

// What a plugin class says about itself: `static constexpr bp::About kAbout{...}`.
struct About {
  const char* id;  // "env.name"
  const char* version;
  const char* summary;
  const char* license = "Apache-2.0";
  uint64_t flags = 0;  // BP_FLAG_*
};

// The descriptor of a plugin class P with P::kAbout and P::kOptions (an array of bp_param; may be absent).
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
    if constexpr (requires { P::kOptions; }) {
      d.params = P::kOptions;
      d.n_params = sizeof(P::kOptions) / sizeof(P::kOptions[0]);
    }
    return d;
  }();
  return descriptor;
}

// The module of plugins Ps..., each a type with `static constexpr uint32_t kKind`, `kAbout` and `static const void* Api()`,
// as env.hpp, learner.hpp and monitor.hpp make them.
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

// Exports the module; stands once in a plugin, at file scope: BP_PLUGINS(Walker) or BP_PLUGINS(Encoder, Decoder).
#define BP_PLUGINS(...)                                                                  \
  BP_META_RESERVE();                                                                     \
  extern "C" BP_EXPORT const bp_module* bp_module_v1(void) {                             \
    using M = bp::Module<__VA_ARGS__>;                                                   \
    static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR,  0,       0,       \
                                     bp_meta_section,   BP_BUILD_JSON, nullptr, nullptr, \
                                     M::Count,          M::Descriptor, M::Api};          \
    return &module;                                                                      \
  }                                                                                      \
  static_assert(true, "a semicolon follows")
