// Fifty steps of training a toy of two attention layers, its attention by cpu_flash and cpu_flash_bwd in f32, beside
// the same toy in fp64 by the definition: the losses go the same way, step by step.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/run.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/generators.h"

namespace attn {
namespace {

constexpr std::int64_t kHeads = 2, kTokens = 48, kDims = 16, kWidth = kHeads * kDims;
constexpr int kSteps = 50, kLayers = 2;

Problem toy() {
  Problem p;
  p.Hq = p.Hkv = kHeads;
  p.Lq = p.Lk = kTokens;
  p.D = p.Dv = kDims;
  p.mask.causal = true;
  return p;
}

template <class T>
using Matrix = std::vector<T>;  // row-major

// [n, k] times [k, m].
template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b, std::size_t n, std::size_t k, std::size_t m) {
  Matrix<T> c(n * m);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t x = 0; x < k; ++x)
      for (std::size_t j = 0; j < m; ++j) c[i * m + j] += a[i * k + x] * b[x * m + j];
  return c;
}

template <class T>
Matrix<T> transposed(const Matrix<T>& a, std::size_t n, std::size_t m) {
  Matrix<T> t(a.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < m; ++j) t[j * n + i] = a[i * m + j];
  return t;
}

template <class T>
void add(Matrix<T>& to, const Matrix<T>& x, T factor = 1) {
  for (std::size_t n = 0; n < to.size(); ++n) to[n] += factor * x[n];
}

template <class T>
struct Gradients {
  Matrix<T> q, k, v;
};

// Tokens by width, as [H, L, D] and back.
Array heads_of(const Matrix<float>& x) {
  Array a(DType::f32, {1, kHeads, kTokens, kDims});
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t t = 0; t < kTokens; ++t)
      for (std::int64_t d = 0; d < kDims; ++d)
        a.set((h * kTokens + t) * kDims + d, x[static_cast<std::size_t>(t * kWidth + h * kDims + d)]);
  return a;
}
Matrix<float> tokens_of(const Array& a) {
  Matrix<float> x(kTokens * kWidth);
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t t = 0; t < kTokens; ++t)
      for (std::int64_t d = 0; d < kDims; ++d)
        x[static_cast<std::size_t>(t * kWidth + h * kDims + d)] = a.get((h * kTokens + t) * kDims + d);
  return x;
}

// The kernels' own.
struct ByKernels {
  using Number = float;
  Inputs kept;

  Matrix<float> forward(const Matrix<float>& q, const Matrix<float>& k, const Matrix<float>& v) {
    kept = Inputs{heads_of(q), heads_of(k), heads_of(v)};
    Outputs out = *run_on_cpu(**find_kernel("cpu_flash"), toy(), {}, kept, 0, {});
    kept.o = std::move(out.out);
    kept.lse = std::move(out.lse);
    return tokens_of(*kept.o);
  }
  Gradients<float> backward(const Matrix<float>& d_o) {
    Problem p = toy();
    p.pass = Pass::backward;
    kept.d_o = heads_of(d_o);
    const Outputs out = *run_on_cpu(**find_kernel("cpu_flash_bwd"), p, {}, kept, 0, {});
    return {tokens_of(out.d_q), tokens_of(out.d_k), tokens_of(out.d_v)};
  }
};

// The definition in fp64; P is kept whole, and the softmax is differentiated through its Jacobian.
struct ByDefinition {
  using Number = double;
  Matrix<double> q, k, v, p;

  static std::size_t at(std::int64_t h, std::int64_t t, std::int64_t d) {
    return static_cast<std::size_t>(t * kWidth + h * kDims + d);
  }
  static std::size_t pair(std::int64_t h, std::int64_t r, std::int64_t c) {
    return static_cast<std::size_t>((h * kTokens + r) * kTokens + c);
  }

  Matrix<double> forward(const Matrix<double>& of_q, const Matrix<double>& of_k, const Matrix<double>& of_v) {
    q = of_q, k = of_k, v = of_v;
    p.assign(kHeads * kTokens * kTokens, 0);
    Matrix<double> o(kTokens * kWidth);
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t r = 0; r < kTokens; ++r) {
        double l = 0;
        for (std::int64_t c = 0; c <= r; ++c) {
          double s = 0;
          for (std::int64_t d = 0; d < kDims; ++d) s += q[at(h, r, d)] * k[at(h, c, d)];
          l += p[pair(h, r, c)] = std::exp(s * toy().effective_scale());
        }
        for (std::int64_t c = 0; c <= r; ++c) {
          p[pair(h, r, c)] /= l;
          for (std::int64_t d = 0; d < kDims; ++d) o[at(h, r, d)] += p[pair(h, r, c)] * v[at(h, c, d)];
        }
      }
    }
    return o;
  }
  Gradients<double> backward(const Matrix<double>& d_o) const {
    Gradients<double> g{Matrix<double>(d_o.size()), Matrix<double>(d_o.size()), Matrix<double>(d_o.size())};
    const double scale = toy().effective_scale();
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t r = 0; r < kTokens; ++r) {
        std::vector<double> dp(kTokens);
        for (std::int64_t c = 0; c <= r; ++c) {
          for (std::int64_t d = 0; d < kDims; ++d) {
            dp[static_cast<std::size_t>(c)] += d_o[at(h, r, d)] * v[at(h, c, d)];
            g.v[at(h, c, d)] += p[pair(h, r, c)] * d_o[at(h, r, d)];
          }
        }
        for (std::int64_t c = 0; c <= r; ++c) {
          double ds = 0;  // sum over c' of dP' dP(c') / dS(c)
          for (std::int64_t other = 0; other <= r; ++other)
            ds += dp[static_cast<std::size_t>(other)] * p[pair(h, r, other)] *
                  ((other == c ? 1.0 : 0.0) - p[pair(h, r, c)]);
          for (std::int64_t d = 0; d < kDims; ++d) {
            g.q[at(h, r, d)] += scale * ds * k[at(h, c, d)];
            g.k[at(h, c, d)] += scale * ds * q[at(h, r, d)];
          }
        }
      }
    }
    return g;
  }
};

