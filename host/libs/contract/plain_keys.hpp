// Keys of the experiment file, of any section, that each fill a member of Experiment itself. To add a key, add its row here and
// use the member. A key that fills a member of a section's struct has its row in schema.cpp.
#pragma once

// ROW(C++ type, member, initial value, path, Scope, ValueType, range, default, other names, help). The default is YAML text and
// equals the initial value; NULL: none.
#define BACKPLANE_PLAIN_KEYS(ROW)                                                                                         \
  ROW(std::optional<std::string>, report_dir, {}, "output.report_dir", kBatch, kText, "", nullptr, "",                    \
      "folder of the report instead of OUT/report")                                                                       \
  ROW(std::optional<std::string>, progress_file, {}, "output.progress_file", kBatch, kText, "", nullptr, "",              \
      "file for the progress instead of OUT/progress.json")                                                               \
  ROW(std::optional<uint64_t>, max_disk_bytes, {}, "output.max_disk", kBatch, kSize, "(0,)", nullptr, "",                 \
      "pauses the experiment, with checkpoints, if its results folder grows larger than this")                            \
  ROW(bool, page, true, "output.page", kBatch, kFlag, "", "true", "",                                                     \
      "keeps OUT/index.html, a page that is updated while trials run")                                                    \
  ROW(bool, fingerprints, true, "output.fingerprints", kBatch, kFlag, "", "true", "",                                     \
      "records hashes of each iteration's observations, actions, rewards and weights, for `compare --bits` and `replay`") \
  ROW(std::vector<std::string>, live, {}, "output.live", kBatch, kMeasureList, "", "[]", "",                              \
      "metrics of running trials to show next to their return: ep/NAME, eval/NAME, train/NAME")
