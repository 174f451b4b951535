#include "mujoco/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <vector>

namespace mj {
namespace {

constexpr double kBodyPixels = 250;  // size of the body's extent
constexpr double kFocus = 0.56;      // fraction of the height, from the top: initial position of the first body
constexpr int kReach = 12;           // drawn floor around the camera's focus, in tiles
constexpr int kSides = 16;           // polygon sides of a round shape without a simple outline

// Okabe and Ito's colour-blind-safe palette: one colour per limb.
constexpr const char* kLimbs[] = {"#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"};

struct Vector {
  double x = 0, y = 0, z = 0;
};
Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator*(double s, const Vector& a) { return {s * a.x, s * a.y, s * a.z}; }
double Dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector From(const mjtNum* numbers) { return {numbers[0], numbers[1], numbers[2]}; }

struct Dot2 {
  double x = 0, y = 0;
};

// Parallel projection, by which spheres stay circles and the floor's plane is mapped by a matrix.
class Camera {
 public:
  Camera(const Vector& focus, double extent, const View& view) : focus_(focus), scale_(view.zoom * kBodyPixels / extent) {
    const double sin_turn = std::sin(view.turn), cos_turn = std::cos(view.turn);
    const double sin_tilt = std::sin(view.tilt), cos_tilt = std::cos(view.tilt);
    right_ = {cos_turn, -sin_turn, 0};
    up_ = {sin_turn * sin_tilt, cos_turn * sin_tilt, cos_tilt};
    ahead_ = {sin_turn * cos_tilt, cos_turn * cos_tilt, -sin_tilt};
  }
  double scale() const { return scale_; }  // pixels per m
  Dot2 operator()(const Vector& p) const {
    return {kPicture.width / 2.0 + scale_ * Dot(right_, p - focus_), kPicture.height * kFocus - scale_ * Dot(up_, p - focus_)};
  }
  double Depth(const Vector& p) const { return Dot(ahead_, p - focus_); }

