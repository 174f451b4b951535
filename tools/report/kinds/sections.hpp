// The frame of a report: its head, and the sections of every kind.
#pragma once

#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

// An empty report of `kind`, titled "WHAT: EXPERIMENTS".
Document StartReport(const char* kind, const std::string& what, const Combined& combined, const ReportContext& context);

// Sections that end every report. `further` stands below the failures; without blocks it is left out.
struct ReportEnd {
  std::vector<std::string> limits;
  std::string limits_title = "Limits";
  Section further = {};
};
void EndReport(const std::vector<ResultSet>& sets, const Combined& combined, const ReportContext& context, ReportEnd end,
               Document* document);

Section FindingsSection(const Diagnosis& diagnosis);
// A remark in every row of which a trial ran on a busy machine; the table names trials and has remarks.
void MarkVoidRows(const Diagnosis& diagnosis, Table* table);
// In which its trials' folders lie, for links; empty: in several.
std::string TrialsFolder(const Combined& combined);
// Every update that did not fit its device at first; without blocks if there is none.
Section ShrinksSection(const Combined& combined);

// The limits of these numbers, as sentences: few seeds, short measurements, other load, mixed hosts.
std::vector<std::string> LimitsOf(const Combined& combined);
// The section "limits" must exist.
void AddLimit(const std::string& sentence, Document* document);

}  // namespace backplane
