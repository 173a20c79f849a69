#include "kernels/model/inputs/inputs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy.h"
#include "kernels/model/inputs/generators.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

using Shape = std::vector<std::int64_t>;

const char* name_of(InputTensor t) {
  switch (t) {
    case InputTensor::q:
      return "Q";
    case InputTensor::k:
      return "K";
    case InputTensor::v:
      return "V";
    case InputTensor::bias:
      return tr("the bias");
    case InputTensor::d_o:
      return "dO";
  }
  return "?";
}

// In the order of InputTensor.
constexpr Tensor kGiven[] = {Tensor::q, Tensor::k, Tensor::v, Tensor::bias, Tensor::d_o};

Shape shape_of(const Problem& p, InputTensor t) {
  const std::vector<TensorSpec> specs = tensors_of(p);
  const TensorSpec* spec = find(specs, kGiven[static_cast<std::size_t>(t)]);
  return spec == nullptr ? Shape{} : spec->shape;
}

// All that the problem reads is made here, or what is not.
Result<void> check_given(const Problem& p) {
  for (const TensorSpec& t : tensors_of(p)) {
    // O and LSE are a forward's to give (kernels/cpu/backward/forward.h).
    const bool of_forward = t.tensor == Tensor::o || t.tensor == Tensor::lse;
    const bool asked = t.role == Role::in && !t.in_problem && !of_forward && t.tensor != Tensor::page_table;
    if (!asked || std::ranges::find(kGiven, t.tensor) != std::end(kGiven)) continue;
    return bad_input(phrase("{} of {} cannot be generated or read from a file; only Q, K, V and a bias can.",
                            words_of(t.tensor), describe(p)));
  }
  return ok();
}

DType dtype_of(const Problem& p, InputTensor t) {
  return t == InputTensor::bias ? DType::f32 : p.dtype;
}

