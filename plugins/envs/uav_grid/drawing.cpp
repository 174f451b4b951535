#include "drawing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace backplane::uav_grid {
namespace {

constexpr int64_t kSide = 640;          // pixels of the grid; a grid of more cells gets one for each
constexpr double kHead = 30;            // pixels of the header
constexpr int64_t kLinesUpTo = 80;      // cells per side: more lines would look grey
constexpr double kLeastForNumbers = 7;  // pixels of a cell

// Ten colour-blind-safe colours: "muted" of P. Tol, "Colour Schemes" (SRON/EPS/TN/09-002, 2021), and one more.
struct Colour {
  const char *fill, *number;
};
constexpr Colour kColours[] = {{"#332288", "#fff"}, {"#88ccee", "#000"}, {"#117733", "#fff"}, {"#ddcc77", "#000"},
                               {"#cc6677", "#000"}, {"#44aa99", "#000"}, {"#882255", "#fff"}, {"#999933", "#000"},
                               {"#aa4499", "#fff"}, {"#d55e00", "#000"}};
const Colour& ColourOf(size_t uav) { return kColours[uav % std::size(kColours)]; }

// Positions of cells in the picture, in pixels.
class Layout {
 public:
  explicit Layout(const Model& model)
      : size_(model.options.grid_size), cell_(std::max(1.0, static_cast<double>(kSide) / size_)) {}
  double cell() const { return cell_; }
  double side() const { return cell_ * static_cast<double>(size_); }
  double Left(int64_t x) const { return cell_ * static_cast<double>(x); }
  double Top(int64_t y) const { return kHead + cell_ * static_cast<double>(y); }
  double X(int64_t x) const { return Left(x) + cell_ / 2; }
  double Y(int64_t y) const { return Top(y) + cell_ / 2; }
  // Half the size of a UAV or a target: slightly larger than a cell, to be visible.
  double half() const { return std::max(cell_ * 0.55, 3.0); }
  bool has_numbers() const { return cell_ >= kLeastForNumbers; }

 private:
  int64_t size_;
  double cell_;
};

void AddNumber(const Layout& at, double x, double y, size_t number, const char* colour, std::string* out) {
  if (!at.has_numbers()) return;
  bp::Print(out,
            "<text x=\"%.1f\" y=\"%.1f\" dy=\"0.36em\" text-anchor=\"middle\" font-size=\"%.1f\" font-weight=\"bold\" "
            "fill=\"%s\">%zu</text>",
            x, y, at.half() * (number > 9 ? 1.05 : 1.25), colour, number);
}

void AddSquare(const Layout& at, double x, double y, const char* attributes, std::string* out) {
  bp::Print(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" %s/>", x - at.half(), y - at.half(),
            2 * at.half(), 2 * at.half(), attributes);
}

// The goal area of a UAV.
void AddGoal(const Model& model, const Layout& at, const Uav& u, size_t number, std::string* out) {
  bp::Print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.18\"/>", at.X(u.tx), at.Y(u.ty),
            at.cell() * model.options.goal_radius, ColourOf(number).fill);
}

void AddTarget(const Layout& at, const Uav& u, size_t number, std::string* out) {
  char attributes[80];
  std::snprintf(attributes, sizeof attributes, "fill=\"#fff\" stroke=\"%s\" stroke-width=\"2\"", ColourOf(number).fill);
  AddSquare(at, at.X(u.tx), at.Y(u.ty), attributes, out);
  AddNumber(at, at.X(u.tx), at.Y(u.ty), number, "#222", out);
}

// Draws the visible area of a UAV within the grid, and its last move.
void AddSensor(const Model& model, const Layout& at, const Uav& u, size_t number, std::string* out) {
  const int64_t r = model.options.sensor_radius, last = model.options.grid_size - 1;
  const int64_t left = std::max<int64_t>(u.x - r, 0), top = std::max<int64_t>(u.y - r, 0);
  const int64_t right = std::min<int64_t>(u.x + r, last), bottom = std::min<int64_t>(u.y + r, last);
  const char* colour = ColourOf(number).fill;
  bp::Print(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"0.06\" stroke=\"%s\" "
            "stroke-opacity=\"0.35\"/>",
            at.Left(left), at.Top(top), at.cell() * static_cast<double>(right - left + 1),
            at.cell() * static_cast<double>(bottom - top + 1), colour, colour);
  if (u.dx == 0 && u.dy == 0) return;
  bp::Print(
      out,
      "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.1f\" stroke-opacity=\"0.55\" stroke-linecap=\"round\"/>",
      at.X(u.x - u.dx), at.Y(u.y - u.dy), at.X(u.x), at.Y(u.y), colour, at.half() * 0.8);
}

