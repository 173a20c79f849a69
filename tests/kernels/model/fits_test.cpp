// Bytes known before anything is allocated, and the largest L that would fit.
#include "kernels/model/fits.h"

#include <limits>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"

namespace attn {
namespace {

// A kernel that needs one fp32 S beside its tensors.
Result<Plan> plan_square(const KernelRow& row, const Problem& p, const Options& o, const Device&) {
  Plan plan;
  plan.kernel = &row;
  plan.problem = p;
  plan.options = o;
  plan.workspace_bytes = 4ULL * static_cast<std::uint64_t>(p.Lq) * static_cast<std::uint64_t>(p.Lk);
  return plan;
}

KernelRow square_row() {
  KernelRow row;
  row.id = "square";
  row.plan = plan_square;
  return row;
}

Problem square(std::int64_t L) {
  Problem p;
  p.Lq = p.Lk = L;
  p.D = p.Dv = 2;
  return p;
}

TEST(TensorBytes, CountsEveryTensorInItsDtype) {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 3;
  p.Lk = 5;
  p.D = 7;
  p.Dv = 6;
  p.dtype = DType::f16;
  const std::uint64_t expected = 2 * (2 * 4 * 3 * 7 + 2 * 2 * 5 * 7 + 2 * 2 * 5 * 6 + 2 * 4 * 3 * 6) + 4 * 2 * 4 * 3;
  EXPECT_EQ(tensor_bytes(p), expected);
  p.bias_shape = {1, 4, 3, 5};
  EXPECT_EQ(tensor_bytes(p), expected + 4 * 60);
}

TEST(TensorBytes, SaturatesInsteadOfWrapping) {
  Problem p = square(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(tensor_bytes(p), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST(CheckMemory, AcceptsWhatFitsExactly) {
  const KernelRow row = square_row();
  const Plan plan = *plan_square(row, square(100), {}, {});
  EXPECT_TRUE(check_memory(plan, {}, bytes_needed(plan)));
  EXPECT_FALSE(check_memory(plan, {}, bytes_needed(plan) - 1));
}

// Pages of 4 keys, 2 numbers of 4 bytes a key in K and V: at L = 8 two pages take 128 bytes, Q and O 128, LSE 32, the
// table 8, the workspace 256; at L = 9 a third page comes.
TEST(CheckMemory, TheLargestLOfPagesHasAPoolThatGrowsWithIt) {
  const KernelRow row = square_row();
  Problem p = square(4);
  p.storage = {4, 1};
  EXPECT_EQ(longest_that_fits(*plan_square(row, p, {}, {}), {}, 552), 8);
  EXPECT_EQ(longest_that_fits(*plan_square(row, p, {}, {}), {}, 551), 7);
}

// 4 L^2 of workspace and (4 * 4 * 2 + 4) L of tensors: at L = 100, 43600 bytes; at 99, 42768.
TEST(CheckMemory, NamesTheNumberTheLimitAndTheLargestLThatFits) {
  const KernelRow row = square_row();
  const Plan plan = *plan_square(row, square(1000), {}, {});
  const auto refused = check_memory(plan, {}, 43599);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(refused.error().message.find("4036000 bytes"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("L that fits is 99 "), std::string::npos) << refused.error().message;
  EXPECT_NE(check_memory(plan, {}, 43600).error().message.find("L that fits is 100 "), std::string::npos);
}

TEST(CheckMemory, SaysWhenNotEvenOneRowFits) {
  const KernelRow row = square_row();
  const Plan plan = *plan_square(row, square(10), {}, {});
  const auto refused = check_memory(plan, {}, 39);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Not even L = 1"), std::string::npos) << refused.error().message;
  EXPECT_NE(check_memory(plan, {}, 40).error().message.find("L that fits is 1 "), std::string::npos);
}

TEST(CheckMemory, KeepsMaskAndBiasValidWhileItSearches) {
  const KernelRow row = square_row();
  Problem p = square(1000);
  p.mask.key_lengths = {1000};
  p.bias_shape = {1, 1, 1, 1000};
  const Plan plan = *plan_square(row, p, {}, {});
  const auto refused = check_memory(plan, {}, 43600 + 400);  // 4 L more for the bias
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("L that fits is 100 "), std::string::npos) << refused.error().message;
}

TEST(CheckMemory, HoldsForEveryKernelOfTheTable) {
  const Device device = cpu_device();
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.processor != Processor::cpu) continue;
    Problem p = square(1 << 20);
    const auto options = resolve(row, {}, device);
    ASSERT_TRUE(options) << row.id;
    const auto plan = row.plan(row, p, *options, device);
    ASSERT_TRUE(plan) << row.id << ": " << plan.error().message;
    const std::uint64_t limit = 4 << 20;
    const auto refused = check_memory(*plan, device, limit);
    ASSERT_FALSE(refused) << row.id;
    std::smatch found;
    ASSERT_TRUE(std::regex_search(refused.error().message, found, std::regex("L that fits is ([0-9]+)")))
        << refused.error().message;
    const std::int64_t largest = std::stoll(found[1]);
    const auto at = [&](std::int64_t L) { return bytes_needed(*row.plan(row, square(L), *options, device)); };
    EXPECT_LE(at(largest), limit) << row.id;
    EXPECT_GT(at(largest + 1), limit) << row.id;
  }
}

}  // namespace
}  // namespace attn