std::string words(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// The shape with axes of 1 in front until there are four.
Shape with_four_axes(Shape shape) {
  if (shape.size() < 4) shape.insert(shape.begin(), 4 - shape.size(), 1);
  return shape;
}

// Between [.., H, L, D] and [.., L, H, D]; without heads they are the same.
Shape swapped(Shape shape) {
  if (shape.size() > 2) std::swap(shape[shape.size() - 3], shape[shape.size() - 2]);
  return shape;
}

Shape in_order(Shape shape, AxisOrder order) {
  return order == AxisOrder::bhld ? shape : swapped(std::move(shape));
}

// What was read of a file, as [B, H, L, D].
Result<Array> as_problem_has_it(NpyFile& file, const Shape& shape, DType dtype, std::uint64_t max_bytes,
                                AxisOrder order) {
  // Another order stands beside the file's for a moment.
  const bool swaps = order == AxisOrder::blhd && file.header().shape.size() > 2;
  Result<Array> array = file.read(swaps ? max_bytes / 2 : max_bytes, dtype);
  if (!array) return array;
  if (!swaps) return std::move(*array).reshaped(shape);
  return middle_swapped(std::move(*array).reshaped(swapped(shape)));
}

// The numbers of an open file as this tensor of the problem; they take at most `max_bytes`.
Result<Array> tensor_of(NpyFile& file, const Problem& p, InputTensor t, std::uint64_t max_bytes,
                        AxisOrder order = AxisOrder::bhld) {
  const Shape shape = shape_of(p, t);
  if (t == InputTensor::bias) order = AxisOrder::bhld;
  const Shape stored = in_order(file.header().shape, order);
  const bool bias_of_one_axis = t == InputTensor::bias && stored.size() == 1;
  if ((stored.size() < 2 && !bias_of_one_axis) || stored.size() > 4 || with_four_axes(stored) != shape) {
    return bad_input(phrase("{} has shape {}, but {} of this problem has {}; change the problem or the file.",
                            file.name(), words(stored), name_of(t), words(shape)));
  }
  return as_problem_has_it(file, shape, dtype_of(p, t), max_bytes, order);
}

Result<Array> tensor_from_file(const Problem& p, InputTensor t, const std::string& name) {
  Result<NpyFile> file = NpyFile::open(name);
  if (!file) return tl::unexpected(file.error());
  // The caller has checked memory for this shape.
  const auto bytes = static_cast<std::uint64_t>(element_count(shape_of(p, t))) * size_of(dtype_of(p, t));
  return tensor_of(*file, p, t, bytes);
}

// Who makes what is not in a file.
struct MadeBy {
  const TakePieces& take;
  Generated* generated = nullptr;  // null: nothing is made yet
};

Result<Array> make_tensor(const Problem& p, const InputSpec& spec, InputTensor t, const std::string& file,
                          const MadeBy& maker) {
  if (!file.empty()) return tensor_from_file(p, t, file);
  if (maker.generated != nullptr) {
    Array& made = maker.generated->tensors[static_cast<std::size_t>(t)];
    if (!made.empty()) return std::move(made);
  }
  Array array(dtype_of(p, t), shape_of(p, t));
  generate(spec.generator, p, spec.seed, t, array, maker.take, spec.sentence);
  return array;
}

Result<void> apply(const CellEdit& edit, Inputs& in) {
  Array* target = nullptr;
  switch (edit.tensor) {
    case InputTensor::q:
      target = &in.q;
      break;
    case InputTensor::k:
      target = &in.k;
      break;
    case InputTensor::v:
      target = &in.v;
      break;
    case InputTensor::bias:
      target = in.bias ? &*in.bias : nullptr;
      break;
    case InputTensor::d_o:
      target = in.d_o ? &*in.d_o : nullptr;
      break;
  }
  if (target == nullptr && edit.tensor == InputTensor::d_o)
    return bad_input(tr("A cell of dO was edited, but this is a forward problem, which has no dO."));
  if (target == nullptr) return bad_input(tr("A cell of the bias was edited, but this problem has no bias."));
  if (edit.index < 0 || edit.index >= target->size()) {
    return bad_input(phrase("Cell {} of {} does not exist; the tensor has {} elements.", edit.index,
                            name_of(edit.tensor), target->size()));
  }
  target->set(edit.index, edit.value);
  return ok();
}

struct Extent {
  const char* name;
  const std::filesystem::path& file;
  std::int64_t value;
};

Result<void> same(const Extent& a, const Extent& b) {
  if (a.value == b.value) return ok();
  return bad_input(phrase("{} is {} in {}, but {} is {} in {}; the two must be equal.", a.name, a.value,
                          a.file.string(), b.name, b.value, b.file.string()));
}

Result<Shape> file_shape(const NpyHeader& header, const std::filesystem::path& file, AxisOrder order) {
  if (header.shape.size() >= 2 && header.shape.size() <= 4) return with_four_axes(in_order(header.shape, order));
  if (order == AxisOrder::blhd)
    return bad_input(
        phrase("{} has shape {}; it must be [B, L, H, D], [L, H, D] or [L, D].", file.string(), words(header.shape)));
  return bad_input(
      phrase("{} has shape {}; it must be [B, H, L, D], [H, L, D] or [L, D].", file.string(), words(header.shape)));
}

// What the headers alone say: the problem, or which extents do not agree.
Result<Problem> problem_of(const std::array<std::filesystem::path, 3>& files, const std::array<NpyHeader, 3>& headers,
                           AxisOrder order) {
  std::array<Shape, 3> shapes;
  for (std::size_t i = 0; i < 3; ++i) {
    Result<Shape> shape = file_shape(headers[i], files[i], order);
    if (!shape) return tl::unexpected(shape.error());
    shapes[i] = std::move(*shape);
  }
  const auto& [q, k, v] = shapes;
  for (const auto& [a, b] : {std::pair<Extent, Extent>{{"B", files[0], q[0]}, {"B", files[1], k[0]}},
                             {{"B", files[0], q[0]}, {"B", files[2], v[0]}},
                             {{"Hkv", files[1], k[1]}, {"Hkv", files[2], v[1]}},
                             {{"Lk", files[1], k[2]}, {"Lk", files[2], v[2]}},
                             {{"D", files[0], q[3]}, {"D", files[1], k[3]}}}) {
    if (auto r = same(a, b); !r) return tl::unexpected(r.error());
  }
  Problem p;
  p.B = q[0];
  p.Hq = q[1];
  p.Lq = q[2];
  p.D = q[3];
  p.Hkv = k[1];
  p.Lk = k[2];
  p.Dv = v[3];
  p.dtype = headers[0].dtype;
  return p;
}

// Of a problem that keeps K and V side by side.
Result<Inputs> make_dense(const Problem& p, const InputSpec& spec, const MadeBy& maker) {
  Inputs in;
  const std::array<std::pair<InputTensor, const std::string*>, 3> tensors{
      {{InputTensor::q, &spec.q_file}, {InputTensor::k, &spec.k_file}, {InputTensor::v, &spec.v_file}}};
  const std::array<Array*, 3> targets{&in.q, &in.k, &in.v};
  for (std::size_t i = 0; i < 3; ++i) {
    Result<Array> array = make_tensor(p, spec, tensors[i].first, *tensors[i].second, maker);
    if (!array) return tl::unexpected(array.error());
    *targets[i] = std::move(*array);
  }
  if (p.has_bias()) {
    Result<Array> bias = make_tensor(p, spec, InputTensor::bias, spec.bias_file, maker);
    if (!bias) return tl::unexpected(bias.error());
    in.bias = std::move(*bias);
  } else if (!spec.bias_file.empty()) {
    return bad_input(phrase("{} was given as the bias, but this problem has no bias.", spec.bias_file));
  }
  if (makes_gradients(p.pass)) in.d_o = *make_tensor(p, spec, InputTensor::d_o, {}, maker);
  for (const CellEdit& edit : spec.edits) {
    if (auto r = apply(edit, in); !r) return tl::unexpected(r.error());
  }
  return in;
}

}  // namespace

