// The form of a policy that is a perceptron, as JSON (kinds "mlp", "gru" and "images" of ext/policy.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/conv.hpp"
#include "nn/gru.hpp"
#include "nn/layers.hpp"
#include "rl/env_shape.hpp"
#include "rl/saved_shape.hpp"

namespace backplane::rl {

// Offsets are bytes from the start of the saved policy.
struct SavedNormalizer {
  const char* rule;            // "variance" or "squares", which is the name of the second array, too
  uint64_t at;                 // of the count, followed by the means and the other array, as bp::Writer::PutAll writes them
  double epsilon, clip = 0;    // clip 0: no limit
  double least_deviation = 0;  // inputs that vary less count as 0
};

// The convolutions of an image, and the dense layer behind them.
struct FormImage {
  std::string channel;
  nn::Image image;
  std::vector<nn::Conv> convs;
  nn::Layer dense;
};

struct MlpForm {
  std::vector<std::string> obs;     // channels
  std::string action, mask, alive;  // channels; empty: none
  nn::Trunk layers;                 // the head is the last
  nn::Activation activation;
  bool biases = true;
  uint64_t numbers_at;                // of the first parameter
  const char* dtype;                  // of the parameters
  std::string normalizer = "null";    // NormalizerText
  std::string head;                   // HeadText
  nn::Trunk critic = {};              // empty: not described
  nn::Gru memory = {};                // in front of the layers
  std::string carry = {};             // the channel with its state
  int64_t log_std = 0, log_stds = 0;  // first parameter and number of the actions' log-deviations; 0: none
  std::vector<FormImage> images = {};
};

std::string NormalizerText(const SavedNormalizer& normalizer, int64_t size);
std::string DiscreteHead(int64_t choices);
// Parts of an action, each in a channel of its own.
struct HeadPart {
  std::string action;            // its channel
  std::vector<int64_t> choices;  // of each of its numbers; empty: the numbers are continuous, or bits
  int64_t bits = 0;
  std::vector<float> low, high;  // of continuous numbers
};
std::string SeveralHead(const std::vector<HeadPart>& parts);
// Clips to the bounds; with `squash`, maps the numbers into them by tanh before.
std::string ContinuousHead(const std::vector<float>& low, const std::vector<float>& high, bool squash);
inline std::string HeadOf(const EnvShape& shape, bool squash = false) {
  return shape.discrete ? DiscreteHead(shape.actions) : ContinuousHead(shape.low, shape.high, squash);
}
std::string TextOf(const MlpForm& form);

}  // namespace backplane::rl
