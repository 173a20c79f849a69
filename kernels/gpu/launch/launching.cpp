#include "kernels/gpu/launch/launching.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/launch/hopper_backward_parameters.h"
#include "kernels/gpu/launch/hopper_parameters.h"
#include "kernels/gpu/launch/own_parameters.h"
#include "kernels/gpu/launch/split_parameters.h"
#include "kernels/gpu/launch/trace_on_device.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/stamps/stamps.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

// What Prepared::native is of a GPU's rung.
struct ReadyLaunch {
  std::string name;
  Function function = nullptr;
  LaunchShape shape;
  Parameters parameters;
};
using ReadyLaunches = std::vector<ReadyLaunch>;

bool on_16_bytes(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

// What a kernel reads or writes several elements of at once. Those that are not given are at no odd place.
bool all_on_16_bytes(const Buffers& b) {
  constexpr Tensor kMain[] = {Tensor::q,   Tensor::k,   Tensor::v,   Tensor::o,
                              Tensor::d_o, Tensor::d_q, Tensor::d_k, Tensor::d_v};
  return std::ranges::all_of(kMain, [&](Tensor t) { return on_16_bytes(b.in[t]) && on_16_bytes(b.out[t]); });
}

Error with_place(Error e, const Plan& plan, const std::string& entry) {
  e.message = fmt::format("{} ({}) on {}: {}", plan.kernel->id, entry, describe(plan.problem), e.message);
  return e;
}

Result<Queue*> queue_of(const Stream& stream) {
  auto* queue = static_cast<Queue*>(stream.native);
  if (queue == nullptr) return fail(ErrorKind::failed, tr("a GPU kernel was launched without a queue"));
  return queue;
}

Result<void> check_not_captured(const Plan& plan, Queue& queue) {
  const auto captured = queue.driver().capturing(queue.stream());
  if (!captured) return tl::unexpected(with_place(captured.error(), plan, "prepare"));
  if (!*captured) return ok();
  return tl::unexpected(
      with_place({ErrorKind::bad_input,
                  tr("its stream is being captured into a graph, which accepts only launches. Prepare the kernel "
                     "before the capture begins and launch it during the capture.")},
                 plan, "prepare"));
}

Result<Queue::Loaded*> load(const Plan& plan, bool aligned, Queue& queue) {
  std::vector<std::string> defines = defines_of(plan, aligned);
  if (queue.trace() != 0) add_traced_defines(plan, defines);
  if (!queue.stamps().empty()) add_stamped_defines(plan, defines);
  auto loaded = queue.load(plan.kernel->id, defines, own_source(*plan.kernel));
  if (!loaded) return tl::unexpected(with_place(loaded.error(), plan, tr("compile and load")));
  if (auto good = check_compiled(plan, (*loaded)->compiled.entries, queue.arch()); !good)
    return tl::unexpected(good.error());
  if (auto good = check_parameters(plan, (*loaded)->compiled.code); !good) return tl::unexpected(good.error());
  if (queue.trace() != 0)
    if (auto set = set_trace(queue, **loaded); !set) return tl::unexpected(with_place(set.error(), plan, "recorder"));
  if (!queue.stamps().empty())
    if (auto set = set_stamps(queue, **loaded); !set) return tl::unexpected(with_place(set.error(), plan, "recorder"));
  return loaded;
}

// From pageable memory: the driver has copied it before the call returns.
template <class T>
Result<void> send(Queue& queue, const T* to, const std::vector<T>& values) {
  return queue.driver().upload(reinterpret_cast<DevicePointer>(to), values.data(), values.size() * sizeof(T),
                               queue.stream());
}

// To the places in the workspace where the kernels look for them; what lies in a tensor stays there.
Result<void> send_small_arrays(const Plan& plan, const Buffers& buffers, Queue& queue) {
  const Problem& p = plan.problem;
  if (!p.mask.key_lengths.empty() && !buffers.in.has(Tensor::key_lengths)) {
    auto sent = send(queue, key_lengths_at(plan, buffers), p.mask.key_lengths);
    if (!sent) return tl::unexpected(with_place(sent.error(), plan, tr("key lengths")));
  }
  if (p.alibi && !buffers.in.has(Tensor::slopes)) {
    auto sent = send(queue, slopes_at(plan, buffers), slopes_of(p));
    if (!sent) return tl::unexpected(with_place(sent.error(), plan, tr("ALiBi slopes")));
  }
  return ok();
}

// Counters begin at 0 and are left so by every launch.
Result<void> clear_counters(const Plan& plan, const Buffers& buffers, Queue& queue) {
  if (plan.kernel->counters == 0) return ok();
  const Workspace at = workspace_of(*plan.kernel, plan.problem);
  auto done =
      queue.driver().fill(reinterpret_cast<DevicePointer>(buffers.workspace) + at.counters, 0,
                          static_cast<std::uint64_t>(plan.kernel->counters) * sizeof(std::int32_t), queue.stream());
  if (!done) return tl::unexpected(with_place(done.error(), plan, tr("counters")));
  return ok();
}

Result<std::vector<Parameters>> args_for_each(const Plan& plan, const Buffers& buffers, Queue&) {
  Parameters args;
  args.add(args_of(plan, buffers));
  return std::vector<Parameters>(plan.launches.size(), args);
}

Result<std::vector<Parameters>> backward_args_for_each(const Plan& plan, const Buffers& buffers, Queue&) {
  Parameters args;
  args.add(args_of(plan, buffers));
  args.add(backward_args_of(plan, buffers));
  return std::vector<Parameters>(plan.launches.size(), args);
}

// In memory of its own; the values must last until the queue's stream is waited for.
template <class T>
Result<std::shared_ptr<const Memory>> on_device(Queue& queue, const std::vector<T>& values) {
  Result<Memory> memory = Memory::allocate(queue.driver(), values.size() * sizeof(T));
  if (!memory) return tl::unexpected(memory.error());
  if (auto sent = send(queue, static_cast<const T*>(memory->pointer()), values); !sent)
    return tl::unexpected(sent.error());
  return std::make_shared<const Memory>(std::move(*memory));
}

Result<void> keep_small_arrays(LoadedPlan& loaded, Queue& queue) {
  const Problem& p = loaded.plan.problem;
  if (!p.mask.key_lengths.empty()) {
    auto kept = on_device(queue, p.mask.key_lengths);
    if (!kept) return tl::unexpected(with_place(kept.error(), loaded.plan, tr("key lengths")));
    loaded.key_lengths = std::move(*kept);
  }
  if (p.alibi) {
    auto kept = on_device(queue, slopes_of(p));
    if (!kept) return tl::unexpected(with_place(kept.error(), loaded.plan, tr("ALiBi slopes")));
    loaded.slopes = std::move(*kept);
  }
  // Launches on other streams read them as well.
  return loaded.has_memory() ? queue.driver().synchronize(queue.stream()) : ok();
}

ParametersFn parameters_for(const Plan& plan) {
  if (has_own_parameters(*plan.kernel)) return own_parameters;
  if (has_hopper_parameters(*plan.kernel)) return hopper_parameters;
  if (has_split_parameters(*plan.kernel)) return split_parameters;
  if (has_hopper_backward_parameters(*plan.kernel)) return hopper_backward_parameters;
  return plan.problem.pass == Pass::backward ? backward_args_for_each : args_for_each;
}

}  // namespace