 private:
  Vector focus_, right_, up_, ahead_;
  double scale_;
};

// The outline of points: their convex hull, by Andrew's monotone chain.
std::vector<Dot2> Hull(std::vector<Dot2> points) {
  std::sort(points.begin(), points.end(), [](const Dot2& a, const Dot2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  const auto turns_right = [](const Dot2& a, const Dot2& b, const Dot2& c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) <= 0;
  };
  std::vector<Dot2> hull;
  for (const bool back : {false, true}) {
    const size_t first = hull.size();
    for (const Dot2& p : points) {
      while (hull.size() >= first + 2 && turns_right(hull[hull.size() - 2], hull.back(), p)) hull.pop_back();
      hull.push_back(p);
    }
    if (!hull.empty()) hull.pop_back();
    if (!back) std::reverse(points.begin(), points.end());
  }
  return hull;
}

// A geom: all points within `radius` of the hull of `corners`.
struct Shape {
  std::vector<Vector> corners;
  double radius = 0;
};

Vector Axis(const mjData& data, int geom, int i) {
  const mjtNum* turn = data.geom_xmat + 9 * geom;
  return {turn[i], turn[3 + i], turn[6 + i]};
}

// Points on the surface of a shape with half-sizes 1: rings along z for an ellipsoid, two ends for a cylinder.
std::vector<Vector> Round(bool ellipsoid) {
  std::vector<Vector> points;
  for (int ring = 0; ring <= (ellipsoid ? kSides / 2 : 1); ++ring) {
    const double angle = std::numbers::pi * ring / (kSides / 2), z = ellipsoid ? std::cos(angle) : 2.0 * ring - 1;
    for (int i = 0; i < kSides; ++i) {
      const double turn = 2 * std::numbers::pi * i / kSides, r = ellipsoid ? std::sin(angle) : 1;
      points.push_back({r * std::cos(turn), r * std::sin(turn), z});
    }
  }
  return points;
}

std::vector<Vector> LocalPoints(const mjModel* model, int geom) {
  const mjtNum *size = model->geom_size + 3 * geom, *box = model->geom_aabb + 6 * geom;
  const int type = model->geom_type[geom], mesh = model->geom_dataid[geom];
  std::vector<Vector> points;
  if (type == mjGEOM_MESH && mesh >= 0) {
    const float* vertex = model->mesh_vert + 3 * model->mesh_vertadr[mesh];
    for (int i = 0; i < model->mesh_vertnum[mesh]; ++i, vertex += 3) points.push_back({vertex[0], vertex[1], vertex[2]});
  } else if (type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER) {
    const bool ellipsoid = type == mjGEOM_ELLIPSOID;
    const Vector half = ellipsoid ? From(size) : Vector{size[0], size[0], size[1]};
    for (const Vector& p : Round(ellipsoid)) points.push_back({half.x * p.x, half.y * p.y, half.z * p.z});
  } else {
    for (int i = 0; i < 8; ++i)
      points.push_back(
          {box[0] + (i & 1 ? box[3] : -box[3]), box[1] + (i & 2 ? box[4] : -box[4]), box[2] + (i & 4 ? box[5] : -box[5])});
  }
  return points;
}

Shape ShapeOf(const mjModel* model, const mjData& data, int geom) {
  const mjtNum* size = model->geom_size + 3 * geom;
  const Vector at = From(data.geom_xpos + 3 * geom);
  const Vector x = Axis(data, geom, 0), y = Axis(data, geom, 1), z = Axis(data, geom, 2);
  if (model->geom_type[geom] == mjGEOM_SPHERE) return {{at}, size[0]};
  if (model->geom_type[geom] == mjGEOM_CAPSULE) return {{at - size[1] * z, at + size[1] * z}, size[0]};
  Shape shape;
  for (const Vector& p : LocalPoints(model, geom)) shape.corners.push_back(at + p.x * x + p.y * y + p.z * z);
  return shape;
}

// The outline of corners, as the data of a path.
std::string Polygon(const std::vector<Dot2>& corners, int digits) {
  std::string d;
  for (const Dot2& corner : Hull(corners))
    bp::Print(&d, "%c%.*f %.*f", d.empty() ? 'M' : 'L', digits, corner.x, digits, corner.y);
  return d + "z";
}

// The outline of a line of width 2r with round ends.
std::string Rounded(const Dot2& a, const Dot2& b, double r) {
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double nx = length > 0 ? -(b.y - a.y) / length * r : 0, ny = length > 0 ? (b.x - a.x) / length * r : r;
  std::string d;
  bp::Print(&d, "M%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1fL%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1fz", a.x + nx, a.y + ny, r, r, a.x - nx,
            a.y - ny, b.x - nx, b.y - ny, r, r, b.x + nx, b.y + ny);
  return d;
}

bool IsDrawn(const mjModel* model, int geom) {
  constexpr int kHiddenFrom = 3;  // groups that MuJoCo's viewer leaves out too
  const int type = model->geom_type[geom];
  return model->geom_group[geom] < kHiddenFrom && type != mjGEOM_PLANE && type != mjGEOM_HFIELD &&
         model->geom_rgba[4 * geom + 3] > 0;
}

// The longest side of the bounding box of all drawn geoms in the initial pose. (MuJoCo's own extent includes the floor.)
double Extent(const mjModel* model) {
  std::vector<mjtNum> place(3 * static_cast<size_t>(model->nbody)), turn(4 * static_cast<size_t>(model->nbody));
  turn[0] = 1;
  for (int b = 1; b < model->nbody; ++b) {
    const int parent = model->body_parentid[b];
    mju_rotVecQuat(&place[3 * b], model->body_pos + 3 * b, &turn[4 * parent]);
    mju_addTo3(&place[3 * b], &place[3 * parent]);
    mju_mulQuat(&turn[4 * b], &turn[4 * parent], model->body_quat + 4 * b);
  }
  double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9}, extent = 1e-3;
  for (int geom = 0; geom < model->ngeom; ++geom) {
    const int body = model->geom_bodyid[geom];
    if (!IsDrawn(model, geom) || body == 0) continue;
    mjtNum at[3];
    mju_rotVecQuat(at, model->geom_pos + 3 * geom, &turn[4 * body]);
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], place[3 * body + i] + at[i] - model->geom_rbound[geom]);
      high[i] = std::max(high[i], place[3 * body + i] + at[i] + model->geom_rbound[geom]);
      extent = std::max(extent, high[i] - low[i]);
    }
  }
  return extent;
}

int Children(const mjModel* model, int body) {
  return static_cast<int>(std::count(model->body_parentid + 1, model->body_parentid + model->nbody, body));
}

