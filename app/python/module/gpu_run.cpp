#include "app/python/module/gpu_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "app/python/module/errors.h"
#include "kernels/gpu/compile/compiler.h"
#include "kernels/gpu/compile/service.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/launching.h"
#include "kernels/ladder.h"

namespace nb = nanobind;

namespace attn::python {
namespace {

// The driver, the compiler, and a queue for each context whose arrays came. One thread at a time.
class Gpus {
 public:
  static Gpus& all() {
    static Gpus* const gpus = new Gpus();
    return *gpus;
  }

  std::mutex& mutex() { return mutex_; }

  // A graph reads its memory: it is kept until the process ends.
  void keep(std::shared_ptr<const gpu::LoadedPlan> captured) { captured_.push_back(std::move(captured)); }

  // The queue of the GPU in this thread's context, which must be current.
  Result<gpu::Queue*> queue(std::int32_t device) {
    if (auto opened = open(); !opened) return tl::unexpected(opened.error());
    const auto current = driver_->join_context(device);
    if (!current) return tl::unexpected(current.error());
    if (current->gpu != device) {
      return bad_input(fmt::format("q is on GPU {}, but the thread's current GPU is {}; make q's GPU current first",
                                   device, current->gpu));
    }
    context_ = current->id;
    if (const auto at = queues_.find(context_); at != queues_.end()) return &at->second;
    const auto properties = driver_->properties(device);
    if (!properties) return tl::unexpected(properties.error());
    devices_.emplace(device, device_of(*properties));
    return &queues_
                .emplace(context_,
                         gpu::Queue::on(*driver_, *service_, properties->arch(), gpu::edited_kernels_folder(), nullptr))
                .first->second;
  }
  // Of the queue that was asked for last: what it loads is of no other.
  std::uint64_t context() const { return context_; }
  Result<Device> open_device(std::int32_t index) {
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(mutex_);
    if (const auto opened = queue(index); !opened) return tl::unexpected(opened.error());
    return devices_.at(index);
  }

 private:
  Result<void> open() {
    if (service_) return ok();
    auto driver = gpu::open_driver();
    if (!driver) return tl::unexpected(driver.error());
    auto compiler = gpu::open_nvrtc();
    if (!compiler) return tl::unexpected(compiler.error());
    driver_ = std::move(*driver);
    compiler_ = std::move(*compiler);
    service_ = std::make_unique<gpu::CompileService>(*compiler_, gpu::cubin_cache_folder());
    return ok();
  }

