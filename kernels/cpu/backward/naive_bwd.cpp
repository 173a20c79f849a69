// cpu_naive_bwd: the definition of the backward, through stored P and dS.
//
//   pass 0   P = exp(S - LSE) of S = scale Q K^T, masked              P written, in the input dtype
//   pass 1   dS = P (dP - delta) of dP = dO V^T;  dQ = scale dS K     P read, dS written
//   pass 2   dV = P^T dO;  dK = scale dS^T Q                          P and dS read
//
// One multiply and one add at a time in index order. Rows of a head are shared by all cores in passes 0 and 1, its keys
// in pass 2.
//
// What limits it: each number is computed alone, and memory that grows with Lq * Lk.
#include <algorithm>
#include <utility>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/rows.h"
#include "kernels/cpu/backward/workspace.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/rows.h"

namespace attn::cpu {
namespace {

struct NaiveLayout {
  std::int64_t ti = 0, tj = 0;
  std::int64_t lds = 0;                       // a row of P or dS
  std::int64_t q = 0, k = 0, v = 0, d_o = 0;  // of one head of keys and one of queries, in fp32
  std::int64_t p = 0, ds = 0, dk = 0, dv = 0, delta = 0;
  std::int64_t scratch = 0, scratch_each = 0;
  Parts parts;
};

NaiveLayout layout_of(const Problem& p, const Options& o) {
  NaiveLayout x;
  x.ti = (p.Lq + o.br - 1) / o.br;
  x.tj = (p.Lk + o.bc - 1) / o.bc;
  x.lds = padded(p.Lk);
  x.q = x.parts.take({p.Lq, p.D});
  x.k = x.parts.take({p.Lk, p.D});
  x.v = x.parts.take({p.Lk, p.Dv});
  x.d_o = x.parts.take({p.Lq, p.Dv});
  // P and dS lie in the input dtype; 16-bit ones take half.
  const std::int64_t of_row = p.dtype == DType::f32 ? x.lds : x.lds / 2;
  x.p = x.parts.take({p.Lq, of_row});
  x.ds = x.parts.take({p.Lq, of_row});
  x.dk = x.parts.take({p.Lk, p.D});
  x.dv = x.parts.take({p.Lk, p.Dv});
  x.delta = x.parts.take({p.Lq});
  x.scratch_each = 3 * std::max(x.lds, padded(p.Lq)) + 2 * kMaxHeadDim;
  x.scratch = x.parts.take({x.scratch_each, o.threads});
  return x;
}

class NaiveBackward {
 public:
  NaiveBackward(const Problem& p, const Options& o, const Buffers& buffers, Team& team)
      : p_(p),
        o_(o),
        buffers_(buffers),
        team_(team),
        at_(layout_of(p, o)),
        bias_(buffers.read<float>(Tensor::bias)),
        scale_(static_cast<float>(p.effective_scale())) {}

  void run() {
    const std::int64_t group = p_.Hq / p_.Hkv;
    for (std::int64_t kv = 0; kv < p_.B * p_.Hkv && !team_.stopped(); ++kv) {
      b_ = kv / p_.Hkv;
      team_.run(at_.tj, [&](std::int64_t j, std::int32_t) { load_keys(kv, j); });
      for (std::int64_t g = 0; g < group && !team_.stopped(); ++g) {
        h_ = kv % p_.Hkv * group + g;
        rows_pass([this](std::int64_t r, float* work) { load_query(r, work); });
        rows_pass([this](std::int64_t r, float* work) { weights(r, work); });
        rows_pass([this](std::int64_t r, float* work) { score_gradients(r, work); });
        keys_pass([this](std::int64_t c, float* work) { key_gradients(c, work); });
      }
      team_.run(at_.tj, [&](std::int64_t j, std::int32_t) { store_keys(kv, j); });
    }
  }

 private:
  float* part(std::int64_t offset) const { return static_cast<float*>(buffers_.workspace) + offset; }
  std::int64_t head() const { return b_ * p_.Hq + h_; }

