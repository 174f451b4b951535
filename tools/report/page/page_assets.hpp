// The style sheet and the scripts of the HTML report: page.css, page.js with figures.js, and film.js, embedded when the host is
// built.
#pragma once

namespace backplane {

extern const char* const kPageCss;
extern const char* const kPageJs;
extern const char* const kFilmJs;  // with controls below each film

}  // namespace backplane
