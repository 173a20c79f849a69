#include "profiling/tune/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace attn {
namespace {

constexpr std::array<std::int32_t, 8> kSides{16, 32, 48, 64, 96, 128, 192, 256};

// 0 alone: not varied, or not read. Beyond the first that holds all `length` rows there is nothing new.
std::vector<std::int32_t> sides(const KernelRow& row, const Option& o, std::int32_t fixed, std::int32_t usual,
                                std::int64_t length) {
  if (fixed != 0 || !varies(row, o)) return {fixed};
  const OptionSpec& spec = *spec_of(row, o);
  std::vector<std::int32_t> values;
  for (const std::int32_t n : kSides) {
    if (n >= spec.min && n <= spec.max && (n - spec.min) % spec.step == 0) values.push_back(n);
    if (n >= length && !values.empty()) break;
  }
  if (usual > 0 && std::ranges::find(values, usual) == values.end()) values.push_back(usual);
  std::ranges::sort(values);
  return values;
}

std::vector<std::int32_t> every(const OptionSpec& spec) {
  std::vector<std::int32_t> values;
  for (std::int32_t n = spec.min; n <= spec.max; n += spec.step) values.push_back(n);
  return values;
}

class Candidates {
 public:
  Candidates(const KernelRow& row, const Problem& p, const Options& fixed, const Device& device)
      : row_(row), p_(p), fixed_(fixed), device_(device) {}

  Result<std::vector<TileCandidate>> all() {
    const auto usual = plan(fixed_);
    if (!usual) return tl::unexpected(usual.error());
    usual_ = usual->options;
    if (row_.tiles != nullptr) return of_the_row();
    rests_ = rests();
    columns_ = sides(row_, Option::bc, fixed_.bc, usual_.bc, p_.Lk);
    for (const std::int32_t br : sides(row_, Option::br, fixed_.br, usual_.br, p_.Lq)) {
      const std::vector<std::int32_t> threads = threads_for(br);
      for (const std::int32_t bc : columns_) add_tile(br, bc, threads);
    }
    return std::move(all_);
  }

 private:
  // Those that the row proposes, behind the usual one.
  std::vector<TileCandidate> of_the_row() {
    add(*plan(usual_));
    for (const Options& o : row_.tiles(p_, fixed_, device_)) {
      const auto planned = plan(o);
      planned ? add(*planned) : all_.push_back(refusal(o, planned.error()));
    }
    return std::move(all_);
  }

  Result<Plan> plan(const Options& o) const {
    if (auto takes = row_.supports(row_, p_, o, device_); !takes) return tl::unexpected(takes.error());
    return row_.plan(row_, p_, o, device_);
  }

  // `rest`: what tuning varies beside tile and threads.
  static Options with(std::int32_t br, std::int32_t bc, std::int32_t threads, Options rest) {
    rest.br = br;
    rest.bc = bc;
    rest.threads = threads;
    return rest;
  }

  // Every choice of stages and whatever else the row declares to be tuned; what is fixed stays.
  std::vector<Options> rests() const {
    std::vector<Options> all{fixed_};
    for (const OptionSpec& spec : row_.options) {
      const Option& option = *spec.option;
      if (option.tile || option.is(Option::threads) || !tunes(row_, option) || chosen(fixed_, option)) continue;
      std::vector<Options> more;
      for (const Options& o : all) {
        for (const std::int32_t value : every(spec)) {
          more.push_back(o);
          choose(more.back(), option, value);
        }
      }
      all = std::move(more);
    }
    return all;
  }

  // Which numbers of threads this Br takes hangs on nothing else: those that the least Bc and the fewest stages plan.
  std::vector<std::int32_t> threads_for(std::int32_t br) const {
    if (fixed_.threads != 0 || !tunes(row_, Option::threads)) return {fixed_.threads};
    std::vector<std::int32_t> values;
    for (const std::int32_t n : every(*spec_of(row_, Option::threads)))
      if (plan(with(br, columns_.front(), n, rests_.front()))) values.push_back(n);
    return values;
  }

  void add_tile(std::int32_t br, std::int32_t bc, const std::vector<std::int32_t>& threads) {
    std::vector<TileCandidate> refused;
    const std::size_t before = all_.size();
    for (const std::int32_t t : threads) {
      for (const Options& rest : rests_) {
        const Options o = with(br, bc, t, rest);
        const auto planned = plan(o);
        planned ? add(*planned) : refused.push_back(refusal(o, planned.error()));
      }
    }
    if (all_.size() > before) return;
    if (!refused.empty()) return all_.push_back(std::move(refused.front()));
    // No threads at all: what the kernel itself says of this tile.
    const Options o = with(br, bc, fixed_.threads, rests_.front());
    const auto planned = plan(o);
    all_.push_back(refusal(o, planned ? Error{ErrorKind::bad_input, "no number of threads fits"} : planned.error()));
  }

