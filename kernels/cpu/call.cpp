#include "kernels/cpu/call.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "kernels/base/pieces.h"
#include "kernels/base/text.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/problem/validate.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"
#include "kernels/recording/recorder.h"
#include "kernels/recording/recording_run.h"
#include "kernels/recording/size.h"

namespace attn::cpu {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMax : out;
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? kMax : out;
}
std::int64_t whole_lanes(std::int64_t n) {
  return n > kMax - kLanes ? kMax : padded(n);
}

}  // namespace

Layout layout_of(Order order, Rules rules, const Problem& p, const Options& o) {
  Layout x{tiling_of(p, o)};
  x.ldk = padded(x.bc);
  x.ldv = padded(p.Dv);
  x.lds = times(x.tj, x.ldk);
  x.panel = rules == Rules::vector ? times(p.D, x.ldk) : times(p.D, x.bc);
  std::int64_t next = 0;
  const auto take = [&next](std::int64_t floats) {
    const std::int64_t at = next;
    next = plus(next, whole_lanes(floats));
    return at;
  };
  const std::int64_t kv_heads = p.B * p.Hkv;
  x.k_at = take(times(times(kv_heads, x.tj), x.panel));
  x.v_at = take(times(times(kv_heads, p.Lk), x.ldv));
  const OrderRow& row = order_row(order);
  if (row.stores_scores) {
    x.s_at = take(times(p.Lq, x.lds));
    const std::int64_t bytes = times(times(p.Lq, x.lds), static_cast<std::int64_t>(size_of(p.dtype)));
    x.p_at = take(bytes / 4 + 1);
  }
  if (row.state_in_memory) x.o_at = take(times(p.Lq, x.ldv));
  if (row.stores_scores || row.state_in_memory) {
    x.m_at = take(p.Lq);
    x.l_at = take(p.Lq);
  }
  x.splits = chosen(o, kSplits).value_or(1);
  if (x.splits > 1 || ranks_of(o) > 1) {
    const std::int64_t rows = times(times(x.splits, p.B * p.Hq), p.Lq);
    x.part_o_at = take(times(rows, x.ldv));
    x.part_m_at = take(rows);
    x.part_l_at = take(rows);
  }
  const std::int64_t tiles = whole_lanes(x.br * p.D) + 2 * x.br * x.ldk + x.br * x.ldv;
  x.scratch_each = whole_lanes(tiles + 8 * padded(x.br));
  x.scratch_at = take(times(x.scratch_each, o.threads));
  x.total = next;
  return x;
}

Call::Call(const Problem& problem, const Options& options, const Buffers& b, Order order, Rules r)
    : p(problem),
      o(options),
      buffers(b),
      bias(b.read<float>(Tensor::bias)),
      at(layout_of(order, r, problem, options)),
      rules(r),
      scale(static_cast<float>(problem.effective_scale())) {}

Place2d Call::place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  Place2d t;
  t.b = b;
  t.h = h;
  if (i >= 0) {
    t.r0 = i * at.br;
    t.rows = std::min(at.br, p.Lq - t.r0);
  }
  if (j >= 0) {
    t.c0 = j * at.bc;
    t.cols = std::min(at.bc, p.Lk - t.c0);
  }
  return t;
}

void Call::read_keys(Tensor t, std::int64_t head, std::int64_t c, std::int64_t n, std::int64_t columns,
                     float* to) const {
  if (p.storage.kind() == Storage::dense) {
    widen(p.dtype, buffers.in[t], (head * p.Lk + c) * columns, n * columns, to);
    return;
  }
  const PageTail tail = zeroes_tail(o) ? PageTail::zeroed : PageTail::as_it_lies;
  const std::int64_t b = head / p.Hkv, there = std::clamp<std::int64_t>(keys_read(p, b, tail) - c, 0, n);
  const std::span table(buffers.read<std::int32_t>(Tensor::page_table),
                        static_cast<std::size_t>(p.B * pages_of_batch(p)));
  for (std::int64_t i = 0; i < there; ++i)
    widen(p.dtype, buffers.in[t], pool_row(p, table, b, head % p.Hkv, c + i) * columns, columns, to + i * columns);
  std::fill(to + there * columns, to + n * columns, 0.0F);
}

