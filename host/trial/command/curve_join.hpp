// Joins the reports of an attempt that resumes to the lines of earlier attempts, so that a curve stays one curve. The command
// alone chooses the step at which it resumes; its reports contain it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/lines_before.hpp"
#include "command/report.hpp"

namespace backplane {

struct HeldReport {
  Report report;
  double attempt_s = 0;  // time of its arrival
};

class CurveJoin {
 public:
  CurveJoin(const std::filesystem::path& trial_dir, uint64_t attempt) : before_(trial_dir, attempt), attempt_(attempt) {}

  // Holds the report. True: the step at which the attempt resumes is known. Settings that a script reports again, and
  // evaluations of an earlier step, come before the first report of a main metric and do not show it.
  bool Add(const Report& report, double attempt_s);
  // Drops the lines that the attempt replaces. Call it once, after Add returned true or after the last report.
  void Decide();

  const LinesBefore& before() const { return before_; }
  // The held reports from number `first_own` on continue the curve; the others belong to earlier steps.
  const std::vector<HeldReport>& held() const { return held_; }
  size_t first_own() const { return first_own_; }
  // True: the kept lines and the held reports before `first_own` are not in the order of the files. Lines() has them in order.
  bool rewrites() const { return rewrites_; }
  std::vector<Iteration> Lines(const std::function<Iteration(const HeldReport&)>& line_of) const;
  // A sentence if the steps started again at their first value, and both parts are kept; otherwise empty.
  const std::string& warning() const { return warning_; }

 private:
  bool IsMain(const Report& report);
  bool Repeats(const Iteration& first) const;
  void StartAgain(const Iteration& first);

  LinesBefore before_;
  const uint64_t attempt_;
  std::vector<HeldReport> held_;
  std::optional<uint64_t> place_;  // the step at which the attempt resumes
  size_t first_own_ = 0;
  bool is_known_ = false, rewrites_ = false;
  std::string warning_;
};

}  // namespace backplane
