// "bp.host.gpus/1": the GPUs granted to the trial (resources.gpus), for learners and envs. Devices 0 .. granted - 1 of CUDA are
// its own.
#ifndef BACKPLANE_EXT_GPUS_H_
#define BACKPLANE_EXT_GPUS_H_

#include "backplane/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_HOST_GPUS_1 "bp.host.gpus/1"
typedef struct bp_host_gpus_1 {
  uint32_t struct_size;
  uint32_t granted;  // a share of a GPU counts as one
  // The plugin computes on a GPU, or may do so in processes of its own. If no plugin of a trial calls it during create, the
  // host rejects the trial's GPUs. [control]
  void (*use)(const bp_host* host);
} bp_host_gpus_1;

#ifdef __cplusplus
}

namespace bp {

// 0 without such a host.
inline uint32_t GrantedGpus(const bp_host* host) {
  const auto* gpus = static_cast<const bp_host_gpus_1*>(host->get_extension(host, BP_HOST_GPUS_1));
  return gpus == nullptr ? 0 : gpus->granted;
}
inline void UseGpu(const bp_host* host) {
  const auto* gpus = static_cast<const bp_host_gpus_1*>(host->get_extension(host, BP_HOST_GPUS_1));
  if (gpus != nullptr) gpus->use(host);
}

}  // namespace bp
#endif
#endif  // BACKPLANE_EXT_GPUS_H_
