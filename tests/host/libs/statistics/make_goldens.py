#!/usr/bin/env python3
"""Prints goldens.hpp: SciPy's results for a few samples. Run it by hand, with the version of scipy that the header names:

    python3 tests/host/libs/statistics/make_goldens.py > tests/host/libs/statistics/goldens.hpp
"""

import numpy as np
import scipy
from scipy import stats

PAIRS = [
    ("Six against six", [3258, 2794, 4102, 1017, 3566, 3890], [2501, 1875, 3120, 2650, 990, 2275]),
    ("Four against five, spreads far apart", [0.10, 0.11, 0.09, 0.12], [5.0, -3.0, 9.5, 1.25, 7.0]),
    ("One side has no spread", [500.0, 500.0, 500.0, 500.0], [491.0, 500.0, 498.5, 499.0, 480.25]),
    ("Near each other, far from zero", [1e6 + 1, 1e6 + 2, 1e6 + 4, 1e6 + 3], [1e6 + 5, 1e6 + 3, 1e6 + 9, 1e6 + 6]),
    ("Below zero, and two alone", [-1234.5, -1100.25], [-900.125, -870.0]),
]
SPEEDS = [[9676.0, 9310.5], [18020.0, 18755.0, 18400.0], [5120.0], [22010.0, 20890.0]]


def number(value):
    return repr(float(value))


def numbers(values):
    return "{" + ", ".join(number(v) for v in values) + "}"


def main():
    print("// Made by make_goldens.py with scipy %s. Not written by hand." % scipy.__version__)
    print("#pragma once\n\n#include <vector>\n\nnamespace backplane::goldens {\n")
    print("struct Pair {\n  const char* what;\n  std::vector<double> a, b;")
    print("  double t, df, p, difference, low, high, probability_greater;\n};")
    print("// clang-format off")
    print("inline const std::vector<Pair> kWelch = {")
    for what, a, b in PAIRS:
        a, b = np.array(a, float), np.array(b, float)
        test = stats.ttest_ind(a, b, equal_var=False)
        interval = test.confidence_interval(0.95)
        greater = stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))
        print("    {\"%s\", %s, %s, %s, %s, %s, %s, %s, %s, %s}," % (
            what, numbers(a), numbers(b), number(test.statistic), number(test.df), number(test.pvalue), number(a.mean() - b.mean()),
            number(interval.low), number(interval.high), number(greater)))
    print("};")
    print("inline const std::vector<Pair> kPaired = {")
    for what, a, b in PAIRS:
        if len(a) != len(b):
            continue
        a, b = np.array(a, float), np.array(b, float)
        test = stats.ttest_rel(a, b)
        interval = test.confidence_interval(0.95)
        greater = stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))
        print("    {\"%s\", %s, %s, %s, %s, %s, %s, %s, %s, %s}," % (
            what, numbers(a), numbers(b), number(test.statistic), number(test.df), number(test.pvalue), number(a.mean() - b.mean()),
            number(interval.low), number(interval.high), number(greater)))
    print("};\n")

    # The pooled spread is the square root of an analysis of variance's mean square within groups.
    logs = [np.log(g) for g in SPEEDS]
    degrees = sum(len(g) - 1 for g in logs)
    pooled = np.sqrt(sum(((g - g.mean()) ** 2).sum() for g in logs) / degrees)
    tail = stats.t.ppf(0.975, degrees)
    ratio = np.exp(logs[1].mean() - logs[0].mean())
    half = tail * pooled * np.sqrt(1 / 3 + 1 / 2)
    print("inline const std::vector<std::vector<double>> kSpeeds = {%s};" % ", ".join(numbers(g) for g in SPEEDS))
    print("inline constexpr double kPooledSd = %s, kPooledDegrees = %s;" % (number(pooled), number(degrees)))
    print("inline constexpr double kMeanOfFirst = %s;" % number(stats.gmean(SPEEDS[0])))
    print("inline constexpr double kFirstLow = %s, kFirstHigh = %s;" % (
        number(stats.gmean(SPEEDS[0]) * np.exp(-tail * pooled / np.sqrt(2))), number(stats.gmean(SPEEDS[0]) * np.exp(tail * pooled / np.sqrt(2)))))
    print("inline constexpr double kRatio = %s, kRatioLow = %s, kRatioHigh = %s;" % (
        number(ratio), number(ratio * np.exp(-half)), number(ratio * np.exp(half))))
    print("// clang-format on\n\n}  // namespace backplane::goldens")


main()
