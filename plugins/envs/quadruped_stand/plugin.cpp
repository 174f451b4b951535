#include "drawing.hpp"

struct QuadrupedStandPlugin : quadruped_stand::QuadrupedStand {
  using QuadrupedStand::QuadrupedStand;
  static constexpr bp::About kAbout{"env.quadruped_stand", "1.0.0",
                                    "A box on four legs learns to stand, in two stages; on MuJoCo."};
  static bp::PictureSize SizeOfPicture(const Model&) { return quadruped_stand::kPicture; }
  void DrawBackdrop(const Model& world, std::string* out) const { quadruped_stand::DrawGround(world, out); }
  void DrawFrame(const Model& world, std::string* out) const { quadruped_stand::DrawRobot(world, *this, out); }
};

BP_PLUGINS(bp::Env<QuadrupedStandPlugin>);