// Numbers of deviation `size`, the same in both precisions.
template <class T>
Matrix<T> random_numbers(std::uint64_t seed, std::size_t count, double size) {
  Matrix<T> x(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double uniform = static_cast<double>(random_bits(seed, n) >> 40) * 0x1p-23 - 1;
    x[n] = static_cast<T>(static_cast<float>(uniform * size * std::sqrt(3.0)));
  }
  return x;
}

// x -> x + attention(x Wq, x Wk, x Wv) Wo
template <class By>
struct Layer {
  using T = typename By::Number;
  By attention;
  Matrix<T> wq, wk, wv, wo, x, o;

  explicit Layer(std::uint64_t seed) {
    const double size = 1 / std::sqrt(static_cast<double>(kWidth));
    for (auto* w : {&wq, &wk, &wv, &wo}) *w = random_numbers<T>(seed++, kWidth * kWidth, size);
  }
  Matrix<T> forward(const Matrix<T>& in) {
    x = in;
    const auto of = [&](const Matrix<T>& w) { return product(x, w, kTokens, kWidth, kWidth); };
    o = attention.forward(of(wq), of(wk), of(wv));
    Matrix<T> y = product(o, wo, kTokens, kWidth, kWidth);
    add(y, x);
    return y;
  }
  // The gradient of x; the weights take a step against theirs.
  Matrix<T> backward(const Matrix<T>& dy, T rate) {
    const Matrix<T> d_o = product(dy, transposed(wo, kWidth, kWidth), kTokens, kWidth, kWidth);
    const Gradients<T> g = attention.backward(d_o);
    Matrix<T> dx = dy;
    const Matrix<T> xt = transposed(x, kTokens, kWidth);
    for (const auto& [w, dw] : {std::pair(&wq, &g.q), {&wk, &g.k}, {&wv, &g.v}}) {
      add(dx, product(*dw, transposed(*w, kWidth, kWidth), kTokens, kWidth, kWidth));
      add(*w, product(xt, *dw, kWidth, kTokens, kWidth), -rate);
    }
    add(wo, product(transposed(o, kTokens, kWidth), dy, kWidth, kTokens, kWidth), -rate);
    return dx;
  }
};

// The mean squared distance from a target at each step.
template <class By>
std::vector<double> losses() {
  using T = typename By::Number;
  const Matrix<T> input = random_numbers<T>(1, kTokens * kWidth, 1), target = random_numbers<T>(2, input.size(), 1);
  std::vector<Layer<By>> layers;
  for (int n = 0; n < kLayers; ++n) layers.emplace_back(static_cast<std::uint64_t>(10 * (n + 1)));
  std::vector<double> all;
  for (int step = 0; step < kSteps; ++step) {
    Matrix<T> y = input;
    for (Layer<By>& layer : layers) y = layer.forward(y);
    add(y, target, T{-1});
    double loss = 0;
    for (const T distance : y) loss += static_cast<double>(distance) * static_cast<double>(distance);
    all.push_back(loss / static_cast<double>(y.size()));
    const T factor = T{2} / static_cast<T>(y.size());
    for (T& distance : y) distance *= factor;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) y = layer->backward(y, static_cast<T>(0.3));
  }
  return all;
}

TEST(Training, FiftyStepsOfTwoLayersLoseAsTheDefinitionDoes) {
  const std::vector<double> ours = losses<ByKernels>(), exact = losses<ByDefinition>();
  ASSERT_EQ(ours.size(), 50U);
  for (std::size_t step = 0; step < ours.size(); ++step)
    EXPECT_NEAR(ours[step] / exact[step], 1, 1e-5) << "step " << step << ": " << ours[step] << ", " << exact[step];
  EXPECT_LT(exact.back(), 0.7 * exact.front()) << "it learns, or nothing is shown";
}

}  // namespace
}  // namespace attn
