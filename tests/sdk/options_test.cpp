// Option tables: their declarations and their parsing.
#include "backplane/options.hpp"

#include <gmock/gmock.h>

#include "backplane/plugin.hpp"
#include "support/env_harness.hpp"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Mode { kFast, kExact };
constexpr auto WordsOf(Mode) { return bp::Words<Mode>({{"fast", Mode::kFast}, {"exact", Mode::kExact}}); }

struct Shared {
  double step = 0.25;
  int64_t n = 3;
};

struct Options : Shared {
  Options() { step = 1e-7; }
  void Check(const bp::Config& config) {
    if (n > 8) throw bp::ConfigError("n is too large (" + config.Where("n") + ")");
    twice_n = 2 * n;
  }
  uint32_t small = 7;
  bool on = true;
  std::string text = "it's", word = "b", empty;
  std::filesystem::path file;
  Mode mode = Mode::kExact, only = Mode::kFast;
  std::vector<int64_t> sizes = {64, 32};
  std::vector<double> rates;
  std::optional<double> share;
  std::optional<int64_t> rows = 5;
  std::optional<bool> bias;
  std::optional<Mode> other;
  bp::AnyValue kwargs, wrappers{"[]"};
  int64_t twice_n = 0;
};

constexpr bp::OptionTable kShared{bp::Opt("n", &Shared::n, "[1,)", "How many.")};
constexpr bp::OptionTable kOptions{
    bp::Opt("step", &Options::step, "(0,1]", "How far.", {.unit = "m", .aliases = "dt", .helps = "update_bound-"}),
    kShared,
    bp::Opt("small", &Options::small, "No range."),
    bp::Opt("on", &Options::on, "Whether.", {.flags = BP_PARAM_DATA}),
    bp::Opt("text", &Options::text, "Any text."),
    bp::Opt("word", &Options::word, "a|b", "One of two."),
    bp::Opt("empty", &Options::empty, "Nothing."),
    bp::Opt("file", &Options::file, "A file.", {.flags = BP_PARAM_REQUIRED | BP_PARAM_DATA}),
    bp::Opt("mode", &Options::mode, "How."),
    bp::Opt("only", &Options::only, "fast", "How, of some."),
    bp::Opt("sizes", &Options::sizes, "[1,)", "Sizes."),
    bp::Opt("rates", &Options::rates, "Rates."),
    bp::Opt("share", &Options::share, "auto|[0,1]", "A share."),
    bp::Opt("rows", &Options::rows, "all|[1,)", "Rows."),
    bp::Opt("bias", &Options::bias, "An offset."),
    bp::Opt("other", &Options::other, "Another."),
    bp::Opt("kwargs", &Options::kwargs, "mapping", "Any mapping."),
    bp::Opt("wrappers", &Options::wrappers, "list", "Any list."),
    bp::Unread("max_steps", 1, "[1,)", "The host's.", {.aliases = "budget.iterations"}),
    bp::Unread("on_oom", "shrink", "shrink|fail", "The host's."),
    bp::Unread("report_to", "", "Nobody's."),
    bp::Unread("budget_mb", 0.5, "[0,)", "The host's."),
};

struct Plugin {
  static constexpr bp::About kAbout{"env.test", "1.0.0", "A test."};
  static constexpr auto& kOptions = ::kOptions;
};

const bp_descriptor& Table() { return bp::DescriptorOf<Plugin>(BP_KIND_ENV); }

Options Read(const nlohmann::json& given = {}) {
  const harness::FakeConfig config(Table(), given.is_null() ? nlohmann::json{{"file", "/x"}} : given);
  return kOptions.Read(bp::Config(config.get()));
}

std::string Row(const bp_param& p) {
  const auto text = [](const char* t) { return std::string(t ? t : "-"); };
  return text(p.path) + " " + std::to_string(p.type) + " " + text(p.def) + " " + text(p.range);
}

TEST(OptionTable, TakesTypeDefaultAndWordsFromTheMember) {
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < Table().n_params; ++i) rows.push_back(Row(Table().params[i]));
  EXPECT_THAT(rows,
              ElementsAre("step 1 1.0e-7 (0,1]", "n 2 3 [1,)", "small 2 7 -", "on 3 true -", "text 4 'it''s' -", "word 5 b a|b",
                          "empty 4 '' -", "file 6 - -", "mode 5 exact fast|exact", "only 5 fast fast", "sizes 8 [64, 32] [1,)",
                          "rates 7 [] -", "share 1 auto auto|[0,1]", "rows 2 5 all|[1,)", "bias 5 auto auto|true|false",
                          "other 5 auto auto|fast|exact", "kwargs 9 {} mapping", "wrappers 9 [] list", "max_steps 2 1 [1,)",
                          "on_oom 5 shrink shrink|fail", "report_to 4 '' -", "budget_mb 1 0.5 [0,)"));
}

