#include "policy/start_point.hpp"

#include <map>

#include "record/attempt_json.hpp"
#include "record/peek_header.hpp"

namespace backplane {

namespace fs = std::filesystem;

StartPoint NearestBefore(const TrialFolder& trial, uint64_t iteration) {
  std::vector<fs::path> folders = {trial.checkpoint()};
  for (unsigned number = 1; number <= trial.LastAttempt(); ++number) folders.push_back(trial.checkpoint_before(number));
  StartPoint best;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() != ".bin") continue;
      const std::optional<CheckpointHeader> header = PeekHeader(it->path());
      // A trial that resumes needs its learner's files, which have changed since, and the learner's whole state.
      if (header && (header->HasPart(kFilesPart) || header->HasPart(kPolicyPart))) continue;
      if (header && best.iterations < header->iterations && header->iterations < iteration)
        best = {it->path(), header->iterations};
    }
  }
  return best;
}

std::optional<double> SecondsOf(const TrialFolder& trial, uint64_t from, uint64_t to) {
  std::map<uint64_t, double> ends;  // by iteration
  for (unsigned number = 1; number <= trial.LastAttempt(); ++number)
    ForEachIteration(trial.attempt(number).metrics(), [&](const Iteration& line) {
      if (line.iteration && line.time.t) ends[*line.iteration] = *line.time.t;
    });
  const auto end = ends.find(to), begin = ends.find(from);
  if (end == ends.end() || (from > 0 && begin == ends.end())) return std::nullopt;
  return end->second - (from > 0 ? begin->second : 0);
}

}  // namespace backplane