void Call::pack(Team& team, std::int64_t first, std::int64_t last) const {
  const std::int64_t heads = p.B * p.Hkv, tiles = last - first;
  if (tiles <= 0) return;
  team.run(heads * tiles, [&](std::int64_t piece, std::int32_t) {
    const std::int64_t head = piece / tiles;
    const std::int64_t j = first + piece % tiles;
    const std::int64_t c0 = j * at.bc;
    const std::int64_t cols = std::min(at.bc, p.Lk - c0);
    float* panel = part(at.k_at) + (head * at.tj + j) * at.panel;
    if (rules == Rules::scalar) {
      read_keys(Tensor::k, head, c0, cols, p.D, panel);
    } else {
      // Sixteen keys at a time through a small buffer: nothing is allocated in a thread.
      float rows[kLanes * kMaxHeadDim];
      for (std::int64_t c = 0; c < cols; c += kLanes) {
        const std::int64_t n = std::min(kLanes, cols - c);
        read_keys(Tensor::k, head, c0 + c, n, p.D, rows);
        transpose({rows, p.D}, {panel + c, at.ldk}, n, p.D);
      }
    }
    for (std::int64_t c = c0; c < c0 + cols; ++c) {
      float* row = part(at.v_at) + (head * p.Lk + c) * at.ldv;
      read_keys(Tensor::v, head, c, 1, p.Dv, row);
      std::fill(row + p.Dv, row + at.ldv, 0.0F);
    }
  });
}

ConstTile Call::k_tile(const Place2d& t) const {
  const std::int64_t head = t.b * p.Hkv + p.kv_head(t.h);
  const float* panel = part(at.k_at) + (head * at.tj + t.c0 / at.bc) * at.panel;
  return {panel, rules == Rules::vector ? at.ldk : p.D};
}

ConstTile Call::v_tile(const Place2d& t) const {
  const std::int64_t head = t.b * p.Hkv + p.kv_head(t.h);
  return {part(at.v_at) + (head * p.Lk + t.c0) * at.ldv, at.ldv};
}

void Call::load_p(const Place2d& t, std::int64_t j, MutTile to) const {
  for (std::int64_t r = 0; r < t.rows; ++r)
    widen(p.dtype, part(at.p_at), (t.r0 + r) * at.lds + j * at.ldk, t.cols, to.data + r * to.ld);
}

void Call::store_p(const Place2d& t, std::int64_t j, ConstTile from) const {
  narrow(p.dtype, from, t.rows, t.cols, part(at.p_at), t.r0 * at.lds + j * at.ldk, at.lds);
}

Call::PartRows Call::part_rows(const Place2d& t, std::int64_t n) const {
  const std::int64_t row = ((n * p.B + t.b) * p.Hq + t.h) * p.Lq + t.r0;
  return {{part(at.part_o_at) + row * at.ldv, at.ldv}, part(at.part_m_at) + row, part(at.part_l_at) + row};
}

void Call::store_out(const Place2d& t, ConstTile o_tile, const float* lse) const {
  const std::int64_t row = (t.b * p.Hq + t.h) * p.Lq + t.r0;
  narrow(p.output_dtype(), o_tile, t.rows, p.Dv, buffers.out[Tensor::o], row * p.Dv, p.Dv);
  std::copy(lse, lse + t.rows, buffers.write<float>(Tensor::lse) + row);
}

Call::Scratch Call::scratch(std::int32_t worker) const {
  float* next = part(at.scratch_at) + worker * at.scratch_each;
  const auto take = [&next](std::int64_t floats) {
    float* begin = next;
    next += floats;
    return begin;
  };
  Scratch s{};
  s.q = {take(padded(at.br * p.D)), p.D};
  s.s = {take(at.br * at.ldk), at.ldk};
  s.p = {take(at.br * at.ldk), at.ldk};
  s.o = {take(at.br * at.ldv), at.ldv};
  for (float** column : {&s.m_old, &s.m_new, &s.alpha, &s.l_old, &s.l_new, &s.sums, &s.shift, &s.factor})
    *column = take(padded(at.br));
  return s;
}

