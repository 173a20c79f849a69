#include "app/python/module/cpu_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/python/module/errors.h"
#include "kernels/base/bytes.h"
#include "kernels/cpu/device.h"
#include "kernels/model/problem/costs.h"

namespace nb = nanobind;

namespace attn::python {
namespace {

constexpr std::size_t kLine = 64;
// A worker keeps so much memory from call to call; more is given back.
constexpr std::size_t kKept = std::size_t{1} << 20;
constexpr std::size_t kWaiting = 8;
// From here on the system is asked whether it has as much.
constexpr std::uint64_t kLarge = std::uint64_t{64} << 20;
// Below it a call is done before another thread is awake.
constexpr double kOneThread = 2e6;

std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

class SignalWatch {
 public:
  bool stop_requested() const {
    if (asked_.load(std::memory_order_relaxed)) return true;
    if (std::this_thread::get_id() != caller_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return false;
    next_ = now + kEvery;
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() == 0) return false;
    // Kept until the GIL is held again where the call ends; raise() finds it there.
    asked_.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds kEvery{50};
  std::thread::id caller_ = std::this_thread::get_id();
  mutable std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
  mutable std::atomic<bool> asked_{false};
};

struct SharedWatch {
  std::shared_ptr<const SignalWatch> watch;
  bool stop_requested() const { return watch->stop_requested(); }
};

}  // namespace

Stop stop_on_signals() {
  return Stop(SharedWatch{std::make_shared<const SignalWatch>()});
}

// ---- workers

struct Workers::Shelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> waiting;
};

Workers::Workers() : shelf_(std::make_unique<Shelf>()) {}

Workers& Workers::all() {
  static Workers* const workers = new Workers();
  return *workers;
}

void Workers::forget() {
  // A thread of the parent's may have held the lock when it forked; its workers' threads are not here.
  static_cast<void>(all().shelf_.release());
  all().shelf_ = std::make_unique<Shelf>();
}

Workers::Lent::Lent(std::int32_t threads) : from_(&Workers::all()) {
  {
    const std::scoped_lock lock(from_->shelf_->mutex);
    auto& waiting = from_->shelf_->waiting;
    const auto at = std::ranges::find_if(waiting, [&](const auto& w) { return w->crew.threads() == threads; });
    if (at != waiting.end()) {
      worker_ = std::move(*at);
      waiting.erase(at);
    }
  }
  if (!worker_) worker_ = std::make_unique<Worker>(threads);
}

Workers::Lent::~Lent() {
  if (worker_->bytes > kKept) {
    worker_->memory.reset();
    worker_->bytes = 0;
  }
  std::unique_ptr<Worker> oldest;  // its threads end after the lock
  const std::scoped_lock lock(from_->shelf_->mutex);
  auto& waiting = from_->shelf_->waiting;
  waiting.push_back(std::move(worker_));
  if (waiting.size() > kWaiting) {
    oldest = std::move(waiting.front());
    waiting.erase(waiting.begin());
  }
}

// ---- runs

const Device& this_cpu() {
  static const Device device = cpu_device();
  return device;
}

namespace {

std::shared_ptr<const KnownPlan> cpu_plan_of(const Request& request, const std::string& kernel) {
  if (auto known = KnownPlans::all().find(request, kernel, false)) return known;
  auto made = asked_of(request, kernel, false);
  made->choice = choose(kernel, request, this_cpu());
  Options options = request.options;
  const Problem& p = request.problem;
  const double work = p.visible_pairs() * 2.0 * static_cast<double>(p.D + p.Dv);
  if (options.threads == 0 && work < kOneThread) options.threads = 1;
  const KernelRow& row = *made->choice.row;
  made->plan = taken(row.plan(row, p, options, this_cpu()));
  made->specs = tensors_of(made->plan.problem);
  KnownPlans::all().keep(made);
  return made;
}

}  // namespace

CpuRun::CpuRun(const Request& request, const std::string& kernel)
    : known_(cpu_plan_of(request, kernel)), tensors_(&request.tensors) {
  parts_.reserve(known_->specs.size());
  for (const TensorSpec& spec : known_->specs) {
    const ArrayView& view = (*tensors_)[spec.tensor];
    if (!view) continue;
    // A kernel trusts its extents: nothing less may reach it.
    if (view.shape != spec.shape)
      throw std::logic_error(fmt::format("{} does not have the problem's shape", spec.name()));
    parts_.push_back({&spec, !lies_as(view, spec)});
  }
}

std::vector<std::string> CpuRun::copied() const {
  std::vector<std::string> names;
  for (const Part& part : parts_)
    if (part.copy) names.emplace_back(part.spec->tensor == Tensor::o ? "out" : part.spec->name());
  return names;
}

std::uint64_t CpuRun::scratch_bytes() const {
  std::uint64_t bytes = in_lines(known_->plan.workspace_bytes);
  for (const Part& part : parts_)
    if (part.copy) bytes += in_lines(part.spec->bytes());
  return bytes;
}

Result<void> CpuRun::launch(const Stop& stop) const {
  const std::uint64_t bytes = scratch_bytes();
  if (bytes > kLarge && bytes > free_memory()) {
    return fail(ErrorKind::cannot_run,
                fmt::format("{} on {} needs {} bytes in addition to its tensors, but only {} "
                            "are free. Use a tiled or flash kernel, which needs less.",
                            known_->plan.kernel->id, describe(known_->plan.problem), bytes, free_memory()));
  }
  const Workers::Lent lent(known_->plan.options.threads);
  Worker& worker = *lent;
  if (worker.bytes < bytes) {
    worker.memory.reset();
    worker.bytes = 0;
    worker.memory = std::make_unique<cpu::AlignedBytes>(static_cast<std::size_t>(bytes));
    worker.bytes = static_cast<std::size_t>(bytes);
  }
  Buffers buffers;
  std::byte* next = worker.memory->data();
  buffers.workspace = next;
  next += in_lines(known_->plan.workspace_bytes);
  for (const Part& part : parts_) {
    const ArrayView& view = (*tensors_)[part.spec->tensor];
    std::byte* const place = part.copy ? next : view.data;
    if (part.copy) next += in_lines(part.spec->bytes());
    if (part.spec->role == Role::in) {
      if (part.copy) gather(view, *part.spec, place);
      buffers.in[part.spec->tensor] = place;
    } else {
      buffers.out[part.spec->tensor] = place;
    }
  }
  if (auto done = enqueue(known_->plan, buffers, Stream{stop, nullptr, &worker.crew}); !done) return done;
  for (const Part& part : parts_) {
    if (part.copy && part.spec->role == Role::out)
      scatter(buffers.write<std::byte>(part.spec->tensor), *part.spec, (*tensors_)[part.spec->tensor]);
  }
  return ok();
}

}  // namespace attn::python
