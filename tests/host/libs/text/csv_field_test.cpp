#include "text/csv_field.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(CsvField, FieldsAreQuotedOnlyIfTheyMustBe) {
  EXPECT_EQ("plain text", CsvField("plain text"));
  EXPECT_EQ("\"a,b\"", CsvField("a,b"));
  EXPECT_EQ("\"two\nlines\"", CsvField("two\nlines"));
  EXPECT_EQ("\"\"\"\"", CsvField("\""));
}

TEST(CsvField, MarksFormulas) {
  for (const char* const formula : {"=1+1", "=HYPERLINK(0)", "+cmd", "-2+3", "@SUM(A1)", "-", "+", "--1", "-1.5.2", "+1e"})
    EXPECT_EQ(std::string("'") + formula, CsvField(formula));
  EXPECT_EQ("\"'=A1,\"\"x\"\"\"", CsvField("=A1,\"x\"")) << "inside the quotes";
  EXPECT_EQ("''=1", CsvField("'=1")) << "a reader gets the text back";
  EXPECT_EQ("'''-1", CsvField("''-1"));
}

TEST(CsvField, LeavesNumbersAndPlainText) {
  for (const char* const text : {"-1", "-1.5e-3", "-0", "-inf", "+nan", "a=b", "1-2", "'a", "it's", "", "'", " =1"})
    EXPECT_EQ(text, CsvField(text));
}

}  // namespace
}  // namespace backplane
