#include "app/ring/gpu/rank_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/launch/launching.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

constexpr int kLinkCopies = 7;

double host_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<std::unique_ptr<RankRun>> RankRun::open(OpenGpu& gpu, GpuOpenRequest request, std::span<const std::byte> rows) {
  std::unique_ptr<Nccl> nccl;
  if (request.travel == Travel::nccl && request.turns.turns() > 1) {
    auto opened = Nccl::open(request.nccl_folder, request.spared_sms);
    if (!opened) return tl::unexpected(opened.error());
    nccl = *std::move(opened);
  }
  if (auto opened = gpu.open(request.gpu); !opened) return tl::unexpected(opened.error());
  const bool backward = request.problem.pass == Pass::backward;
  const std::size_t dealt = std::min<std::size_t>(RankSizes(request).dealt_bytes(), rows.size());
  auto memory = RankMemory::place(gpu.driver(), request, backward ? rows.first(dealt) : rows, gpu.queue().stream());
  if (!memory) return tl::unexpected(memory.error());
  std::unique_ptr<RankRun> run(new RankRun(gpu, std::move(request), *std::move(memory)));
  if (backward) {
    auto gradients = RankGradients::place(gpu.queue(), run->r_, rows.subspan(dealt));
    if (!gradients) return tl::unexpected(gradients.error());
    run->gradients_ = *std::move(gradients);
  }
  run->nccl_ = std::move(nccl);
  auto peers = gpu::Peers::open();
  if (!peers) return tl::unexpected(peers.error());
  run->peers_ = *std::move(peers);
  if (auto good = run->make_streams_and_events(); !good) return tl::unexpected(good.error());
  if (auto good = run->prepare_turns(); !good) return tl::unexpected(good.error());
  auto peaks = GpuPeaks::make(gpu.driver(), gpu.service(), gpu.properties(), gpu.queue().stream());
  if (!peaks) return tl::unexpected(peaks.error());
  run->peaks_.emplace(std::move(*peaks));
  if (auto sensors = open_sensors(gpu.properties().pci)) run->sensors_ = *std::move(sensors);
  return run;
}

RankRun::~RankRun() {
  for (const gpu::DevicePointer p : opened_) peers_->close_shared(p);
  for (const gpu::Event e : events_) driver().destroy_event(e);
  for (const gpu::StreamHandle s : {carrying_, meeting_})
    if (s != nullptr) driver().destroy_stream(s);
}

Result<void> RankRun::make_streams_and_events() {
  Result<void> good = ok();
  for (gpu::StreamHandle* s : {&carrying_, &meeting_}) {
    auto made = driver().create_stream();
    if (!made) return tl::unexpected(made.error());
    *s = *made;
  }
  const auto make = [&](gpu::Event& e) {
    if (!good) return;
    auto made = driver().create_event();
    if (!made) {
      good = tl::unexpected(made.error());
      return;
    }
    events_.push_back(e = *made);
  };
  for (gpu::Event* e : {&ready_, &zero_, &released_}) make(*e);
  turns_.resize(static_cast<std::size_t>(r_.turns.turns() + (sends_sums() ? 1 : 0)));
  for (TurnEvents& t : turns_) {
    for (gpu::Event* e : {&t.waited, &t.begin, &t.computed, &t.came, &t.end}) make(*e);
    for (gpu::Event* e : {&t.send_begin, &t.send_end, &t.sums_begin, &t.sums_end}) make(*e);
  }
  link_.resize(kLinkCopies);
  for (auto& pair : link_)
    for (gpu::Event& e : pair) make(e);
  return good;
}

Result<void> RankRun::prepare_turns() {
  if (r_.turns.turns() > 1 && gradients_ == nullptr) {
    auto merger = gpu::RingMerger::make(gpu_.queue(), r_.problem.dtype);
    if (!merger) return tl::unexpected(merger.error());
    merger_.emplace(std::move(*merger));
  }
  prepared_.resize(static_cast<std::size_t>(r_.turns.turns()));
  for (std::int64_t turn = 0; turn < r_.turns.turns(); ++turn)
    if (auto good = prepare_turn(turn); !good) return good;
  return driver().synchronize(computing());
}

