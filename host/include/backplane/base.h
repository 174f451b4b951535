// Conventions of the whole ABI, status codes, and the thread tags used in the other headers.
//
// (1) Only C types cross the boundary; no exception may leave a plugin or enter it.
// (2) Every struct starts with `struct_size`, set by the side that fills it. Read a later field only if BP_HAS
//     is true for it. The writer of an out struct writes only the first `struct_size` bytes as set by its caller.
//     The stride of an array of structs is the struct_size of its element 0.
// (3) Structs only grow at the end. Optional parts come through `get_extension(id)`: NULL when unknown.
// (4) Pointers are non-NULL unless their comment gives NULL a meaning.
// (5) The side that creates an object destroys it; no side frees the other's memory. Strings from a plugin are
//     static or live until the object's `destroy`; strings and tensors passed to it live for the call.
// (6) 64-bit little-endian platforms only. All text is UTF-8.
//
// Thread tags, in brackets at the end of a comment. They are roles, not operating-system threads:
//   [control]  no other call on this instance runs
//   [rows]     a runner; runs concurrently on disjoint row ranges if the plugin has BP_FLAG_ROWS_CONCURRENT, else one at a time
//   [monitor]  the monitor thread
//   [any]      any thread at any time
// Calls on different instances are independent unless a plugin has BP_FLAG_SINGLETON.
//
// A plugin never changes process state: thread counts of libraries, floating-point mode, locale, working directory, signals,
// the current CUDA device, MuJoCo's global callbacks.
#ifndef BACKPLANE_BASE_H_
#define BACKPLANE_BASE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The major is part of the exported symbol's name (bp_module_v1). A host loads a module if module.min_minor <= its own minor.
#define BP_ABI_MAJOR 1
#define BP_ABI_MINOR 2

// True if field `f` is inside the struct that `p` points to, according to its struct_size.
#define BP_HAS(p, f) (offsetof(__typeof__(*(p)), f) + sizeof((p)->f) <= (p)->struct_size)

// 0 is success, below 0 an error, above 0 reserved.
typedef int32_t bp_status;
enum {
  BP_OK = 0,
  BP_E_INVALID_ARG = -1,
  BP_E_CONFIG = -2,  // an option's value cannot be used; the host adds file, line and column
  BP_E_UNSUPPORTED = -3,
  BP_E_OOM_HOST = -4,
  BP_E_OOM_DEVICE = -5,
  BP_E_CANCELLED = -6,
  BP_E_NUMERIC = -7,  // NaN or infinity where a number must be
  BP_E_TIMEOUT = -8,
  BP_E_IO = -9,
  BP_E_INTERNAL = -10
};

enum {
  BP_KIND_ENV = 1,
  BP_KIND_LEARNER = 2,
  BP_KIND_MONITOR = 3,
  BP_KIND_PART = 4  // a library that a plugin requests from its host ("bp.host.part/1"); no experiment names it
};

enum { BP_LOG_DEBUG = 1, BP_LOG_INFO = 2, BP_LOG_WARN = 3, BP_LOG_ERROR = 4 };

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_BASE_H_
