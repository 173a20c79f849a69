// Pages of vectors and words as a PDF, by cairo. Libraries are opened when the first page is asked for: the program
// works without them and says which is missing. The fonts are the program's own; what a page uses of them is embedded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "viz/draw/text_runs.h"

namespace attn {

// In points, 1/72 inch.
struct Paper {
  std::string_view name;
  double width = 0, height = 0;
};
inline constexpr Paper kPapers[] = {{"a4", 595.28, 841.89}, {"letter", 612, 792}};

class Pdf {
 public:
  // `fonts`: the folder of the program's fonts. Begins with a page.
  static Result<Pdf> begin(const Paper& paper, const std::filesystem::path& fonts, const std::string& title);
  Pdf(Pdf&&) noexcept;
  ~Pdf();

  double width(double size, const TextRuns& words) const;
  // From x on, standing on `baseline`; on one line.
  void words(double x, double baseline, double size, const TextRuns& words);
  void line(double x0, double y0, double x1, double y1, double thickness, std::uint32_t rgb);
  // An edge, whole or dashed; or filled.
  void edge(double x, double y, double width, double height, bool dashed);
  void fill(double x, double y, double width, double height, std::uint32_t rgb);
  void hatch(double x, double y, double width, double height, std::uint32_t rgb);
  void next_page();
  // The file's bytes; nothing can be drawn any more.
  Result<std::vector<std::byte>> end();

 private:
  struct Impl;
  explicit Pdf(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attn
