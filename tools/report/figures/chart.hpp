// Charts are Vega-Lite files, charts/NAME.vl.json, embedded at build time. C++ fills their anchors: strings such as "@title".
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace backplane {

// Values by the name of their anchor. An anchor without a value removes the object around it, such as a scale or a parameter.
using Anchors = std::map<std::string, std::optional<nlohmann::json>>;

// Fills the anchors of a chart, by the rules in charts/README.md. Throws std::logic_error for an unknown anchor, and for
// a value of `own` or a part that the chart does not use. `shared` values may stay unused.
nlohmann::json FillAnchors(const nlohmann::json& chart, const Anchors& own, const Anchors& shared = {});

// The same for charts/NAME.vl.json; its errors name the file.
nlohmann::json FillChart(const std::string& name, const Anchors& own = {}, const Anchors& shared = {});

// The content of each file, by NAME.
const std::map<std::string, const char*>& ChartFiles();

}  // namespace backplane
