#include "drawing.hpp"

struct QuadrupedStandPlugin : quadruped_stand::QuadrupedStand {
  using QuadrupedStand::QuadrupedStand;
  static constexpr bp::About kAbout{.id = "env.quadruped_stand",
                                    .version = "1.0.0",
                                    .summary = "A box on four legs learns to stand, in two stages; on MuJoCo.",
                                    .rows = 32};
  static bp::PictureSize SizeOfPicture(const Model&) { return quadruped_stand::kPicture; }
  void DrawBackdrop(const Model& world, std::string* out) const { quadruped_stand::DrawGround(world, out); }
  void DrawFrame(const Model& world, std::string* out) const { quadruped_stand::DrawRobot(world, *this, out); }
};

BP_PLUGINS(bp::Env<QuadrupedStandPlugin>);
