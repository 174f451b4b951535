// The design of an experiment: the file's reasons for axes and points, and the neighbourhood that it did not try.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

// `why:` of the axes, then of the points. Absent if the file has none.
std::optional<Table> ReasonsTable(const std::vector<ResultSet>& sets, const Combined& combined);

// The best configuration by the report's measure.
struct BestConfiguration {
  std::string by;              // "SPS"
  std::vector<size_t> trials;  // indices into Combined::trials; not empty
};

// Axes whose best value is their lowest or highest one, then seeds, envs and hardware.
Section NotTriedSection(const Combined& combined, const std::optional<BestConfiguration>& best);

// The number beyond `edge`, at the distance that its neighbour has: the same factor if all are positive, else the same
// difference. Absent if whole positive numbers would become 0 or less.
std::optional<double> BeyondEdge(double edge, double neighbour, bool positive, bool whole);

}  // namespace backplane