Result<void> RankRun::prepare_turn(std::int64_t turn) {
  const GpuTurn work = r_.turns.turn(r_.rank, turn);
  if (work.idle()) return ok();
  const auto row = find_kernel(r_.kernel);
  if (!row) return tl::unexpected(row.error());
  const bool alone = r_.turns.turns() == 1;
  const Problem p = problem_of_turn(r_, work);
  Device device = device_of(gpu_.properties());
  device.cores -= r_.spared_sms;
  if (auto good = (*row)->supports(**row, p, r_.options, device); !good) return good;
  auto plan = (*row)->plan(**row, p, r_.options, device);
  if (!plan) return tl::unexpected(plan.error());
  if (turn == 0) resolved_ = plan->options;
  Buffers b = memory_.inputs_of_turn(r_.turns, work, turn);
  if (gradients_ != nullptr) {
    if (auto made = gradients_->make_workspace(plan->workspace_bytes); !made) return made;
    b = gradients_->buffers(b, work, turn);
    if (!alone) return gradients_->prepare(*plan, b, work, turn);
  } else {
    auto workspace = gpu::Memory::allocate(driver(), plan->workspace_bytes);
    if (!workspace) return tl::unexpected(workspace.error());
    workspaces_.push_back(std::move(*workspace));
    const bool into_sums = turn == 0;
    b.out[Tensor::o] = pointer_to(alone ? memory_.o() : into_sums ? memory_.sums() : memory_.part_o());
    b.out[Tensor::lse] = pointer_to(into_sums ? memory_.lse() : memory_.part_lse());
    b.workspace = workspaces_.back().pointer();
  }
  auto prepared = gpu::prepare(*plan, b, Stream{{}, &gpu_.queue()});
  if (!prepared) return tl::unexpected(prepared.error());
  prepared_[static_cast<std::size_t>(turn)] = std::move(*prepared);
  return ok();
}

Result<GpuOpened> RankRun::opened() {
  GpuOpened o;
  Result<void> good = ok();
  const auto share = [&](gpu::DevicePointer p, gpu::MemoryHandle& to) {
    if (!good) return;
    if (auto handle = peers_->share(p))
      to = *handle;
    else
      good = tl::unexpected(handle.error());
  };
  if (r_.turns.ranks > 1) {
    share(memory_.slot(0), o.handles.slots[0]);
    share(memory_.slot(1), o.handles.slots[1]);
    share(memory_.flags(), o.handles.flags);
  }
  if (sends_sums())
    for (std::size_t n = 0; n < 2; ++n) share(gradients_->slot(static_cast<std::int64_t>(n)), o.handles.sums[n]);
  if (!good) return tl::unexpected(good.error());
  if (nccl_ != nullptr && r_.rank == 0) {
    auto id = nccl_->make_id();
    if (!id) return tl::unexpected(id.error());
    o.id = *id;
  }
  o.gpu = gpu_.properties().name;
  o.sms = gpu_.properties().sms;
  o.kernel = r_.kernel;
  o.travel = nccl_ != nullptr ? nccl_->version() : std::string(tr("CUDA IPC, copy engines"));
  o.options = resolved_;
  return o;
}

Result<void> RankRun::connect(const GpuConnectRequest& r) {
  left_flags_ = right_flags_ = memory_.flags();
  right_slots_ = {memory_.slot(0), memory_.slot(1)};
  if (r_.turns.ranks == 1) return ok();
  Result<void> good = ok();
  const auto open = [&](const gpu::MemoryHandle& handle, gpu::DevicePointer& to) {
    if (!good) return;
    if (auto p = peers_->open_shared(handle))
      opened_.push_back(to = *p);
    else
      good = tl::unexpected(p.error());
  };
  open(r.right.flags, right_flags_);
  open(r.right.slots[0], right_slots_[0]);
  open(r.right.slots[1], right_slots_[1]);
  if (sends_sums())
    for (std::size_t n = 0; n < 2; ++n) open(r.right.sums[n], right_sums_[n]);
  left_flags_ = right_flags_;  // of two, both neighbours are one; a block is opened once
  if (r_.turns.ranks > 2) open(r.left.flags, left_flags_);
  if (good && nccl_ != nullptr) good = nccl_->join(r.id, static_cast<std::int32_t>(r_.turns.ranks), r_.rank);
  return good;
}

// All have come once the word is back at rank 0, which then sends a second one round: who gets it begins. Its way round
// is measured, so the ranks' beginnings are known to a few microseconds.
Result<void> RankRun::enqueue_barrier() {
  const std::uint32_t word = value_of(0);
  const gpu::DevicePointer flags = memory_.flags();
  const bool first = r_.rank == 0;
  auto good = driver().record(ready_, computing());
  if (good) good = peers_->await(ready_, meeting_);
  if (good && first) good = peers_->write(right_flags_ + kFlagHere, word, meeting_);
  if (good) good = peers_->await(flags + kFlagHere, word, meeting_);
  if (good && !first) good = peers_->write(right_flags_ + kFlagHere, word, meeting_);
  if (good && !first) good = peers_->await(flags + kFlagGo, word, meeting_);
  if (good) good = driver().record(zero_, meeting_);
  if (good) good = peers_->write(right_flags_ + kFlagGo, word, meeting_);
  if (good && first) good = peers_->await(flags + kFlagGo, word, meeting_);
  if (good) good = driver().record(released_, meeting_);
  if (good) good = peers_->await(zero_, computing());
  if (good) good = peers_->await(zero_, carrying_);
  return good;
}

