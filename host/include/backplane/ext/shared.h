// "bp.host.shared/1": buffers in a file in memory, for a learner whose own processes compute on them. The host allocates the
// buffers of the learner's `act` and of its rollouts there if it can, so that no number is copied. Since 1.2
#ifndef BACKPLANE_EXT_SHARED_H_
#define BACKPLANE_EXT_SHARED_H_

#include "backplane/host.h"

#ifdef __cplusplus
extern "C" {
#endif

// A place that no file has: the tensor is in private memory and must be copied.
#define BP_SHARED_NONE UINT64_MAX

#define BP_HOST_SHARED_1 "bp.host.shared/1"
typedef struct bp_host_shared_1 {
  uint32_t struct_size, reserved;
  // Requests such buffers and returns the descriptor of the file, owned by the host until the learner's `destroy`. The file
  // grows, but cannot be truncated. BP_E_IO or BP_E_UNSUPPORTED if there is none. Only in `create`. [control]
  bp_status (*open)(const bp_host* host, int32_t* out_fd);
  // The offset in the file of `data`, an address within a tensor that the host passed to the learner; BP_SHARED_NONE if it is
  // in other memory. As long as a tensor is valid, its offset is the same, and no later tensor gets it. [any]
  uint64_t (*place)(const bp_host* host, const void* data);
} bp_host_shared_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_SHARED_H_