  std::mutex mutex_;
  std::unique_ptr<gpu::Driver> driver_;
  std::unique_ptr<gpu::Compiler> compiler_;
  std::unique_ptr<gpu::CompileService> service_;
  std::map<std::uint64_t, gpu::Queue> queues_;  // by their contexts
  std::uint64_t context_ = 0;
  std::map<std::int32_t, Device> devices_;
  std::vector<std::shared_ptr<const gpu::LoadedPlan>> captured_;
};

constexpr std::array<Tensor, 4> kLaidOut{Tensor::q, Tensor::k, Tensor::v, Tensor::o};

// [B, L, H, D] without gaps; the axes of the view are [B, H, L, D].
bool is_dense_inside(const ArrayView& view) {
  std::int64_t stride = 1;
  for (const std::size_t axis : {3U, 1U, 2U, 0U}) {
    if (view.shape[axis] != 1 && view.strides[axis] != stride) return false;
    stride *= view.shape[axis];
  }
  return reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.type) == 0;
}

// It came so, and a kernel may read it so.
bool lies_heads_inside(const Request& r) {
  return r.heads_inside && std::ranges::all_of(kLaidOut, [&](Tensor t) { return is_dense_inside(r.tensors[t]); });
}

// Strides that a rung takes which reads them: it and the hardware move 16 bytes at once.
bool has_good_strides(const ArrayView& view, const TensorSpec& spec) {
  constexpr std::int64_t kUnit = 16;
  if (view.type != spec.type || view.shape.size() != 4 || view.strides[3] != 1 ||
      reinterpret_cast<std::uintptr_t>(view.data) % kUnit != 0)
    return false;
  for (std::size_t n = 0; n < 3; ++n) {
    const std::int64_t bytes = view.strides[n] * static_cast<std::int64_t>(size_of(view.type));
    if (view.shape[n] != 1 && (bytes <= 0 || bytes % kUnit != 0)) return false;
  }
  return true;
}

Request with_layout(Request r, AxisOrder layout) {
  r.problem.layout = layout;
  return r;
}

// A kernel that reads the arrays where they lie, before one for which they are copied. Sets the request's layout.
Choice choose_layout(Request& request, const std::string& kernel, const Device& device, bool inside) {
  if (inside) {
    Request swapped = with_layout(request, AxisOrder::blhd);
    const auto takes = [&](const KernelRow& row) {
      return row.processor == Processor::gpu && row.supports(row, swapped.problem, swapped.options, device).has_value();
    };
    if (kernel == "auto" ? best_rung(Processor::gpu, swapped.problem, swapped.options, device) != nullptr
                         : takes(*taken(find_kernel(kernel)))) {
      request = std::move(swapped);
      return choose(kernel, request, device);
    }
  }
  return choose(kernel, request, device);
}

std::shared_ptr<KnownPlan> gpu_plan_of(const Request& came, const std::string& kernel) {
  const bool inside = lies_heads_inside(came);
  if (auto known = KnownPlans::all().find(came, kernel, inside)) return known;
  auto made = asked_of(came, kernel, inside);
  Result<Device> opened = Gpus::all().open_device(came.device);
  const Device device = taken(std::move(opened));
  Request request = came;
  made->choice = choose_layout(request, kernel, device, inside);
  const KernelRow& row = *made->choice.row;
  made->plan = taken(row.plan(row, request.problem, request.options, device));
  made->specs = tensors_of(made->plan.problem);
  auto oldest = KnownPlans::all().keep(made);
  if (!oldest.empty()) {
    // Their memory is the driver's to free, which may wait for the GPU.
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(Gpus::all().mutex());
    oldest.clear();
  }
  return made;
}

// Numbers that a kernel follows to other memory, and nobody has seen: within these limits they lead to no other's.
nb::object limits_of(const TensorSpec& spec, const Problem& p) {
  if (spec.tensor == Tensor::key_lengths) return nb::make_tuple("lengths", p.Lk, 1);
  if (spec.tensor == Tensor::page_table) return nb::make_tuple("pages", p.storage.pages - 1, spec.shape[1]);
  return {};
}

std::uintptr_t stream_of(nb::handle home, std::int32_t device) {
  return nb::cast<std::uintptr_t>(home.attr("stream")(device));
}

// Without the GIL: the compiler may take seconds, and other threads go on. `use(Stream)` has the driver to itself.
template <class Use>
std::invoke_result_t<Use, gpu::Queue&, const Stream&> on_queue(std::int32_t device, std::uintptr_t stream,
                                                               const Use& use) {
  Gpus& gpus = Gpus::all();
  const nb::gil_scoped_release released;
  const std::scoped_lock lock(gpus.mutex());
  const auto queue = gpus.queue(device);
  if (!queue) return tl::unexpected(queue.error());
  (*queue)->go_to(reinterpret_cast<gpu::StreamHandle>(stream));  // NOLINT(performance-no-int-to-ptr)
  return use(**queue, Stream{{}, *queue});
}

}  // namespace

GpuRun::GpuRun(const Request& request, const std::string& kernel, nb::handle home, const LibraryArrays& arrays)
    : request_(&request), known_(gpu_plan_of(request, kernel)), waits_(nb::cast<bool>(home.attr("waits"))) {
  const bool to_swap = request.heads_inside && known_->plan.problem.layout == AxisOrder::bhld;
  for (const TensorSpec& spec : known_->specs) {
    if (!request.tensors[spec.tensor]) continue;
    place(spec, home, arrays[spec.tensor], to_swap && spec.shape.size() == 4);
  }
  if (known_->plan.workspace_bytes == 0) return;
  const nb::object workspace =
      home.attr("empty")(nb::make_tuple(known_->plan.workspace_bytes), arrays[Tensor::q], "uint8");
  held_.push_back(workspace);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): libraries hand out addresses as numbers
  buffers_.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(home.attr("address")(workspace)));
}