  template <class Row>
  void rows_pass(const Row& row) {
    team_.run(at_.ti, [&](std::int64_t i, std::int32_t worker) {
      for (std::int64_t r = i * o_.br; r < std::min<std::int64_t>(p_.Lq, (i + 1) * o_.br) && !team_.stopped(); ++r)
        row(r, part(at_.scratch) + worker * at_.scratch_each);
    });
  }
  template <class Key>
  void keys_pass(const Key& key) {
    team_.run(at_.tj, [&](std::int64_t j, std::int32_t worker) {
      for (std::int64_t c = j * o_.bc; c < std::min<std::int64_t>(p_.Lk, (j + 1) * o_.bc) && !team_.stopped(); ++c)
        key(c, part(at_.scratch) + worker * at_.scratch_each);
    });
  }

  void load_keys(std::int64_t kv, std::int64_t j) const {
    const std::int64_t first = j * o_.bc, count = std::min<std::int64_t>(o_.bc, p_.Lk - first), last = keys_of(p_, b_);
    widen_rows(p_, buffers_, {Tensor::k, kv, p_.Lk, p_.D}, first, count, last, {part(at_.k) + first * p_.D, p_.D});
    widen_rows(p_, buffers_, {Tensor::v, kv, p_.Lk, p_.Dv}, first, count, last, {part(at_.v) + first * p_.Dv, p_.Dv});
    std::fill_n(part(at_.dk) + first * p_.D, count * p_.D, 0.0F);
    std::fill_n(part(at_.dv) + first * p_.Dv, count * p_.Dv, 0.0F);
  }

  // Q, dO and delta of a row.
  void load_query(std::int64_t r, float* work) const {
    float* const d_o = part(at_.d_o) + r * p_.Dv;
    const std::int64_t row = head() * p_.Lq + r;
    widen(p_.dtype, buffers_.in[Tensor::q], row * p_.D, p_.D, part(at_.q) + r * p_.D);
    widen(p_.dtype, buffers_.in[Tensor::d_o], row * p_.Dv, p_.Dv, d_o);
    widen(p_.dtype, buffers_.in[Tensor::o], row * p_.Dv, p_.Dv, work);
    float& delta = part(at_.delta)[r];
    delta = scalar_dot(d_o, work, p_.Dv);
    if (float* given = buffers_.write<float>(Tensor::delta); given != nullptr) given[row] = delta;
  }

  void weights(std::int64_t r, float* s) const {
    scalar_scores({part(at_.q) + r * p_.D, p_.D}, {part(at_.k), p_.D}, {s, at_.lds}, 1, p_.Lk, p_.D, scale_);
    apply_mask(p_, bias_, {b_, h_, r, 1, 0, p_.Lk}, {s, at_.lds});
    const float shift = shift_of(buffers_.read<float>(Tensor::lse)[head() * p_.Lq + r]);
    for (std::int64_t c = 0; c < p_.Lk; ++c) s[c] = exp_f32(s[c] - shift);
    narrow(p_.dtype, {s, at_.lds}, 1, p_.Lk, part(at_.p), r * at_.lds, at_.lds);
  }

