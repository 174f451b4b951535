// Reads pairs from files: pairs equal the written ones, and unreadable rows are named.
#include <gmock/gmock.h>

#include "backplane/plugin.hpp"
#include "backplane/rng.h"
#include "records.hpp"
#include "support/summaries.hpp"

namespace backplane::summarization {
namespace {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Pair;
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Outcome {
  Pairs pairs;
  ReadReport report;
  std::string error;
};
Outcome Read(const std::string& name, const std::string& text, ReadOptions options = {}) {
  if (options.columns.source.empty()) options.columns = {"document", {"summary"}, ""};
  options.format = name.ends_with("csv") ? Format::kCsv : name.ends_with("tsv") ? Format::kTsv : Format::kJsonLines;
  Outcome out;
  const std::string file = Summaries::Instance().Write(name, text);
  try {
    out.report = ReadRecords(file, options, [&](const Record& r) { out.pairs.emplace_back(r.source, r.targets[0]); });
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    out.error = e.what();
    EXPECT_THAT(out.error, HasSubstr(name));
  }
  return out;
}
Outcome Skip(const std::string& name, const std::string& text) { return Read(name, text, {.skip_bad_rows = true}); }

TEST(Csv, HasQuotedCommasQuotesAndLineBreaks) {
  const Outcome read = Read("a.csv",
                            "\xEF\xBB\xBFsummary,id,\"document\"\r\n"
                            "\"one, two\",1,\"said \"\"so\"\"\r\nand left\"\r\n"
                            "plain,2,last line without an end");
  EXPECT_THAT(read.pairs, ElementsAre(Pair("said \"so\"\r\nand left", "one, two"), Pair("last line without an end", "plain")));
}

TEST(Csv, NamesRowAndLine) {
  const std::string head = "document,summary\n\"two\nlines\",s\n";
  EXPECT_THAT(Read("a.csv", head + "alone\n").error, HasSubstr("row 2 (line 4): expected 2 fields as in the header, got 1"));
  EXPECT_THAT(Read("a.csv", head + "a,b,c\n").error, HasSubstr("row 2 (line 4): expected 2 fields as in the header, got 3"));
  EXPECT_THAT(Read("a.csv", head + "\nx,y\n").error, HasSubstr("row 2 (line 4): expected 2 fields"));
  EXPECT_THAT(Read("a.csv", head + "x, \n").error, HasSubstr("row 2 (line 4): 'summary' is empty"));
  EXPECT_THAT(Read("a.csv", head + ",y\n").error, HasSubstr("row 2 (line 4): 'document' is empty"));
  EXPECT_THAT(Read("a.csv", head + "ok\xFFno,y\n").error, HasSubstr("row 2 (line 4): byte 3 of field 'document' is not UTF-8"));
  EXPECT_THAT(Read("a.csv", head + "5\" tall,y\n").error, HasSubstr("row 2 (line 4): a quote inside an unquoted field"));
  const ReadOptions with_id{.columns = {"document", {"summary"}, "id"}};
  EXPECT_THAT(Read("a.csv", "id,document,summary\nno_7,x,\n", with_id).error,
              HasSubstr("row 1 (line 2, 'no_7'): 'summary' is empty"));
}

TEST(Csv, StopsReadingAtARowWithUnknownEnd) {
  const Outcome open = Skip("a.csv", "document,summary\na,b\n\"never closed,c\nd,e\n");
  EXPECT_THAT(open.error, HasSubstr("a quoted field of the row at line 3 is not closed"));
  const Outcome after = Skip("a.csv", "document,summary\na,b\n\"so\"called,c\nd,e\n");
  EXPECT_THAT(after.error,
              HasSubstr("row at line 3: expected a comma or the end of the line after field 'so', got 'called,c'"));
}

TEST(Tsv, KeepsQuotes) {
  const Outcome read = Read("a.tsv", "document\tsummary\n\"a\tb\"\r\n\n\n");
  EXPECT_THAT(read.pairs, ElementsAre(Pair("\"a", "b\"")));
}

TEST(Tsv, OmitsPossiblePartsOfATornRow) {
  // A line break inside the second summary and inside the fifth document: halves with two fields are no pairs either.
  const std::string text = "document\tsummary\na\tA\nb\tB one\nB two\nc\tC\nd\tD\ne one\ne two\tE\nf\tF\n";
  const Outcome read = Skip("a.tsv", text);
  EXPECT_THAT(read.pairs, ElementsAre(Pair("a", "A"), Pair("f", "F")));
  EXPECT_EQ(read.report.items, 2u);
  EXPECT_EQ(read.report.left_out, 6u);
  EXPECT_THAT(read.report.first_left_out, HasSubstr("row 2 (line 3): the next row has too few fields"));
  EXPECT_THAT(Read("a.tsv", text).error, HasSubstr("row 3 (line 4): expected 2 fields as in the header, got 1"));
}

// Bad rows around a torn row do not prove that the rows between them are whole.
TEST(Csv, OmitsPossiblePartsOfATornRowAmongOtherBadRows) {
  const std::string head = "document,summary\n";
  const Outcome after = Skip("a.csv", head + "doc one\nx, y, z\nrest,S\ng,G\n");
  EXPECT_THAT(after.pairs, ElementsAre(Pair("g", "G")));
  EXPECT_EQ(after.report.left_out, 3u);
  EXPECT_THAT(after.report.first_left_out, HasSubstr("row 1 (line 2): expected 2 fields as in the header, got 1"));
  const Outcome before = Skip("a.csv", head + "g,G\nd,sum one\nx,y,z\nbyte \xFF,t\np3\n");
  EXPECT_THAT(before.pairs, ElementsAre(Pair("g", "G")));
  EXPECT_EQ(before.report.left_out, 4u);
  EXPECT_THAT(before.report.first_left_out, HasSubstr("row 2 (line 3): the next row has too few fields"));
  const Outcome empty = Skip("a.csv", head + "torn\n,E\nrest,S\ng,G\n");
  EXPECT_THAT(empty.pairs, ElementsAre(Pair("g", "G")));
  // Without a torn row, the other rows are whole.
  const Outcome whole = Skip("a.csv", head + "a,A\nx,y,z\nb,B\nx,y,z\n");
  EXPECT_THAT(whole.pairs, ElementsAre(Pair("a", "A"), Pair("b", "B")));
}

TEST(JsonLines, HasOneOrSeveralReferences) {
  ReadOptions options{.columns = {"dialogue", {"summary1", "more"}, "fname"}};
  options.format = Format::kJsonLines;
  std::vector<Record> records;
  const std::string file = Summaries::Instance().Write("a.jsonl",
                                                       "{\"fname\": 7, \"dialogue\": \"d\\nd\", \"summary1\": \"a\", \"more\": "
                                                       "[\"b\", \"\\uD55C\"]}\n \r\n{\"more\": \"z\", \"summary1\": "
                                                       "\"y\", \"dialogue\": \"x\", \"fname\": \"f\", \"topic\": null}");
  ReadRecords(file, options, [&](const Record& r) { records.push_back(r); });
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].source, "d\nd");
  EXPECT_THAT(records[0].targets, ElementsAre("a", "b", "한"));
  EXPECT_EQ(records[0].place.id, "7");
  EXPECT_THAT(records[1].targets, ElementsAre("y", "z"));
  EXPECT_EQ(records[1].place.line, 3u);
}

