#include "figures/film_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/json_text.hpp"
#include "base/text_columns.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

constexpr double kFont = 14, kLine = 20, kMargin = 8, kFilmLetter = 9, kBoldLetter = 10;  // pixels, letters as wide as most
constexpr double kCurve = 44, kWords = 64;  // height of the curve, and width of its end labels
constexpr uint64_t kCurvePoints = 300;

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

// Wraps words into as few lines of that many letters as possible.
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

std::vector<std::string> Notes(const Film& film) {
  std::vector<std::string> notes = film.notes;
  if (film.slower > 1) notes.push_back(fmt::format("{} times slower than real time", film.slower));
  return notes;
}

class FilmWriter {
 public:
  FilmWriter(const Film& film, const std::string& title)
      : film_(film),
        title_(title),
        width_(std::max<double>(film.width, 30 * kFont)),
        lines_(Lines(Notes(film), Letters(width_ - 2 * kMargin, kFilmLetter))),
        curve_top_(film.height + 1.5 * kMargin + kLine * static_cast<double>(2 + lines_.size())),
        height_(curve_top_ + kCurve + kMargin) {}

  std::string Write() {
    Open();
    WriteData();
    WriteStyle();
    WriteGround();
    // A nested element clips the neighbouring frames.
    Add("<svg width=\"{}\" height=\"{}\"><g class=\"{}\" transform=\"translate({:.0f})\">\n", width_, curve_top_, kFilmStrip,
        -width_ * Last());
    for (size_t i = 0; i < film_.frames.size(); ++i) {
      const double x = width_ * static_cast<double>(i);
      WritePicture(film_.frames[i], x);
      WriteStep(i, x);
    }
    Add("</g></svg>\n");
    WriteCaption();
    WriteCurve(film_.frames.size() - 1);
    return text_ + "</svg>\n";
  }

  std::string WriteStill(size_t frame) {
    Open();
    WriteGround();
    // White covers everything around the picture: clipping takes vl-convert twenty times as long.
    if (film_.png)
      WritePicture(film_.frames[frame], 0);
    else
      Add("<g>{}</g>", film_.frames[frame]);
    Add("<path fill=\"#fff\" d=\"M0 {0}H{1}V0H{2}V{3}H0z\"/>\n", film_.height, film_.width, width_, height_);
    WriteStep(frame, 0);
    WriteCaption();
    WriteCurve(frame);
    return text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  double Last() const { return static_cast<double>(film_.frames.size() - 1); }
  double CurveWidth() const { return width_ - 2 * kMargin - kWords; }

  void Open() {
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"{2}\">\n<title>{3}</title>\n",
        width_, height_, kFont, XmlText(title_));
  }

  void WriteData() {
    const nlohmann::json data = {{"frame_s", film_.frame_s},
                                 {"frames", film_.frames.size()},
                                 {"every", film_.every},
                                 {"slower", film_.slower},
                                 {"returns", film_.returns}};
    Add("<metadata>{}</metadata>\n", XmlText(JsonText(data)));
  }

  // All frames form one row, which moves by one frame at a time; the mark on the curve moves with it.
  void WriteStyle() {
    const double round_s = (Last() + 1) * film_.frame_s + kFilmHold_s, end = 100 * Last() * film_.frame_s / round_s;
    const std::pair<const char*, double> moves[] = {{kFilmStrip, -width_ * Last()}, {kFilmMark, CurveWidth()}};
    Add("<style>\n");
    for (const auto& [name, way] : moves) {
      Add("@keyframes {} {{ 0% {{ transform: translateX(0); animation-timing-function: steps({:.0f}) }} ", name, Last());
      Add("{:.4f}%, 100% {{ transform: translateX({:.1f}px) }} }}\n.{} {{ animation: {} {:.3f}s infinite }}\n", end, way, name,
          name, round_s);
    }
    Add("</style>\n");
  }

  void WriteGround() {
    Add("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", width_, height_);
    WritePicture(film_.backdrop, 0);
  }

  void WriteStep(size_t frame, double x) {
    const uint64_t step = film_.StepOf(frame);
    const double sum = step > 0 ? film_.returns[step - 1] : 0;
    Add("<text x=\"{}\" y=\"{}\" fill=\"#555\">step {} of {}, return {:.{}f}</text>\n", x + kMargin, film_.height + 2 * kLine,
        step, film_.steps(), sum, std::abs(sum) < 100 ? 2 : 1);
  }

  void WritePicture(const std::string& picture, double x) {
    if (picture.empty()) return;
    if (film_.png)
      Add("<image x=\"{}\" width=\"{}\" height=\"{}\" href=\"data:image/png;base64,{}\"/>\n", x, film_.width, film_.height,
          picture);
    else  // a nested element clips the surroundings
      Add("<svg x=\"{}\" width=\"{}\" height=\"{}\">{}</svg>\n", x, film_.width, film_.height, picture);
  }

  void WriteCaption() {
    double y = film_.height + kLine;
    Add("<g fill=\"#222\"><text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", kMargin, y,
        XmlText(CutMiddle(title_, Letters(width_ - 2 * kMargin, kBoldLetter), /*utf8=*/true)));
    y += kLine;  // of the frame
    for (const std::string& line : lines_) Add("<text x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y += kLine, XmlText(line));
    Add("</g>\n");
  }

  // The return so far over the steps, with the position of `frame`.
  void WriteCurve(size_t frame) {
    const uint64_t steps = film_.steps();
    double low = 0, high = 0;
    for (const double sum : film_.returns)
      if (std::isfinite(sum)) low = std::min(low, sum), high = std::max(high, sum);
    const auto y = [&](double sum) {
      return curve_top_ + kCurve * (high > low && std::isfinite(sum) ? (high - sum) / (high - low) : 1);
    };
    const auto x = [&](uint64_t step) {
      return kMargin + CurveWidth() * static_cast<double>(step) / static_cast<double>(std::max<uint64_t>(steps, 1));
    };
    Add("<g fill=\"none\" stroke=\"#ccc\"><path d=\"M{0} {1:.1f}h{2}\"/><path stroke=\"#0072b2\" stroke-width=\"1.5\" d=\"M{0} "
        "{1:.1f}",
        kMargin, y(0), CurveWidth());
    const uint64_t points = std::min(steps, kCurvePoints);
    for (uint64_t i = 1; i <= points; ++i) {
      const uint64_t step = steps * i / points;
      Add("L{:.1f} {:.1f}", x(step), y(film_.returns[step - 1]));
    }
    const double at = CurveWidth() * static_cast<double>(frame) / std::max(Last(), 1.0);
    Add("\"/><path class=\"{}\" stroke=\"#d55e00\" stroke-width=\"2\" d=\"M{} {}v{}\" transform=\"translate({:.1f})\"/></g>\n",
        kFilmMark, kMargin, curve_top_ - 2, kCurve + 4, at);
    const double words = width_ - kWords;
    Add("<g fill=\"#555\" font-size=\"11\"><text x=\"{0}\" y=\"{1}\">{2:.4g}</text>", words, y(high) + 9, high);
    if (high > low) Add("<text x=\"{}\" y=\"{}\">{:.4g}</text>", words, y(low), low);
    Add("</g>\n");
  }

  const Film& film_;
  const std::string& title_;
  const double width_;
  const std::vector<std::string> lines_;
  const double curve_top_, height_;
  std::string text_;
};

}  // namespace

std::string FilmSvg(const Film& film, const std::string& title) { return FilmWriter(film, title).Write(); }
std::string StillSvg(const Film& film, const std::string& title, size_t frame) {
  return FilmWriter(film, title).WriteStill(frame);
}

}  // namespace backplane