  void score_gradients(std::int64_t r, float* ds) const {
    float* const p = ds + at_.lds;
    const float* d_o = part(at_.d_o) + r * p_.Dv;
    widen(p_.dtype, part(at_.p), r * at_.lds, p_.Lk, p);
    const float delta = part(at_.delta)[r];
    for (std::int64_t c = 0; c < p_.Lk; ++c) ds[c] = p[c] * (scalar_dot(d_o, part(at_.v) + c * p_.Dv, p_.Dv) - delta);
    if (p_.softcap) {
      float* const s = p + at_.lds;
      scalar_scores({part(at_.q) + r * p_.D, p_.D}, {part(at_.k), p_.D}, {s, at_.lds}, 1, p_.Lk, p_.D, scale_);
      cap_gradients(p_, {s, at_.lds}, 1, p_.Lk, {s, at_.lds});
      multiply_tile({ds, at_.lds}, {s, at_.lds}, 1, p_.Lk);
    }
    narrow(p_.dtype, {ds, at_.lds}, 1, p_.Lk, part(at_.ds), r * at_.lds, at_.lds);
    round_tile(p_.dtype, {ds, at_.lds}, 1, p_.Lk);

    float dq[kMaxHeadDim];
    std::fill_n(dq, p_.D, 0.0F);
    scalar_output({ds, at_.lds}, {part(at_.k), p_.D}, {dq, p_.D}, 1, p_.D, p_.Lk);
    for (std::int64_t d = 0; d < p_.D; ++d) dq[d] *= scale_;
    narrow(p_.dtype, {dq, p_.D}, 1, p_.D, buffers_.out[Tensor::d_q], (head() * p_.Lq + r) * p_.D, p_.D);
  }

  // Adds this head of queries to dK and dV of one key: a column of P and of dS.
  void key_gradients(std::int64_t c, float*) const {
    float* const dk = part(at_.dk) + c * p_.D;
    float* const dv = part(at_.dv) + c * p_.Dv;
    for (std::int64_t r = 0; r < p_.Lq; ++r) {
      float p = 0, ds = 0;
      widen(p_.dtype, part(at_.p), r * at_.lds + c, 1, &p);
      widen(p_.dtype, part(at_.ds), r * at_.lds + c, 1, &ds);
      const float *q = part(at_.q) + r * p_.D, *d_o = part(at_.d_o) + r * p_.Dv;
      for (std::int64_t d = 0; d < p_.Dv; ++d) dv[d] += p * d_o[d];
      for (std::int64_t d = 0; d < p_.D; ++d) dk[d] += ds * q[d];
    }
  }

  void store_keys(std::int64_t kv, std::int64_t j) const {
    const std::int64_t first = j * o_.bc, count = std::min<std::int64_t>(o_.bc, p_.Lk - first);
    float* const dk = part(at_.dk) + first * p_.D;
    for (std::int64_t n = 0; n < count * p_.D; ++n) dk[n] *= scale_;
    narrow(p_.dtype, {dk, p_.D}, count, p_.D, buffers_.out[Tensor::d_k], (kv * p_.Lk + first) * p_.D, p_.D);
    narrow(p_.dtype, {part(at_.dv) + first * p_.Dv, p_.Dv}, count, p_.Dv, buffers_.out[Tensor::d_v],
           (kv * p_.Lk + first) * p_.Dv, p_.Dv);
  }

  const Problem& p_;
  const Options& o_;
  const Buffers& buffers_;
  Team& team_;
  const NaiveLayout at_;
  const float* const bias_;  // null: there is none
  const float scale_;
  std::int64_t b_ = 0, h_ = 0;
};

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  const NaiveLayout layout = layout_of(p, *resolved);
  return plan_of(row, p, *resolved, layout.parts.bytes(), marked("row tiles of one head and pass"), layout.ti);
}

}  // namespace

KernelRow cpu_naive_bwd_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 16}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1024, 1, 0}};
  KernelRow row = backward_row();
  row.id = "cpu_naive_bwd";
  row.title = marked("naive backward, all cores");
  row.rung = "1d";
  row.order = *order_named("naive-backward");
  row.options = kOptions;
  row.what = marked("The textbook backward pass on all cores, with P and dS stored.");
  row.teaches = marked("Five products from two stored matrices. Delta is each row's weighted mean of dP.");
  row.source = marked("the definition; Dao et al. 2022, FlashAttention, algorithm 3");
  row.stores_scores = true;
  row.score_reads = 2;
  row.training = {"cpu_naive_train", marked("naive training step, all cores"), "1t", "cpu_multicore"};
  row.plan = plan;
  row.launch = launch_backward<NaiveBackward>;
  return row;
}

}  // namespace attn::cpu
