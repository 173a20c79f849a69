#include "app/worker/compile_ahead.h"

#include <algorithm>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

Result<gpu::PlanReport> compiled(gpu::Compiler& compiler, const std::filesystem::path& cache, const Point& p,
                                 const Device& device) {
  const auto row = find_kernel(p.kernel);
  if (!row) return tl::unexpected(row.error());
  const auto plan = (*row)->plan(**row, p.problem, p.options, device);
  if (!plan) return tl::unexpected(plan.error());
  gpu::CompileService service(compiler, cache);
  return gpu::inspect(service, *plan, device, gpu::edited_kernels_folder());
}

}  // namespace

CompileAhead::CompileAhead(std::vector<Point> points, Device device, CompilerOpener open, std::filesystem::path cache,
                           unsigned threads)
    : points_(std::move(points)),
      device_(std::move(device)),
      open_(std::move(open)),
      cache_(std::move(cache)),
      reports_(points_.size()) {
  const auto most = static_cast<unsigned>(std::min<std::size_t>(points_.size(), std::max(1U, threads)));
  for (unsigned n = 0; n < most; ++n) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

CompileAhead::~CompileAhead() {
  for (std::jthread& t : threads_) t.request_stop();
}

std::optional<std::size_t> CompileAhead::take() {
  const std::lock_guard lock(mutex_);
  return next_ < points_.size() ? std::optional(next_++) : std::nullopt;
}

void CompileAhead::put(std::size_t n, Result<gpu::PlanReport> report) {
  {
    const std::lock_guard lock(mutex_);
    reports_[n] = std::move(report);
  }
  changed_.notify_all();
}

void CompileAhead::work(const std::stop_token& stop) {
  const InEnglish recorded;
  const auto compiler = open_();
  if (compiler) (*compiler)->heed(stop);
  while (!stop.stop_requested()) {
    const auto n = take();
    if (!n) return;
    put(*n, compiler ? compiled(**compiler, cache_, points_[*n], device_)
                     : Result<gpu::PlanReport>(tl::unexpected(compiler.error())));
  }
}

Result<gpu::PlanReport> CompileAhead::report(std::size_t n, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, std::move(stop), [&] { return reports_[n].has_value(); }))
    return fail(ErrorKind::cancelled, "cancelled during compilation");
  return *reports_[n];
}

}  // namespace attn
