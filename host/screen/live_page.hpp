// The process that writes OUT/index.html while a batch runs. If it dies, it is restarted. The batch never waits for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/child.hpp"

namespace backplane {

class LivePage {
 public:
  // `report_program`: backplane-report; `typed_program`: this one, as a person types it.
  LivePage(std::filesystem::path report_program, std::filesystem::path out, std::string typed_program)
      : program_(std::move(report_program)), out_(std::move(out)), typed_program_(std::move(typed_program)) {}

  // To be called now and then. Never throws: a page is not worth a batch.
  void Look();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path program_, out_;
  std::string typed_program_;
  std::unique_ptr<Child> child_;
  Clock::time_point next_start_ = Clock::now() + std::chrono::seconds(1);  // a batch that is over by then has its report
  std::chrono::seconds pause_{1};                                          // before it is started again
};

}  // namespace backplane
