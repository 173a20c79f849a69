#include "kernels/cpu/backward/forward.h"

#include <utility>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/rows.h"
#include "kernels/model/fits.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn {

Problem forward_of(const Problem& p) {
  Problem forward = p;
  forward.pass = Pass::forward;
  return forward;
}

namespace {

bool has_forward(const Problem& p, const Inputs& in) {
  return p.pass == Pass::forward || (in.o && in.lse);
}

Result<Plan> plan_forward(const Problem& forward, std::uint64_t memory_limit) {
  static const KernelRow kRow = cpu::cpu_flash_row();
  const Device device = cpu_device();
  if (auto takes = kRow.supports(kRow, forward, {}, device); !takes) return tl::unexpected(takes.error());
  auto plan = kRow.plan(kRow, forward, {}, device);
  if (!plan) return plan;
  if (auto fits = check_memory(*plan, device, memory_limit); !fits) return tl::unexpected(fits.error());
  return plan;
}

void take_forward(Outputs out, Inputs& in) {
  if (!in.o) in.o = std::move(out.out);
  if (!in.lse) in.lse = std::move(out.lse);
}

}  // namespace

Result<void> add_forward(const Problem& p, Inputs& in, std::uint64_t memory_limit, const Stream& stream) {
  if (has_forward(p, in)) return ok();
  const auto plan = plan_forward(forward_of(p), memory_limit);
  if (!plan) return tl::unexpected(plan.error());
  Outputs out = empty_outputs(plan->problem);
  cpu::AlignedBytes workspace(static_cast<std::size_t>(plan->workspace_bytes));
  if (auto ran = enqueue(*plan, buffers_of(in, out, workspace.data()), stream); !ran) return ran;
  take_forward(std::move(out), in);
  return ok();
}

// A launch that is called until it is through.
class AllInputsRun::Forward {
 public:
  Forward(Plan plan, const Inputs& in)
      : plan_(std::move(plan)),
        out_(empty_outputs(plan_.problem)),
        workspace_(static_cast<std::size_t>(plan_.workspace_bytes)),
        buffers_(buffers_of(in, out_, workspace_.data())) {}

  Result<bool> go_on(const Pause& pause) {
    Result<void> ran;
    const auto launch = [&] { ran = enqueue(plan_, buffers_, Stream{{}, nullptr, nullptr, &mark_}); };
    const bool whole = mark_.go_on(launch, pause);
    if (!ran) return tl::unexpected(ran.error());
    return whole;
  }
  Outputs take() { return std::move(out_); }

 private:
  Plan plan_;
  Outputs out_;
  cpu::AlignedBytes workspace_;
  Buffers buffers_;
  WalkMark mark_;
};

AllInputsRun::AllInputsRun(Problem p, InputSpec spec) : p_(std::move(p)), spec_(std::move(spec)) {}
AllInputsRun::~AllInputsRun() = default;

Result<bool> AllInputsRun::generate(const Pause& pause) {
  Result<void> good;
  const bool whole = mark_.go_on([&] { good = generate_tensors(p_, spec_, *generated_, mark_); }, pause);
  if (!good) return tl::unexpected(good.error());
  if (!whole) return false;
  auto in = make_inputs(p_, spec_, *std::exchange(generated_, std::nullopt));
  if (!in) return tl::unexpected(in.error());
  in_ = *std::move(in);
  if (has_forward(p_, in_)) return true;
  auto plan = plan_forward(forward_of(p_), 0);
  if (!plan) return tl::unexpected(plan.error());
  forward_ = std::make_unique<Forward>(*std::move(plan), in_);
  return true;
}

Result<bool> AllInputsRun::go_on(const Pause& pause) {
  if (generated_) {
    if (auto there = generate(pause); !there || !*there) return there;
  }
  if (forward_ == nullptr) return true;
  if (auto whole = forward_->go_on(pause); !whole || !*whole) return whole;
  take_forward(forward_->take(), in_);
  forward_ = nullptr;
  return true;
}

Result<Inputs> make_all_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take,
                               std::uint64_t memory_limit, const Stream& stream) {
  auto in = make_inputs(p, spec, take);
  if (!in) return in;
  if (auto added = add_forward(p, *in, memory_limit, stream); !added) return tl::unexpected(added.error());
  return in;
}

}  // namespace attn
