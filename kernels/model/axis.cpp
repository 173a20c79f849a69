#include "kernels/model/axis.h"

#include "kernels/base/text.h"

namespace attn {
namespace {

std::int64_t query_heads_a_key_head(const Problem& p) {
  return p.Hkv > 0 ? std::max<std::int64_t>(1, p.Hq / p.Hkv) : 1;
}

Result<void> check_heads(const Problem& base, std::int64_t value) {
  const std::int64_t group = base.Hkv > 0 ? base.Hq / base.Hkv : 1;
  if (group > 0 && value % group != 0)
    return bad_input(
        phrase("H = {} does not allow {} query heads per KV head; use a multiple of {}.", value, group, group));
  return ok();
}

void put_length(Problem& p, std::int64_t value) {
  let_bias_follow(p, 2, p.Lq, value);
  let_bias_follow(p, 3, p.Lk, value);
  p.Lq = p.Lk = value;
}

void put_batch(Problem& p, std::int64_t value) {
  let_bias_follow(p, 0, p.B, value);
  p.B = value;
}

void put_heads(Problem& p, std::int64_t value) {
  const std::int64_t group = query_heads_a_key_head(p);
  let_bias_follow(p, 1, p.Hq, value);
  p.Hq = value;
  p.Hkv = std::max<std::int64_t>(1, value / group);
}

// D changes Dv too where both are one.
void put_head_dim(Problem& p, std::int64_t value) {
  if (p.Dv == p.D) p.Dv = value;
  p.D = value;
}

std::vector<std::int64_t> usual_heads(const Problem& base) {
  const std::int64_t group = query_heads_a_key_head(base);
  return {group, 2 * group, 4 * group, 8 * group};
}

constexpr std::array kCommon{
    ProblemAxis{.name = "L",
                .title = marked("length L"),
                .unit = "tokens",
                .of = [](const Problem& p) { return p.Lq; },
                .put = put_length,
                .drop =
                    [](Problem& p) {
                      p.Lq = p.Lk = 1;
                      p.B = 1;  // follows L where the tokens are kept
                    },
                .usual =
                    [](const Problem&) {
                      return std::vector<std::int64_t>{128, 256, 512, 1024, 2048};
                    },
                .keeps_tokens = true},
    ProblemAxis{.name = "B",
                .title = marked("batch B"),
                .unit = "sequences",
                .of = [](const Problem& p) { return p.B; },
                .put = put_batch,
                .drop = [](Problem& p) { p.B = 1; },
                .usual =
                    [](const Problem&) {
                      return std::vector<std::int64_t>{1, 2, 4, 8};
                    }},
    ProblemAxis{.name = "H",
                .title = marked("heads H"),
                .unit = marked("query heads"),
                .of = [](const Problem& p) { return p.Hq; },
                .put = put_heads,
                .drop = [](Problem& p) { p.Hq = p.Hkv = 1; },
                .usual = usual_heads,
                .check = check_heads},
    ProblemAxis{.name = "D",
                .title = marked("head dim D"),
                .unit = "numbers",
                .of = [](const Problem& p) { return p.D; },
                .put = put_head_dim,
                .drop = [](Problem& p) { p.D = p.Dv = 1; },
                .usual =
                    [](const Problem&) {
                      return std::vector<std::int64_t>{32, 64, 128, 256};
                    }},
};

}  // namespace

std::span<const ProblemAxis> common_axes() {
  return kCommon;
}

void let_bias_follow(Problem& p, std::size_t axis, std::int64_t from, std::int64_t to) {
  if (p.bias_shape.size() == 4 && p.bias_shape[axis] == from && from != 1) p.bias_shape[axis] = to;
}

}  // namespace attn
