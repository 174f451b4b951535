// Drawings of MuJoCo bodies: positions and colours are right, and drawing changes no state.
#include <gmock/gmock.h>

#include <map>
#include <regex>

#include "ant.hpp"
#include "mujoco/drawing.hpp"
#include "mujoco_row.hpp"
#include "quadruped_stand.hpp"

namespace {

constexpr char kBall[] = R"(
<mujoco>
  <worldbody>
    <geom type='plane' size='5 5 5' pos='0 0 0.25'/>
    <body pos='0 0 0.75'>
      <freejoint/>
      <geom type='sphere' size='0.125' rgba='1 0 0 1'/>
      <geom type='sphere' size='0.125' pos='1 0 0' rgba='0 0 1 1'/>
    </body>
  </worldbody>
</mujoco>)";

std::string Draw(const mjModel* model, const mjData& data) {
  std::string picture;
  mj::DrawBody(model, data, "", &picture);
  return picture;
}

// The middle of the sphere with this colour, from a path "Mx yA.. 0 0 1 x yL..".
std::pair<double, double> Middle(const std::string& picture, const std::string& colour) {
  std::smatch m;
  const std::regex arc("d=\"M([-0-9.]+) ([-0-9.]+)A[^\"]* 0 0 1 ([-0-9.]+) ([-0-9.]+)L[^\"]*\" fill=\"" + colour + "\"");
  EXPECT_TRUE(std::regex_search(picture, m, arc)) << colour << " in " << picture;
  return {(std::stod(m[1]) + std::stod(m[3])) / 2, (std::stod(m[2]) + std::stod(m[4])) / 2};
}

std::map<std::string, int> Colours(const std::string& picture) {
  std::map<std::string, int> count;
  const std::regex fill("z\" fill=\"(#[0-9a-f]+)\"");
  for (std::sregex_iterator i(picture.begin(), picture.end(), fill), end; i != end; ++i) ++count[(*i)[1]];
  return count;
}

// The picture is 640 x 360 pixels, and the box around both balls, 1.25 m long, takes 250 of them: 200 pixels per metre. The
// camera looks along y, 0.30 rad to the right and 0.33 rad down.
TEST(MujocoDrawing, ShowsBodiesWhereTheyAre) {
  const mj::Model model = mj::LoadText("ball.xml", kBall);
  const mj::Data data = mj::MakeData(model.get());
  mj_forward(model.get(), data.get());
  const auto [x, y] = Middle(Draw(model.get(), *data), "#ff0000");
  EXPECT_NEAR(x, 320, 0.11);
  EXPECT_NEAR(y, 0.56 * 360 - 200 * std::cos(0.33) * (0.75 - (0.25 + 0.75) / 2), 0.11);  // above a focus half way to the floor
  const auto [x1, y1] = Middle(Draw(model.get(), *data), "#0000ff");
  EXPECT_NEAR(x1 - x, 200 * std::cos(0.30), 0.21);
  EXPECT_NEAR(y1 - y, -200 * std::sin(0.30) * std::sin(0.33), 0.21);
  data->qpos[0] += 7, data->qpos[1] -= 3;  // the camera follows
  mj_forward(model.get(), data.get());
  EXPECT_EQ(Middle(Draw(model.get(), *data), "#ff0000"), std::pair(x, y));
}

TEST(MujocoDrawing, GivesEveryLimbAColour) {
  harness::Single<ant::Ant> ant("ant");
  ant.Start();
  EXPECT_THAT(Colours(Draw(&ant.model(), ant.data())),
              testing::ElementsAre(std::pair("#0072b2", 3), std::pair("#009e73", 3), std::pair("#9aa3ad", 1),
                                   std::pair("#d55e00", 3), std::pair("#e69f00", 3)));
}

TEST(MujocoDrawing, MarksBodiesOnTheFloor) {
  harness::Single<quadruped_stand::QuadrupedStand> quadruped("quadruped_stand");
  quadruped.Start();
  const auto dots = [&] {
    const std::string picture = Draw(&quadruped.model(), quadruped.data());
    const std::regex dot("<circle");
    return std::distance(std::sregex_iterator(picture.begin(), picture.end(), dot), {});
  };
  EXPECT_EQ(dots(), 0);
  const std::vector<float> still(8, 0);
  for (int t = 0; t < 150; ++t) quadruped.row.Advance(quadruped.world, still.data());
  EXPECT_GE(dots(), 3);
  EXPECT_LE(dots(), quadruped.data().ncon);
}

TEST(MujocoDrawing, ChangesNoBitOfAnEpisode) {
  harness::Single<ant::Ant> drawn("ant"), alone("ant");
  drawn.Start(), alone.Start();
  for (int t = 1; t <= 100; ++t) {
    Draw(&drawn.model(), drawn.data());
    ASSERT_EQ(drawn.Advance(0.5, t), alone.Advance(0.5, t)) << t;
  }
  EXPECT_EQ(std::memcmp(drawn.data().qpos, alone.data().qpos, sizeof(mjtNum) * static_cast<size_t>(drawn.model().nq)), 0);
}

}  // namespace