  static TileCandidate refusal(const Options& o, const Error& why) {
    TileCandidate c;
    c.options = o;
    c.why_not = why.message;
    return c;
  }

  void add(const Plan& planned) {
    // Two ways to the same numbers are one candidate.
    const auto same = [&](const TileCandidate& c) { return c.why_not.empty() && c.options == planned.options; };
    if (std::ranges::any_of(all_, same)) return;
    TileCandidate c;
    c.options = planned.options;
    c.usual = planned.options == usual_;
    if (row_.reason != nullptr) c.reason = row_.reason(p_, c.options, device_);
    for (const Launch& l : planned.launches) {
      c.shared_bytes = std::max(c.shared_bytes, l.shared_bytes);
      c.threads = std::max(c.threads, l.block[0] * l.block[1] * l.block[2]);
    }
    if (const auto arch = gpu::limits_of(device_.arch); arch && row_.processor == Processor::gpu)
      c.occupancy = gpu::occupancy(*arch, static_cast<std::int32_t>(c.threads), 1, c.shared_bytes);
    all_.push_back(std::move(c));
  }

  const KernelRow& row_;
  const Problem& p_;
  const Options& fixed_;
  const Device& device_;
  Options usual_;
  std::vector<std::int32_t> columns_;  // every Bc
  std::vector<Options> rests_;
  std::vector<TileCandidate> all_;
};

// How far apart two numbers are, in doublings.
double doublings(std::int32_t a, std::int32_t b) {
  return std::abs(std::log2(static_cast<double>(std::max(a, 1)) / std::max(b, 1)));
}

}  // namespace

bool has_tiles(const KernelRow& row) {
  return varies(row, Option::br) || varies(row, Option::bc);
}

std::string why_no_tiles(const KernelRow& row) {
  if (row.parts.empty()) return fmt::format("{} has no tile to tune.", row.id);
  return fmt::format("{} is {} followed by {}, and each chooses its own tile: tune one of the two.", row.id,
                     row.parts.front()->id, row.parts.back()->id);
}

Result<std::vector<TileCandidate>> tile_candidates(const KernelRow& row, const Problem& p, const Options& fixed,
                                                   const Device& device) {
  if (!has_tiles(row)) return bad_input(why_no_tiles(row));
  return Candidates(row, p, fixed, device).all();
}

void put_compiled(TileCandidate& c, const CompiledTile& compiled, const Device& device) {
  c.compiled = compiled;
  const auto arch = gpu::limits_of(device.arch);
  if (!arch) return;
  c.occupancy = gpu::occupancy(*arch, static_cast<std::int32_t>(c.threads), compiled.registers,
                               c.shared_bytes + compiled.static_bytes);
  if (c.occupancy.blocks == 0)
    c.why_not = fmt::format(
        "A block of {} threads with {} registers each and {} bytes of shared memory does not fit on an SM of {}.",
        c.threads, compiled.registers, c.shared_bytes + compiled.static_bytes, device.arch);
}

std::vector<std::size_t> order_to_try(std::span<const TileCandidate> candidates) {
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < candidates.size(); ++n)
    if (candidates[n].why_not.empty()) order.push_back(n);
  const auto usual = std::ranges::find_if(candidates, &TileCandidate::usual);
  if (usual == candidates.end()) return order;
  const Options& u = usual->options;
  // Of threads and stages alone, then of the tile.
  const auto beside = [&](std::size_t n) {
    const Options& o = candidates[n].options;
    double all =
        doublings(o.threads * std::max(u.br, 1) / std::max(o.br, 1), u.threads) + doublings(o.stages, u.stages);
    for (const Setting& s : o.further) {
      const auto at = std::ranges::find(u.further, s.name, &Setting::name);
      if (at != u.further.end())
        all += doublings(static_cast<std::int32_t>(s.value), static_cast<std::int32_t>(at->value));
    }
    return all;
  };
  const auto away = [&](std::size_t n) {
    const Options& o = candidates[n].options;
    return doublings(o.br, u.br) + doublings(o.bc, u.bc);
  };
  const auto first_of_tile = [&](std::size_t n) {
    return std::ranges::none_of(order, [&](std::size_t other) {
      const Options &a = candidates[other].options, &b = candidates[n].options;
      return a.br == b.br && a.bc == b.bc && std::pair(beside(other), other) < std::pair(beside(n), n);
    });
  };
  std::vector<std::tuple<bool, bool, double, double, std::size_t>> ranked;
  ranked.reserve(order.size());
  for (const std::size_t n : order) ranked.emplace_back(!candidates[n].usual, !first_of_tile(n), away(n), beside(n), n);
  std::ranges::sort(ranked);
  std::ranges::transform(ranked, order.begin(), [](const auto& r) { return std::get<4>(r); });
  return order;
}

}  // namespace attn
