#include "figures/search_panels.hpp"

#include <algorithm>

#include "base/text_columns.hpp"
#include "figures/figure.hpp"
#include "figures/panel_parts.hpp"

namespace backplane {
namespace {

// Pixels between axes so that their labels do not overlap; titles alternate between two heights.
double LeastWidth(const std::vector<ParallelAxis>& axes) {
  constexpr double kLetter = 7.4, kTickLetter = 6.2, kGap = 14;
  double pitch = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i + 2 < axes.size())
      pitch =
          std::max(pitch, (static_cast<double>(Columns(axes[i].title) + Columns(axes[i + 2].title)) * kLetter / 2 + kGap) / 2);
    for (const auto& [place, word] : axes[i].ticks)
      pitch = std::max(pitch, static_cast<double>(Columns(word)) * kTickLetter + kGap);
  }
  return pitch * static_cast<double>(axes.size());
}

}  // namespace

json View(const TrialsPanel& panel, const Palette& palette) {
  json facts = json::array();
  for (const auto& [field, title] : panel.facts) facts.push_back({{"field", field}, {"title", title}});
  return FillChart("trials", {{"facts", facts}}, SharedAnchors(panel.text, panel.size, palette));
}

json View(const StepsPanel& panel, const Palette& palette) {
  return FillChart("steps", {}, SharedAnchors(panel.text, panel.size, palette.OfLines()));
}

json Emphasis() { return FillChart("emphasis"); }

json View(const ParallelPanel& panel) {
  const double least = LeastWidth(panel.axes);
  json axes = json::array(), ticks = json::array(), titles = json::array();
  for (size_t i = 0; i < panel.axes.size(); ++i) {
    axes.push_back({{"x", i}, {"place", 0}, {"top", 1}});
    // Neighbours alternate between two heights, so that long names do not overlap.
    titles.push_back({{"x", i}, {"place", i % 2 == 0 ? 1.05 : 1.16}, {"label", panel.axes[i].title}});
    for (const auto& [place, word] : panel.axes[i].ticks) ticks.push_back({{"x", i}, {"place", place}, {"label", word}});
  }
  const std::string id = Identifier(panel.text.title);
  return FillChart("parallel",
                   {{"least_name", "least" + std::to_string(static_cast<int>(least)) + id},
                    {"width", std::max(panel.size.width, least)},
                    {"x_end", static_cast<double>(panel.axes.size()) - 0.75},
                    {"pick", "pick" + id},
                    {"near", "near" + id},
                    {"axes", axes},
                    {"ticks", ticks},
                    {"titles", titles}},
                   SharedAnchors(panel.text, panel.size, Palette("name", {})));
}

}  // namespace backplane
