// The style sheet and the script of the HTML report: page.css and page.js, embedded when the host is built.
#pragma once

namespace backplane {

extern const char* const kPageCss;
extern const char* const kPageJs;

}  // namespace backplane
