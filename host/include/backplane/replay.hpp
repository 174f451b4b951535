// The replay buffer of replay.h for learners in C++: stores deliveries, reads transitions, throws on errors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "backplane/learner_delivery.hpp"
#include "backplane/learner_state.hpp"
#include "backplane/replay.h"

namespace bp {

// The channels of a delivery that a transition consists of.
struct ReplayChannels {
  std::string obs = "obs", action = "action";
};

// A stored transition; pointers are valid until its frame leaves the ring.
struct Transition {
  const void *obs, *action, *next_obs;
  float reward;
  bool terminated, truncated;
  bool ended() const { return terminated || truncated; }
  template <class T>
  const T* Obs() const {
    return static_cast<const T*>(obs);
  }
  template <class T>
  const T* Action() const {
    return static_cast<const T*>(action);
  }
  template <class T>
  const T* NextObs() const {
    return static_cast<const T*>(next_obs);
  }
};

// All [control], also in constructors. Calls throw Error: BP_E_IO for a full disk or a damaged file, BP_E_UNSUPPORTED if the
// host has no files.
class Replay {
 public:
  explicit Replay(const bp_host* host, const bp_replay_shape& shape, const ReplayChannels& channels = {},
                  const char* name = "replay")
      : channels_(channels) {
    const char* why_not = "";
    const bp_status status = bp_replay_open(&raw_, host, name, &shape, &why_not);
    if (status != BP_OK) throw Error(status, why_not);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  uint64_t count() const { return raw_.count; }              // frames ever stored
  uint64_t first() const { return bp_replay_first(&raw_); }  // frames that may be read: [first, count)
  uint64_t capacity() const { return raw_.capacity; }        // in frames
  uint64_t rows() const { return raw_.rows; }
  uint64_t places() const { return raw_.frames * raw_.rows; }
  uint64_t Place(uint64_t frame, uint64_t row) const { return bp_replay_place(&raw_, frame, row); }

  // Stores the transitions of a rollout or of a part of it, which has the channels above, "reward", "terminated", "truncated"
  // and the last observations. Returns the number of its frames.
  uint64_t Store(const Delivery& delivery) {
    const auto reward = delivery.Get<float>("reward");
    const auto terminated = delivery.Get<uint8_t>("terminated"), truncated = delivery.Get<uint8_t>("truncated");
    const bp_tensor &obs = Bytes(delivery, channels_.obs), &action = Bytes(delivery, channels_.action);
    const auto frames = static_cast<uint64_t>(reward.Size(0));
    const bp_status reserved = bp_replay_reserve(&raw_, frames);
    if (reserved != BP_OK) throw Error(reserved, "could not extend the file of the replay buffer; the disk may be full");
    Last last(delivery);
    for (uint64_t t = 0; t < frames; ++t) {
      for (uint64_t row = 0; row < raw_.rows; ++row) {
        const auto at = static_cast<int64_t>(t), r = static_cast<int64_t>(row);
        bp_replay_entry_head* head = bp_replay_entry(&raw_, raw_.count + t, row);
        *head = {*reward.At(at, r), *terminated.At(at, r), *truncated.At(at, r), {0, 0}};
        const uint64_t frame = raw_.count + t;
        std::memcpy(bp_replay_action(&raw_, frame, row), Element(action, at, r), raw_.action_bytes);
        std::memcpy(bp_replay_obs(&raw_, frame, row), Element(obs, at, r), raw_.obs_bytes);
        const bool ended = head->terminated || head->truncated;
        const void* next = ended ? last.Next(t * raw_.rows + row) : Element(obs, at + 1, r);
        std::memcpy(bp_replay_next_obs(&raw_, frame, row), next, raw_.obs_bytes);
      }
    }
    if (const bp_status status = bp_replay_stored(&raw_, frames); status != BP_OK)
      throw Error(status, "the host rejected a write to the replay buffer");
    return frames;
  }

  // A stored transition; compares checksums after a resume.
  Transition At(uint64_t frame, uint64_t row) const {
    if (bp_replay_need(&raw_, frame, row) != BP_OK)
      throw Error(BP_E_IO, "the replay buffer is damaged: frame " + std::to_string(frame) + " differs from its checksum");
    const bp_replay_entry_head* head = bp_replay_entry(&raw_, frame, row);
    return {bp_replay_obs(&raw_, frame, row),
            bp_replay_action(&raw_, frame, row),
            bp_replay_next_obs(&raw_, frame, row),
            head->reward,
            head->terminated != 0,
            head->truncated != 0};
  }

  // Its part of the learner's state: a few numbers. Load leaves the ring empty if it has a different shape, because an
  // evaluation has other rows and a next stage may have another capacity, or if the file lacks the frames.
  void Save(const Writer& writer) const {
    for (const uint64_t number : {raw_.rows, raw_.entry_bytes, raw_.capacity, raw_.frames, raw_.count}) writer.Put(number);
  }
  void Load(const Reader& reader) {
    bool same = true;
    for (const uint64_t number : {raw_.rows, raw_.entry_bytes, raw_.capacity, raw_.frames})
      same = reader.Get<uint64_t>() == number && same;
    const auto count = reader.Get<uint64_t>();
    bp_replay_restore(&raw_, same ? count : 0);
  }
  // For StartPolicy: a trial that starts from a policy begins with an empty ring.
  void Clear() { bp_replay_restore(&raw_, 0); }

 private:
  // The last observations of the delivery's episodes, in order.
  class Last {
   public:
    explicit Last(const Delivery& delivery) : obs_(delivery.Find("final_obs")) {
      if (delivery.Find("final_index")) index_ = delivery.Get<int64_t>("final_index");
    }
    const void* Next(uint64_t place) {
      if (!index_ || !obs_ || next_ >= index_.Size(0) || static_cast<uint64_t>(*index_.At(next_)) != place)
        throw Error(BP_E_INVALID_ARG, "the delivery lacks the last observation of an episode");
      return Element(*obs_, next_++);
    }

   private:
    const bp_tensor* obs_;
    View<const int64_t> index_;
    int64_t next_ = 0;
  };

  static const bp_tensor& Bytes(const Delivery& delivery, const std::string& name) {
    const bp_tensor* tensor = delivery.Find(name.c_str());
    if (!tensor) throw Error(BP_E_INVALID_ARG, "the delivery has no tensor '" + name + "'");
    return *tensor;
  }
  static const uint8_t* Element(const bp_tensor& tensor, int64_t i, int64_t row = 0) {
    const int64_t at = i * tensor.strides[0] + (row == 0 ? 0 : row * tensor.strides[1]);
    return static_cast<const uint8_t*>(tensor.data) + at * (tensor.dtype.bits / 8);
  }

  ReplayChannels channels_;
  bp_replay raw_{};
};

}  // namespace bp
