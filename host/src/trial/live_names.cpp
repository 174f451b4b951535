#include "trial/live_names.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "record/metric_series.hpp"

namespace backplane {

std::vector<std::string> UnknownLive(const std::vector<std::string>& live, std::vector<std::string> names, bool evaluated,
                                     const std::string& place) {
  for (size_t i = 0, n = names.size(); evaluated && i < n; ++i) {
    if (names[i] == "return" || names[i].starts_with("ep/")) names.push_back(NameUnder("eval/", names[i]));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> sentences;
  for (const std::string& name : live) {
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    const bool no_evaluation = name.starts_with("eval/") && !evaluated;
    sentences.push_back((place.empty() ? "" : place + ": ") + "output.live: no metric '" + name + "'" +
                        (no_evaluation ? ", as evaluation.episodes is 0" : DidYouMean(Nearest(name, Candidates(names)))));
  }
  return sentences;
}

}  // namespace backplane
