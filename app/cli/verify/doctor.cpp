// attnscope doctor: what works here, and the one line that turns on what does not.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/graphics/offscreen.h"
#include "app/peers/python.h"
#include "app/system/assets.h"
#include "app/system/posix.h"
#include "app/system/run_program.h"
#include "app/window/settings.h"
#include "app/window/window.h"
#include "app/worker/client.h"
#include "app/worker/disassemble.h"
#include "attnscope_version.h"
#include "kernels/base/bytes.h"
#include "kernels/base/cuda_library.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/kernel.h"
#include "profiling/cupti/profiler.h"

namespace attn::cli {
namespace {

// Works the same where the program is installed and there is no source tree.
constexpr const char* kFetch = "attnscope doctor --fetch-cuda";

enum class Mark : std::uint8_t { works, note, broken };

struct Finding {
  Mark mark = Mark::works;
  std::string what, detail;
  std::string mend;  // the line that would change it
};

Finding look_at_cpu() {
  const Device d = cpu_device();
  return {Mark::works, "CPU", phrase("{}, {} cores, vector target {}", d.name, d.cores, d.arch), ""};
}

Finding look_at_memory() {
  const Device d = cpu_device();
  return {Mark::works, "Memory", phrase("{} free of {}", format_bytes(free_memory()), format_bytes(d.memory_bytes)),
          ""};
}

// The blackboard example, computed and judged now.
Finding look_at_kernel(const KernelRow& row) {
  const auto wrong = [&](std::string why) {
    return Finding{Mark::broken, "Kernel " + std::string(row.id), std::move(why),
                   "attnscope verify --kernel " + std::string(row.id)};
  };
  const auto preset = find_preset("blackboard");
  if (!preset) return wrong(preset.error().message);
  Problem p = (*preset)->problem;
  p.pass = row.passes.front();
  const auto in = make_all_inputs(p, {}, in_turn, 0, Stream{});
  if (!in) return wrong(in.error().message);
  const auto answer = run_on_cpu(row, p, {}, *in, 0, {});
  if (!answer) return wrong(answer.error().message);
  const RowSample sample = choose_rows(p, true);
  const auto reference = reference_rows(p, *in, sample.rows, 1, {});
  if (!reference) return wrong(reference.error().message);
  const Verdict v = judge(p, *in, *reference, *answer, sample);
  if (!v.pass) return wrong(v.reason);
  return {Mark::works, "Kernel " + std::string(row.id),
          phrase("correct on the blackboard example: error {:.1e}, allowed {:.1e}", v.error(), v.allowed()), ""};
}

Finding look_at_assets() {
  const auto folder = find_assets();
  if (folder) return {Mark::works, tr("Fonts and texts"), folder->string(), ""};
  return {Mark::broken, tr("Fonts and texts"), folder.error().message,
          tr("reinstall the program, or run this in its source tree: bash app/run.sh --setup-only")};
}

Finding look_at_pictures() {
  const auto renderer = check_offscreen();
  if (renderer) return {Mark::works, tr("Pictures without a display"), *renderer, ""};
  return {Mark::note, tr("Pictures without a display"), renderer.error().message,
          "apt-get install libegl1 libgl1-mesa-dri libopengl0"};
}

Finding look_at_display() {
  const auto display = check_display();
  if (display) return {Mark::works, "Window", *display, ""};
  return {Mark::note, "Window", display.error().message,
          tr("start the window from a desktop session or over ssh -X; the commands, including `attnscope shot`, need "
             "no display")};
}

// `loss`: what it means where it cannot be written.
Finding look_at_folder(const std::string& what, std::filesystem::path folder, const std::string& variable,
                       const std::string& loss) {
  if (folder.empty()) {
    return {Mark::note, what, phrase("neither {} nor HOME is set, so {}", variable, loss), "export HOME=/home/you"};
  }
  // It is made when it is first needed: the nearest folder that exists decides.
  const std::filesystem::path wanted = folder;
  std::error_code error;
  while (!folder.empty() && !std::filesystem::exists(folder, error) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  if (can_write_in(folder)) return {Mark::works, what, phrase("{} is writable", wanted.string()), ""};
  return {Mark::note, what, phrase("{} is not writable, so {}", wanted.string(), loss),
          "export " + variable + "=/a/folder/of/yours"};
}

// What counts and reads sensors. Without a driver CUPTI can still be there, and says what chips have.
std::vector<Finding> look_at_profiling(const GpuHello* hello) {
  std::vector<Finding> all;
  const auto alone = hello == nullptr ? cupti_version(0) : Result<std::string>(hello->cupti);
  const std::string missing = hello != nullptr ? hello->cupti_error : alone ? "" : alone.error().message;
  if (missing.empty())
    all.push_back({Mark::works, "CUPTI", *alone, ""});
  else
    all.push_back({Mark::note, "CUPTI", missing, kFetch});
  const auto permitted = counters_permitted();
  if (hello == nullptr)
    all.push_back({Mark::note, "Counters", tr("needs an NVIDIA GPU"), tr("install NVIDIA driver 580 or later")});
  else if (!permitted)
    all.push_back({Mark::note, "Counters", permitted.error().message,
                   tr("echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 > /etc/modprobe.d/counters.conf, "
                      "then restart")});
  else
    all.push_back({Mark::works, "Counters", tr("the driver's settings allow programs to read counters"), ""});
  if (hello != nullptr && hello->sensors_error.empty())
    all.push_back({Mark::works, tr("NVML (clock, temperature)"), hello->sensors, ""});
  else
    all.push_back({Mark::note, tr("NVML (clock, temperature)"),
                   hello != nullptr ? hello->sensors_error : tr("part of NVIDIA's driver"),
                   tr("install NVIDIA driver 580 or later")});
  return all;
}

// What the worker, the only process that opens the driver, finds.
std::vector<Finding> look_at_gpus() {
  constexpr double kSeconds = 20;
  std::vector<Finding> all;
  GpuClient client;
  const auto hello = client.hello({kSeconds, {}});
  if (!hello) {
    all.push_back({Mark::note, tr("NVIDIA driver"), hello.error().message, tr("install NVIDIA driver 580 or later")});
  } else {
    all.push_back({Mark::works, tr("NVIDIA driver"),
                   phrase("supports CUDA up to {}.{}; for the driver's own version, see NVML", hello->driver / 1000,
                          hello->driver % 1000 / 10),
                   ""});
    for (const gpu::GpuProperties& p : hello->gpus) {
      all.push_back({Mark::works, fmt::format("GPU {}", p.index),
                     fmt::format("{}, {}, {} SMs, {}", p.name, p.arch(), p.sms, format_bytes(p.memory_bytes)), ""});
    }
    if (hello->gpus.empty()) all.push_back({Mark::note, "GPU", tr("the driver finds no GPU"), "nvidia-smi"});
  }
  for (Finding& f : look_at_profiling(hello ? &*hello : nullptr)) all.push_back(std::move(f));
  const auto compiler = gpu::open_nvrtc();
  if (compiler)
    all.push_back({Mark::works, "NVRTC", (*compiler)->version(), ""});
  else
    all.push_back({Mark::note, "NVRTC", compiler.error().message, kFetch});
  const auto nvdisasm = find_nvdisasm();
  if (nvdisasm)
    all.push_back({Mark::works, tr("nvdisasm (machine code)"), nvdisasm->string(), ""});
  else
    all.push_back({Mark::note, tr("nvdisasm (machine code)"), nvdisasm.error().message, kFetch});
  return all;
}

// What times attention of others beside ours.
Finding look_at_peers() {
  const auto python = look_for_python(load_settings(settings_file()).settings.preferences.python, {});
  constexpr const char* kMend =
      marked("install torch for this Python, or name another Python: attnscope bench --peers-python PATH");
  if (!python) return {Mark::note, tr("Peers (python3, torch)"), python.error().message, tr_of(kMend)};
  if (python->torch.empty()) return {Mark::note, tr("Peers (python3, torch)"), words_of(*python), tr_of(kMend)};
  return {Mark::works, tr("Peers (python3, torch)"), words_of(*python), ""};
}

std::vector<Finding> findings() {
  std::vector<Finding> all{look_at_cpu(), look_at_memory()};
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.processor == Processor::cpu) all.push_back(look_at_kernel(row));
  }
  for (const KernelRow& row : cpu_backward_table()) all.push_back(look_at_kernel(row));
  all.push_back(look_at_assets());
  all.push_back(look_at_display());
  all.push_back(look_at_pictures());
  all.push_back(look_at_folder("Settings", config_folder(), "XDG_CONFIG_HOME", tr("settings are not saved")));
  all.push_back(
      look_at_folder(tr("Runs and saved files"), data_folder(), "XDG_DATA_HOME", tr("measured rows are not saved")));
  all.push_back(look_at_folder(tr("Compiled kernels"), cache_folder(), "XDG_CACHE_HOME",
                               tr("GPU kernels are recompiled every time")));
  for (Finding& f : look_at_gpus()) all.push_back(std::move(f));
  all.push_back(look_at_peers());
  return all;
}

// Becomes the script that brings NVRTC, CUPTI and nvdisasm; returns only where it can't.
Result<int> fetch_cuda() {
  const auto script = find_asset("setup/fetch_cuda.sh");
  if (!script) return tl::unexpected(script.error());
  return tl::unexpected(replace_process("bash", {script->string(), "--with-nvrtc", "--with-nvdisasm"}));
}

Result<int> examine() {
  std::string text = fmt::format("attnscope {} ({})\n", ATTNSCOPE_VERSION, ATTNSCOPE_COMMIT);
  int broken = 0;
  for (const Finding& f : findings()) {
    const std::string_view mark = f.mark == Mark::works ? "ok" : f.mark == Mark::note ? "--" : "!!";
    text += fmt::format("{}  {:<27} {}\n", mark, f.what, f.detail);
    if (!f.mend.empty()) text += phrase("    {:<27} to fix it: {}\n", "", f.mend);
    broken += f.mark == Mark::broken ? 1 : 0;
  }
  if (auto r = print(text); !r) return tl::unexpected(r.error());
  if (broken > 0)
    return fail(ErrorKind::failed, phrase("Required components that do not work: {}; see !! above.", broken));
  return 0;
}

}  // namespace

Command add_doctor(Parser program) {
  Parser parser = program.add_subcommand("doctor", tr("Show what works on this machine, and how to enable the rest"));
  parser.footer(
      tr("Marks: \"ok\" means working, \"--\" means missing, and \"!!\" means broken (exit code 1).\n"
         "Examples:\n"
         "  attnscope doctor\n"
         "  attnscope doctor | grep -A1 '^--'"));
  const auto fetch = std::make_shared<bool>(false);
  parser.add_flag(
      "--fetch-cuda", *fetch,
      phrase("Fetch only NVRTC, CUPTI and nvdisasm ({} MB) from the Python Package Index into your cache folder",
             gpu::kFetchedMegabytes));
  return {parser, [fetch](Stopper&) { return *fetch ? fetch_cuda() : examine(); }};
}

}  // namespace attn::cli
