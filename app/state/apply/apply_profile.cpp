#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/state/apply/apply_lists.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/museum/museum.h"

namespace attn {
namespace {

constexpr std::size_t kMaxName = 256;

// The kernel on a GPU whose source has the phases of Step's run: the one that is chosen, else the first of the sweep,
// else the first of all that walks in the same order.
Result<std::string> kernel_with_source(const State& s) {
  const SweepSpec& sweep = s.document.sweep;
  const auto shown = find_kernel_or_piece(s.document.kernel);
  if (!shown) return tl::unexpected(shown.error());
  const Order order = (*shown)->order;
  const auto fits = [order](const KernelRow& row) { return row.processor == Processor::gpu && row.order == order; };
  std::vector<std::string> names{bench_kernel(s)};
  names.insert(names.end(), sweep.kernels.begin(), sweep.kernels.end());
  for (const std::string& name : names)
    if (const auto row = find_kernel(name, sweep.own); row && fits(**row)) return name;
  for (const KernelRow* row : ladder())
    if (fits(*row)) return std::string(row->id);
  return fail(
      ErrorKind::cannot_run,
      phrase("No GPU kernel uses the order of {}, so Profile has no source for its phases.", s.document.kernel));
}

struct ApplyProfile {
  State s;

  Result<State> operator()(const ChooseProfilePage& c) {
    s.view.profile.page = c.page;
    return std::move(s);
  }
  Result<State> operator()(const ChooseSourceLine& c) {
    if (c.line < 0 || c.file.size() > kMaxName) return bad_input(phrase("Invalid line {} in {}.", c.line, c.file));
    s.view.profile.file = c.file;
    s.view.profile.line = c.line;
    s.view.profile.phase = gpu::CodePhase::none;
    return std::move(s);
  }
  Result<State> operator()(const ChooseAgainst& c) {
    if (c.id.size() > kMaxName) return bad_input(tr("The name of a measurement can have at most 256 bytes."));
    s.view.profile.against = c.id;
    return std::move(s);
  }
  Result<State> operator()(const ChooseBeatSpan& c) {
    const bool all = c.from_us == 0 && c.to_us == 0;
    if (!all && (c.from_us < 0 || c.to_us <= c.from_us))
      return bad_input(phrase("The range {} to {} µs is not within the run.", c.from_us, c.to_us));
    s.view.profile.beat_from_us = c.from_us;
    s.view.profile.beat_to_us = c.to_us;
    return std::move(s);
  }
  Result<State> operator()(const ChooseTimeline& c) {
    if (c.id.size() > kMaxName) return bad_input(tr("The name of a timeline can have at most 256 bytes."));
    s.view.profile.timeline = c.id;
    s.view.profile.time_block = -1;
    s.view.profile.time_from_ns = s.view.profile.time_to_ns = 0;
    s.view.profile.key_tile = -1;
    return std::move(s);
  }
  Result<State> operator()(const CompareTimeline& c) {
    if (c.id.size() > kMaxName) return bad_input(tr("The name of a timeline can have at most 256 bytes."));
    s.view.profile.time_beside = c.id;
    return std::move(s);
  }
  Result<State> operator()(const ChooseTimeBlock& c) {
    if (c.block < -1) return bad_input(phrase("No block {}.", c.block));
    s.view.profile.time_block = c.block;
    s.view.profile.time_sms = false;
    s.view.profile.time_from_ns = s.view.profile.time_to_ns = 0;
    s.view.profile.key_tile = -1;
    return std::move(s);
  }
  Result<State> operator()(const ChooseTimeSpan& c) {
    const bool all = c.from_ns == 0 && c.to_ns == 0;
    if (!all && (c.from_ns < 0 || c.to_ns <= c.from_ns))
      return bad_input(phrase("The range {} to {} ns is not within the block's time.", c.from_ns, c.to_ns));
    s.view.profile.time_from_ns = c.from_ns;
    s.view.profile.time_to_ns = c.to_ns;
    return std::move(s);
  }
  Result<State> operator()(const FollowKeyTile& c) {
    if (c.tile < -1) return bad_input(phrase("No key tile {}.", c.tile));
    s.view.profile.key_tile = c.tile;
    return std::move(s);
  }
  Result<State> operator()(const ShowTimePath& c) {
    s.view.profile.time_path = c.on;
    return std::move(s);
  }
  Result<State> operator()(const ShowAllSms& c) {
    s.view.profile.time_sms = c.on;
    return std::move(s);
  }
  Result<State> operator()(const ShowRoofLevels& c) {
    s.view.profile.roof_levels = c.on;
    return std::move(s);
  }
  Result<State> operator()(const ShowPhase& c) {
    if (c.phase == gpu::CodePhase::none)
      return bad_input(tr("The mask skips this tile, so there is no source to show for it."));
    auto kernel = kernel_with_source(s);
    if (!kernel) return tl::unexpected(kernel.error());
    // Step keeps its kernel; what Bench and Profile look at is named beside it.
    s.view.bench.kernel = *kernel == s.document.kernel ? "" : *std::move(kernel);
    s.view.workspace = Workspace::profile;
    s.view.profile.page = ProfilePage::source;
    s.view.profile.file.clear();
    s.view.profile.line = 0;
    s.view.profile.phase = c.phase;
    return std::move(s);
  }
  Result<State> operator()(const ChooseCode& c) {
    s.view.profile.code = c.code;
    return std::move(s);
  }
};

}  // namespace

Result<State> apply_profile(State state, const ProfileCommand& command) {
  return std::visit(ApplyProfile{std::move(state)}, command);
}

}  // namespace attn
