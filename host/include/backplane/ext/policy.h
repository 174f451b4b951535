// "bp.learner.policy/1": everything that `act` reads and training changes (weights, normaliser), without the optimiser, through
// the byte streams of ext/state.h. Equal policies give equal bytes, on any device. The host saves a policy after `plan` and
// loads it into instances with the same options that only act: rollout workers. Without it they get the whole state. The host
// also starts trials from it (`learner.start_from`), so it includes statistics of returns if the critic
// uses them.
//
// A form of kind "mlp", a perceptron without memory, "gru", one behind a gated recurrent unit, or "images", one behind
// convolutions, describes the bytes of `save`, so that other programs compute the same GREEDY actions (`backplane export
// policy`). Offsets are bytes from the start; numbers are little-endian. All members:
//   "obs"         ["obs"]: channels; their numbers, flattened and converted to float32 in this order, are the net's input
//   "action"      "action": the channel to which the action belongs; with several, the first
//   "mask"        a channel of allowed choices; "alive": a channel, 0 for agents whose action is 0; both absent: none
//   "normalizer"  null, or {"rule", "count", "mean", "variance" or "squares", "epsilon", "clip" or null, "least_deviation"}:
//   the
//                 input becomes (x - mean) * scale, limited to +-clip, with offsets of float64 arrays (count: of a number).
//                 Rule "variance": scale = 1 / sqrt(variance + epsilon). Rule "squares": with deviation =
//                 sqrt(squares / (count - 1)), scale = 1 / (deviation + epsilon), or 0 if the deviation is less than
//                 least_deviation; the input stays as it is while count < 2. In float64, then rounded to float32
//   "dtype"       "float32" or "float64" (rounded to float32 before use) of weights and biases
//   "layers"      [{"in", "out", "weight", "bias" or null}, ...]: sizes, offsets of weight [in, out] and bias [out]
//   "activation"  "tanh" or "relu", after each layer but the last
//   "head"        {"kind": "discrete", "choices"}: the largest output, the lowest number if several are equal; or {"kind":
//                 "continuous", "squash", "low", "high"}: the outputs; squash maps each by low + (tanh(x) + 1) / 2 * (high -
//                 low); then limited to the bounds, of which null is no limit. Or {"kind": "several", "parts"}: each part has
//                 the next outputs and a channel "action", and is {"kind": "continuous", "low", "high"}, {"kind": "discrete",
//                 "choices": [n, ...]}, a largest of n outputs for each number of the channel, or {"kind": "bits", "count"},
//                 1 for outputs above 0. A mask has the flags of all their choices in this order
// Optional members describe what only training reads, so that a trial can also start with the critic of another program:
//   "critic"      layers of the value, like "layers"; a critic that shares the actor's hidden layers has only its own
//   "log_std"     {"at", "count"}: offset and number of the logarithms of the actions' deviations
// Kind "gru" has one more:
//   "memory"      {"channel", "first", "size", "input", "hidden"}: `size` numbers of a CARRY channel, from number `first` on,
//   are
//                 the state before the act. The unit reads the normalized input, and the first layer its new state. `input` and
//                 `hidden` are layers with 3 size outputs each, in the order of the gates r, z and n: from the input and from
//                 the state s. The new state is (1 - z) * n + z * s, with r and z the sigmoids of both layers' sums, and n =
//                 tanh(input
//                 + r * hidden)
// Kind "images" has one more:
//   "images"      [{"channel", "height", "width", "channels", "planar", "layers", "dense"}, ...]: OBS channels of uint8,
//                 [channels, height, width] if planar, else [height, width, channels]. Their numbers / 255 are the first
//                 layer's input. A layer {"kernel", "stride", "in", "out", "weight", "bias"} reads square patches of side
//                 `kernel`, `stride` apart, without padding: `in` numbers in the order of its input. Its result is [y, x, out],
//                 whose numbers `dense`, {"in", "out", "weight", "bias"}, reads. relu follows each layer. All images' results,
//                 then the normalized input, which may be empty, are the input of "layers"
// A learner with another net gives another kind with members of its own.
#ifndef BACKPLANE_EXT_POLICY_H_
#define BACKPLANE_EXT_POLICY_H_

#include "backplane/ext/state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BP_LEARNER_POLICY_1 "bp.learner.policy/1"
typedef struct bp_learner_policy_1 {
  uint32_t struct_size, reserved;
  bp_status (*save)(bp_learner* learner, const bp_writer* writer);  // [control]
  // Reads everything that `save` wrote and rejects a policy of a different shape. `act` may follow without a `plan`; the rest
  // of the learner's state stays. [control]
  bp_status (*load)(bp_learner* learner, const bp_reader* reader);
  // The form of the net as JSON, an object with "kind" (see below); owned by the learner, until destroy. [control]
  const char* (*form)(bp_learner* learner);
  // (optional) Like `load`, for a new trial that starts from this policy: the learner keeps its own seeds and counters.
  // NULL or absent: `load` does so, too. [control]
  bp_status (*start)(bp_learner* learner, const bp_reader* reader);
} bp_learner_policy_1;

#ifdef __cplusplus
}
#endif
#endif  // BACKPLANE_EXT_POLICY_H_
