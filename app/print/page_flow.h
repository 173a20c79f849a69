// Words, tables and rules one below the other on the pages of a PDF; what does not fit goes to the next page.
#pragma once

#include <string>

#include "app/print/pdf.h"
#include "viz/learn/exercise/plan_scene.h"

namespace attn {

class PageFlow {
 public:
  // `foot`: stands below every page, with its number.
  PageFlow(Pdf pdf, const Paper& paper, std::string foot);

  // Breaks at spaces; returns nothing but moves on.
  void paragraph(const TextRuns& words, double size, double gap, double indent = 0);
  // At the left and at the right of one line.
  void ends_of_line(const TextRuns& left, const TextRuns& right, double size, double gap);
  void picture(const PlanScene& scene, double size, double gap);
  // Empty lines to write on.
  void ruled(int lines, double gap);
  void rule(double gap);
  void gap(double points) { y_ += points; }
  // The next `points` stay on one page.
  void keep(double points);
  double height_of(const TextRuns& words, double size, double indent = 0) const;
  double height_of(const PlanScene& scene, double size) const;

  Result<std::vector<std::byte>> end();

 private:
  double room() const { return paper_.width - 2 * kSide; }
  void foot();
  template <class Place>
  double broken(const TextRuns& words, double size, double indent, const Place& place) const;
  LaidOut laid_out_here(const PlanScene& scene, double size) const;

  static constexpr double kSide = 56, kTop = 54, kBottom = 58;
  Pdf pdf_;
  Paper paper_;
  std::string foot_;
  double y_ = kTop;
  int page_ = 1;
};

}  // namespace attn
