// Small examples of what format version 3 adds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/recording/tensor_set.h"
#include "kernels/recording/timeline.h"

namespace attn::test {

inline Array counted(DType dtype, std::vector<std::int64_t> shape) {
  Array a(dtype, std::move(shape));
  for (std::int64_t n = 0; n < a.size(); ++n) a.set(n, static_cast<float>(n % 61) / 4);
  return a;
}

// All that a problem has, filled; the page table with the pages 0, 1, ... in turn.
inline std::vector<NamedTensor> all_tensors(const Problem& p, std::int64_t splits) {
  std::vector<NamedTensor> tensors;
  for (const TensorSpec& spec : tensors_of(p, splits)) {
    if (spec.in_problem) continue;
    NamedTensor t;
    t.tensor = spec.tensor;
    if (const auto dtype = dtype_of(spec.type)) {
      t.numbers = counted(*dtype, spec.shape);
    } else {
      for (std::int64_t n = 0; n < element_count(spec.shape); ++n) {
        t.table.push_back(static_cast<std::int32_t>(n % p.storage.pages));
      }
    }
    tensors.push_back(std::move(t));
  }
  return tensors;
}

inline TensorSet set_of(std::string name, Problem p, std::int64_t splits = 1) {
  TensorSet set;
  set.name = std::move(name);
  set.tensors = all_tensors(p, splits);
  set.problem = std::move(p);
  set.splits = splits;
  return set;
}

inline Problem small_shape() {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 3;
  p.Lk = 5;
  p.D = 8;
  p.Dv = 6;
  return p;
}

inline TensorSet backward_set() {
  Problem p = small_shape();
  p.pass = Pass::backward;
  p.dtype = DType::bf16;
  p.layout = AxisOrder::blhd;
  TensorSet set = set_of("gradients", p);
  set.labels.rows = {"the", "cat", "sat"};
  set.labels.columns = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};  // of both batches
  return set;
}

inline TensorSet paged_set() {
  Problem p = small_shape();
  p.dtype = DType::f16;
  p.storage = {4, 5};
  p.mask.key_lengths = {5, 2};
  return set_of("pages", p);
}

inline TensorSet split_set() {
  return set_of("", small_shape(), 3);
}

// Ordered by name, as entries of a JSON object are.
inline TensorSet sorted(TensorSet set) {
  std::ranges::sort(set.tensors, {}, [](const NamedTensor& t) { return name_of(t.tensor); });
  return set;
}

// A producer and a slot of the ring in one of two blocks.
inline Timeline clock_timeline() {
  Timeline t;
  t.kernel = "flash_mma";
  t.source_hash = "0123456789abcdef0123456789abcdef";
  t.device = "NVIDIA H100";
  t.problem = small_shape();
  t.options.br = 64;
  t.options.bc = 128;
  t.plain_us = 10;
  t.traced_us = 10.5;
  t.plain_quartiles = {9.75, 10.25};
  t.launch_us = 10.25;
  t.grid_blocks = 2;
  t.tags = {"issue", "wait_k", "mma", "done"};
  t.sms = {{7, 100, 5000, 0.57, 48}};
  t.points = {{7, 100, 5000}, {7, 150, 5030}, {7, 200, 5057}};
  t.blocks = {{1, 7, 5000, 5057, 100, 200}};
  t.lanes = {{LaneKind::producer, 0, 0, -1, 0, 4}, {LaneKind::slot, 1, 0, -1, 4, 2}};
  t.events = {{100, 0, 0, 0}, {140, 1, 0, 1}, {160, 2, 1, 1}, {200, 3, -1, -1}, {110, 2, -1, 1}, {190, 3, -1, 1}};
  return t;
}

// Two ranks of a ring, as their hosts saw them.
inline Timeline host_timeline() {
  Timeline t;
  t.kernel = "ring";
  t.device = "NVIDIA H100";
  t.device_uuid = "00112233445566778899aabbccddeeff";
  t.problem = small_shape();
  t.unit = MomentUnit::ns;
  t.buffer = EventBuffer::host;
  t.tags = {"send", "done"};
  t.lanes = {{LaneKind::send, 0, -1, 0, 0, 2}, {LaneKind::wait, 0, -1, 1, 2, 2}};
  t.events = {{5, 0, 2, -1}, {9, 1, -1, -1}, {0, 0, -1, -1}, {12, 1, -1, -1}};
  return t;
}

}  // namespace attn::test
