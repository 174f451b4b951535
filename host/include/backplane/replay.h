// A replay buffer in a file of the trial (ext/file.h): a ring of transitions that off-policy learners sample. Header only; code
// of the plugin, not of the ABI. It needs a host of version 1.1.
//
// (1) A frame is one step of all rows; frames count from 0 over the whole trial. An entry is the transition of one row in a
//     frame: its observation, action, reward, flags, and the observation that followed, which is the last one of the episode
//     if the step ended it. So an entry needs no other entry, and the newest one can be sampled.
// (2) The frames that may be read are the newest `capacity` ones. Behind them lies the slack that the file requires, so that
//     frames still needed by a checkpoint are not overwritten.
// (3) Only `count`, the number of frames ever stored, belongs to the learner's saved state. The content of the file follows
// from
//     the host's checkpoint, before `load`. A learner that starts from a policy empties the ring: bp_replay_restore(replay, 0).
// (4) Every call is [control].
//
// Fill frames in order, then read:
//   bp_replay_reserve(&replay, n);                      // room for the next n frames
//   for each frame f and row r: fill bp_replay_entry(&replay, f, r) and its arrays
//   bp_replay_stored(&replay, n);                       // count += n
//   bp_replay_need(&replay, f, r); ... = bp_replay_obs(&replay, f, r);
#ifndef BACKPLANE_REPLAY_H_
#define BACKPLANE_REPLAY_H_

#include <string.h>

#include "backplane/ext/file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_replay_shape {
  uint64_t rows;                     // of the trial
  uint64_t obs_bytes, action_bytes;  // of one row
  uint64_t capacity;                 // transitions; rounded up to whole frames
  uint64_t iteration_frames;         // the most frames that an iteration stores: the horizon
} bp_replay_shape;

// The start of an entry. The action, the observation and the next one follow, each padded to 4 bytes.
typedef struct bp_replay_entry_head {
  float reward;
  uint8_t terminated, truncated, reserved[2];  // the flags of the step; both 0: the episode continues
} bp_replay_entry_head;

typedef struct bp_replay {
  uint64_t count;     // frames ever stored
  uint64_t capacity;  // frames that may be read
  uint64_t frames;    // places of the file: the capacity and the slack
  uint64_t rows, action_bytes, obs_bytes;
  uint64_t entry_bytes, obs_at, next_obs_at;  // of an entry
  const bp_host_file_1* file_api;
  bp_file* file;
} bp_replay;

static inline uint64_t bp_replay_padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }
static inline uint64_t bp_replay_frame_bytes(const bp_replay* replay) { return replay->rows * replay->entry_bytes; }

// Bytes behind a ring of `ring_bytes`: enough for a checkpoint every 100 iterations, at most 64 MiB or, if that is more, a
// quarter of the ring up to 1 GiB, and at least 3 iterations. With less, the host writes checkpoints more often.
static inline uint64_t bp_replay_slack_bytes(uint64_t ring_bytes, uint64_t iteration_bytes) {
  const uint64_t mib = BP_FILE_BLOCK, quarter = ring_bytes / 4 < 1024 * mib ? ring_bytes / 4 : 1024 * mib;
  const uint64_t most = quarter > 64 * mib ? quarter : 64 * mib;
  uint64_t iterations = most / iteration_bytes;
  iterations = iterations > 200 ? 200 : iterations < 3 ? 3 : iterations;
  return iterations * iteration_bytes + 2 * mib;
}

