#include <charconv>

#include "app/state/apply/apply.h"
#include "app/state/string/state_string.h"
#include "app/web/page.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/order.h"

namespace attn {
namespace {

// The first CPU kernel that walks so, or the kernel of that name.
Result<std::string> kernel_of(const std::string& order) {
  const auto wanted = order_named(order);
  for (const KernelRow* row : ladder()) {
    const bool walks = wanted && row->processor == Processor::cpu && row->record != nullptr && row->order == *wanted;
    if (walks || row->id == order) return std::string(row->id);
  }
  return bad_input(phrase("Unknown order={}; use naive, tiled, flash or a kernel's id.", order));
}

Result<EventIndex> event_of(const std::string& step) {
  EventIndex number = 0;
  const auto [end, code] = std::from_chars(step.data(), step.data() + step.size(), number);
  if (code != std::errc() || end != step.data() + step.size() || number < 1)
    return bad_input(phrase("Invalid step={}; use 1 or more.", step));
  return number - 1;
}

}  // namespace

Result<State> state_of(const PageOptions& options) {
  State state = initial_state();
  const Preferences preferences = state.preferences;
  if (!options.state.empty()) {
    auto opened = open_state_string(options.state);
    if (!opened) return tl::unexpected(opened.error());
    state = *std::move(opened);
    state.preferences = preferences;
  }
  if (!options.order.empty()) {
    const auto kernel = kernel_of(options.order);
    if (!kernel) return tl::unexpected(kernel.error());
    auto with = apply(state, StateCommand(StepCommand(ChooseKernel{*kernel})), nullptr);
    if (!with) return tl::unexpected(with.error());
    state = *std::move(with);
  }
  if (!options.step.empty()) {
    const auto event = event_of(options.step);
    if (!event) return tl::unexpected(event.error());
    state.view.workspace = Workspace::step;
    state.view.step.cursor = *event;
  }
  if (!options.theme.empty()) {
    if (options.theme != "dark" && options.theme != "light")
      return bad_input(phrase("Unknown theme={}; use dark or light.", options.theme));
    state.preferences.theme = options.theme == "dark" ? Theme::dark : Theme::light;
  }
  if (!options.panel.empty()) {
    if (!panel_named(options.panel))
      return bad_input(phrase("Unknown panel={}; use run, tiles, chart, traffic or timeline.", options.panel));
    state.view.workspace = Workspace::step;
  }
  return state;
}

PageOptions what_is_right(PageOptions options) {
  for (std::string PageOptions::*const part :
       {&PageOptions::state, &PageOptions::order, &PageOptions::step, &PageOptions::panel, &PageOptions::theme}) {
    PageOptions alone;
    alone.*part = options.*part;
    if (!state_of(alone)) (options.*part).clear();
  }
  if (!state_of(options)) options.order.clear();  // it does not take the state's problem
  return options;
}

}  // namespace attn
