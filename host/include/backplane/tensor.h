// Tensors as they cross the ABI. The layouts are DLPack's (DLDevice, DLDataType, DLTensor of DLPack 1.x), so a pointer may
// be cast to a `DLTensor *`; the names are our own so that a plugin can include any version of dlpack.h as well.
#ifndef BACKPLANE_TENSOR_H_
#define BACKPLANE_TENSOR_H_

#include "backplane/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BP_DEVICE_CPU = 1, BP_DEVICE_CUDA = 2 };                    // DLDeviceType
enum { BP_DTYPE_INT = 0, BP_DTYPE_UINT = 1, BP_DTYPE_FLOAT = 2 };  // DLDataTypeCode

typedef struct bp_device {
  int32_t type;  // BP_DEVICE_*
  int32_t id;
} bp_device;

typedef struct bp_dtype {
  uint8_t code;    // BP_DTYPE_*
  uint8_t bits;    // 8, 16, 32 or 64
  uint16_t lanes;  // 1
} bp_dtype;

// Contiguous in each dimension except the first, whose stride may be padded to a multiple of 64 bytes: always use `strides`.
typedef struct bp_tensor {
  void* data;  // aligned to 64 bytes (256 on a device)
  bp_device device;
  int32_t ndim;
  bp_dtype dtype;
  int64_t* shape;        // [ndim]
  int64_t* strides;      // [ndim], in elements, never NULL
  uint64_t byte_offset;  // 0
} bp_tensor;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_TENSOR_H_
