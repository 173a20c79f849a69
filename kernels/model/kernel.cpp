#include "kernels/model/kernel.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"

namespace attn {

namespace {

// The kernel's own value where none is chosen, and what is refused.
Result<void> resolve_one(const KernelRow& row, const OptionSpec& spec, Options& o, const Device& d) {
  const std::int64_t usual =
      spec.default_value >= spec.min ? spec.default_value : std::clamp(d.cores, spec.min, spec.max);
  const std::int64_t value = chosen(o, *spec.option).value_or(usual);
  if (!spec.takes(value)) {
    return bad_input(phrase("{} supports {} from {} to {}{}, not {}", row.id, spec.option->name, spec.min, spec.max,
                            spec.step == 1 ? "" : phrase(" in steps of {}", spec.step), value));
  }
  choose(o, *spec.option, value);
  return ok();
}

// "f32", "f16 or bf16", "f32, f16 or bf16".
template <class T>
std::string any_of(std::span<const T> values) {
  std::string words;
  for (std::size_t i = 0; i < values.size(); ++i) {
    words += i == 0 ? "" : i + 1 == values.size() ? " or " : ", ";
    words += name_of(values[i]);
  }
  return words;
}

template <class T>
bool is_among(std::span<const T> values, T value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

Buffers buffers_of(const Inputs& in, Outputs& out, void* workspace) {
  Buffers b;
  const ByTensor<const Array*> read = arrays_of(in);
  const ByTensor<Array*> written = arrays_of(out);
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (read.has(t)) b.in[t] = read[t]->data();
    if (written.has(t) && !written[t]->empty()) b.out[t] = written[t]->data();
  }
  if (!in.page_table.empty()) b.in[Tensor::page_table] = in.page_table.data();
  b.workspace = workspace;
  return b;
}

std::uint64_t workspace_at(const Plan& plan, std::size_t part) {
  constexpr std::uint64_t kUnit = 256;
  std::uint64_t at = 0;
  for (std::size_t n = 0; n < part; ++n)
    at = saturating_sum(at, saturating_sum(plan.parts[n].workspace_bytes, kUnit - 1) / kUnit * kUnit);
  return at;
}

Buffers buffers_of_part(const Plan& plan, std::size_t part, const Buffers& all) {
  Buffers b = all;
  b.workspace = static_cast<std::byte*>(all.workspace) + workspace_at(plan, part);
  if (makes_output(plan.parts[part].problem.pass)) return b;
  for (const Tensor t : {Tensor::o, Tensor::lse}) b.in[t] = all.out[t];
  return b;
}

Products products_of(const KernelRow& row, DType dtype) {
  const bool halves = row.products.pipe == Pipe::tensor_half || row.products.pipe == Pipe::warpgroup_half;
  const bool of_f32 = dtype == DType::f32 && std::ranges::find(row.dtypes, dtype) != row.dtypes.end();
  return halves && of_f32 ? Products{} : row.products;
}

Result<void> enqueue(const Plan& plan, const Buffers& buffers, const Stream& stream) {
  const auto prepared = plan.kernel->prepare(plan, buffers, stream);
  if (!prepared) return tl::unexpected(prepared.error());
  return plan.kernel->launch(*prepared, stream);
}

Result<void> check_tensors(const Plan& plan, const Buffers& buffers) {
  const auto refuse = [&](std::string_view what, std::string_view would_do) {
    return bad_input(phrase(
        "{} on {}: {} was passed as a tensor, but neither the problem nor the compiled kernel has this tensor; use {}.",
        plan.kernel->id, describe(plan.problem), what, would_do));
  };
  if (buffers.in.has(Tensor::key_lengths) && plan.problem.mask.key_lengths.empty())
    return refuse(tr("key lengths"), tr("a problem with key lengths, one per batch"));
  if (buffers.in.has(Tensor::slopes) && !plan.problem.alibi)
    return refuse(tr("ALiBi slopes"), tr("a problem with ALiBi"));
  return ok();
}

Result<void> check_takes(const KernelRow& row, const Problem& p) {
  if (!is_among(row.dtypes, p.dtype))
    return bad_input(phrase("{} supports {}, not {}", row.id, any_of(row.dtypes), name_of(p.dtype)));
  if (!is_among(row.passes, p.pass))
    return bad_input(phrase("{} supports the pass {}, not {}", row.id, any_of(row.passes), name_of(p.pass)));
  if (!is_among(row.storages, p.storage.kind()))
    return bad_input(
        phrase("{} supports K and V that are {}, not {}", row.id, any_of(row.storages), name_of(p.storage.kind())));
  if (!is_among(row.layouts, p.layout))
    return bad_input(
        phrase("{} supports axes in the order {}, not {}", row.id, any_of(row.layouts), name_of(p.layout)));
  if (is_among(row.outputs, p.output)) return ok();
  return bad_input(
      phrase("{} stores O only in the dtype of Q, K and V (here {}), not in f32", row.id, name_of(p.dtype)));
}

Order order_of(const KernelRow& row, const Options& o) {
  for (const OrderChoice& c : row.other_orders) {
    const OptionSpec* spec = spec_of(row, *c.option);
    if (chosen(o, *c.option).value_or(spec == nullptr ? 0 : spec->default_value) >= c.from) return c.order;
  }
  return row.order;
}

std::optional<Options> options_for(const KernelRow& row, Order order, Options o) {
  if (order_of(row, o) == order) return o;
  for (const OrderChoice& c : row.other_orders) choose(o, *c.option, std::nullopt);
  if (order_of(row, o) == order) return o;
  const auto at = std::ranges::find(row.other_orders, order, &OrderChoice::order);
  if (at == row.other_orders.end()) return std::nullopt;
  choose(o, *at->option, at->from);
  return o;
}

const OptionSpec* spec_of(const KernelRow& row, const Option& option) {
  const auto at = std::ranges::find_if(row.options, [&](const OptionSpec& spec) { return spec.is(option); });
  return at == row.options.end() ? nullptr : &*at;
}

bool varies(const KernelRow& row, const Option& option) {
  const OptionSpec* spec = spec_of(row, option);
  return spec != nullptr && spec->min < spec->max;
}

bool repeats_bits(const KernelRow& row, const Options& o) {
  return row.deterministic == nullptr || chosen(o, *row.deterministic).value_or(0) != 0;
}

bool tunes(const KernelRow& row, const Option& option) {
  const bool of_cpu = row.processor == Processor::cpu && option.is(Option::threads);
  return option.tuned && !of_cpu && varies(row, option);
}

std::string declared_words(const KernelRow& row) {
  std::string words;
  for (const OptionSpec& spec : row.options)
    words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", spec.option->name, range_words(spec));
  return words.empty() ? tr("no option") : words;
}

Result<Options> resolve(const KernelRow& row, const Options& o, const Device& d) {
  Options out;  // what the kernel does not read stays at its default
  for (const OptionSpec& spec : row.options) {
    // A kernel of one thread runs with one, however many are asked for others.
    const bool alone = spec.is(Option::threads) && spec.max == 1;
    choose(out, *spec.option, alone ? std::optional<std::int64_t>(1) : chosen(o, *spec.option));
    if (auto good = resolve_one(row, spec, out, d); !good) return tl::unexpected(good.error());
    // Of launches alone, and nobody chose otherwise: rows and files are as they were before there was the option.
    if (!spec.option->compiled && chosen(out, *spec.option) == spec.default_value)
      choose(out, *spec.option, std::nullopt);
  }
  return out;
}

}  // namespace attn
