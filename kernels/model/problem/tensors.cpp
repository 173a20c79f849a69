#include "kernels/model/problem/tensors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

using Shape = std::vector<std::int64_t>;

struct TensorName {
  std::string_view name, words;
};

// In the order of Tensor.
constexpr TensorName kNames[] = {
    {"q", "Q"},
    {"k", "K"},
    {"v", "V"},
    {"bias", marked("The bias")},
    {"o", "O"},
    {"lse", "LSE"},
    {"delta", "δ"},
    {"do", "dO"},
    {"dq", "dQ"},
    {"dk", "dK"},
    {"dv", "dV"},
    {"key_lengths", marked("The key lengths")},
    {"slopes", marked("The slopes")},
    {"page_table", marked("The page table")},
    {"partial_o", marked("O of the parts")},
    {"partial_lse", marked("LSE of the parts")},
};
static_assert(std::size(kNames) == kTensors);

std::int64_t product_of(std::span<const std::int64_t> factors) {
  return static_cast<std::int64_t>(saturating_product(factors));
}

// C order.
Shape strides_of(const Shape& shape) {
  Shape strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    strides.push_back(product_of(std::span(shape).subspan(axis + 1)));
  return strides;
}

// Of [batch, heads, rows, dims] in the problem's order of axes.
Shape strides_of(const Shape& shape, AxisOrder layout) {
  if (layout == AxisOrder::bhld) return strides_of(shape);
  const std::int64_t batch[] = {shape[1], shape[2], shape[3]}, row[] = {shape[1], shape[3]};
  return {product_of(batch), shape[3], product_of(row), 1};
}

Shape strides_of_bias(const Shape& shape) {
  Shape strides = strides_of(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) strides[axis] = shape[axis] == 1 ? 0 : strides[axis];
  return strides;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// The list of one problem while it grows.
class List {
 public:
  explicit List(const Problem& p) : p_(p) {}

  // [batch, heads, rows, dims] in the problem's dtype and layout.
  void add_data(Tensor t, Role role, Shape shape) { add_data(t, role, std::move(shape), p_.dtype); }
  void add_data(Tensor t, Role role, Shape shape, DType dtype) {
    Shape strides = strides_of(shape, p_.layout);
    specs_.push_back({t, role, element_type_of(dtype), std::move(shape), std::move(strides)});
  }
  void add(Tensor t, Role role, ElementType type, Shape shape, bool in_problem = false) {
    Shape strides = t == Tensor::bias ? strides_of_bias(shape) : strides_of(shape);
    specs_.push_back({t, role, type, std::move(shape), std::move(strides), in_problem});
  }
  std::vector<TensorSpec> take() { return std::move(specs_); }

 private:
  const Problem& p_;
  std::vector<TensorSpec> specs_;
};

void add_gradients(List& list, const Problem& p) {
  list.add(Tensor::delta, Role::scratch, ElementType::f32, {p.B, p.Hq, p.Lq});
  list.add_data(Tensor::d_o, Role::in, {p.B, p.Hq, p.Lq, p.Dv});
  list.add_data(Tensor::d_q, Role::out, {p.B, p.Hq, p.Lq, p.D});
  list.add_data(Tensor::d_k, Role::out, {p.B, p.Hkv, p.Lk, p.D});
  list.add_data(Tensor::d_v, Role::out, {p.B, p.Hkv, p.Lk, p.Dv});
}

// What tells a kernel which keys count, and where they lie.
void add_lists(List& list, const Problem& p) {
  if (!p.mask.key_lengths.empty()) list.add(Tensor::key_lengths, Role::in, ElementType::i64, {p.B}, true);
  if (p.alibi) {
    const bool each_batch = !p.alibi->empty() && std::ssize(*p.alibi) != p.Hq;
    list.add(Tensor::slopes, Role::in, ElementType::f32, each_batch ? Shape{p.B, p.Hq} : Shape{p.Hq}, true);
  }
  if (p.storage.kind() == Storage::paged) {
    list.add(Tensor::page_table, Role::in, ElementType::i32, {p.B, ceil_div(p.Lk, p.storage.page)});
  }
}

}  // namespace

