// "bp.host.file/1": a file of the trial that is mapped into memory, for data that is too large to be saved with every state,
// such as a replay buffer. A checkpoint records checksums of what was written since the one before, so it costs what is new,
// not what is held. The content of the file is private to the learner.
//
// Everything that a learner has written belongs to the state that it saves next. A trial that resumes finds the file as its
// checkpoint describes it, and writes again what came later. It must find what it reads: a learner never reads bytes that the
// `slack_bytes` bytes written next overwrite. The host takes a checkpoint in time, so that no attempt overwrites what one of
// the two checkpoints that are kept may need.
//
// Where no trial is run (a rollout worker, an evaluation, a validation), the file is memory of the process and starts empty.
#ifndef BACKPLANE_EXT_FILE_H_
#define BACKPLANE_EXT_FILE_H_

#include "backplane/host.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the host; lives as long as the instance.
typedef struct bp_file {
  uint32_t struct_size, reserved;
  void* impl;      // the host's own
  uint8_t* data;   // reserved addresses, aligned to a page; they never move
  uint64_t bytes;  // from `data`: may be read and written. Grows by `grow`
} bp_file;

typedef struct bp_file_claim {
  uint32_t struct_size, reserved;
  uint64_t max_bytes;        // of the file; addresses are reserved for all of them
  uint64_t iteration_bytes;  // the most bytes that one iteration writes
  uint64_t slack_bytes;      // at least 3 * iteration_bytes + 2 * BP_FILE_BLOCK, or the file is rejected
} bp_file_claim;

// Bytes of a block, the unit of checksums.
#define BP_FILE_BLOCK 1048576

#define BP_HOST_FILE_1 "bp.host.file/1"
typedef struct bp_host_file_1 {
  uint32_t struct_size, reserved;
  // Opens the file called `name` (letters, digits, '_', at most 32), empty, or as the trial's checkpoint describes it. An
  // instance opens a name once. BP_E_INVALID_ARG, BP_E_IO, BP_E_OOM_HOST. [control], also during create
  bp_status (*open)(const bp_host* host, const char* name, const bp_file_claim* claim, bp_file** borrow_file);
  // Allocates disk blocks, so that `file->bytes` is at least `bytes`; new bytes are 0. BP_E_IO if the disk is full: nothing has
  // changed then. [control]
  bp_status (*grow)(bp_file* file, uint64_t bytes);
  // Call before reading [offset, offset + n) for the first time after `load`: compares the checksums of its blocks, each block
  // once. BP_E_IO if the bytes are not those of the checkpoint. Costs a few instructions when there is nothing to compare.
  // [control]
  bp_status (*need)(bp_file* file, uint64_t offset, uint64_t n);
  // Call after writing [offset, offset + n). Within a block a write continues where the last one ended, or begins at the start
  // of the block; else BP_E_INVALID_ARG. Blocks are brought to the disk in the background as they fill. [control]
  bp_status (*written)(bp_file* file, uint64_t offset, uint64_t n);
} bp_host_file_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_FILE_H_
