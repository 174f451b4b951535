#include "figures/film_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text_columns.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

constexpr double kHold_s = 1.4;  // the last frame stays so much longer before the film starts anew
constexpr double kFont = 14, kLine = 20, kMargin = 8, kFilmLetter = 9, kBoldLetter = 10;  // pixels, letters as wide as most
constexpr size_t kStepLetters = 14;                                                       // of "step 999 / 999"

std::string XmlText(const std::string& text) {
  std::string escaped;
  for (const char c : OneLine(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

size_t Letters(double width, double letter) { return static_cast<size_t>(width / letter); }

// Words on as few lines of that many letters as they need.
std::vector<std::string> Lines(const std::vector<std::string>& words, size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    const std::string longer = lines.empty() ? word : lines.back() + " · " + word;
    if (!lines.empty() && Columns(longer) <= width)
      lines.back() = longer;
    else
      lines.push_back(CutMiddle(word, width, /*utf8=*/true));
  }
  return lines;
}

class FilmWriter {
 public:
  FilmWriter(const Film& film, const std::string& title)
      : film_(film),
        title_(title),
        width_(std::max<double>(film.width, 24 * kFont)),
        lines_(Lines(film.notes, Letters(width_ - 2 * kMargin, kFilmLetter))),
        height_(film.height + kMargin + kLine * static_cast<double>(1 + lines_.size())) {}

  std::string Write() {
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"{2}\">\n",
        width_, height_, kFont);
    Add("<title>{}</title>\n", XmlText(title_));
    WriteStyle();
    Add("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", width_, height_);
    WritePicture(film_.backdrop);
    for (size_t i = 0; i < film_.frames.size(); ++i) WriteFrame(i);
    WriteCaption();
    return text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  // Each frame is seen once in a round of its own clock, and the clocks are set back by a frame each.
  void WriteStyle() {
    const double n = static_cast<double>(film_.frames.size()), round_s = n * kFrame_s + kHold_s;
    const double frame = 100 * kFrame_s / round_s, last = 100 * (kFrame_s + kHold_s) / round_s;
    Add("<style>\n@keyframes frame {{ 0% {{ visibility: visible }} {:.4f}%, 100% {{ visibility: hidden }} }}\n", frame);
    Add("@keyframes last {{ 0% {{ visibility: visible }} {:.4f}%, 100% {{ visibility: hidden }} }}\n", last);
    Add(".f {{ animation: frame {:.1f}s step-end infinite }}\n.l {{ animation-name: last }}\n</style>\n", round_s);
  }

  void WriteFrame(size_t i) {
    const bool is_last = i + 1 == film_.frames.size();
    const double round_s = static_cast<double>(film_.frames.size()) * kFrame_s + kHold_s;
    Add("<g class=\"{}\" visibility=\"{}\" style=\"animation-delay: {:.1f}s\">\n", is_last ? "f l" : "f",
        is_last ? "visible" : "hidden", static_cast<double>(i) * kFrame_s - round_s);
    WritePicture(film_.frames[i]);
    Add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">step {} / {}</text>\n</g>\n", width_ - kMargin,
        film_.height + kLine, i, film_.frames.size() - 1);
  }

  void WritePicture(const std::string& picture) {
    if (picture.empty()) return;
    if (film_.png)
      Add("<image width=\"{}\" height=\"{}\" href=\"data:image/png;base64,{}\"/>\n", film_.width, film_.height, picture);
    else  // an element of its own cuts off what lies beside the picture
      Add("<svg width=\"{}\" height=\"{}\">{}</svg>\n", film_.width, film_.height, picture);
  }

  void WriteCaption() {
    double y = film_.height + kLine;
    Add("<g fill=\"#222\"><text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", kMargin, y,
        XmlText(CutMiddle(title_, Letters(width_ - 2 * kMargin, kBoldLetter) - kStepLetters, /*utf8=*/true)));
    for (const std::string& line : lines_) Add("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y += kLine, XmlText(line));
    Add("</g>\n");
  }

  const Film& film_;
  const std::string& title_;
  const double width_;
  const std::vector<std::string> lines_;
  const double height_;
  std::string text_;
};

}  // namespace

std::string FilmSvg(const Film& film, const std::string& title) { return FilmWriter(film, title).Write(); }

}  // namespace backplane
