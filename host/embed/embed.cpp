// The env functions of backplane/embed.h: checks arguments and converts exceptions to statuses.
#include "backplane/embed.h"

#include <cstddef>
#include <cstring>

#include "embed/embedded_env.hpp"
#include "embed/handles.hpp"
#include "embed/last_error.hpp"

namespace backplane {
namespace {

// A bp_view is a bp_tensor with other names.
static_assert(sizeof(bp_view) == sizeof(bp_tensor));
static_assert(offsetof(bp_view, device_type) == offsetof(bp_tensor, device) &&
              offsetof(bp_view, ndim) == offsetof(bp_tensor, ndim));
static_assert(offsetof(bp_view, code) == offsetof(bp_tensor, dtype) && offsetof(bp_view, shape) == offsetof(bp_tensor, shape));
static_assert(offsetof(bp_view, strides) == offsetof(bp_tensor, strides) &&
              offsetof(bp_view, byte_offset) == offsetof(bp_tensor, byte_offset));

template <class Body>
bp_status InEnv(const bp_embed* handle, Body&& body) noexcept {
  const HandleUse use(handle);
  if (use.env() == nullptr) return BP_E_INVALID_ARG;
  return Answer([&] { body(*use.env()); });
}

}  // namespace
}  // namespace backplane

using namespace backplane;

const char* bp_embed_error(void) { return LastError(); }
const char* bp_embed_unknown_options(void) { return UnknownOptions(); }

const char* bp_embed_version(void) { return BACKPLANE_VERSION; }

const char* bp_embed_envs(void) {
  const char* text = nullptr;
  Answer([&] { text = LendText(EnvListText()); });
  return text;
}

bp_status bp_embed_open(const char* so, const char* id, const char* options, uint64_t rows, uint64_t seed, uint32_t threads,
                        bp_embed** out) {
  return Answer([&] {
    Require(out, "out");
    *out = nullptr;
    *out = NewHandle(std::make_unique<EmbeddedEnv>(FindEnv(so, id, options), rows, seed, threads));
  });
}

bp_status bp_embed_close(bp_embed* handle) {
  HandleUse use(handle);
  if (use.env() == nullptr) return BP_E_INVALID_ARG;
  return Answer([&] { use.Close(); });
}

const char* bp_embed_spec(bp_embed* handle) {
  const char* text = nullptr;
  InEnv(handle, [&](const EmbeddedEnv& env) { text = env.spec().c_str(); });
  return text;
}

bp_status bp_embed_tensor(bp_embed* handle, const char* channel, bp_view* out) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    Require(channel, "channel");
    Require(out, "out");
    std::memcpy(out, env.Channel(channel).entry(0), sizeof *out);
  });
}

bp_status bp_embed_autoreset(bp_embed* handle, int32_t mode) {
  return InEnv(handle, [&](EmbeddedEnv& env) { env.SetAutoreset(static_cast<Autoreset>(mode)); });
}

bp_status bp_embed_check_actions(bp_embed* handle, int32_t on) {
  return InEnv(handle, [&](EmbeddedEnv& env) { env.CheckActions(on != 0); });
}

bp_status bp_embed_reset(bp_embed* handle, const uint8_t* mask, const uint64_t* seeds) {
  return InEnv(handle, [&](EmbeddedEnv& env) { env.Reset(mask, seeds); });
}

bp_status bp_embed_seed(bp_embed* handle, uint64_t seed) {
  return InEnv(handle, [&](EmbeddedEnv& env) { env.SetSeed(seed); });
}

bp_status bp_embed_time_limit(bp_embed* handle, uint64_t steps) {
  return InEnv(handle, [&](EmbeddedEnv& env) { env.SetTimeLimit(steps); });
}

bp_status bp_embed_step(bp_embed* handle) {
  return InEnv(handle, [](EmbeddedEnv& env) { env.Step(); });
}

bp_status bp_embed_step_send(bp_embed* handle) {
  return InEnv(handle, [](EmbeddedEnv& env) { env.Send(); });
}

bp_status bp_embed_step_wait(bp_embed* handle) {
  return InEnv(handle, [](EmbeddedEnv& env) { env.Wait(); });
}

const char* bp_embed_error_of(bp_embed* handle, uint64_t row) {
  const char* text = nullptr;
  InEnv(handle, [&](const EmbeddedEnv& env) { text = env.ErrorOf(row).c_str(); });
  return text;
}

bp_status bp_embed_save(bp_embed* handle, void* buf, uint64_t cap, uint64_t* out_n) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    Require(out_n, "out_n");
    const std::vector<std::byte> saved = env.Save();
    *out_n = saved.size();
    if (buf == nullptr) return;
    if (cap < saved.size())
      throw TrialFailure(BP_E_INVALID_ARG, "",
                         "save: expected room for " + std::to_string(saved.size()) + " bytes, got " + std::to_string(cap));
    std::memcpy(buf, saved.data(), saved.size());
  });
}

bp_status bp_embed_load(bp_embed* handle, const void* buf, uint64_t n) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    Require(buf, "buf");
    env.Load(buf, n);
  });
}

bp_status bp_embed_get_state(bp_embed* handle, uint64_t row, const char* name, double* out, uint64_t cap, uint64_t* out_n) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    Require(name, "name");
    Require(out_n, "out_n");
    if (cap > 0) Require(out, "out");
    const std::vector<double> numbers = env.GetState(row, name);
    *out_n = numbers.size();
    std::copy_n(numbers.begin(), std::min<uint64_t>(cap, numbers.size()), out);
  });
}

bp_status bp_embed_set_state(bp_embed* handle, uint64_t row, uint64_t n, const char* const* names, const double* const* values,
                             const uint64_t* sizes) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    constexpr uint64_t kMostParts = 1024;
    if (n > kMostParts) throw TrialFailure(BP_E_INVALID_ARG, "", "n: expected at most 1024 parts, got " + std::to_string(n));
    if (n > 0) Require(names, "names"), Require(values, "values"), Require(sizes, "sizes");
    std::vector<EmbeddedEnv::PartValues> parts;
    for (uint64_t i = 0; i < n; ++i) {
      Require(names[i], "names[i]");
      Require(values[i], "values[i]");
      parts.push_back({names[i], values[i], sizes[i]});
    }
    env.SetState(row, parts);
  });
}

bp_status bp_embed_render(bp_embed* handle, uint64_t row, bp_picture* out) {
  return InEnv(handle, [&](EmbeddedEnv& env) {
    Require(out, "out");
    const EmbeddedEnv::Picture& drawn = env.Draw(row);
    *out = {drawn.format,          drawn.size.width,   drawn.size.height,     0,
            drawn.backdrop.data(), drawn.frame.data(), drawn.backdrop.size(), drawn.frame.size()};
  });
}
