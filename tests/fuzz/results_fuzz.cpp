// Files of a results folder, as read by status, report and the next run; the first byte selects the file.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/json_text.hpp"
#include "record/batch_record.hpp"
#include "record/measurements.hpp"
#include "record/plan_file.hpp"
#include "scratch.hpp"
#include "store/event_log.hpp"

namespace {

using namespace backplane;

void ReadEvents(const std::filesystem::path& file) {
  const BatchRecord record = ReadBatchRecord(file);
  for (const auto& [id, trial] : record.trials) {
    for (const AttemptRecord& attempt : trial.attempts) JsonText(ToJson(attempt.end));
  }
  EventLog log(file);  // a readable log must accept new events
  log.Append(SweepPaused{"fuzz"});
}

void ReadPlan(const std::filesystem::path& file) {
  const std::vector<PlanLine> lines = ReadPlanFile(file);
  HasSeveralSeeds(lines);
  for (const PlanLine& line : lines) DisplayName(line, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static constexpr const char* kNames[] = {"events.jsonl", "plan.jsonl", "result.json", "metrics.jsonl"};
  const unsigned which = data[0] % 4;
  const std::filesystem::path file = fuzz::ScratchFolder() / kNames[which];
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  try {
    if (which == 0) ReadEvents(file);
    if (which == 1) ReadPlan(file);
    if (which == 2) ReadMeasurements(fuzz::ScratchFolder());
    if (which == 3) ReadIterations(fuzz::ScratchFolder());
  } catch (const std::runtime_error&) {
    // an error that names file and line
  }
  return 0;
}
