#include "record/plan_schema.hpp"

#include <stdexcept>

#include "base/files.hpp"
#include "record/results_folder.hpp"
#include "record/run_info.hpp"

namespace backplane {

int PlanSchemaIn(const std::filesystem::path& out) {
  const ResultsFolder folder{out};
  if (!std::filesystem::exists(folder.plan())) return kPlanSchema;
  const auto run = ReadTolerantly<RunInfo>(nlohmann::json::parse(ReadFile(folder.run()).value_or(""), nullptr, false));
  if (run.plan_schema > kPlanSchema)
    throw std::runtime_error(folder.run().string() + ": plan_schema " + std::to_string(run.plan_schema) +
                             ", this program reads up to " + std::to_string(kPlanSchema));
  return run.plan_schema;
}

}  // namespace backplane
