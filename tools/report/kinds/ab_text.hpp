// A comparison's verdict and its evidence in words and tables.
#pragma once

#include <string>
#include <vector>

#include "kinds/ab_scores.hpp"
#include "text/table.hpp"

namespace backplane {

// The verdict, a sentence per pair (the first arm's first), the reason for stopping, the gaps in the evidence.
std::vector<std::string> VerdictOfArms(const AbScores& scores, const ArmsJudgement& judgement);

// The parts of VerdictOfArms: a sentence per pair, the reason for stopping, the gaps in the evidence.
std::vector<std::string> VerdictsOfPairs(const AbScores& scores, const ArmsJudgement& judgement);
std::string WhyStopped(const AbScores& scores, const ArmsJudgement& judgement);
std::vector<std::string> RemarksOn(const AbScores& scores, const ArmsJudgement& judgement);

// The lead of the better arm: "its return is higher by 12 (95 % interval 3 to 21)".
std::string LeadText(const AbScores& scores, const PairJudgement& pair);
std::string MeansText(const AbScores& scores, const PairJudgement& pair);  // "eval/return: a 12.3 ± 2.1, b 14.0 ± 3.0"
std::string Counted(const AbScores& scores, const PairJudgement& pair);    // "8 seeds each", "5 blocks"
// "difference 12 (95 % interval 3 to 21)", or of speeds "1.08 times (95 % interval 1.05 to 1.11)": second less first. Empty if
// neither arm has a spread.
std::string DifferenceText(const AbScores& scores, const PairJudgement& pair);

// The state of a running comparison: "look 2 of 5: eval/return a 12.3 ± 2.1, b 14.0 ± 3.0: not decided".
std::string StandingOfArms(const AbScores& scores, const ArmsJudgement& judgement);

// "evidence": a row for each pair; of several tasks `task` is named in it.
Table EvidenceTable(const AbScores& scores, const ArmsJudgement& judgement, const std::string& task = "");

}  // namespace backplane
