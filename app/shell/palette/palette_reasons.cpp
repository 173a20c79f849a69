// Why an entry of the command palette cannot be done now.
#include <string>
#include <vector>

#include "app/shell/palette/palette.h"
#include "kernels/base/text.h"
#include "kernels/recording/reading.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/planned.h"
#include "viz/draw/hands.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

struct WhyNot {
  const PaletteFacts& f;

  template <class C>
  std::string operator()(const C&) const {
    return {};
  }
  std::string operator()(const Undo&) const { return f.can_undo ? "" : tr("nothing to undo"); }
  std::string operator()(const Redo&) const { return f.can_redo ? "" : tr("nothing to redo"); }
  std::string operator()(const CancelTask&) const { return f.model.task.running ? "" : tr("nothing is running"); }
  std::string operator()(const ExportCsv& c) const { return rows(c.run); }
  std::string operator()(const ExportJson& c) const { return rows(c.run); }
  std::string operator()(const ExportTrace& c) const { return rows(c.run); }
  std::string operator()(const RunSweep&) const {
    if (f.model.task.running) return tr("a task is running; cancel it first");
    const SweepSpec& sweep = f.state.document.sweep;
    return why_nothing_runs(sweep, f.model.gpu, planned_rows(sweep, f.model.kept), f.model.kept);
  }
  std::string operator()(const TypeNumbers&) const { return recording(); }
  std::string operator()(const StepBy&) const { return recording(); }
  std::string operator()(const GoToEnd&) const { return recording(); }
  std::string operator()(const Play&) const { return recording(); }
  std::string operator()(const ToggleBookmark&) const { return recording(); }
  std::string operator()(const ShowRaw&) const {
    const auto& shown = f.model.recording;
    if (shown == nullptr || !shown->gpu) return tr("the run shown is not from a GPU");
    return differs_from_formulas(*shown) ? "" : tr("this kernel holds the same numbers as the formulas");
  }
  std::string operator()(const ClearBookmarks&) const { return bookmarks(); }
  std::string operator()(const GoToLandmark& c) const {
    return c.landmark == Landmark::bookmark ? bookmarks() : recording();
  }
  std::string operator()(const Ask& c) const {
    if (c.popup == Popup::go_to || c.popup == Popup::save_steps) return recording();
    return {};
  }

  std::string recording() const { return f.model.recording != nullptr ? "" : tr("nothing is recorded"); }
  std::string bookmarks() const {
    return f.state.view.step.bookmarks.empty()
               ? for_hands(tr("no bookmarks yet; press B to set one"), tr("no bookmarks"))
               : recording();
  }
  std::string rows(const std::string& run) const {
    const bool any = !run.empty() || !shown_runs(f.state.document.runs, f.model).empty();
    return any ? "" : tr("no run is ticked");
  }
};

}  // namespace

void find_reasons(const PaletteFacts& facts, std::vector<PaletteEntry>& entries) {
  for (PaletteEntry& entry : entries) {
    for (const Command& command : entry.commands) {
      if (entry.why_not.empty()) entry.why_not = visit_command(command, WhyNot{facts});
    }
  }
}

}  // namespace attn
