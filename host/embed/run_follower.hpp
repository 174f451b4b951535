// Follows the records of a run in progress: reports new events, metrics and progress.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "record/run_told.hpp"

namespace backplane {

// A file that grows by whole lines.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path file, uint64_t from = 0) : file_(std::move(file)), read_(from) {}
  // Calls take(line) for each new whole line, without its end.
  void TakeLines(const std::function<void(const std::string& line)>& take);

 private:
  std::filesystem::path file_;
  uint64_t read_;
};

class RunFollower {
 public:
  struct News {
    uint32_t kind;  // BP_RUN_*
    std::string text, trial;
    unsigned attempt = 0;
  };
  using Take = std::function<void(const News&)>;

  explicit RunFollower(const RunTold& told);
  void TakeNews(const Take& take);

 private:
  void TakeEvent(const std::string& line, const Take& take);
  void TakeProgress(const Take& take);

  struct Attempt {
    std::string trial;
    unsigned number;
    GrowingFile metrics;
    bool ended = false;
  };
  RunTold told_;
  GrowingFile events_;
  std::map<std::pair<std::string, unsigned>, Attempt> running_;
  std::string progress_;
};

}  // namespace backplane