// Opens the file `name` (see bp_host_file_1.open) for an empty ring; also during create. On errors, `*out_why_not` is the
// reason, a text that is never freed: BP_E_UNSUPPORTED if the host has no files, BP_E_INVALID_ARG for a 0 in the shape, and
// the codes of `open`.
static inline bp_status bp_replay_open(bp_replay* replay, const bp_host* host, const char* name, const bp_replay_shape* shape,
                                       const char** out_why_not) {
  bp_file_claim claim;
  uint64_t frame, slack;
  memset(replay, 0, sizeof *replay);
  *out_why_not = "the host could not open the file of the replay buffer";
  replay->file_api = (const bp_host_file_1*)host->get_extension(host, BP_HOST_FILE_1);
  if (!replay->file_api) {
    *out_why_not = "the replay buffer needs a host with files of the trial (bp.host.file/1)";
    return BP_E_UNSUPPORTED;
  }
  if (shape->rows == 0 || shape->capacity == 0 || shape->iteration_frames == 0) {
    *out_why_not = "the replay buffer needs at least one row, a capacity of 1 and a horizon of 1";
    return BP_E_INVALID_ARG;
  }
  replay->rows = shape->rows;
  replay->action_bytes = shape->action_bytes, replay->obs_bytes = shape->obs_bytes;
  replay->obs_at = sizeof(bp_replay_entry_head) + bp_replay_padded(shape->action_bytes);
  replay->next_obs_at = replay->obs_at + bp_replay_padded(shape->obs_bytes);
  replay->entry_bytes = replay->next_obs_at + bp_replay_padded(shape->obs_bytes);
  frame = bp_replay_frame_bytes(replay);
  memset(&claim, 0, sizeof claim);
  claim.struct_size = sizeof claim;
  claim.iteration_bytes = shape->iteration_frames * frame;
  replay->capacity = (shape->capacity + shape->rows - 1) / shape->rows;
  slack = (bp_replay_slack_bytes(replay->capacity * frame, claim.iteration_bytes) + frame - 1) / frame;
  replay->frames = replay->capacity + slack;
  claim.slack_bytes = slack * frame;
  claim.max_bytes = replay->frames * frame;
  return replay->file_api->open(host, name, &claim, &replay->file);
}

// The frames that may be read are [first, count).
static inline uint64_t bp_replay_first(const bp_replay* replay) {
  return replay->count > replay->capacity ? replay->count - replay->capacity : 0;
}

// For `load`: the count of the saved state. A file without these frames leaves the ring empty, as in an evaluation.
static inline void bp_replay_restore(bp_replay* replay, uint64_t count) {
  const uint64_t places = count < replay->frames ? count : replay->frames;
  replay->count = places * bp_replay_frame_bytes(replay) <= replay->file->bytes ? count : 0;
}

// The entry's place, the same for frames whose distance is a multiple of `frames`; for a caller's arrays, such as priorities.
static inline uint64_t bp_replay_place(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return frame % replay->frames * replay->rows + row;
}

static inline uint8_t* bp_replay_at(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return replay->file->data + bp_replay_place(replay, frame, row) * replay->entry_bytes;
}
// The parts of an entry, owned by the host. Their content is undefined before it has been stored.
static inline bp_replay_entry_head* bp_replay_entry(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return (bp_replay_entry_head*)(void*)bp_replay_at(replay, frame, row);  // NOLINT(bugprone-casting-through-void): also C
}
static inline void* bp_replay_action(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return bp_replay_at(replay, frame, row) + sizeof(bp_replay_entry_head);
}
static inline void* bp_replay_obs(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return bp_replay_at(replay, frame, row) + replay->obs_at;
}
static inline void* bp_replay_next_obs(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return bp_replay_at(replay, frame, row) + replay->next_obs_at;
}

// Makes room for the next n frames. BP_E_IO if the disk is full; BP_E_INVALID_ARG if n exceeds the iteration's frames.
static inline bp_status bp_replay_reserve(bp_replay* replay, uint64_t n) {
  const uint64_t step = 16 * (uint64_t)BP_FILE_BLOCK, most = replay->frames * bp_replay_frame_bytes(replay);
  const uint64_t end = replay->count + n < replay->frames ? (replay->count + n) * bp_replay_frame_bytes(replay) : most;
  const uint64_t wanted = end / step * step + step;
  if (n > replay->frames - replay->capacity) return BP_E_INVALID_ARG;
  if (end <= replay->file->bytes) return BP_OK;
  return replay->file_api->grow(replay->file, wanted < most ? wanted : most);
}

// Reports that the next n frames are filled.
static inline bp_status bp_replay_stored(bp_replay* replay, uint64_t n) {
  while (n > 0) {
    const uint64_t at = replay->count % replay->frames, left = replay->frames - at, part = n < left ? n : left;
    const uint64_t frame = bp_replay_frame_bytes(replay);
    const bp_status status = replay->file_api->written(replay->file, at * frame, part * frame);
    if (status != BP_OK) return status;
    replay->count += part, n -= part;
  }
  return BP_OK;
}

// Call before reading an entry: after a resume, it compares checksums. BP_E_IO if the entry is damaged.
static inline bp_status bp_replay_need(const bp_replay* replay, uint64_t frame, uint64_t row) {
  return replay->file_api->need(replay->file, bp_replay_place(replay, frame, row) * replay->entry_bytes, replay->entry_bytes);
}

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_REPLAY_H_
