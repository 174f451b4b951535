// `report:` of an experiment file, as far as the report itself is made from it.
#pragma once

#include <optional>
#include <string>

#include "record/fields.hpp"

namespace backplane {

// The limits of a balanced setting, in percent. Absent: 80 for the core efficiency, else no limit. A full machine is the goal,
// so processors have none from the start. Memory has one: a machine without memory left stops.
struct BalancedLimits {
  std::optional<double> efficiency;  // at least; all others at most
  double memory = 80;
  std::optional<double> device_memory, cpu, gpu;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("efficiency", self.efficiency);
    visit("memory", DefaultIfMissing(self.memory));
    visit("device_memory", self.device_memory);
    visit("cpu", self.cpu);
    visit("gpu", self.gpu);
  }
};

struct ReportSection {
  std::optional<std::string> kind;       // absent: no report
  std::optional<std::string> name;       // absent: the kind
  std::optional<std::string> joint_dir;  // folder of a report on several results folders
  nlohmann::json baseline;               // a point's name, or its values by path; null: none
  bool timing = false;
  BalancedLimits balanced;
  nlohmann::json columns, figures, select, notes;  // as written

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("name", self.name);
    visit("joint_dir", self.joint_dir);
    visit("baseline", DefaultIfMissing(self.baseline));
    visit("timing", DefaultIfMissing(self.timing));
    visit("balanced", DefaultIfMissing(self.balanced));
    visit("columns", DefaultIfMissing(self.columns));
    visit("figures", DefaultIfMissing(self.figures));
    visit("select", DefaultIfMissing(self.select));
    visit("notes", DefaultIfMissing(self.notes));
  }
};

}  // namespace backplane
