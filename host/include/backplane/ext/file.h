// "bp.host.file/1": a file of the trial that is mapped into memory, for data that is too large to be saved with every state,
// such as a replay buffer. A checkpoint contains checksums of the file, so its cost is the new bytes, not the whole content.
// Only the learner knows the meaning of the content.
//
// All bytes that a learner has written belong to the state that it saves next. A trial that resumes finds the file as its
// checkpoint describes it, and writes the later bytes again. A learner never reads bytes that the next `slack_bytes` written
// bytes overwrite. The host writes a checkpoint in time, so that no attempt overwrites bytes that one of the two newest
// checkpoints needs.
//
// In a rollout worker, an evaluation or a validation, the file is memory of the process and starts empty, also for a state that
// has written to it: `load` must not read the file. In a trial, `bytes` is 0 in `load` if the state comes from another trial.
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
  // Allocates disk blocks, so that `file->bytes` is at least `bytes`; new bytes are 0. BP_E_IO if the disk is full; the file
  // is then as before. [control]
  bp_status (*grow)(bp_file* file, uint64_t bytes);
  // Call before reading [offset, offset + n) for the first time after `load`: compares the checksums of its blocks, each block
  // once. BP_E_IO if a block is damaged, BP_E_INVALID_ARG for bytes that were never written. Costs a few instructions if there
  // is nothing to compare. [control]
  bp_status (*need)(bp_file* file, uint64_t offset, uint64_t n);
  // Call after writing [offset, offset + n). Within a block a write continues where the last one ended, or begins at the start
  // of the block; else BP_E_INVALID_ARG. Blocks are brought to the disk in the background as they fill. [control]
  bp_status (*written)(bp_file* file, uint64_t offset, uint64_t n);
} bp_host_file_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_FILE_H_