std::string_view name_of(Tensor t) {
  return kNames[static_cast<std::size_t>(t)].name;
}

std::string_view words_of(Tensor t) {
  return tr_of(kNames[static_cast<std::size_t>(t)].words);
}

std::optional<Tensor> tensor_from_name(std::string_view name) {
  const auto* at = std::ranges::find(kNames, name, &TensorName::name);
  if (at == std::end(kNames)) return std::nullopt;
  return static_cast<Tensor>(at - std::begin(kNames));
}

std::string_view name_of(Role role) {
  constexpr std::string_view kRoles[] = {"in", "out", "scratch"};
  return kRoles[static_cast<std::size_t>(role)];
}

std::uint64_t TensorSpec::bytes() const {
  const std::int64_t factors[] = {product_of(shape), static_cast<std::int64_t>(size_of(type))};
  return saturating_product(factors);
}

std::vector<TensorSpec> tensors_of(const Problem& p, std::int64_t splits) {
  const bool paged = p.storage.kind() == Storage::paged;
  const std::int64_t batches = paged ? p.storage.pages : p.B, keys = paged ? p.storage.page : p.Lk;
  const Role answer = makes_output(p.pass) ? Role::out : Role::in;
  List list(p);
  list.add_data(Tensor::q, Role::in, {p.B, p.Hq, p.Lq, p.D});
  list.add_data(Tensor::k, Role::in, {batches, p.Hkv, keys, p.D});
  list.add_data(Tensor::v, Role::in, {batches, p.Hkv, keys, p.Dv});
  if (p.has_bias()) list.add(Tensor::bias, Role::in, ElementType::f32, p.bias_shape);
  list.add_data(Tensor::o, answer, {p.B, p.Hq, p.Lq, p.Dv}, p.output_dtype());
  list.add(Tensor::lse, answer, ElementType::f32, {p.B, p.Hq, p.Lq});
  if (makes_gradients(p.pass)) add_gradients(list, p);
  add_lists(list, p);
  if (splits > 1) {
    list.add(Tensor::partial_o, Role::scratch, ElementType::f32, {splits, p.B, p.Hq, p.Lq, p.Dv});
    list.add(Tensor::partial_lse, Role::scratch, ElementType::f32, {splits, p.B, p.Hq, p.Lq});
  }
  return list.take();
}

const TensorSpec* find(std::span<const TensorSpec> specs, Tensor t) {
  const auto at = std::ranges::find(specs, t, &TensorSpec::tensor);
  return at == specs.end() ? nullptr : &*at;
}

ByTensor<const Array*> arrays_of(const Inputs& in) {
  ByTensor<const Array*> arrays;
  arrays[Tensor::q] = &in.q;
  arrays[Tensor::k] = &in.k;
  arrays[Tensor::v] = &in.v;
  if (in.bias) arrays[Tensor::bias] = &*in.bias;
  if (in.o) arrays[Tensor::o] = &*in.o;
  if (in.lse) arrays[Tensor::lse] = &*in.lse;
  if (in.d_o) arrays[Tensor::d_o] = &*in.d_o;
  return arrays;
}

namespace {

// Of outputs, const or not. Those of the other pass have no elements.
template <class Made, class Out>
ByTensor<Made*> arrays_made(Out& out) {
  ByTensor<Made*> arrays;
  arrays[Tensor::o] = &out.out;
  arrays[Tensor::lse] = &out.lse;
  arrays[Tensor::delta] = &out.delta;
  arrays[Tensor::d_q] = &out.d_q;
  arrays[Tensor::d_k] = &out.d_k;
  arrays[Tensor::d_v] = &out.d_v;
  return arrays;
}

}  // namespace

ByTensor<Array*> arrays_of(Outputs& out) {
  return arrays_made<Array>(out);
}

ByTensor<const Array*> arrays_of(const Outputs& out) {
  return arrays_made<const Array>(out);
}

}  // namespace attn
