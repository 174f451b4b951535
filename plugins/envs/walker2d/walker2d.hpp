// The task Walker2d-v5 of Gymnasium: a planar body on two legs is paid for walking along x. See README.md for the formulas.
#pragma once

#include "mujoco/runner.hpp"
#include "walker2d_model.hpp"

namespace walker2d {

struct Options : mj::WalkerOptions {
  Options() { healthy_z_min = 0.8, healthy_z_max = 2, healthy_angle_min = -1, healthy_angle_max = 1; }
};

struct World : mj::WalkerWorld<Options> {
  explicit World(const Options& o) : WalkerWorld(o, "walker2d.xml", kModelXml) {}
};

// One row.
class Walker2d : public mj::PlanarWalker<Walker2d, World> {
 public:
  using PlanarWalker::PlanarWalker;
  static constexpr auto& kOptions = mj::kWalkerOptions<Options>;
};

}  // namespace walker2d
