// Choices that several learners have as options, with their words.
#pragma once

#include "backplane/options.hpp"
#include "nn/layers.hpp"

namespace backplane::nn {

constexpr auto WordsOf(Activation) { return bp::Words<Activation>({{"tanh", Activation::kTanh}, {"relu", Activation::kRelu}}); }

}  // namespace backplane::nn

namespace backplane::rl {

// How a value goes over the budget.
enum class Schedule { kConstant, kLinear };
constexpr auto WordsOf(Schedule) {
  return bp::Words<Schedule>({{"constant", Schedule::kConstant}, {"linear", Schedule::kLinear}});
}
inline double Scheduled(Schedule schedule, double value, double progress) {
  return schedule == Schedule::kLinear ? value * (1 - progress) : value;
}

// What computes an update: own kernels or LibTorch's autograd.
enum class UpdatePath { kAuto, kFused, kTorch };
constexpr auto WordsOf(UpdatePath) {
  return bp::Words<UpdatePath>({{"auto", UpdatePath::kAuto}, {"fused", UpdatePath::kFused}, {"torch", UpdatePath::kTorch}});
}

}  // namespace backplane::rl