bool reads_strides(const KernelRow& row) {
  return has_hopper_parameters(row) || has_split_parameters(row) || has_hopper_backward_parameters(row);
}

bool reads_aligned(const Plan& plan, const Buffers& buffers) {
  return may_be_aligned(plan.problem) && all_on_16_bytes(buffers);
}

Result<LoadedPlan> load_plan(const Plan& plan, bool aligned, const Stream& stream) {
  const auto queue = queue_of(stream);
  if (!queue) return tl::unexpected(queue.error());
  if (!plan.parts.empty() || has_own_parameters(*plan.kernel))
    return fail(ErrorKind::failed, phrase("{} must be prepared with the addresses of its tensors", plan.kernel->id));
  if (auto good = check_not_captured(plan, **queue); !good) return tl::unexpected(good.error());
  const auto loaded = load(plan, aligned, **queue);
  if (!loaded) return tl::unexpected(loaded.error());
  LoadedPlan made;
  made.plan = plan;
  if (auto kept = keep_small_arrays(made, **queue); !kept) return tl::unexpected(kept.error());
  for (const Launch& l : plan.launches) {
    const auto function = (*queue)->entry(**loaded, l.name, l.shared_bytes);
    if (!function) return tl::unexpected(with_place(function.error(), plan, l.name));
    made.entries.push_back({l.name, *function, shape_of(l)});
  }
  return made;
}

