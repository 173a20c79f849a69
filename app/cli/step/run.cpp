// attnscope run: one kernel on .npy arrays.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/arguments/kernel_arguments.h"
#include "app/cli/arguments/output_argument.h"
#include "app/cli/arguments/problem_arguments.h"
#include "app/worker/client.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/formats/npy.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/problem/validate.h"

namespace attn::cli {
namespace {

struct RunArguments {
  std::string kernel, q, k, v, bias, dtype, out, lse, memory_limit, device;
  std::string layout;                         // of the files
  std::string output;                         // the type that O is stored in
  std::string pages;                          // FILE.npy: K and V are pools of pages
  std::optional<std::int64_t> page;           // keys of one
  std::string pass, o, d_out, d_q, d_k, d_v;  // of a backward
  std::string d_bias, d_slopes;               // refused
  std::optional<double> dropout;              // refused
  std::optional<double> scale;
  double time_limit = 0;
  MaskArguments mask;
  ScoreArguments scores;
  OptionArguments options;
};

// Whatever is wrong with an input file is the user's value: exit 2. Memory is not.
Error as_bad_input(Error error) {
  if (error.kind == ErrorKind::io) error.kind = ErrorKind::bad_input;
  return error;
}

// K and V side by side, or in pages.
Result<FileInputs> read_files(const RunArguments& a, const std::optional<std::filesystem::path>& bias,
                              std::optional<DType> dtype, AxisOrder order, std::uint64_t memory_limit) {
  if (a.pages.empty() && !a.page) return inputs_from_files(a.q, a.k, a.v, bias, dtype, memory_limit, order);
  if (a.pages.empty()) return bad_input(phrase("--page {} needs --pages FILE.npy, the page table.", *a.page));
  if (!a.page) return bad_input(tr("--pages needs --page N, the number of keys per page."));
  if (*a.page < 1 || *a.page > kMaxPage)
    return bad_input(phrase("Invalid --page {}: a page has 1 to {} keys.", *a.page, kMaxPage));
  if (order != AxisOrder::bhld) return bad_input(tr("--pages supports only the layout bhld."));
  return inputs_from_pages(a.q, a.k, a.v, bias, {a.pages, *a.page}, dtype, memory_limit);
}

Result<FileInputs> read_inputs(const RunArguments& a, std::uint64_t memory_limit) {
  std::optional<DType> dtype;
  if (!a.dtype.empty()) {
    dtype = dtype_from_name(a.dtype);
    if (!dtype) return bad_input(phrase("Unknown --dtype {}; use f32, f16 or bf16.", a.dtype));
  }
  std::optional<std::filesystem::path> bias;
  if (!a.bias.empty()) bias = a.bias;
  const auto order = layout_of(a.layout);
  if (!order) return tl::unexpected(order.error());
  auto in = read_files(a, bias, dtype, *order, memory_limit);
  if (!in) return tl::unexpected(as_bad_input(in.error()));
  in->problem.scale = a.scale;
  if (auto r = a.scores.apply_to(in->problem); !r) return tl::unexpected(r.error());
  if (auto r = a.mask.apply_to(in->problem.mask); !r) return tl::unexpected(r.error());
  if (auto r = apply_pass(a.pass, in->problem); !r) return tl::unexpected(r.error());
  const auto output = output_of(a.output, in->problem.dtype);
  if (!output) return tl::unexpected(output.error());
  in->problem.output = *output;
  if (auto r = validate(in->problem); !r) return tl::unexpected(r.error());
  if (!a.pages.empty()) {
    if (auto r = check_page_table(in->problem, in->inputs.page_table, a.pages); !r) return tl::unexpected(r.error());
  }
  return in;
}

// What a backward reads besides: dO, and O and LSE where they are given; else a forward makes them.
Result<void> read_of_forward(const RunArguments& a, FileInputs& in, std::uint64_t memory_limit,
                             const Stopper& stopper) {
  const std::vector<TensorSpec> specs = tensors_of(in.problem);
  for (const auto& [tensor, file, to] : {std::tuple(Tensor::d_o, a.d_out, &in.inputs.d_o),
                                         {Tensor::o, a.o, &in.inputs.o},
                                         {Tensor::lse, a.lse, &in.inputs.lse}}) {
    if (file.empty()) continue;
    auto array = tensor_from_file(*find(specs, tensor), file, memory_limit, *layout_of(a.layout));
    if (!array) return tl::unexpected(as_bad_input(array.error()));
    *to = *std::move(array);
  }
  cpu::ThreadCrew crew(cpu_device().cores);
  return add_forward(in.problem, in.inputs, memory_limit, Stream{stopper.token(), nullptr, &crew});
}

// In q's order and number of axes: the leading ones that it lacks are 1.
Result<void> write_tensor(const std::string& file, const RunArguments& a, const FileInputs& in, const Array& array) {
  const auto write = [&](const Array& ordered) {
    const std::vector<std::int64_t>& full = ordered.shape();
    const std::vector<std::int64_t> shape(full.end() - static_cast<std::ptrdiff_t>(in.axes), full.end());
    return write_npy(file, ordered, shape);
  };
  const bool swaps = *layout_of(a.layout) == AxisOrder::blhd && in.axes > 2;
  return swaps ? write(middle_swapped(array)) : write(array);
}

Result<void> write_answer(const RunArguments& a, const FileInputs& in, const Outputs& answer) {
  if (in.problem.pass == Pass::backward) {
    for (const auto& [file, array] : {std::pair(a.d_q, &answer.d_q), {a.d_k, &answer.d_k}, {a.d_v, &answer.d_v}}) {
      if (auto r = write_tensor(file, a, in, *array); !r) return r;
    }
    return ok();
  }
  const std::vector<std::int64_t>& full = answer.out.shape();
  const std::vector<std::int64_t> shape(full.end() - static_cast<std::ptrdiff_t>(in.axes), full.end());
  if (auto r = write_tensor(a.out, a, in, answer.out); !r) return r;
  if (a.lse.empty()) return ok();
  return write_npy(a.lse, answer.lse, std::span(shape).first(shape.size() - 1));
}

// A GPU's limit where none was named: a kernel that hangs would else hang for ever.
constexpr double kGpuSeconds = 600;

Result<Outputs> answer_of(const NamedKernels& kernel, const RunArguments& a, const DeviceChoice& device,
                          const FileInputs& in, const Options& options, std::uint64_t limit, const Stopper& stopper) {
  const KernelRow& row = *kernel.rows.front();
  if (device.processor == Processor::cpu) {
    return run_on_cpu(row, in.problem, options, in.inputs, limit, stopper.token());
  }
  if (row.processor == Processor::cpu) {
    return bad_input(phrase("{} runs on the CPU; omit --device {}.", row.id, a.device));
  }
  GpuRunRequest r;
  r.gpu = device.index;
  r.kernel = row.id;
  r.problem = in.problem;
  r.options = options;
  r.inputs = &in.inputs;
  r.memory_limit = limit;
  GpuClient client;
  client.bring(kernel.own);
  auto answer = client.run(r, {a.time_limit > 0 ? a.time_limit : kGpuSeconds, stopper.token()}, say_progress);
  say_progress("");
  if (!answer) return tl::unexpected(answer.error());
  if (answer->source != row.id) say(phrase("using your edited copy of the kernel: {}", answer->source));
  return std::move(answer->outputs);
}

// The files that the pass writes.
std::vector<NamedFile> outputs_of(const RunArguments& a) {
  if (a.pass == "backward") return {{"--dq", a.d_q}, {"--dk", a.d_k}, {"--dv", a.d_v}};
  return {{"--out", a.out}, {"--lse", a.lse}};
}

// Options that the pass has not, or lacks.
Result<void> check_pass(const RunArguments& a) {
  Problem p;
  if (auto r = apply_pass(a.pass, p); !r) return r;
  if (a.dropout && *a.dropout != 0)
    return bad_input(phrase("Invalid --dropout {}: no kernel drops weights; use 0 or omit the option.", *a.dropout));
  for (const auto& [name, file] : {std::pair("--dbias", a.d_bias), {"--dslopes", a.d_slopes}}) {
    if (!file.empty())
      return bad_input(phrase("{}: gradients of a bias or slopes are not supported, only dQ, dK and dV.", name));
  }
  const bool backward = p.pass == Pass::backward;
  const NamedFile of_backward[] = {{"--dout", a.d_out}, {"--dq", a.d_q}, {"--dk", a.d_k}, {"--dv", a.d_v}};
  for (const auto& [name, file] : of_backward) {
    if (backward && file.empty()) return bad_input(phrase("--pass backward needs {} FILE.npy.", name));
    if (!backward && !file.empty())
      return bad_input(phrase("{} applies only to a backward pass; add --pass backward.", name));
  }
  if (!backward && !a.o.empty())
    return bad_input(tr("--o is an input of a backward pass; add --pass backward, or use --out to write O."));
  if (backward && !a.out.empty())
    return bad_input(
        tr("--out is an output of a forward pass. A backward pass reads O from --o and writes --dq, --dk and --dv."));
  if (!backward && a.out.empty()) return bad_input(tr("Missing --out, the file for O."));
  return ok();
}

// The files are written all the same: it may be what was looked for.
void say_what_is_not_finite(const FileInputs& in, const Array& out) {
  if (in.beyond > 0)
    say(plural(in.beyond, "attnscope: {} number in the files exceeds {} and became infinite.",
               "attnscope: {} numbers in the files exceed {} and became infinite.", name_of(in.problem.dtype)));
  std::int64_t nan = 0, infinite = 0;
  for (std::int64_t n = 0; n < out.size(); ++n) {
    const float x = out.get(n);
    if (std::isnan(x)) ++nan;
    if (std::isinf(x)) ++infinite;
  }
  if (nan + infinite > 0)
    say(phrase("attnscope: of {} numbers in O, {} are NaN and {} are infinite.", out.size(), nan, infinite));
}

Result<int> run_kernel(const RunArguments& a, Stopper& stopper) {
  const auto kernel = kernel_named(a.kernel);
  if (!kernel) return tl::unexpected(kernel.error());
  const auto device = choose_device(a.device.empty() && !kernel->own.empty() ? "gpu" : a.device);
  if (!device) return tl::unexpected(device.error());
  if (auto r = stopper.limit_time(a.time_limit); !r) return tl::unexpected(r.error());
  const auto limit = memory_limit_of(a.memory_limit);
  if (!limit) return tl::unexpected(limit.error());
  Options options;
  if (auto r = a.options.apply_to(options); !r) return tl::unexpected(r.error());
  if (auto r = a.options.check_read_by(kernel->rows); !r) return tl::unexpected(r.error());
  if (auto r = check_pass(a); !r) return tl::unexpected(r.error());
  const std::vector<NamedFile> outputs = outputs_of(a);
  for (const auto& [name, file] : outputs) {
    if (file == "-") return bad_input(phrase("{} -: cannot write .npy files to stdout; name a file.", name));
    if (file.empty()) continue;
    if (auto r = check_writable(name, file); !r) return tl::unexpected(r.error());
  }
  std::vector<NamedFile> read{{"--q", a.q},       {"--k", a.k},         {"--v", a.v},
                              {"--bias", a.bias}, {"--pages", a.pages}, {"--slopes", a.scores.slopes}};
  if (a.pass == "backward") read.insert(read.end(), {{"--dout", a.d_out}, {"--o", a.o}, {"--lse", a.lse}});
  if (auto r = check_distinct(read, outputs); !r) return tl::unexpected(r.error());

  auto in = read_inputs(a, *limit);
  if (!in) return tl::unexpected(in.error());
  if (in->problem.pass == Pass::backward) {
    // A kernel of the other pass is refused before a forward is run for it.
    if (auto r = check_takes(*kernel->rows.front(), in->problem); !r) return tl::unexpected(r.error());
    if (auto r = read_of_forward(a, *in, *limit, stopper); !r) return tl::unexpected(r.error());
  }
  const auto answer = answer_of(*kernel, a, *device, *in, options, *limit, stopper);
  if (!answer) return tl::unexpected(answer.error());
  if (auto r = write_answer(a, *in, *answer); !r) return tl::unexpected(r.error());
  say_what_is_not_finite(*in, answer->out);
  if (in->problem.pass == Pass::backward) {
    say(phrase("{} on {}: wrote {}, {} and {}", a.kernel, describe(in->problem), a.d_q, a.d_k, a.d_v));
    return 0;
  }
  say(a.lse.empty() ? phrase("{} on {}: wrote {}", a.kernel, describe(in->problem), a.out)
                    : phrase("{} on {}: wrote {} and {}", a.kernel, describe(in->problem), a.out, a.lse));
  return 0;
}

void add_backward(Parser parser, RunArguments& a) {
  add_pass(parser, a.pass);
  parser.add_option("--dout", a.d_out, tr("Backward: gradient of O, same shape as O"))->type_name("FILE.npy");
  parser
      .add_option("--o", a.o, tr("Backward: O of the forward pass; without --o and --lse, a forward pass runs first"))
      ->type_name("FILE.npy");
  parser.add_option("--dq", a.d_q, tr("Backward: file for the gradient of Q"))->type_name("FILE.npy");
  parser.add_option("--dk", a.d_k, tr("Gradient of K"))->type_name("FILE.npy");
  parser.add_option("--dv", a.d_v, tr("Gradient of V"))->type_name("FILE.npy");
  parser.add_option("--dbias", a.d_bias, tr("Not supported: gradients of a bias"))->type_name("FILE.npy");
  parser.add_option("--dslopes", a.d_slopes, tr("Not supported: gradients of slopes"))->type_name("FILE.npy");
  parser.add_option("--dropout", a.dropout, tr("Must be 0: no kernel drops weights"))->type_name("P");
}

}  // namespace

Command add_run(Parser program) {
  auto a = std::make_shared<RunArguments>();
  Parser parser = program.add_subcommand("run", tr("Run one kernel on .npy arrays"));
  parser.add_option("--kernel", a->kernel, tr("Kernel to run, from `attnscope list`, or your own FILE.cu"))
      ->required()
      ->type_name("ID");
  parser.add_option("--q", a->q, tr("Queries: [B,H,L,D], [H,L,D] or [L,D], C order, of type f2, f4 or f8"))
      ->required()
      ->type_name("FILE.npy");
  parser.add_option("--k", a->k, tr("Keys; may have fewer heads than Q"))->required()->type_name("FILE.npy");
  parser.add_option("--v", a->v, tr("Values"))->required()->type_name("FILE.npy");
  parser
      .add_option("--bias", a->bias, tr("Bias, added after the scale and broadcast to [B,Hq,Lq,Lk]; -inf masks a key"))
      ->type_name("FILE.npy");
  parser
      .add_option("--pages", a->pages,
                  tr("Paged K and V: the table [B,T] (i4 or i8) of the pages that hold each batch's keys in order. The "
                     "pools --k and --v have shape [P,H,page,D]"))
      ->type_name("FILE.npy");
  parser
      .add_option("--page", a->page,
                  tr("Keys per page, 1 to 256; if a batch does not fill its pages, add --key-lengths"))
      ->type_name("N");
  add_layout(parser, a->layout,
             tr("Layout of the files: bhld, or blhd ([B,L,H,D] for Q, K, V, O and gradients); LSE is always "
                "[B,H,L]"));
  a->scores.add_to(parser);
  a->mask.add_to(parser);
  parser.add_option("--scale", a->scale, tr("Scale factor for QK^T; default: 1/sqrt(D)"))->type_name("X");
  parser.add_option("--dtype", a->dtype, tr("f32, f16 or bf16; default: the type of Q"))->type_name("DTYPE");
  add_output(parser, a->output);
  a->options.add_to(parser, true);
  parser.add_option("--out", a->out, tr("O, with the same axes as Q; type f2 for f16, otherwise f4"))
      ->type_name("FILE.npy");
  parser
      .add_option("--lse", a->lse,
                  tr("LSE (natural logarithm, f4), shaped like O without the last axis; input of a backward pass"))
      ->type_name("FILE.npy");
  add_backward(parser, *a);
  parser
      .add_option("--memory-limit", a->memory_limit,
                  tr("Reject candidates that need more memory than this; default: free memory"))
      ->type_name("BYTES");
  parser.add_option("--time-limit", a->time_limit, tr("Stop after this many seconds; 0: no limit"))
      ->type_name("SECONDS");
  add_device(parser, a->device);
  parser.footer(tr(
      "Examples:\n  attnscope run --kernel cpu_flash --q q.npy --k k.npy --v v.npy --causal --out o.npy --lse "
      "lse.npy\n  attnscope run --kernel cpu_tiled --q q.npy --k k.npy --v v.npy --window 128,0 --dtype bf16 --tile "
      "32x64 --out o.npy\n  attnscope run --pass backward --kernel cpu_flash_bwd --q q.npy --k k.npy --v v.npy --dout "
      "do.npy --dq dq.npy --dk dk.npy --dv dv.npy"));
  return {parser, [a](Stopper& stopper) { return run_kernel(*a, stopper); }};
}

}  // namespace attn::cli