ConstTile Call::load_q(const Place2d& t, const Scratch& s) const {
  const std::int64_t first = ((t.b * p.Hq + t.h) * p.Lq + t.r0) * p.D;
  if (p.dtype == DType::f32) return {buffers.read<float>(Tensor::q) + first, p.D};
  widen(p.dtype, buffers.in[Tensor::q], first, t.rows * p.D, s.q.data);
  return {s.q.data, p.D};
}

void Call::keep_part(const Place2d& t, std::int64_t n, const Scratch& s) const {
  const PartRows to = part_rows(t, n);
  std::copy_n(s.o.data, t.rows * s.o.ld, to.o.data);
  std::copy_n(s.m_old, t.rows, to.m);
  std::copy_n(s.l_old, t.rows, to.l);
}

void Call::take_part(const Place2d& t, std::int64_t n, const Scratch& s) const {
  const PartRows from = part_rows(t, n);
  std::copy_n(from.o.data, t.rows * s.o.ld, s.o.data);
  std::copy_n(from.m, t.rows, s.m_old);
  std::copy_n(from.l, t.rows, s.l_old);
}

Call::Scratch from_row(Call::Scratch s, std::int64_t first) {
  for (MutTile* tile : {&s.q, &s.s, &s.p, &s.o}) tile->data += first * tile->ld;
  for (float** column : {&s.m_old, &s.m_new, &s.alpha, &s.l_old, &s.l_new, &s.sums, &s.shift, &s.factor})
    *column += first;
  return s;
}

Result<void> cpu_supports(const KernelRow& row, const Problem& p, const Options&, const Device& d) {
  if (d.processor != Processor::cpu)
    return fail(ErrorKind::cannot_run, tr("this kernel runs on the CPU; choose --device cpu"));
  if (auto good = check_takes(row, p); !good) return good;
  return validate(p);
}

Plan plan_of(const KernelRow& row, const Problem& p, const Options& resolved, std::uint64_t workspace,
             std::string pieces_name, std::int64_t pieces) {
  Plan plan;
  plan.kernel = &row;
  plan.problem = p;
  plan.options = resolved;
  plan.workspace_bytes = workspace;
  Launch launch;
  launch.name = std::move(pieces_name);
  launch.grid[0] = pieces;
  launch.block[0] = resolved.threads;
  plan.launches.push_back(std::move(launch));
  return plan;
}

Plan cpu_plan(const KernelRow& row, const Problem& p, const Options& resolved, Rules rules, std::string pieces_name,
              std::int64_t pieces) {
  const Layout layout = layout_of(row.order, rules, p, resolved);
  const std::uint64_t workspace = layout.total > kMax / 4 ? static_cast<std::uint64_t>(kMax)
                                                          : static_cast<std::uint64_t>(layout.total) * sizeof(float);
  return plan_of(row, p, resolved, workspace, std::move(pieces_name), pieces);
}

Result<Prepared> cpu_prepare(const Plan& plan, const Buffers& buffers, const Stream&) {
  if (auto good = check_tensors(plan, buffers); !good) return tl::unexpected(good.error());
  return Prepared{plan, buffers, nullptr};
}

Problem problem_now(const Prepared& ready) {
  Problem p = ready.plan.problem;
  if (const std::int64_t* given = ready.buffers.read<std::int64_t>(Tensor::key_lengths); given != nullptr)
    for (std::int64_t& length : p.mask.key_lengths) length = std::clamp<std::int64_t>(*given++, 0, p.Lk);
  if (const float* given = ready.buffers.read<float>(Tensor::slopes); given != nullptr) {
    std::vector<float> slopes = slopes_of(p);
    std::copy_n(given, slopes.size(), slopes.begin());
    p.alibi = kept_slopes(std::move(slopes), p.Hq);
  }
  return p;
}