std::uint64_t RankRun::bytes_in(std::int64_t rank, std::int64_t turn) const {
  return memory_.sizes().share(r_.turns.count_of(r_.turns.turn(rank, turn).share)).bytes;
}

Result<void> RankRun::carry(const Carried& c) {
  if (nccl_ == nullptr) return peers_->copy(c.to, c.from, c.sent, carrying_);
  const auto ranks = static_cast<std::int32_t>(r_.turns.ranks);
  return nccl_->exchange(c.from, c.sent, c.received_at, c.received,
                         {(r_.rank + 1) % ranks, (r_.rank + ranks - 1) % ranks}, carrying_);
}

RankRun::Carried RankRun::share_in(std::int64_t turn) const {
  const std::int64_t slot = turn % 2;
  return {memory_.share(turn), right_slots_[static_cast<std::size_t>(slot)], bytes_in(r_.rank, turn),
          memory_.slot(slot), bytes_in(r_.rank, turn + 1)};
}

// The share of this turn goes on to the right, into the slot that it is computed from there in the next turn.
Result<void> RankRun::enqueue_send(std::int64_t turn) {
  const TurnEvents& e = turns_[static_cast<std::size_t>(turn)];
  const gpu::DevicePointer flags = memory_.flags();
  Result<void> good = ok();
  if (carries_by_peers()) {
    if (turn >= 1) good = peers_->await(flags + kFlagArrived, value_of(turn), carrying_);
    // The slot held the share of the turn before last's successor; free once that is computed and passed on.
    if (good && turn >= 2) good = peers_->await(flags + kFlagFree, value_of(turn - 1), carrying_);
  } else if (turn >= 2) {
    good = peers_->await(turns_[static_cast<std::size_t>(turn - 1)].computed, carrying_);
  }
  if (good) good = driver().record(e.send_begin, carrying_);
  if (good) good = carry(share_in(turn));
  if (good) good = driver().record(e.send_end, carrying_);
  if (good && carries_by_peers()) good = peers_->write(right_flags_ + kFlagArrived, value_of(turn + 1), carrying_);
  return good;
}

Result<void> RankRun::enqueue_merge(std::int64_t turn) {
  const bool last = turn + 1 == r_.turns.turns();
  const GpuTurn work = r_.turns.turn(r_.rank, turn);
  if (turn == 0 || (!last && work.idle())) return ok();
  if (gradients_ != nullptr) return gradients_->add(turn);
  const RankSizes& s = memory_.sizes();
  return merger_->merge({.o = memory_.sums(),
                         .lse = memory_.lse(),
                         .part_o = memory_.part_o(),
                         .part_lse = memory_.part_lse(),
                         .final_o = last ? memory_.o() : 0,
                         .rows = s.rows,
                         .heads = s.heads,
                         .columns = s.Dv,
                         .first = work.queries.first,
                         .count = work.idle() ? 0 : work.queries.count()});
}

Result<void> RankRun::enqueue_turn(std::int64_t turn) {
  const TurnEvents& e = turns_[static_cast<std::size_t>(turn)];
  const auto& prepared = prepared_[static_cast<std::size_t>(turn)];
  auto good = driver().record(e.waited, computing());
  if (good && turn > 0) {
    good = carries_by_peers() ? peers_->await(memory_.flags() + kFlagArrived, value_of(turn), computing())
                              : peers_->await(turns_[static_cast<std::size_t>(turn - 1)].send_end, computing());
  }
  if (good) good = driver().record(e.begin, computing());
  if (good && prepared) good = gpu::launch(*prepared, Stream{{}, &gpu_.queue()});
  if (good && sends_sums()) good = gradients_->compute(turn);
  if (good) good = driver().record(e.computed, computing());
  if (good && sends_sums() && turn > 0) good = await_sums(turn);
  if (good) good = driver().record(e.came, computing());
  if (good) good = enqueue_merge(turn);
  if (good) good = driver().record(e.end, computing());
  return good;
}

Result<void> RankRun::enqueue() {
  ++run_;
  host_began_us_ = host_us();
  clock_mhz_ = host_us_ = 0;
  auto good = memory_.poison(driver(), computing());
  if (good && gradients_ != nullptr) good = gradients_->poison();
  if (good) good = peaks_->flush();
  if (good) good = enqueue_barrier();
  const std::int64_t turns = r_.turns.turns();
  for (std::int64_t turn = 0; turn < turns && good; ++turn) {
    if (turn + 1 < turns) good = enqueue_send(turn);
    if (good && sends_sums() && turn > 0) good = enqueue_sums(turn - 1);
    if (good) good = enqueue_turn(turn);
    // The left neighbour fills this slot again two turns later.
    const bool wanted = carries_by_peers() && turn >= 1 && turn + 3 <= turns;
    if (good && wanted) {
      good = peers_->await(turns_[static_cast<std::size_t>(turn)].computed, carrying_);
      if (good) good = peers_->write(left_flags_ + kFlagFree, value_of(turn), carrying_);
    }
  }
  if (good && sends_sums()) good = enqueue_sums(turns - 1);
  if (good && sends_sums()) good = enqueue_home();
  return good;
}

