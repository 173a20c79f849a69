#include "app/state/inputs/input_files.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/state/apply/apply.h"
#include "kernels/base/text.h"
#include "kernels/formats/npy.h"

namespace attn {
namespace {

using Paths = std::array<std::string, 4>;
constexpr std::array<const char*, 4> kTensorNames{"Q", "K", "V", marked("the bias")};

struct Given {
  std::string path;
  NpyHeader header;
  std::array<std::int64_t, 4> shape{};
};

Result<Given> look_at(const std::string& path, std::size_t tensor) {
  auto header = read_npy_header(path);
  if (!header) return tl::unexpected(header.error());
  const std::size_t axes = header->shape.size();
  const std::size_t min = tensor == 3 ? 1 : 2;
  if (axes < min || axes > 4) {
    return bad_input(phrase("{} has {} axes; {} needs {} to 4.", path, axes, tr_of(kTensorNames[tensor]), min));
  }
  Given given{path, *std::move(header), {1, 1, 1, 1}};
  for (std::size_t n = 0; n < axes; ++n) given.shape[4 - axes + n] = given.header.shape[n];
  for (const std::int64_t extent : given.shape) {
    if (extent < 1) return bad_input(phrase("{} contains no numbers: one of its axes is {}.", path, extent));
  }
  return given;
}

// Sets an extent from a file; a second file must say the same.
class Extents {
 public:
  Result<void> set(std::int64_t& extent, const char* what, std::int64_t value, const std::string& path) {
    for (const Said& said : said_) {
      if (said.extent != &extent || *said.extent == value) continue;
      return bad_input(
          phrase("{} has {} {}, but {} has {}; the two must be equal.", path, what, value, said.path, *said.extent));
    }
    extent = value;
    said_.push_back({&extent, path});
    return ok();
  }
  bool has(const std::int64_t& extent) const {
    for (const Said& said : said_) {
      if (said.extent == &extent) return true;
    }
    return false;
  }

 private:
  struct Said {
    const std::int64_t* extent;
    std::string path;
  };
  std::vector<Said> said_;
};

Result<void> take_shapes(Problem& p, const std::array<std::optional<Given>, 4>& files) {
  Extents extents;
  struct Axis {
    std::int64_t Problem::*member;
    const char* what;
  };
  static constexpr std::array<std::array<Axis, 4>, 3> kAxes{{{{{&Problem::B, marked("batch")},
                                                               {&Problem::Hq, marked("query heads")},
                                                               {&Problem::Lq, marked("length")},
                                                               {&Problem::D, marked("head dim")}}},
                                                             {{{&Problem::B, marked("batch")},
                                                               {&Problem::Hkv, marked("heads")},
                                                               {&Problem::Lk, marked("length")},
                                                               {&Problem::D, marked("head dim")}}},
                                                             {{{&Problem::B, marked("batch")},
                                                               {&Problem::Hkv, marked("heads")},
                                                               {&Problem::Lk, marked("length")},
                                                               {&Problem::Dv, marked("head dim")}}}}};
  for (std::size_t t = 0; t < 3; ++t) {
    const std::optional<Given>& file = files[t];
    if (!file) continue;
    for (std::size_t n = 0; n < 4; ++n) {
      const Axis& axis = kAxes[t][n];
      if (auto set = extents.set(p.*axis.member, tr_of(axis.what), file->shape[n], file->path); !set) return set;
    }
  }
  // Heads that are still generated follow those of the files.
  const bool q = files[0].has_value(), kv = files[1].has_value() || files[2].has_value();
  if (p.Hq % p.Hkv != 0 && q != kv) (q ? p.Hkv : p.Hq) = q ? p.Hq : p.Hkv;
  if (const auto& bias = files[3]) p.bias_shape.assign(bias->shape.begin(), bias->shape.end());
  return ok();
}

// What depends on the shape and was not given follows it.
void fit(Problem& p, const Problem& before, bool bias_given) {
  if (!p.mask.key_lengths.empty() && (p.B != before.B || p.Lk != before.Lk)) {
    p.mask.key_lengths.resize(static_cast<std::size_t>(p.B), p.Lk);
    for (std::int64_t& n : p.mask.key_lengths) n = std::min(n, p.Lk);
  }
  if (bias_given || p.bias_shape.size() != 4) return;
  const std::int64_t full[4] = {p.B, p.Hq, p.Lq, p.Lk};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (p.bias_shape[axis] != 1) p.bias_shape[axis] = full[axis];
  }
}

}  // namespace

std::string absolute_name(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.string();
}

Result<State> with_input_files(const State& state, const Paths& paths) {
  Problem p = state.document.problem;
  InputSpec inputs = state.document.inputs;
  const std::array<std::string*, 4> targets{&inputs.q_file, &inputs.k_file, &inputs.v_file, &inputs.bias_file};
  std::array<std::optional<Given>, 4> files;
  bool typed = false;  // the first file says the dtype
  for (std::size_t t = 0; t < 4; ++t) {
    const std::string path = absolute_name(paths[t]);
    if (t == 3 && path.empty() && !targets[t]->empty()) p.bias_shape.clear();
    if (path != *targets[t]) {
      std::erase_if(inputs.edits, [&](const CellEdit& e) { return e.tensor == static_cast<InputTensor>(t); });
    }
    *targets[t] = path;
    if (path.empty()) continue;
    auto given = look_at(path, t);
    if (!given) return tl::unexpected(given.error());
    if (t < 3 && !std::exchange(typed, true)) p.dtype = given->header.dtype;
    files[t] = *std::move(given);
  }
  if (auto taken = take_shapes(p, files); !taken) return tl::unexpected(taken.error());
  fit(p, state.document.problem, files[3].has_value());
  auto shaped = apply(state, SetProblem{p}, nullptr);
  if (!shaped) return shaped;
  // Cells that the new shape dropped stay dropped.
  std::erase_if(inputs.edits, [&](const CellEdit& e) {
    const auto& kept = shaped->document.inputs.edits;
    return std::find(kept.begin(), kept.end(), e) == kept.end();
  });
  return apply(*shaped, SetInputs{inputs}, nullptr);
}

}  // namespace attn