Result<void> finish(const Team& team, std::string_view kernel) {
  if (team.stopped()) return fail(ErrorKind::cancelled, phrase("{} was cancelled", kernel));
  return ok();
}

Result<Recording> begun_recording(const KernelRow& row, Rules rules, const Problem& p, const Options& o, Inputs in) {
  const Device device = cpu_device();
  if (auto good = validate(p); !good) return tl::unexpected(good.error());
  if (auto good = check_takes(row, p); !good) return tl::unexpected(good.error());
  if (auto good = validate(p, in); !good) return tl::unexpected(good.error());
  Result<Options> resolved = resolve(row, o, device);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_recordable(order_of(row, *resolved), p, *resolved); !good) return tl::unexpected(good.error());

  Recording rec;
  rec.problem = p;
  rec.options = *resolved;
  rec.kernel = row.id;
  rec.device = device.name;
  rec.order = order_of(row, *resolved);
  rec.rules = rules;
  rec.score_reads = row.score_reads;
  rec.inputs = std::move(in);
  rec.outputs = empty_outputs(p);
  // No vector is copied while it grows.
  const RecordingSize size = recording_size(rec.order, p, *resolved);
  rec.events.reserve(size.events);
  rec.own_after.reserve(size.events * order_row(rec.order).own_slots.size());
  rec.versions.reserve(size.versions);
  rec.arena.reserve(size.floats);
  return rec;
}

namespace {

class StepsRun : public RecordingRun {
 public:
  StepsRun(const KernelRow& row, Recording rec, std::uint64_t workspace, const MakeWalk& make, Stop stop)
      : row_(row),
        rec_(std::move(rec)),
        options_(one_thread(rec_.options)),
        workspace_(static_cast<std::size_t>(workspace)),
        buffers_(buffers_of(rec_.inputs, rec_.outputs, workspace_.data())),
        team_(1, Stream{std::move(stop), nullptr, nullptr, &mark_}),
        walk_(make({rec_, options_, buffers_, team_, mark_})) {}

  Result<bool> go_on(const Pause& pause) override {
    const auto record = [this] {
      walk_();
      if (!team_.stopped()) rec_.build_index(mark_);
    };
    const bool whole = mark_.go_on(record, pause);
    if (auto good = finish(team_, row_.id); !good) return tl::unexpected(good.error());
    return whole;
  }
  Recording take() override { return std::move(rec_); }

 private:
  const KernelRow& row_;
  Recording rec_;
  Options options_;
  AlignedBytes workspace_;
  Buffers buffers_;
  WalkMark mark_;
  Team team_;
  std::function<void()> walk_;
};

}  // namespace

std::unique_ptr<RecordingRun> begin_steps(const KernelRow& row, Recording rec, std::uint64_t workspace,
                                          const MakeWalk& make, Stop stop) {
  return std::make_unique<StepsRun>(row, std::move(rec), workspace, make, std::move(stop));
}

Result<std::unique_ptr<RecordingRun>> begin_walk(const KernelRow& row, RecordedWalk walk, const Problem& p,
                                                 const Options& o, Inputs in, Stop stop) {
  auto begun = begun_recording(row, walk.rules, p, o, std::move(in));
  if (!begun) return tl::unexpected(begun.error());
  const Layout layout = layout_of(row.order, walk.rules, p, one_thread(begun->options));
  const auto make = [&](const RecordedParts& of) {
    const auto call = std::make_shared<Call>(of.rec.problem, of.options, of.buffers, row.order, walk.rules);
    const auto recorder = std::make_shared<Recorder>(of.rec, of.rec.inputs, &of.mark);
    return [of, call, recorder, walk] {
      call->pack(of.team);
      walk.walk(*call, of.team, *recorder);
      if (walk.lanes && !of.team.stopped()) interleave_lanes(of.rec, of.mark);
    };
  };
  return begin_steps(row, *std::move(begun), static_cast<std::uint64_t>(layout.total) * sizeof(float), make,
                     std::move(stop));
}

}  // namespace attn::cpu