Result<Array> tensor_from_file(const TensorSpec& spec, const std::filesystem::path& name, std::uint64_t max_bytes,
                               AxisOrder order) {
  Result<NpyFile> file = NpyFile::open(name);
  if (!file) return tl::unexpected(file.error());
  const Shape& shape = spec.shape;
  if (shape.size() < 4) order = AxisOrder::bhld;  // LSE has no rows of D
  const Shape stored = in_order(file->header().shape, order);
  const std::size_t missing = shape.size() - std::min(shape.size(), stored.size());
  const bool fits = stored.size() <= shape.size() && missing <= 2 &&
                    std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(missing),
                                [](std::int64_t extent) { return extent == 1; }) &&
                    std::equal(stored.begin(), stored.end(), shape.begin() + static_cast<std::ptrdiff_t>(missing));
  if (!fits) {
    return bad_input(phrase("{} has shape {}, but {} of this problem has {}; change the problem or the file.",
                            file->name(), words(stored), words_of(spec.tensor), words(shape)));
  }
  return as_problem_has_it(*file, shape, *dtype_of(spec.type), max_bytes == 0 ? free_memory() : max_bytes, order);
}

std::vector<std::int32_t> made_table(const Problem& p, const InputSpec& spec) {
  return spec.pages == PageOrder::in_order ? pages_in_order(p) : shuffled_pages(p, spec.seed);
}

namespace {

Result<void> check_made(const Problem& p, const InputSpec& spec) {
  if (auto r = validate(p); !r) return r;
  if (auto r = check_given(p); !r) return r;
  if (spec.generator == Generator::words) {
    if (const auto words = sentence_words(spec.sentence); !words) return tl::unexpected(words.error());
  }
  return ok();
}

Result<Inputs> make_with(const Problem& p, const InputSpec& spec, const MadeBy& maker) {
  if (auto good = check_made(p, spec); !good) return tl::unexpected(good.error());
  if (p.storage.kind() == Storage::dense) return make_dense(p, spec, maker);
  auto by_key = make_dense(without_pages(p), spec, maker);
  if (!by_key) return by_key;
  return laid_into_pages(p, *std::move(by_key), made_table(p, spec));
}

}  // namespace

