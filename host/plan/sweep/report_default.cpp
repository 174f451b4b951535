#include "sweep/report_default.hpp"

namespace backplane {

void SetReportOfSearch(ExperimentText* text) {
  const Entry* search = text->sweep ? FindEntry(text->sweep->value, "search") : nullptr;
  if (!search || FindPath(text->root, "report.kind")) return;
  Node kind;
  kind.kind = Node::Kind::kScalar;
  kind.mark = search->mark;
  kind.text = "search";
  SetPath(&text->root, "report.kind", search->mark, std::move(kind));
}

}  // namespace backplane
