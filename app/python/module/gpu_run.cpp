#include "app/python/module/gpu_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
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

// The driver, the compiler, and a queue for each GPU whose arrays came. One thread at a time.
class Gpus {
 public:
  static Gpus& all() {
    static Gpus* const gpus = new Gpus();
    return *gpus;
  }

  std::mutex& mutex() { return mutex_; }

  // The queue of the GPU in this thread's context, which must be current.
  Result<gpu::Queue*> queue(std::int32_t device) {
    if (auto opened = open(); !opened) return tl::unexpected(opened.error());
    const auto current = driver_->join_context();
    if (!current) return tl::unexpected(current.error());
    if (*current != device) {
      return bad_input(fmt::format("q is on GPU {}, but the thread's current GPU is {}; make q's GPU current first",
                                   device, *current));
    }
    if (const auto at = queues_.find(device); at != queues_.end()) return &at->second;
    const auto properties = driver_->properties(device);
    if (!properties) return tl::unexpected(properties.error());
    devices_.emplace(device, device_of(*properties));
    return &queues_
                .emplace(device,
                         gpu::Queue::on(*driver_, *service_, properties->arch(), gpu::edited_kernels_folder(), nullptr))
                .first->second;
  }
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
  std::map<std::int32_t, gpu::Queue> queues_;
  std::map<std::int32_t, Device> devices_;
};

constexpr std::array<Tensor, 4> kLaidOut{Tensor::q, Tensor::k, Tensor::v, Tensor::o};

// [B, L, H, D] as it came, where a kernel reads it so.
bool lies_heads_inside(const Request& r) {
  if (!r.heads_inside) return false;
  Problem p = r.problem;
  p.layout = AxisOrder::blhd;
  const std::vector<TensorSpec> specs = tensors_of(p);
  return std::ranges::all_of(kLaidOut, [&](Tensor t) { return lies_as(r.tensors[t], *find(specs, t)); });
}

Request with_layout(Request r, AxisOrder layout) {
  r.problem.layout = layout;
  return r;
}

// A kernel that reads the arrays where they lie, before one for which they are copied.
Choice choose_layout(Request& request, const std::string& kernel, const Device& device) {
  if (lies_heads_inside(request)) {
    Request inside = with_layout(request, AxisOrder::blhd);
    const auto takes = [&](const KernelRow& row) {
      return row.processor == Processor::gpu && row.supports(row, inside.problem, inside.options, device).has_value();
    };
    if (kernel == "auto" ? best_rung(Processor::gpu, inside.problem, inside.options, device) != nullptr
                         : takes(*taken(find_kernel(kernel)))) {
      request = std::move(inside);
      return choose(kernel, request, device);
    }
  }
  return choose(kernel, request, device);
}

}  // namespace

GpuRun::GpuRun(const Request& came, const std::string& kernel, nb::handle home, const LibraryArrays& arrays)
    : tensors_(came.tensors), device_(came.device) {
  Request request = came;
  Gpus& gpus = Gpus::all();
  const auto stream = nb::cast<std::uintptr_t>(home.attr("stream")(device_));
  Result<Device> opened = gpus.open_device(device_);
  const Device device = taken(std::move(opened));
  choice_ = choose_layout(request, kernel, device);
  Plan plan = taken(choice_.row->plan(*choice_.row, request.problem, request.options, device));
  for (const TensorSpec& spec : tensors_of(plan.problem)) {
    if (!tensors_[spec.tensor]) continue;
    const bool swapped = request.heads_inside && request.problem.layout == AxisOrder::bhld && spec.shape.size() == 4;
    place(spec, home, arrays[spec.tensor], swapped);
  }
  const nb::object workspace =
      home.attr("empty")(nb::make_tuple(std::max<std::uint64_t>(plan.workspace_bytes, 1)), arrays[Tensor::q], "uint8");
  held_.push_back(workspace);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): libraries hand out addresses as numbers
  buffers_.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(home.attr("address")(workspace)));
  // The compiler may take seconds: other threads go on.
  Result<Prepared> prepared;
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(gpus.mutex());
    const auto queue = gpus.queue(device_);
    if (!queue) {
      prepared = tl::unexpected(queue.error());
    } else {
      (*queue)->go_to(reinterpret_cast<gpu::StreamHandle>(stream));  // NOLINT(performance-no-int-to-ptr)
      prepared = gpu::prepare(plan, buffers_, Stream{{}, *queue});
    }
  }
  prepared_ = taken(std::move(prepared));
}

// `swapped`: heads and rows have changed places on the way to the kernel.
void GpuRun::place(const TensorSpec& spec, nb::handle home, nb::handle argument, bool swapped) {
  const ArrayView& view = tensors_[spec.tensor];
  std::byte* address = view.data;
  if (!lies_as(view, spec)) {
    copied_.emplace_back(spec.tensor == Tensor::o ? "out" : spec.name());
    const std::string how = spec.tensor == Tensor::bias ? "bias" : swapped ? "swapped" : "same";
    const nb::object dense = home.attr("dense")(argument, how);
    held_.push_back(dense);
    copies_.push_back({nb::borrow(argument), dense, how, spec.role == Role::out});
    // NOLINTNEXTLINE(performance-no-int-to-ptr): libraries hand out addresses as numbers
    address = reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(home.attr("address")(dense)));
  }
  if (spec.role == Role::in) {
    buffers_.in[spec.tensor] = address;
  } else {
    buffers_.out[spec.tensor] = address;
  }
}

void GpuRun::launch(nb::handle home) {
  Gpus& gpus = Gpus::all();
  const auto stream = nb::cast<std::uintptr_t>(home.attr("stream")(device_));
  for (const Copy& copy : copies_)
    if (!copy.back) home.attr("copy")(copy.from, copy.to, copy.how);
  Result<void> done;
  {
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(gpus.mutex());
    const auto queue = gpus.queue(device_);
    if (!queue) {
      done = tl::unexpected(queue.error());
    } else {
      (*queue)->go_to(reinterpret_cast<gpu::StreamHandle>(stream));  // NOLINT(performance-no-int-to-ptr)
      done = gpu::launch(prepared_, Stream{{}, *queue});
    }
  }
  taken(std::move(done));
  for (const Copy& copy : copies_)
    if (copy.back) home.attr("copy_back")(copy.to, copy.from, copy.how);
}

}  // namespace attn::python
