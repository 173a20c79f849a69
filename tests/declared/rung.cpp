#include "tests/declared/rung.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/cpu/rows.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/model/fragments.h"

namespace attn::gpu {
KernelRow flash_simt_row();
}

namespace attn::test {
namespace {

constexpr std::string_view kFlavours[] = {"sweet", "sour"};

// The plan of the row that it is made from, with `depth` in it.
Result<Plan> plan_of_cpu(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  static const KernelRow kMadeFrom = cpu::cpu_flash_row();
  auto plan = kMadeFrom.plan(row, p, o, d);
  if (plan) plan->launches.front().shared_bytes = 1024 * chosen(plan->options, kDepth).value_or(0);
  return plan;
}

void put_keys(Problem& p, std::int64_t value) {
  let_bias_follow(p, 3, p.Lk, value);
  p.Lk = value;
}

}  // namespace

const Option kDepth{.name = "depth", .title = "depth", .unit = "KiB", .help = "How deep it digs", .tuned = true};
const Option kFlavour{.name = "flavour", .title = "flavour", .help = "How it tastes", .choices = kFlavours};
const ProblemAxis kKeys{.name = "keys",
                        .title = "keys alone",
                        .unit = "keys",
                        .of = [](const Problem& p) { return p.Lk; },
                        .put = put_keys,
                        .drop = [](Problem& p) { p.Lk = 1; },
                        .usual =
                            [](const Problem&) {
                              return std::vector<std::int64_t>{8, 16, 32};
                            }};

KernelRow declared_cpu_row() {
  static const OptionSpec kOptions[] = {{&Option::br, 1, 4096, 1, 8},
                                        {&Option::bc, 1, 4096, 1, 8},
                                        {&Option::threads, 1, 1024, 1, 0},
                                        {&kDepth, 1, 4, 1, 2},
                                        {&kFlavour, 0, 1, 1, 0}};
  KernelRow row = cpu::cpu_flash_row();
  row.id = "unheard_of";
  row.title = "a rung of a test";
  row.rung = "T";
  row.options = kOptions;
  row.axes = {&kKeys, 1};
  row.plan = plan_of_cpu;
  return row;
}

namespace {

// Eight rows of one lane each.
const FragmentLayout& fragments() {
  static const FragmentLayout kLayout = [] {
    FragmentLayout layout;
    layout.shape = "unheard.of";
    for (FragmentRow& row : layout.tiles) {
      row.extent = {8, 1};
      row.place = [](std::int32_t r, std::int32_t) { return ElementPlace{r, 0, 0}; };
      row.register_name = [](const ElementPlace&) { return std::string("z0"); };
      row.operand = "operand Z";
      row.words = "A test's.";
      row.shared_words = "Nowhere else.";
    }
    return layout;
  }();
  return kLayout;
}

}  // namespace

KernelRow declared_gpu_row() {
  static const std::array kExperiments{Experiment{.id = "fewer_registers",
                                                  .title = "Fewer registers",
                                                  .rung = "unheard_of_gpu",
                                                  .question = "Are fewer better?",
                                                  .change = "Br = 64.",
                                                  .answer = "",
                                                  .options = {.br = 64},
                                                  .more_blocks = true}};
  KernelRow row = gpu::flash_simt_row();
  row.id = "unheard_of_gpu";
  row.rung = "T";
  row.fragments = &fragments();
  row.trace = [](const Problem&, const Options&) { return gpu::flash_facts(2); };  // flash_simt: 16
  row.betters.reads_together = "tiled";
  row.experiments = kExperiments;
  return row;
}

}  // namespace attn::test
