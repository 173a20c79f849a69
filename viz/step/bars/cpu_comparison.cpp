#include "viz/step/bars/cpu_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/size.h"
#include "viz/step/orders/looks.h"

namespace attn {
namespace {

// Recordings above this are not made in passing.
constexpr std::uint64_t kBesideLimit = 4ULL << 20;

class Comparison {
 public:
  Comparison(const Recording& gpu, const Recording& cpu) : gpu_(gpu), cpu_(cpu) {}

  std::optional<PhaseDifference> of(const ComparedLook& which) {
    PhaseDifference worst{which.letter, which.slot};
    worst.difference = -1;
    for (EventIndex e = 0; e < gpu_.events.size(); ++e) {
      const Event& event = gpu_.events[e];
      if (event.id.phase != which.phase) continue;
      const auto other = cpu_.find(event.id, event.pass);
      if (other) compare(e, gpu_.after(e, which.slot), cpu_.after(*other, which.slot), worst);
    }
    if (worst.compared == 0) return std::nullopt;
    return worst;
  }

 private:
  void compare(EventIndex e, VersionId mine, VersionId theirs, PhaseDifference& worst) const {
    if (mine == kNoVersion || theirs == kNoVersion) return;
    const Version &a = gpu_.version(mine), &b = cpu_.version(theirs);
    if (a.made_by != e || a.rows != b.rows || a.cols != b.cols || a.first_row != b.first_row ||
        a.first_col != b.first_col || a.holds.masked != b.holds.masked) {
      return;
    }
    const auto x = gpu_.values(mine), y = cpu_.values(theirs);
    for (std::size_t n = 0; n < x.size(); ++n) {
      const auto r = a.first_row + static_cast<std::int32_t>(n) / a.cols;
      const auto c = a.first_col + static_cast<std::int32_t>(n) % a.cols;
      // A warp that sees none of a tile's keys makes no score of them, which the mask would hide.
      const bool left_out = a.slot == Slot::s && x[n] == -std::numeric_limits<float>::infinity() &&
                            !gpu_.problem.visible(gpu_.events[e].id.b, r, c);
      if (left_out) continue;
      ++worst.compared;
      const double d = difference(x[n], y[n]);
      if (d <= worst.difference) continue;
      worst.difference = d;
      worst.event = e;
      worst.row = r;
      worst.col = c;
      worst.gpu = x[n];
      worst.cpu = y[n];
    }
  }
  static double difference(float a, float b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    return std::fabs(static_cast<double>(a) - static_cast<double>(b));
  }

  const Recording& gpu_;
  const Recording& cpu_;
};

}  // namespace

std::shared_ptr<const Recording> record_on_cpu(const Recording& gpu, std::string& why) {
  why = tr("no CPU kernel has this order");
  for (const KernelRow* row : ladder()) {
    if (row->record == nullptr || row->order != gpu.order) continue;
    Options asked;
    asked.br = gpu.options.br;
    asked.bc = gpu.options.bc;
    const auto options = resolve(*row, asked, Device());  // the tile; the threads are the run's own
    if (!options) {
      why = options.error().message;
      continue;
    }
    if (options->br != gpu.options.br || options->bc != gpu.options.bc) {
      why = phrase("{} does not support tiles of {} x {}", row->id, gpu.options.br, gpu.options.bc);
      continue;
    }
    if (recording_bytes(row->order, gpu.problem, *options) > kBesideLimit) {
      why = tr("the CPU run of this problem is too large to record for comparison");
      return nullptr;
    }
    auto made = row->record(*row, gpu.problem, asked, gpu.inputs, {});
    if (!made) {
      why = made.error().message;
      continue;
    }
    why.clear();
    return std::make_shared<const Recording>(*std::move(made));
  }
  return nullptr;
}

CpuComparison compare_with_cpu(const Recording& gpu, const Recording& cpu) {
  CpuComparison out;
  out.cpu = cpu.kernel;
  out.m_may_stay = gpu.gpu && gpu.gpu->slack > 0;
  Comparison comparison(gpu, cpu);
  for (const ComparedLook& which : order_look(gpu.order).compared) {
    if (const auto found = comparison.of(which)) out.phases.push_back(*found);
  }
  return out;
}

}  // namespace attn
