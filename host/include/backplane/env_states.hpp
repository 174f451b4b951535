// States of rows by name ("bp.env.inject/1"). Part of env.hpp, which authors include and which lists the members of a batch
// or a row.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/env_slot.hpp"
#include "backplane/ext/inject.h"
#include "backplane/signatures.hpp"

namespace bp {

struct StatePart {
  const char* name;  // static text
  uint64_t n;        // numbers
};

namespace detail {

BP_NAMED(StateParts)
BP_NAMED(GetState)
BP_NAMED(SetState)

template <class B>
concept NamesStates = requires(B& b, const B& c, double* out, const double* in, const Slot& slot) {
  std::vector<StatePart>{c.StateParts()}, c.GetState(uint64_t{}, out), b.SetState(uint64_t{}, in, slot);
};

template <class B>
constexpr void CheckStates() {
  static_assert(NamesStates<B> || !(Names_StateParts<B> || Names_GetState<B> || Names_SetState<B>),
                "states of an env by name need all three functions: std::vector<bp::StatePart> StateParts() const, void "
                "GetState(uint64_t row, double*) const, void SetState(uint64_t row, const double*, const bp::Slot&)");
}

// The table over instances of I, which has host(), rows(), batch() and SetState(row, values); NULL for any other id.
template <class I>
struct States {
  using Batch = std::remove_reference_t<decltype(std::declval<I&>().batch())>;

  static const void* Table(std::string_view id) {
    if constexpr (NamesStates<Batch>) {
      static constexpr bp_env_inject_1 inject = {sizeof(bp_env_inject_1), 0, Part, Get, Set};
      if (id == BP_ENV_INJECT_1) return &inject;
    }
    return nullptr;
  }

 private:
  static I& Of(bp_env* env) { return *reinterpret_cast<I*>(env); }
  static void CheckRow(const I& instance, uint64_t row) {
    if (row >= instance.rows()) throw Error(BP_E_INVALID_ARG, "there is no row " + std::to_string(row));
  }
  static const char* Part(const bp_env* env, uint64_t i, uint64_t* out_n) {
    const std::vector<StatePart> parts = reinterpret_cast<const I*>(env)->batch().StateParts();
    if (i >= parts.size()) return nullptr;
    *out_n = parts[i].n;
    return parts[i].name;
  }
  static bp_status Get(bp_env* env, uint64_t row, double* out) {
    return Guard(Of(env).host(), [&] {
      CheckRow(Of(env), row);
      std::as_const(Of(env)).batch().GetState(row, out);
    });
  }
  static bp_status Set(bp_env* env, uint64_t row, const double* values) {
    return Guard(Of(env).host(), [&] {
      CheckRow(Of(env), row);
      Of(env).SetState(row, values);
    });
  }
};

}  // namespace detail
}  // namespace bp