// The limb of each body, a chain that ends without branching; -1: the trunk.
std::vector<int> LimbsOf(const mjModel* model) {
  std::vector<int> limb(static_cast<size_t>(model->nbody), -1), children(limb.size());
  for (int b = 0; b < model->nbody; ++b) children[b] = Children(model, b);
  std::vector<bool> branches(limb.size(), false);  // branches below it
  for (int b = static_cast<int>(model->nbody) - 1; b > 0; --b) {
    branches[b] = branches[b] || children[b] > 1;
    if (branches[b]) branches[model->body_parentid[b]] = true;
  }
  int next = 0;
  for (int b = 2; b < model->nbody; ++b) {
    const int parent = model->body_parentid[b];
    if (!branches[b] && parent != 0) limb[b] = limb[parent] >= 0 ? limb[parent] : next++;
  }
  return limb;
}

std::string Colour(const mjModel* model, int geom, const std::vector<int>& limbs, const char* trunk) {
  const int material = model->geom_matid[geom], limb = limbs[model->geom_bodyid[geom]];
  const float* rgba = material >= 0 ? model->mat_rgba + 4 * material : model->geom_rgba + 4 * geom;
  const bool has_none = material < 0 && rgba[0] == 0.5f && rgba[1] == 0.5f && rgba[2] == 0.5f;  // MuJoCo's default
  if (has_none) return limb >= 0 ? kLimbs[static_cast<size_t>(limb) % std::size(kLimbs)] : trunk;
  std::string colour;
  const auto byte = [&](int i) { return static_cast<unsigned>(std::lround(std::clamp(rgba[i], 0.0f, 1.0f) * 255)); };
  bp::Print(&colour, "#%02x%02x%02x", byte(0), byte(1), byte(2));
  return colour;
}

// The first plane, if it is level.
int FloorOf(const mjModel* model) {
  const int *types = model->geom_type, plane = static_cast<int>(std::find(types, types + model->ngeom, mjGEOM_PLANE) - types);
  if (plane == model->ngeom || model->geom_bodyid[plane] != 0) return -1;
  const mjtNum* quat = model->geom_quat + 4 * plane;
  return std::abs(quat[1]) + std::abs(quat[2]) < 1e-6 ? plane : -1;
}

// The floor in its own coordinate system, in tiles from a tile near the camera.
class Floor {
 public:
  Floor(const Camera& camera, const Vector& focus, double height)
      : camera_(camera), height_(height), tile_(std::pow(10, std::round(std::log10(100 / camera.scale())))) {
    base_ = {2 * std::floor(focus.x / tile_ / 2), 2 * std::floor(focus.y / tile_ / 2)};
  }

  // Opens a group in which lengths are tiles.
  void Open(std::string* out) const {
    const Dot2 o = At({0, 0}), x = At({1, 0}), y = At({0, 1});
    bp::Print(out, "<g fill=\"none\" stroke=\"#000\" transform=\"matrix(%.3f %.3f %.3f %.3f %.2f %.2f)\">", x.x - o.x,
              x.y - o.y, y.x - o.x, y.y - o.y, o.x, o.y);
  }
  // Tiles of two colours, and the lines from which the way is measured: x = 0 and y = 0.
  void DrawTiles(std::string* out) const {
    *out += "<g stroke=\"#dfe4ea\" stroke-dasharray=\"1\">";
    for (const int offset : {0, 1}) {
      bp::Print(out, "<path stroke-dashoffset=\"%d\" d=\"M%d %.1f", offset, -kReach, offset - kReach + 0.5);
      for (int row = 0; row < kReach; ++row) bp::Print(out, "h%dm-%d 2", 2 * kReach, 2 * kReach);
      *out += "\"/>";
    }
    *out += "</g>";
    *out += "<path stroke=\"#8fa3b8\" stroke-width=\".06\" d=\"";
    if (std::abs(base_.x) < kReach) bp::Print(out, "M%g -%dv%d", -base_.x, kReach, 2 * kReach);
    if (std::abs(base_.y) < kReach) bp::Print(out, "M-%d %gh%d", kReach, -base_.y, 2 * kReach);
    *out += "\"/>";
  }
  // Shadows of the sun at the zenith: one path for all lines of a width, so that they do not darken each other.
  void DrawShadows(const std::vector<Shape>& shapes, std::string* out) const {
    std::map<double, std::string> lines;
    for (const Shape& shape : shapes) {
      std::vector<Dot2> points;
      for (const Vector& p : shape.corners) points.push_back({p.x / tile_ - base_.x, p.y / tile_ - base_.y});
      const Dot2 a = points.front(), b = points.back();
      if (shape.radius > 0)
        bp::Print(&lines[shape.radius], "M%.2f %.2fL%.2f %.2f", a.x, a.y, b.x, b.y + 1e-2);
      else
        lines[0] += Polygon(points, 2);
    }
    *out += "<g stroke-linecap=\"round\" stroke-opacity=\".2\" fill-opacity=\".2\">";
    for (const auto& [radius, d] : lines) {
      bp::Print(out, "<path %s stroke-width=\"%.2f\" d=\"", radius > 0 ? "" : "fill=\"#000\"", 2 * radius / tile_);
      *out += d + "\"/>";
    }
    *out += "</g>";
  }
  // Labels of x in metres where the grid lines leave the picture.
  void DrawRuler(std::string* out) const {
    constexpr double kY = kPicture.height - 8.0;
    *out += "<g font-size=\"12\" fill=\"#5b6b7c\" text-anchor=\"middle\">";
    for (int i = -kReach; i <= kReach; ++i) {
      const Dot2 a = At({static_cast<double>(i), 0}), b = At({static_cast<double>(i), 1});
      const double x = a.x + (b.x - a.x) * (kY - a.y) / (b.y - a.y);
      if (x > 0 && x < kPicture.width) bp::Print(out, "<text x=\"%.1f\" y=\"%g\">%g m</text>", x, kY, (base_.x + i) * tile_);
    }
    *out += "</g>";
  }

