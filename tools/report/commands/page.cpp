#include "commands/page.hpp"

#include "base/files.hpp"
#include "live/folder_index.hpp"

namespace backplane {

void WritePage(const MadeReport& made, const std::filesystem::path& out) {
  Page page{out, {}};
  for (const std::filesystem::path& file : made.written.files) page.files.emplace_back("", file);
  page.files.insert(page.files.end(), made.results.begin(), made.results.end());
  Drawings drawings = made.written.drawings;
  if (drawings.javascript.empty()) drawings.javascript = FigureScript();
  WriteFileAtomic(out / kPageName, RenderHtml(made.document, drawings, page));
  WriteFolderIndex(out);
}

}  // namespace backplane