TEST(JsonLines, NamesRowAndLine) {
  const std::string head = "{\"document\": \"a\", \"summary\": \"b\"}\n\n";
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"a\", ").error, HasSubstr("row 2 (line 3): invalid JSON at byte"));
  EXPECT_THAT(Read("a.jsonl", head + "[1]").error, HasSubstr("row 2 (line 3): expected a JSON object, got array"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"a\"}").error, HasSubstr("row 2 (line 3): has no 'summary'"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": 3, \"summary\": \"b\"}").error,
              HasSubstr("'document': expected text, got number"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"a\", \"summary\": []}").error, HasSubstr("'summary' is an empty list"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"a\", \"summary\": [null]}").error,
              HasSubstr("got an entry of type null"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"a\xE2\x82\", \"summary\": \"b\"}").error,
              HasSubstr("byte 16 is not UTF-8"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": \"\\ud800\", \"summary\": \"b\"}").error,
              HasSubstr("invalid JSON at byte"));
  EXPECT_THAT(Read("a.jsonl", head + "{\"document\": 1e999}").error,
              HasSubstr("row 2 (line 3): contains a number that is too large"));
  EXPECT_THAT(Read("a.jsonl", head + std::string(100000, '[')).error, HasSubstr("row 2 (line 3): invalid JSON"));
  const Outcome rest = Skip("a.jsonl", head + "{}\n" + head);
  EXPECT_EQ(rest.pairs.size(), 2u);
  EXPECT_EQ(rest.report.left_out, 1u);
}

