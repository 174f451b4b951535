// The style sheet and the scripts of the HTML report, embedded at build time: page.css, page.js with figures.js, and film.js.
#pragma once

namespace backplane {

extern const char* const kPageCss;
extern const char* const kPageJs;
extern const char* const kFilmJs;  // adds controls below each film

}  // namespace backplane
