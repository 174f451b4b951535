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

}  // namespace
}  // namespace backplane
