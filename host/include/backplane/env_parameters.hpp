// Physical parameters that a person may scale ("bp.env.parameters/1"). Part of env.hpp, which authors include and which lists
// the members of a batch or a row's Model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "backplane/env_slot.hpp"
#include "backplane/ext/parameters.h"
#include "backplane/signatures.hpp"

namespace bp {

struct Parameter {
  const char *name, *help;  // static texts
};

namespace detail {

BP_NAMED(ScaleParameter)

// B: a batch, or the Model of a row.
template <class B>
concept HasParameters = requires(B& b, const B& c) {
  std::vector<Parameter>{c.Parameters()}, b.ScaleParameter(uint64_t{}, double{});
};

template <class B>
constexpr void CheckParameters() {
  static_assert(HasParameters<B> || !Names_ScaleParameter<B>,
                "parameters of an env need both functions: std::vector<bp::Parameter> Parameters() const, void "
                "ScaleParameter(uint64_t i, double factor)");
}

// The table over instances of I, which has host() and batch(); NULL for any other id.
template <class I>
struct ParameterCalls {
  using Batch = std::remove_reference_t<decltype(std::declval<I&>().batch())>;

  static const void* Table(std::string_view id) {
    if constexpr (HasParameters<Batch>) {
      static constexpr bp_env_parameters_1 table = {sizeof(bp_env_parameters_1), 0, At, Scale};
      if (id == BP_ENV_PARAMETERS_1) return &table;
    }
    return nullptr;
  }

 private:
  static const char* At(const bp_env* env, uint64_t i, const char** out_help) {
    const std::vector<Parameter> all = reinterpret_cast<const I*>(env)->batch().Parameters();
    if (i >= all.size()) return nullptr;
    *out_help = all[i].help;
    return all[i].name;
  }
  static bp_status Scale(bp_env* env, uint64_t i, double factor) {
    I& instance = *reinterpret_cast<I*>(env);
    return Guard(instance.host(), [&] {
      if (i >= instance.batch().Parameters().size())
        throw Error(BP_E_INVALID_ARG, "there is no parameter " + std::to_string(i));
      instance.batch().ScaleParameter(i, factor);
    });
  }
};

}  // namespace detail
}  // namespace bp
