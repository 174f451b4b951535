// An env in plain C: the reward is the action, an episode has 10 steps.
#include <stdlib.h>
#include <string.h>

#include "backplane/env.h"

struct bp_env {
  const bp_frame *frames;
};

enum { OBS, ACTION, REWARD, TERMINATED, CHANNELS };
#define FLOAT32 {BP_DTYPE_FLOAT, 32, 1}

static const int64_t one[] = {1};
static const double low[] = {-1}, high[] = {1};
static const bp_channel channels[CHANNELS] = {
    {sizeof(bp_channel), BP_ROLE_OBS, BP_SPACE_BOX, BP_SCOPE_ROW, 1, FLOAT32, "obs", one, NULL, NULL, NULL, 0},
    {sizeof(bp_channel), BP_ROLE_ACTION, BP_SPACE_BOX, BP_SCOPE_ROW, 1, FLOAT32, "action", one, low, high, NULL, 1},
    {sizeof(bp_channel), BP_ROLE_REWARD, BP_SPACE_BOX, BP_SCOPE_ROW, 0, FLOAT32, "reward", NULL, NULL, NULL, NULL, 0},
    {sizeof(bp_channel), BP_ROLE_TERMINATED, BP_SPACE_MULTI_BINARY, BP_SCOPE_ROW, 0, {BP_DTYPE_UINT, 8, 1}, "terminated", NULL, NULL,
     NULL, NULL, 0},
};
static const bp_env_spec env_spec = {sizeof(bp_env_spec), 1, channels, CHANNELS, 10, {BP_DEVICE_CPU, 0}};

static bp_status create(const bp_host *host, const bp_config *config, uint64_t rows, bp_env **out_env) {
  (void)config, (void)rows;
  *out_env = calloc(1, sizeof **out_env);
  return *out_env ? BP_OK : host->fail(host, BP_E_OOM_HOST, "out of memory");
}

static void destroy(bp_env *env) { free(env); }

static const bp_env_spec *spec(const bp_env *env) {
  (void)env;
  return &env_spec;
}

static bp_status bind(bp_env *env, const bp_frame *frames, uint64_t n_frames) {
  (void)n_frames;
  env->frames = frames;
  return BP_OK;
}

static bp_status reset(bp_env *env, uint32_t slot, uint64_t begin, uint64_t end, const uint8_t *mask, const uint64_t *seeds) {
  (void)seeds;
  const bp_tensor *obs = env->frames[slot].tensors[OBS];
  for (uint64_t r = begin; r < end; ++r) {
    if (!mask || mask[r]) ((float *)obs->data)[(int64_t)r * obs->strides[0]] = 0;
  }
  return BP_OK;
}

static bp_status step(bp_env *env, uint32_t slot, uint64_t begin, uint64_t end) {
  bp_tensor *const *t = env->frames[slot].tensors;
  for (int64_t r = (int64_t)begin; r < (int64_t)end; ++r) {
    const float action = ((const float *)t[ACTION]->data)[r * t[ACTION]->strides[0]];
    ((float *)t[OBS]->data)[r * t[OBS]->strides[0]] = action;
    ((float *)t[REWARD]->data)[r * t[REWARD]->strides[0]] = action;
    ((uint8_t *)t[TERMINATED]->data)[r * t[TERMINATED]->strides[0]] = 0;
  }
  return BP_OK;
}

static const void *extension(const bp_env *env, const char *id) {
  (void)env, (void)id;
  return NULL;
}

static const bp_env_api api_table = {sizeof(bp_env_api), 0, create, destroy, spec, bind, reset, step, extension};
static const bp_descriptor about = {
    sizeof(bp_descriptor), BP_KIND_ENV, "env.outside", "1.0.0", "the reward is the action", "Apache-2.0", BP_FLAG_ROWS_CONCURRENT,
    NULL, NULL, 0};

static uint32_t count(void) { return 1; }
static const bp_descriptor *descriptor(uint32_t index) { return index == 0 ? &about : NULL; }
static const void *api(const char *id) { return strcmp(id, about.id) == 0 ? &api_table : NULL; }

BP_META_RESERVE();
BP_EXPORT const bp_module *bp_module_v1(void) {
  static const bp_module module = {sizeof(bp_module), BP_ABI_MINOR, 0, 0, bp_meta_section, BP_BUILD_JSON, NULL, NULL, count, descriptor,
                                   api};
  return &module;
}