Result<void> launch_at(const LoadedPlan& loaded, const Buffers& buffers, const Stream& stream) {
  const auto queue = queue_of(stream);
  if (!queue) return tl::unexpected(queue.error());
  Buffers at = buffers;
  if (loaded.key_lengths && !at.in.has(Tensor::key_lengths)) at.in[Tensor::key_lengths] = loaded.key_lengths->pointer();
  if (loaded.slopes && !at.in.has(Tensor::slopes)) at.in[Tensor::slopes] = loaded.slopes->pointer();
  if (auto cleared = clear_counters(loaded.plan, at, **queue); !cleared) return cleared;
  const auto lists = parameters_for(loaded.plan)(loaded.plan, at, **queue);
  if (!lists) return tl::unexpected(with_place(lists.error(), loaded.plan, "parameters"));
  for (std::size_t n = 0; n < loaded.entries.size(); ++n) {
    const LoadedPlan::Entry& e = loaded.entries[n];
    auto done = (*queue)->driver().launch(e.function, e.shape, (*queue)->stream(), (*lists)[n].addresses());
    if (!done) return tl::unexpected(with_place(done.error(), loaded.plan, e.name));
  }
  return ok();
}

Result<Prepared> prepare_with(ParametersFn parameters, const Plan& plan, const Buffers& buffers, const Stream& stream) {
  const auto queue = queue_of(stream);
  if (!queue) return tl::unexpected(queue.error());
  if (auto good = check_tensors(plan, buffers); !good) return tl::unexpected(good.error());
  if (auto good = check_not_captured(plan, **queue); !good) return tl::unexpected(good.error());
  const auto loaded = load(plan, reads_aligned(plan, buffers), **queue);
  if (!loaded) return tl::unexpected(loaded.error());
  if (auto sent = send_small_arrays(plan, buffers, **queue); !sent) return tl::unexpected(sent.error());
  if (auto cleared = clear_counters(plan, buffers, **queue); !cleared) return tl::unexpected(cleared.error());
  if (auto cleared = clear_rooms(plan, buffers, **queue); !cleared) return tl::unexpected(cleared.error());
  auto lists = parameters(plan, buffers, **queue);
  if (!lists) return tl::unexpected(with_place(lists.error(), plan, "parameters"));
  ReadyLaunches ready;
  for (std::size_t n = 0; n < plan.launches.size(); ++n) {
    const Launch& l = plan.launches[n];
    const auto function = (*queue)->entry(**loaded, l.name, l.shared_bytes);
    if (!function) return tl::unexpected(with_place(function.error(), plan, l.name));
    ready.push_back({l.name, *function, shape_of(l), std::move(lists->at(n))});
  }
  return Prepared{plan, buffers, std::make_shared<const ReadyLaunches>(std::move(ready))};
}

namespace {

// One list of launches, whoever they are of.
Result<Prepared> prepare_parts(const Plan& plan, const Buffers& buffers, const Stream& stream) {
  ReadyLaunches all;
  for (std::size_t n = 0; n < plan.parts.size(); ++n) {
    const auto part = prepare(plan.parts[n], buffers_of_part(plan, n, buffers), stream);
    if (!part) return tl::unexpected(part.error());
    const auto& ready = *static_cast<const ReadyLaunches*>(part->native.get());
    all.insert(all.end(), ready.begin(), ready.end());
  }
  return Prepared{plan, buffers, std::make_shared<const ReadyLaunches>(std::move(all))};
}

}  // namespace

Result<Prepared> prepare(const Plan& plan, const Buffers& buffers, const Stream& stream) {
  if (!plan.parts.empty()) return prepare_parts(plan, buffers, stream);
  if (plan.kernel->prepare != nullptr) return plan.kernel->prepare(plan, buffers, stream);
  return prepare_with(parameters_for(plan), plan, buffers, stream);
}

Result<void> launch(const Prepared& prepared, const Stream& stream) {
  const auto queue = queue_of(stream);
  if (!queue) return tl::unexpected(queue.error());
  for (const ReadyLaunch& l : *static_cast<const ReadyLaunches*>(prepared.native.get())) {
    auto done = (*queue)->driver().launch(l.function, l.shape, (*queue)->stream(), l.parameters.addresses());
    if (!done) return tl::unexpected(with_place(done.error(), prepared.plan, l.name));
  }
  return ok();
}

}  // namespace attn::gpu
