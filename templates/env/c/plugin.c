// A complete env in C11 without a helper layer: steer a point mass on a line to 0.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backplane/env.h"
#include "backplane/rng.h"

typedef struct row { double x, v; bp_rng rng; } row;  // m, m/s
struct bp_env {
  const bp_host *host;
  uint64_t rows;
  const bp_frame *frames;  // stride: struct_size of the first one, because a newer host's frames are larger
  double dt, reset_range;
  bp_env_spec spec;
  row row[];
};

enum { OBS, ACTION, INFO, REWARD, TERMINATED, N_CHANNELS };
static const int64_t kTwo[] = {2}, kOne[] = {1};
static const double kLow[] = {-1}, kHigh[] = {1};
#define F32 {BP_DTYPE_FLOAT, 32, 1}
#define U8 {BP_DTYPE_UINT, 8, 1}
#define BOX(role) sizeof(bp_channel), role, BP_SPACE_BOX, BP_SCOPE_ROW
static const bp_channel kChannels[N_CHANNELS] = {
    [OBS] = {BOX(BP_ROLE_OBS), 1, F32, "obs", kTwo, NULL, NULL, NULL, 0},
    [ACTION] = {BOX(BP_ROLE_ACTION), 1, F32, "action", kOne, kLow, kHigh, NULL, 1},
    [INFO] = {BOX(BP_ROLE_INFO), 0, F32, "ep/distance", NULL, NULL, NULL, NULL, 0},
    [REWARD] = {BOX(BP_ROLE_REWARD), 0, F32, "reward", NULL, NULL, NULL, NULL, 0},
    [TERMINATED] = {BOX(BP_ROLE_TERMINATED), 0, U8, "terminated", NULL, NULL, NULL, NULL, 0},
};

static bp_status Create(const bp_host *host, const bp_config *config, uint64_t rows, bp_env **out_env) {
  bp_env *env = calloc(1, sizeof *env + rows * sizeof(row));
  if (!env) return host->fail(host, BP_E_OOM_HOST, "no memory for the rows");
  env->host = host, env->rows = rows;
  env->spec = (bp_env_spec){sizeof env->spec, 1, kChannels, N_CHANNELS, 0, {BP_DEVICE_CPU, 0}};
  if (config->f64(config, "dt", &env->dt) || config->f64(config, "reset_range", &env->reset_range) ||
      config->i64(config, "max_episode_steps", &env->spec.max_episode_steps)) {
    return free(env), host->fail(host, BP_E_INTERNAL, "an option is declared with a different type");
  }
  *out_env = env;
  return BP_OK;
}
static void Destroy(bp_env *env) { free(env); }
static const bp_env_spec *Spec(const bp_env *env) { return &env->spec; }

static bp_tensor *const *Slot(const bp_frame *frames, uint64_t slot) {
  return ((const bp_frame *)((const char *)frames + slot * frames->struct_size))->tensors;
}
// Validates buffers once for all loops. INFO may be NULL; the last slot of a rollout has no transition channels.
static bp_status Bind(bp_env *env, const bp_frame *frames, uint64_t n_frames) {
  for (uint64_t s = 0; s < n_frames; ++s)
    for (int c = 0; c < N_CHANNELS; ++c) {
      const bp_tensor *t = Slot(frames, s)[c];
      const int optional = c == INFO || (n_frames > 1 && s + 1 == n_frames && c != OBS);
      if (!t && optional) continue;
      const int fits = t && t->ndim == 1 + kChannels[c].ndim && t->shape[0] == (int64_t)env->rows;
      if (!fits || t->dtype.bits != kChannels[c].dtype.bits)
        return env->host->fail(env->host, BP_E_INVALID_ARG, "a buffer does not have its channel's shape or dtype");
    }
  env->frames = frames;
  return BP_OK;
}

// The first element of a channel's row r.
static void *At(const bp_env *env, uint32_t slot, int channel, uint64_t r) {
  const bp_tensor *t = Slot(env->frames, slot)[channel];
  return (char *)t->data + r * (uint64_t)t->strides[0] * (t->dtype.bits / 8);
}
static void Observe(const bp_env *env, uint32_t slot, uint64_t r) {
  float *obs = At(env, slot, OBS, r);
  obs[0] = (float)env->row[r].x, obs[1] = (float)env->row[r].v;
}

static bp_status Reset(bp_env *env, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t *mask, const uint64_t *seeds) {
  for (uint64_t r = begin; r < end; ++r) {
    if (mask && !mask[r]) continue;
    row *p = &env->row[r];
    p->rng = (bp_rng){seeds[r], 0};
    p->x = bp_rng_range(&p->rng, -env->reset_range, env->reset_range), p->v = 0;
    Observe(env, slot, r);
  }
  return BP_OK;
}

static bp_status Step(bp_env *env, uint32_t slot, uint64_t begin, uint64_t end) {
  if (!Slot(env->frames, slot)[ACTION]) return env->host->fail(env->host, BP_E_INVALID_ARG, "the slot is only for resets");
  for (uint64_t r = begin; r < end; ++r) {
    row *p = &env->row[r];
    const double force = fmin(fmax(*(float *)At(env, slot, ACTION, r), -1.0), 1.0);
    p->v += env->dt * force, p->x += env->dt * p->v;
    Observe(env, slot, r);
    *(float *)At(env, slot, REWARD, r) = (float)(-(p->x * p->x) - 0.01 * (force * force));
    *(uint8_t *)At(env, slot, TERMINATED, r) = fabs(p->x) > 10.0;
    if (Slot(env->frames, slot)[INFO]) *(float *)At(env, slot, INFO, r) = (float)fabs(p->x);
  }
  return BP_OK;
}
static const void *Extension(const bp_env *env, const char *id) { return (void)env, (void)id, NULL; }

static const bp_env_api kApi = {sizeof kApi, 0, Create, Destroy, Spec, Bind, Reset, Step, Extension};
#define OPTION(type, path, def, range, unit, doc) {sizeof(bp_param), type, 0, path, def, range, unit, doc, NULL, NULL, NULL}
static const bp_param kOptions[] = {
    OPTION(BP_PARAM_F64, "dt", "0.05", "(0,1]", "s", "Seconds per step; larger steps are harder to steer."),
    OPTION(BP_PARAM_F64, "reset_range", "1.0", "(0,10]", "m", "Episodes start at a position drawn from +- this range."),
    OPTION(BP_PARAM_I64, "max_episode_steps", "200", "[1,)", NULL, "Steps after which the host ends an episode."),
};
static const bp_descriptor kDescriptor = {
    sizeof kDescriptor, BP_KIND_ENV, "env.template_c", "1.0.0", "A point mass on a line, to be steered to 0.",
    "Apache-2.0", BP_FLAG_ROWS_CONCURRENT, NULL, kOptions, 3};
static uint32_t Count(void) { return 1; }
static const bp_descriptor *Descriptor(uint32_t i) { return i == 0 ? &kDescriptor : NULL; }
static const void *Api(const char *id) { return strcmp(id, kDescriptor.id) == 0 ? &kApi : NULL; }
BP_META_RESERVE();
BP_EXPORT const bp_module *bp_module_v1(void) {
  static const bp_module module = {
      sizeof module, BP_ABI_MINOR, 0, 0, bp_meta_section, BP_BUILD_JSON, NULL, NULL, Count, Descriptor, Api};
  return &module;
}
