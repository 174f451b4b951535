// The state of an env as bytes ("bp.env.state/1").
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "backplane/ext/state.h"
#include "support/env_harness.hpp"

namespace harness {

struct Bytes {
  std::string data;
  size_t at = 0;
};

inline std::string Saved(Env& env) {
  Bytes bytes;
  const bp_writer writer{sizeof writer, 0, &bytes, [](const bp_writer* w, const void* data, uint64_t n) -> bp_status {
                           static_cast<Bytes*>(w->impl)->data.append(static_cast<const char*>(data), n);
                           return BP_OK;
                         }};
  const auto* state = static_cast<const bp_env_state_1*>(env.api().get_extension(env.get(), BP_ENV_STATE_1));
  EXPECT_EQ(state->save(env.get(), &writer), BP_OK) << env.error();
  return bytes.data;
}

inline bp_status LoadedFrom(Env& env, const std::string& data) {
  Bytes bytes{data};
  const bp_reader reader{sizeof reader, 0, &bytes, [](const bp_reader* r, void* out, uint64_t n) -> bp_status {
                           auto* from = static_cast<Bytes*>(r->impl);
                           if (n > from->data.size() - from->at) return BP_E_IO;
                           std::memcpy(out, from->data.data() + from->at, n);
                           from->at += n;
                           return BP_OK;
                         }};
  const auto* state = static_cast<const bp_env_state_1*>(env.api().get_extension(env.get(), BP_ENV_STATE_1));
  return state->load(env.get(), &reader);
}

}  // namespace harness