void AddUav(const Layout& at, const Uav& u, size_t number, std::string* out) {
  const Colour& colour = ColourOf(number);
  const double x = at.X(u.x), y = at.Y(u.y);
  char attributes[80];
  switch (u.status) {
    case Status::kActive:
      bp::Print(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"#fff\"/>", x, y, at.half(), colour.fill);
      AddNumber(at, x, y, number, colour.number, out);
      break;
    case Status::kArrived:
      std::snprintf(attributes, sizeof attributes, "fill=\"%s\" stroke=\"#222\" stroke-width=\"1.5\"", colour.fill);
      AddSquare(at, at.X(u.tx), at.Y(u.ty), attributes, out);
      AddNumber(at, at.X(u.tx), at.Y(u.ty), number, colour.number, out);
      break;
    case Status::kCrashed: {
      const double arm = at.half() * 0.9;
      for (const auto& [stroke, width] : {std::pair("#fff", 0.9), std::pair(colour.fill, 0.5)})
        bp::Print(out,
                  "<path d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.1f\" "
                  "stroke-linecap=\"round\"/>",
                  x - arm, y - arm, x + arm, y + arm, x - arm, y + arm, x + arm, y - arm, stroke, at.half() * width);
      break;
    }
  }
}

}  // namespace

bp::PictureSize SizeOfPicture(const Model& model) {
  const auto side = static_cast<uint32_t>(std::lround(Layout(model).side()));
  return {side, side + static_cast<uint32_t>(kHead)};
}

void DrawMap(const Model& model, const Row& row, std::string* out) {
  const Layout at(model);
  const int64_t size = model.options.grid_size;
  bp::Print(out, "<rect y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fff\" stroke=\"#bbb\"/>", kHead, at.side(),
            at.side());
  if (size <= kLinesUpTo) {
    *out += "<path stroke=\"#e8e8e8\" d=\"";
    for (int64_t k = 1; k < size; ++k)
      bp::Print(out, "M%.1f %.1fv%.1fM0 %.1fh%.1f", at.Left(k), kHead, at.side(), at.Top(k), at.side());
    *out += "\"/>";
  }
  for (size_t i = 0; i < row.uavs.size(); ++i) AddGoal(model, at, row.uavs[i], i, out);
  *out += "<path fill=\"#555\" d=\"";
  for (int64_t y = 0; y < size; ++y)
    for (int64_t x = 0; x < size; ++x)
      if (row.map[model.Index(x, y)] == 1)
        bp::Print(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", at.Left(x), at.Top(y), at.cell(), at.cell(), -at.cell());
  *out += "\"/>";
  for (size_t i = 0; i < row.uavs.size(); ++i) AddTarget(at, row.uavs[i], i, out);
}

void DrawUavs(const Model& model, const Row& row, std::string* out) {
  const Layout at(model);
  const auto n = static_cast<int64_t>(row.uavs.size()), arrived = row.tally.arrived, crashed = row.tally.crashed;
  bp::Print(
      out,
      "<text x=\"8\" y=\"20\" font-size=\"14\" fill=\"#222\">t = %lld of %lld: %lld flying, %lld arrived, %lld crashed</text>",
      static_cast<long long>(row.tally.t), static_cast<long long>(model.options.max_steps),
      static_cast<long long>(n - arrived - crashed), static_cast<long long>(arrived), static_cast<long long>(crashed));
  for (size_t i = 0; i < row.uavs.size(); ++i)
    if (row.uavs[i].status == Status::kActive) AddSensor(model, at, row.uavs[i], i, out);
  // Draw active UAVs over the others.
  for (const bool flying : {false, true})
    for (size_t i = 0; i < row.uavs.size(); ++i)
      if ((row.uavs[i].status == Status::kActive) == flying) AddUav(at, row.uavs[i], i, out);
}

}  // namespace backplane::uav_grid
