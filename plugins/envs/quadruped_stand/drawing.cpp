#include "drawing.hpp"

namespace quadruped_stand {
namespace {

constexpr double kScale = 280;            // pixels per m
constexpr double kFloor = 310;            // pixels from the top
constexpr const char* kFarLegs = "#88a";  // those of the right side, behind the torso
constexpr const char* kNearLegs = "#336";
constexpr const char *kStanding = "#117733", *kNotStanding = "#cc6677";  // the torso

double X(double x) { return kPicture.width / 2.0 + kScale * x; }
double Y(double z) { return kFloor - kScale * z; }

// A geom seen along y, as a line of its size along one of its axes. Its place is that of the last simulation step's beginning,
// 2 ms behind qpos.
class Bar {
 public:
  Bar(const World& world, const QuadrupedStand& row, int geom, int axis) {
    const double half = world.model()->geom_size[3 * geom + (axis == 0 ? 0 : 1)];  // of a box along x, of a capsule along z
    const double *at = row.data().geom_xpos + 3 * geom, *turn = row.data().geom_xmat + 9 * geom;
    x_ = at[0], z_ = at[2], dx_ = half * turn[axis], dz_ = half * turn[6 + axis];
  }
  void Draw(double width, const char* colour, const char* cap, std::string* out) const {
    bp::Print(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"%s\"/>", X(x_ - dx_),
              Y(z_ - dz_), X(x_ + dx_), Y(z_ + dz_), colour, kScale * width, cap);
  }

 private:
  double x_, z_, dx_, dz_;
};

// Geoms of a leg, as ModelXml orders them.
int Thigh(int leg) { return 2 + 3 * leg; }
int Shin(int leg) { return 3 + 3 * leg; }
int Foot(int leg) { return 4 + 3 * leg; }
bool IsLeft(int leg) { return leg % 2 == 0; }

void DrawLegs(const World& world, const QuadrupedStand& row, bool left, std::string* out) {
  const char* colour = left ? kNearLegs : kFarLegs;
  const double width = 2 * world.model()->geom_size[3 * Thigh(0)];
  for (int leg = 0; leg < kLegs; ++leg) {
    if (IsLeft(leg) != left) continue;
    for (const int geom : {Thigh(leg), Shin(leg)}) Bar(world, row, geom, 2).Draw(width, colour, "round", out);
    const double* foot = row.data().geom_xpos + 3 * Foot(leg);
    bp::Print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#ddcc77\" stroke=\"%s\"/>", X(foot[0]), Y(foot[2]),
              kScale * width / 2, colour);
  }
}

}  // namespace

void DrawGround(const World& world, std::string* out) {
  const double top = Y(world.z_hi), height = Y(world.z_lo) - top;
  bp::Print(out, "<rect width=\"%u\" height=\"%u\" fill=\"#fff\" stroke=\"#bbb\"/>", kPicture.width, kPicture.height);
  bp::Print(out, "<rect y=\"%.1f\" width=\"%u\" height=\"%.1f\" fill=\"#117733\" fill-opacity=\"0.12\"/>", top, kPicture.width,
            height);
  bp::Print(out, "<text x=\"8\" y=\"%.1f\" dy=\"0.36em\" font-size=\"11\" fill=\"#117733\">torso at %.2f to %.2f m</text>",
            top + height / 2, world.z_lo, world.z_hi);
  bp::Print(out, "<rect y=\"%.1f\" width=\"%u\" height=\"%.1f\" fill=\"#ddd\"/>", kFloor, kPicture.width,
            kPicture.height - kFloor);
  *out += "<path stroke=\"#aaa\" d=\"";  // a mark every 25 cm
  for (int mark = -4; mark <= 4; ++mark) bp::Print(out, "M%.1f %.1fv8", X(mark * 0.25), kFloor);
  *out += "\"/>";
}

void DrawRobot(const World& world, const QuadrupedStand& row, std::string* out) {
  constexpr int kTorso = 1;
  const bool stands = row.memory().streak > 0;
  const double* qpos = row.data().qpos;
  bp::Print(out,
            "<text x=\"8\" y=\"20\" font-size=\"14\" fill=\"#222\">t = %lld of %lld: height %.3f m, up %.3f, %s; stood for "
            "%lld</text>",
            static_cast<long long>(row.memory().steps), static_cast<long long>(world.max_episode_steps), qpos[2],
            Uprightness(qpos), stands ? "stands" : "does not stand", static_cast<long long>(row.memory().standing));
  DrawLegs(world, row, false, out);
  Bar(world, row, kTorso, 0).Draw(2 * world.model()->geom_size[3 * kTorso + 2], stands ? kStanding : kNotStanding, "butt", out);
  DrawLegs(world, row, true, out);
}

}  // namespace quadruped_stand
