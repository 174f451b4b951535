// Sections that every kind of report has.
#pragma once

#include <optional>

#include "kinds/report_context.hpp"
#include "render/document.hpp"
#include "results/combine.hpp"

namespace backplane {

Section FindingsSection(const Diagnosis& diagnosis);
// A remark in every row of which a trial ran on a busy machine; the table names trials and has remarks.
void MarkVoidRows(const Diagnosis& diagnosis, Table* table);
// Every trial that gave no result, with its reason and the command that runs it again; absent if there is none.
// In which its trials' folders lie, for links; empty: in several.
std::string TrialsFolder(const Combined& combined);
std::optional<Section> FailuresSection(const Combined& combined, const ReportContext& context);
// Every update that did not fit its device at first; absent if there is none.
std::optional<Section> ShrinksSection(const Combined& combined);
// Hosts, devices, versions: one column of facts for each group.
Section EnvironmentSection(const Combined& combined);
Section ReproduceSection(const Combined& combined, const ReportContext& context);
// The experiment files behind the results, complete.
Section ConfigurationSection(const std::vector<ResultSet>& sets);

// Sentences of what these numbers can not show: few seeds, short measurements, other work on the machine, mixed hosts.
std::vector<std::string> LimitsOf(const Combined& combined);
// To the section "limits", which must stand.
void AddLimit(const std::string& sentence, Document* document);

}  // namespace backplane