Result<Inputs> make_inputs(const Problem& p, const InputSpec& spec, const TakePieces& take) {
  return make_with(p, spec, {take, nullptr});
}

Result<Inputs> make_inputs(const Problem& p, const InputSpec& spec, Generated generated) {
  return make_with(p, spec, {in_turn, &generated});
}

Result<void> generate_tensors(const Problem& p, const InputSpec& spec, Generated& to, WalkMark& mark) {
  if (auto good = check_made(p, spec); !good) return good;
  constexpr std::int64_t kGenerated = 64;  // what a number costs, in multiply-adds
  const Problem dense = without_pages(p);
  const auto make = [&](InputTensor t, const std::string& file) {
    if (!file.empty()) return;
    Array& array = to.tensors[static_cast<std::size_t>(t)];
    const Shape shape = shape_of(dense, t);
    mark.once([&] { array = Array(dtype_of(dense, t), shape); });
    mark.blocks(shape[0] * shape[1] * shape[2], shape[3] * kGenerated, [&](std::int64_t first, std::int64_t n) {
      generate_rows(spec.generator, dense, spec.seed, t, array, spec.sentence, first, first + n);
    });
  };
  make(InputTensor::q, spec.q_file);
  make(InputTensor::k, spec.k_file);
  make(InputTensor::v, spec.v_file);
  if (p.has_bias()) make(InputTensor::bias, spec.bias_file);
  if (makes_gradients(p.pass)) make(InputTensor::d_o, {});
  return ok();
}

Result<FileInputs> inputs_from_files(const std::filesystem::path& q, const std::filesystem::path& k,
                                     const std::filesystem::path& v, const std::optional<std::filesystem::path>& bias,
                                     std::optional<DType> dtype, std::uint64_t max_bytes, AxisOrder order) {
  const std::array<std::filesystem::path, 3> files{q, k, v};
  // Each is opened once: the numbers are those of the header that was believed.
  std::vector<NpyFile> opened;
  std::array<NpyHeader, 3> headers;
  for (std::size_t i = 0; i < 3; ++i) {
    Result<NpyFile> file = NpyFile::open(files[i]);
    if (!file) return tl::unexpected(file.error());
    headers[i] = file->header();
    opened.push_back(*std::move(file));
  }
  Result<Problem> problem = problem_of(files, headers, order);
  if (!problem) return tl::unexpected(problem.error());
  FileInputs result;
  result.problem = std::move(*problem);
  result.axes = headers[0].shape.size();
  Problem& p = result.problem;
  if (dtype) p.dtype = *dtype;
  if (bias) {
    Result<NpyFile> file = NpyFile::open(*bias);
    if (!file) return tl::unexpected(file.error());
    p.bias_shape = with_four_axes(file->header().shape);
    opened.push_back(*std::move(file));
  }
  if (auto r = validate(p); !r) return tl::unexpected(r.error());

  std::uint64_t left = max_bytes == 0 ? free_memory() : max_bytes;
  const std::array<InputTensor, 4> tensors{InputTensor::q, InputTensor::k, InputTensor::v, InputTensor::bias};
  std::array<Array, 4> arrays;
  for (std::size_t i = 0; i < opened.size(); ++i) {
    Result<Array> array = tensor_of(opened[i], p, tensors[i], left, order);
    if (!array) return tl::unexpected(array.error());
    left -= array->bytes();
    result.beyond += opened[i].beyond();
    arrays[i] = std::move(*array);
  }
  result.inputs.q = std::move(arrays[0]);
  result.inputs.k = std::move(arrays[1]);
  result.inputs.v = std::move(arrays[2]);
  if (bias) result.inputs.bias = std::move(arrays[3]);
  return result;
}

}  // namespace attn