TEST(Files, RejectsUnreadableFiles) {
  EXPECT_THAT(Read("a.csv", "").error, HasSubstr("is empty"));
  EXPECT_THAT(Read("a.csv", "\n\r\n").error, HasSubstr("expected a header, got an empty file"));
  EXPECT_THAT(Read("a.csv", "text,summary\na,b\n").error, HasSubstr("has no column 'document'; columns: 'text', 'summary'"));
  EXPECT_THAT(Read("a.csv", "document,summary,summary\na,b,c\n").error, HasSubstr("the header has the column 'summary' twice"));
  const std::string utf16{'\xFF', '\xFE', 'd', '\0', 'o', '\0'};
  EXPECT_THAT(Read("a.tsv", utf16).error, HasSubstr("the header is not UTF-8"));
  EXPECT_THROW(ReadRecords(Summaries::Instance().File("nowhere.csv"), {}, [](const Record&) {}), bp::Error);
  EXPECT_THROW(ReadRecords(Summaries::Instance().File(""), {}, [](const Record&) {}), bp::Error);
}

TEST(Files, StopsReadingAfterMaxItems) {
  const Outcome read = Read("a.tsv", "document\tsummary\na\tb\nc\td\ne\tf\ntorn\n", {.max_items = 2});
  EXPECT_THAT(read.pairs, ElementsAre(Pair("a", "b"), Pair("c", "d")));
  EXPECT_THAT(read.error, IsEmpty());
}

// A text of letters, separators, quotes and line breaks, never blank.
std::string RandomText(bp_rng* rng) {
  const char* const parts[] = {"a", "Z", "한", "\"", "\"\"", ",", "\n", "\r\n", "\r", "\t", " ", "é", "😀", ""};
  std::string text = "x";
  for (uint64_t n = bp_rng_below(rng, 12); n > 0; --n) text += parts[bp_rng_below(rng, std::size(parts))];
  return text;
}
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

TEST(Csv, ReadsBackRandomRowsWrittenByItsRules) {
  bp_rng rng{11, 0};
  for (int file = 0; file < 50; ++file) {
    Pairs pairs;
    const std::string end = file % 2 ? "\r\n" : "\n";
    std::string text = "document,summary" + end;
    for (int row = 0; row < 40; ++row) {
      const auto& [document, summary] = pairs.emplace_back(RandomText(&rng), RandomText(&rng));
      text += Quoted(document) + "," + Quoted(summary) + end;
    }
    ASSERT_EQ(Read("a.csv", text).pairs, pairs) << text;
  }
}

// The goal: 200,000 rows with quoted line breaks, a byte order mark, CRLF, and rows that are not UTF-8 or have an extra field.
TEST(Csv, ReadsTwoHundredThousandRowsWithoutAWrongPair) {
  constexpr int kRows = 200000;
  std::string text = "\xEF\xBB\xBFid,document,summary\r\n";
  uint64_t line = 2, first_bad_line = 0, bad = 0;
  for (int row = 1; row <= kRows; ++row) {
    const std::string n = std::to_string(row);
    const bool broken = row % 997 == 0, wide = row % 1009 == 0;
    if ((broken || wide) && bad++ == 0) first_bad_line = line;
    text += n + ",\"document " + n + ",\r\nsecond \"\"line\"\"" + (broken ? "\xC3\x28" : "") + "\",summary " + n +
            (wide ? ",more" : "") + "\r\n";
    line += 2;
  }
  EXPECT_THAT(Read("big.csv", text).error,
              HasSubstr("row 997 (line " + std::to_string(first_bad_line) + "): byte 29 of field 'document'"));

  const Outcome read = Skip("big.csv", text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.report.left_out, bad);
  ASSERT_EQ(read.pairs.size(), kRows - bad);
  for (int row = 1, i = 0; row <= kRows; ++row) {
    if (row % 997 == 0 || row % 1009 == 0) continue;
    const auto& [document, summary] = read.pairs[i++];
    ASSERT_EQ(document, "document " + std::to_string(row) + ",\r\nsecond \"line\"");
    ASSERT_EQ(summary, "summary " + std::to_string(row));
  }
}

// Arbitrary bytes give an error or pairs, never a crash (asan).
TEST(Files, RandomBytesAreReadOrRejected) {
  bp_rng rng{12, 0};
  const std::string bytes = "\",\t\n\r{}[]:a\\u0\xEF\xBB\xBF\xC3\xFF";
  for (int file = 0; file < 600; ++file) {
    const char* const names[] = {"a.csv", "a.tsv", "a.jsonl"};
    std::string text = file % 3 == 2 ? "" : "document,summary\n";
    if (file % 3 == 1) text[8] = '\t';
    for (uint64_t n = bp_rng_below(&rng, 60); n > 0; --n) text += bytes[bp_rng_below(&rng, bytes.size())];
    for (const auto& [document, summary] : Skip(names[file % 3], text).pairs) {
      EXPECT_EQ(FindBadUtf8(document), std::string::npos);
      EXPECT_EQ(FindBadUtf8(summary), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace backplane::summarization