TEST(OptionTable, KeepsTheRestOfARow) {
  const bp_param &step = Table().params[0], &on = Table().params[3], &file = Table().params[7];
  EXPECT_STREQ(step.doc, "How far.");
  EXPECT_STREQ(step.unit, "m");
  EXPECT_STREQ(step.aliases, "dt");
  EXPECT_STREQ(step.helps, "update_bound-");
  EXPECT_EQ(step.flags, 0);
  EXPECT_EQ(on.flags, BP_PARAM_DATA);
  EXPECT_EQ(file.flags, BP_PARAM_REQUIRED | BP_PARAM_DATA);
  EXPECT_EQ(Table().params[18].aliases, std::string("budget.iterations"));
}

// The defaults survive the way through their YAML text.
TEST(OptionTable, ReadsItsOwnDefaults) {
  const Options read = Read(), made;
  EXPECT_EQ(read.step, made.step);
  EXPECT_EQ(read.n, made.n);
  EXPECT_EQ(read.small, made.small);
  EXPECT_EQ(read.on, made.on);
  EXPECT_EQ(read.text, made.text);
  EXPECT_EQ(read.word, made.word);
  EXPECT_EQ(read.empty, made.empty);
  EXPECT_EQ(read.mode, made.mode);
  EXPECT_EQ(read.sizes, made.sizes);
  EXPECT_EQ(read.rates, made.rates);
  EXPECT_EQ(read.share, made.share);
  EXPECT_EQ(read.rows, made.rows);
  EXPECT_EQ(read.bias, made.bias);
  EXPECT_EQ(read.other, made.other);
  EXPECT_EQ(read.kwargs.json, made.kwargs.json);
  EXPECT_EQ(read.wrappers.json, made.wrappers.json);
}

TEST(OptionTable, ReadsGivenOptions) {
  const Options read = Read({{"step", 0.5},
                             {"n", 4},
                             {"small", 9},
                             {"on", false},
                             {"text", "a b"},
                             {"word", "a"},
                             {"file", "/y"},
                             {"mode", "fast"},
                             {"sizes", {1}},
                             {"rates", {0.5, 2}},
                             {"share", 0.1},
                             {"rows", "all"},
                             {"bias", "false"},
                             {"other", "fast"},
                             {"kwargs", {{"a", {1, "b"}}}}});
  EXPECT_EQ(read.step, 0.5);
  EXPECT_EQ(read.n, 4);
  EXPECT_EQ(read.small, 9u);
  EXPECT_FALSE(read.on);
  EXPECT_EQ(read.text, "a b");
  EXPECT_EQ(read.word, "a");
  EXPECT_EQ(read.file, "/y");
  EXPECT_EQ(read.mode, Mode::kFast);
  EXPECT_THAT(read.sizes, ElementsAre(1));
  EXPECT_THAT(read.rates, ElementsAre(0.5, 2));
  EXPECT_EQ(read.share, 0.1);
  EXPECT_EQ(read.rows, std::nullopt);
  EXPECT_EQ(read.bias, false);
  EXPECT_EQ(read.other, Mode::kFast);
  EXPECT_EQ(read.kwargs.json, R"({"a":[1,"b"]})");
}

std::string Refusal(const nlohmann::json& given) {
  try {
    Read(given);
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    return e.what();
  }
  return "accepted";
}

TEST(OptionTable, ChecksAfterReading) {
  EXPECT_EQ(Read().twice_n, 6);
  EXPECT_THAT(Refusal({{"file", "/x"}, {"n", 9}}), HasSubstr("n is too large (test.yaml:n)"));
  EXPECT_THAT(Refusal({{"file", "/x"}, {"small", -1}}), HasSubstr("small: -1 does not fit"));
  EXPECT_THAT(Refusal({{"file", "/x"}, {"small", int64_t{1} << 32}}), HasSubstr("small: 4294967296 does not fit"));
}

TEST(OptionTable, IsEmptyOfAClassWithoutOne) {
  struct None {};
  static_assert(std::is_same_v<bp::OptionsOf<None>, bp::NoOptions>);
}

}  // namespace