std::byte* GpuRun::copy_of(nb::handle home, nb::handle argument, const nb::object& how, bool back) {
  const nb::object dense = home.attr("dense")(argument, how);
  held_.push_back(dense);
  copies_.push_back({nb::borrow(argument), dense, how, back});
  // NOLINTNEXTLINE(performance-no-int-to-ptr): libraries hand out addresses as numbers
  return reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(home.attr("address")(dense)));
}

// `swapped`: heads and rows have changed places on the way to the kernel.
void GpuRun::place(const TensorSpec& spec, nb::handle home, nb::handle argument, bool swapped) {
  const ArrayView& view = request_->tensors[spec.tensor];
  const bool may_stride = spec.role == Role::in ? spec.tensor != Tensor::bias : spec.tensor == Tensor::o;
  std::byte* address = view.data;
  if (const nb::object limits = limits_of(spec, known_->plan.problem); limits.is_valid()) {
    address = copy_of(home, argument, limits, false);
  } else if (lies_as(view, spec)) {
    // as the layout says
  } else if (may_stride && gpu::reads_strides(*known_->plan.kernel) && has_good_strides(view, spec)) {
    for (std::size_t n = 0; n < 3; ++n)
      buffers_.strides[spec.tensor][n] = view.shape[n] == 1 ? spec.strides[n] : view.strides[n];
  } else {
    copied_.emplace_back(spec.tensor == Tensor::o ? "out" : spec.tensor == Tensor::slopes ? "alibi" : spec.name());
    const std::string_view how = spec.tensor == Tensor::bias     ? "bias"
                                 : spec.tensor == Tensor::slopes ? "float32"
                                 : swapped                       ? "swapped"
                                                                 : "same";
    address = copy_of(home, argument, nb::cast(std::string(how)), spec.role == Role::out);
  }
  if (spec.role == Role::in) {
    buffers_.in[spec.tensor] = address;
  } else {
    buffers_.out[spec.tensor] = address;
  }
}

void GpuRun::copy_back(nb::handle home) const {
  for (const Copy& copy : copies_)
    if (copy.back) home.attr("copy_back")(copy.to, copy.from, copy.how);
}

void GpuRun::launch_once(nb::handle home) {
  const bool aligned = gpu::reads_aligned(known_->plan, buffers_);
  taken(on_queue(request_->device, stream_of(home, request_->device),
                 [&](gpu::Queue& queue, const Stream& stream) -> Result<void> {
                   KnownPlan::Loads& loads = known_->loaded[Gpus::all().context()];
                   auto& loaded = loads.plans[aligned ? 1 : 0];
                   if (!loaded) {
                     auto made = gpu::load_plan(known_->plan, aligned, stream);
                     if (!made) return tl::unexpected(made.error());
                     loaded = std::make_shared<const gpu::LoadedPlan>(std::move(*made));
                   }
                   if (loaded->has_memory() && !loads.captured[aligned ? 1 : 0]) {
                     const auto captured = queue.driver().capturing(queue.stream());
                     if (!captured) return tl::unexpected(captured.error());
                     if (*captured) Gpus::all().keep(loaded);
                     loads.captured[aligned ? 1 : 0] = *captured;
                   }
                   if (auto launched = gpu::launch_at(*loaded, buffers_, stream); !launched) return launched;
                   return finish(queue);
                 }));
  copy_back(home);
}

Result<void> GpuRun::finish(gpu::Queue& queue) const {
  return waits_ ? queue.driver().synchronize(queue.stream()) : ok();
}

void GpuRun::prepare(nb::handle home) {
  prepared_ =
      taken(on_queue(request_->device, stream_of(home, request_->device),
                     [&](gpu::Queue&, const Stream& stream) { return gpu::prepare(known_->plan, buffers_, stream); }));
}

void GpuRun::launch(nb::handle home) {
  const std::uintptr_t stream = stream_of(home, request_->device);
  for (const Copy& copy : copies_)
    if (!copy.back) home.attr("copy")(copy.from, copy.to, copy.how);
  taken(on_queue(request_->device, stream, [&](gpu::Queue& queue, const Stream& on) -> Result<void> {
    if (auto launched = gpu::launch(prepared_, on); !launched) return launched;
    return finish(queue);
  }));
  copy_back(home);
}

}  // namespace attn::python