 private:
  Dot2 At(const Dot2& tile) const { return camera_({(base_.x + tile.x) * tile_, (base_.y + tile.y) * tile_, height_}); }

  const Camera& camera_;
  const double height_, tile_;  // m
  Dot2 base_;                   // tiles
};

void DrawContacts(const mjModel* model, const mjData& data, const Camera& camera, std::string* out) {
  for (int i = 0; i < data.ncon; ++i) {
    const mjContact& contact = data.contact[i];
    const bool on_floor = std::any_of(contact.geom, contact.geom + 2,
                                      [&](int geom) { return geom >= 0 && model->geom_type[geom] == mjGEOM_PLANE; });
    if (!on_floor || contact.efc_address < 0) continue;
    const Dot2 at = camera(From(contact.pos));
    bp::Print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"#fff\" stroke=\"#c1121f\" stroke-width=\"2\"/>", at.x,
              at.y);
  }
}

}  // namespace

void DrawGround(std::string* out) {
  bp::Print(out, "<rect width=\"%u\" height=\"%u\" fill=\"#eef1f5\"/>", kPicture.width, kPicture.height);
}

void DrawBody(const mjModel* model, const mjData& data, const std::string& caption, std::string* out, const View& view) {
  const int first = model->nbody > 1 ? 1 : 0, plane = FloorOf(model);
  const double ground = plane >= 0 ? model->geom_pos[3 * plane + 2] : 0;
  Vector focus = From(data.xpos + 3 * first);
  const double start = model->body_pos[3 * first + 2];
  focus.z = view.height ? start + *view.height : (ground + start) / 2;
  const Camera camera(focus, Extent(model), view);
  std::vector<std::pair<double, int>> order;  // farthest first
  for (int geom = 0; geom < model->ngeom; ++geom)
    if (IsDrawn(model, geom)) order.emplace_back(-camera.Depth(From(data.geom_xpos + 3 * geom)), geom);
  std::sort(order.begin(), order.end());
  std::vector<Shape> shapes;
  for (const auto& [depth, geom] : order) shapes.push_back(ShapeOf(model, data, geom));

  if (plane >= 0) {
    const Floor floor(camera, focus, ground);
    floor.Open(out);
    floor.DrawTiles(out);
    floor.DrawShadows(shapes, out);
    *out += "</g>";
    floor.DrawRuler(out);
  }
  *out += "<g stroke=\"#1b2530\" stroke-width=\"1.2\" stroke-linejoin=\"round\">";
  const std::vector<int> limbs = LimbsOf(model);
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::vector<Dot2> points;
    for (const Vector& corner : shapes[i].corners) points.push_back(camera(corner));
    const double r = camera.scale() * shapes[i].radius;
    *out += "<path d=\"" + (r > 0 ? Rounded(points.front(), points.back(), r) : Polygon(points, 1)) + "\" fill=\"" +
            Colour(model, order[i].second, limbs, view.trunk) + "\"/>";
  }
  *out += "</g>";
  DrawContacts(model, data, camera, out);
  bp::Print(out, "<text x=\"10\" y=\"22\" font-size=\"15\" fill=\"#222\">%s</text>", caption.c_str());
}

}  // namespace mj
