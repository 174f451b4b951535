#include <gmock/gmock.h>

#include "render/document.hpp"
#include "render/markdown_text.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

TEST(RenderMarkdown, Golden) {
  EXPECT_EQ(R"(# Parallel efficiency of a small experiment

**2 x 1 is the fastest: 1,950 steps/s.**

- It uses 97.5 % of what its rows could give.

## Results

| setting | steps/s | why |
| --- | ---: | --- |
| 1 x 1 | 1,000 ± 20 | |
| **2 x 1** | **1,950 ± 32** | |
| 4 \| 1 | | FAILED (oom), "killed" |

±: 95 % confidence interval of the mean. n = 3 seeds.

Baseline: 1 x 1.

![Speed over parallelism](speed.png)

## Diagnosis

### warning: Learning takes 64.2 % of the time

- **rule** `update_bound`
- **seen in** 1 x 1, 2 x 1
- **evidence** phase/update: 64.2 % (threshold 50 %), mean after the first iteration, 12 samples
- **cause** Each iteration passes over its batch many times in small pieces.
- **expected** SPS rises; phase/update falls.
- **confidence** high: the share is far above the threshold

Change: `learner.options.num_epochs: 10 -> 5`

```sh
backplane run FILE --set learner.options.num_epochs=5
```

Or: `learner.options.minibatch_size: 128 -> 512`

```sh
backplane run FILE --set learner.options.minibatch_size=512
```

<details><summary>Rules that stayed silent: 1</summary>

- `gpu_idle`: no GPU was measured

</details>

## How it was measured

Each setting ran three times.

- one machine
- one build

| | |
|---|---|
| processor | 2 cores |
| kernel | 6.1 |

Again:

```sh
backplane run small.yaml
```

<details><summary>small.yaml</summary>

```yaml
experiment: small
seed: 0
```

</details>

## Files next to this report

- [recommended_balanced.yaml](recommended_balanced.yaml)

2026-01-02 03:04 UTC
)",
            RenderMarkdown(SmallDocument()));
}

TEST(MarkdownText, WordsStayWords) {
  EXPECT_EQ("a\\|b \\<script\\> \\*bold\\* \\[link\\] \\`code\\` \\~\\~no\\~\\~ \\$x\\$",
            MarkdownText("a|b <script> *bold* [link] `code` ~~no~~ $x$"));
  EXPECT_EQ("num_env_runners \\_this\\_", MarkdownText("num_env_runners _this_"));
  EXPECT_EQ("a & b, \\&lt; \\&#39;", MarkdownText("a & b, &lt; &#39;"));
  EXPECT_EQ("two lines", MarkdownText("two\nlines"));
}

TEST(MarkdownText, NoNameBeginsAListOrAHeading) {
  EXPECT_EQ("\\# one", MarkdownText("# one"));
  EXPECT_EQ("\\- one", MarkdownText("  - one"));
  EXPECT_EQ("1\\. one", MarkdownText("1. one"));
  EXPECT_EQ("-9.5", MarkdownText("-9.5"));
  EXPECT_EQ("1.95", MarkdownText("1.95"));
}

TEST(MarkdownText, CodeIsFencedByMoreThanItHolds) {
  EXPECT_EQ("````yaml\na\n```\nb\n````\n", MarkdownFence("yaml", "a\n```\nb"));
  EXPECT_EQ("`` a`b ``", MarkdownCode("a`b"));
}

TEST(RenderMarkdown, AFoldsTitleIsHtml) {
  Document document = SmallDocument();
  document.sections = {{"s", "s", {CodeBlock{"a_b <i>", "", "text"}}}};
  EXPECT_THAT(RenderMarkdown(document), HasSubstr("<summary>a_b &lt;i&gt;</summary>"));
}

TEST(RenderMarkdown, LinksAreEncoded) {
  Document document = SmallDocument();
  document.attachments = {{"a b).yaml", ""}};
  EXPECT_THAT(RenderMarkdown(document), HasSubstr("[a b).yaml](a%20b%29.yaml)"));
}

}  // namespace
}  // namespace backplane