Result<bool> RankRun::finished() {
  for (const gpu::StreamHandle s : {computing(), carrying_, meeting_}) {
    auto done = peers_->finished(s);
    if (!done || !*done) {
      if (done && sensors_ != nullptr && clock_mhz_ == 0 && s == computing())
        if (const auto reading = sensors_->read()) clock_mhz_ = reading->sm_clock_mhz;
      return done;
    }
  }
  host_us_ = host_us() - host_began_us_;
  return true;
}

Result<GpuRankTimes> RankRun::times() {
  GpuRankTimes t;
  Result<void> good = ok();
  const auto between = [&](gpu::Event from, gpu::Event to) {
    if (!good) return 0.0;
    const auto ms = driver().elapsed_ms(from, to);
    if (!ms) good = tl::unexpected(ms.error());
    return ms ? *ms * 1e3 : 0.0;
  };
  const auto since = [&](gpu::Event e) { return between(zero_, e); };
  const auto span = [&](RankWork work, std::int64_t turn, gpu::Event from, gpu::Event to) {
    t.spans.push_back({work, turn, since(from), since(to)});
  };
  const std::int64_t turns = r_.turns.turns();
  for (std::int64_t turn = 0; turn < std::ssize(turns_); ++turn) {
    const TurnEvents& e = turns_[static_cast<std::size_t>(turn)];
    if (turn > 0 && turn < turns) span(RankWork::wait, turn - 1, e.waited, e.begin);
    // Computed, what came awaited, added: a turn of a backward but the first; and the way home.
    if (sends_sums() && turn > 0) {
      span(RankWork::compute, turn, e.begin, e.computed);
      span(RankWork::wait, turn, e.computed, e.came);
      span(RankWork::compute, turn, e.came, e.end);
    } else {
      span(RankWork::compute, turn, e.begin, e.end);
    }
    t.merge_us += turn > 0 && turn < turns ? between(e.came, e.end) : 0;
    if (turn + 1 < turns) {
      span(RankWork::send, turn, e.send_begin, e.send_end);
      t.sent_bytes += bytes_in(r_.rank, turn);
    }
    if (sends_sums() && turn < turns) {
      span(RankWork::send, turn + 1, e.sums_begin, e.sums_end);
      t.sent_bytes += gradients_->sums_bytes(r_.rank, turn);
    }
  }
  if (r_.rank == 0 && r_.turns.ranks > 1) t.barrier_us = between(zero_, released_);
  t.sm_clock_mhz = clock_mhz_;
  t.host_us = host_us_;
  if (!good) return tl::unexpected(good.error());
  return t;
}

Result<void> RankRun::enqueue_link() {
  ++run_;
  auto good = enqueue_barrier();
  const std::uint64_t bytes = memory_.sizes().share(r_.turns.most_rows()).bytes;
  // Rows may be one more than ours: what is sent is what every rank has of its own.
  const std::uint64_t sent = std::min(bytes, bytes_in(r_.rank, 0));
  const auto ranks = r_.turns.ranks;
  const std::uint64_t received = bytes_in((r_.rank + ranks - 1) % ranks, 0);
  for (const auto& [begin, end] : link_) {
    if (good) good = driver().record(begin, carrying_);
    if (good) good = carry({memory_.own(), right_slots_[0], sent, memory_.slot(0), received});
    if (good) good = driver().record(end, carrying_);
  }
  return good;
}

Result<RankRun::LinkTimes> RankRun::link_times() {
  LinkTimes times;
  times.bytes = bytes_in(r_.rank, 0);
  for (const auto& [begin, end] : link_) {
    const auto ms = driver().elapsed_ms(begin, end);
    if (!ms) return tl::unexpected(ms.error());
    times.us.push_back(*ms * 1e3);
  }
  return times;
}

Result<std::vector<std::byte>> RankRun::answer() {
  if (gradients_ != nullptr) return gradients_->answer();
  const RankSizes& s = memory_.sizes();
  std::vector<std::byte> bytes(s.o_bytes() + s.lse_bytes());
  auto good = driver().download(bytes.data(), memory_.o(), s.o_bytes(), computing());
  if (good) good = driver().download(bytes.data() + s.o_bytes(), memory_.lse(), s.lse_bytes(), computing());
  if (good) good = driver().synchronize(computing());
  if (!good) return tl::unexpected(good.error());
  return bytes;
}

}  // namespace attn
