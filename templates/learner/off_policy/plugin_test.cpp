// The method by itself. `backplane plugin validate` tests the contract.
#include "plugin.cpp"

#include <gtest/gtest.h>

namespace {

TEST(Net, GradientIsTheDerivativeOfTheOutput) {
  Net net({3, 8, 8, 1}, 1);
  Net::Trace trace;
  const Numbers x = {.3f, -.5f, .8f};
  net.Forward(x, &trace);
  const Numbers dx = net.Backward(trace, {1});
  const auto near = [](float gradient, double above, double below) { EXPECT_NEAR(gradient, (above - below) / .02, 2e-3); };
  for (size_t i = 0; i < net.weights.size(); i += 7) {
    Net up = net, down = net;
    up.weights[i] += .01f, down.weights[i] -= .01f;
    near(net.gradient[i], up.Forward(x, &trace)[0], down.Forward(x, &trace)[0]);
  }
  near(dx[1], net.Forward({.3f, -.49f, .8f}, &trace)[0], net.Forward({.3f, -.51f, .8f}, &trace)[0]);
}

// ln p(a) = ln N(0; 0, 1) at a = tanh(0), whose slope is 1.
TEST(Choose, WithoutNoiseItIsTheMean) {
  const Choice c = Choose({0, 0}, nullptr);
  EXPECT_EQ(c.action[0], 0);
  EXPECT_NEAR(c.logp, -.918938533, 1e-6);
}

TEST(Choose, DensityIsFiniteFarOutside) {
  const Choice c = Choose({30, 0}, nullptr);
  EXPECT_EQ(c.action[0], 1);
  EXPECT_NEAR(c.logp, -.918938533 + 60 - 2 * std::log(2.), 1e-4);
}

}  // namespace
