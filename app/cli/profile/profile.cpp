// attnscope profile: one kernel on one problem down to its lines and instructions, without a window. What the compiler
// and nvdisasm say needs no GPU; measured figures come from a session.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/console_text.h"
#include "app/cli/profile/profile_heartbeat.h"
#include "app/cli/profile/profile_subject.h"
#include "app/cli/profile/profile_text.h"
#include "app/window/pictures.h"
#include "kernels/base/text.h"

namespace attn::cli {
namespace {

// The picture: the window's Profile with the source open.
Result<void> draw(const ProfileArguments& a, Profiled& p) {
  auto picture = a.picture.of_profile(ProfilePage::source, p.subject);
  if (!picture) return tl::unexpected(picture.error());
  if (p.row) {
    picture->state.view.bench.value = p.subject.problem.Lk;
    picture->runs = std::move(p.runs);
  } else {
    show_run(picture->state.document.runs, std::string(kPredictedRun));
  }
  return take_picture(*picture, a.picture.png);
}

// They are taken of what is profiled, on the GPU that is there.
Result<void> check_taking(const ProfileArguments& a) {
  const bool takes = a.request.any();
  const char* option = a.request.samples ? "--sample" : a.request.heartbeat ? "--heartbeat" : "--counts";
  if (!a.request.save.empty() && !takes)
    return bad_input(
        tr("--save stores the results of --sample, --heartbeat and --counts; add at least one of these options."));
  if (takes && !a.session.empty())
    return bad_input(
        phrase("{} measures on this machine and --session reads a file; use only one of the two.", option));
  if (takes && !a.arch.empty()) return bad_input(phrase("{} compiles for this machine's GPU; omit --arch.", option));
  if (a.request.seconds <= 0 || a.request.seconds > 60)
    return bad_input(phrase("Invalid --seconds {}; use 0 to 60.", a.request.seconds));
  return a.request.save.empty() ? ok() : check_writable("--save", a.request.save);
}

Result<int> profile_kernel(const ProfileArguments& a, Stopper& stopper) {
  if (auto r = check_taking(a); !r) return tl::unexpected(r.error());
  if (a.lines < 0 || a.lines > 100000) return bad_input(phrase("Invalid --lines {}; use 0 to 100000.", a.lines));
  for (const auto& [option, file] :
       {std::pair("--json", a.json_file), std::pair("--csv", a.csv_file), std::pair("--heartbeat-csv", a.beats_file)})
    if (!file.empty())
      if (auto r = check_writable(option, file); !r) return tl::unexpected(r.error());
  if (auto r = a.picture.check(); !r) return tl::unexpected(r.error());
  if (auto r = check_distinct({{"--session", a.session}}, {{"--json", a.json_file},
                                                           {"--csv", a.csv_file},
                                                           {"--heartbeat-csv", a.beats_file},
                                                           {"--png", a.picture.png},
                                                           {"--save", a.request.save}});
      !r)
    return tl::unexpected(r.error());
  auto p = profile(a, stopper);
  if (!p) return tl::unexpected(p.error());
  if (a.json_file != "-" && a.csv_file != "-" && a.beats_file != "-")
    if (auto r = print(text_of(*p, a.lines)); !r) return tl::unexpected(r.error());
  if (!a.json_file.empty())
    if (auto r = write_text(a.json_file, json_of(*p).dump(2) + "\n"); !r) return tl::unexpected(r.error());
  if (!a.csv_file.empty()) {
    if (auto r = write_text(a.csv_file, csv_of(*p)); !r) return tl::unexpected(r.error());
    // A table has no place to say why it is empty.
    if (!p->listing.why_no_sass.empty()) say(phrase("The CSV has no rows: {}", p->listing.why_no_sass));
  }
  if (!a.beats_file.empty())
    if (auto r = write_text(a.beats_file, heartbeat_csv(a.kernel, p->heartbeat())); !r)
      return tl::unexpected(r.error());
  if (a.picture.asked())
    if (auto r = draw(a, *p); !r) return tl::unexpected(r.error());
  return 0;
}

}  // namespace

Command add_profile(Parser program) {
  auto a = std::make_shared<ProfileArguments>();
  Parser parser = program.add_subcommand("profile", tr("Break one GPU kernel down by line and phase; no GPU needed"));
  parser.add_option("kernel", a->kernel, tr("GPU kernel from `attnscope list`, or your own FILE.cu"))
      ->required()
      ->type_name("ID");
  parser.add_option("--arch", a->arch, tr("Architecture; default: that of the session, or sm_90a"))->type_name("SM");
  parser
      .add_option("--session", a->session,
                  tr("Read the measurements from this file; default problem: the longest in the file"))
      ->type_name("FILE.attn");
  parser.add_flag("--sample", a->request.samples,
                  tr("Measure on the GPU and sample where the warps wait, by phase and line"));
  parser.add_flag("--heartbeat", a->request.heartbeat,
                  tr("Measure on the GPU and sample the utilisation of its pipes and memory during one run"));
  parser.add_flag("--counts", a->request.counts,
                  tr("Measure on the GPU and count executions, bank conflicts and uncoalesced sectors for each "
                     "instruction"));
  parser.add_option("--save", a->request.save, tr("Session to which --sample, --heartbeat or --counts adds the row"))
      ->type_name("FILE.attn");
  parser.add_option("--gpu", a->request.gpu, tr("Number of the GPU for --sample, --heartbeat or --counts; default: 0"))
      ->type_name("N");
  parser
      .add_option("--seconds", a->request.seconds,
                  tr("Seconds to spend timing with --sample, --heartbeat or --counts; default: 0.5"))
      ->type_name("SECONDS");
  parser.add_option("--lines", a->lines, tr("Number of source lines to list; default: 12"))->type_name("N");
  parser.add_option("--json", a->json_file, tr("Write everything, with the machine code of each line; -: stdout"))
      ->type_name("FILE");
  parser.add_option("--csv", a->csv_file, tr("Write one row per phase, then one per line; -: stdout"))
      ->type_name("FILE");
  parser.add_option("--heartbeat-csv", a->beats_file, tr("Write the heartbeat, one row per sample; -: stdout"))
      ->type_name("FILE");
  a->picture.add_to(parser, tr("Save a picture of Profile with the source open"));
  a->problem.add_to(parser, "--scale");
  a->options.takes_tuned = true;
  a->options.add_to(parser, false);
  parser.footer(
      tr("Instructions are counted as they appear in the machine code. This listing needs nvdisasm; install "
         "a CUDA\n"
         "toolkit or run `attnscope doctor --fetch-cuda`. Everything else works without nvdisasm.\n"
         "Examples:\n"
         "  attnscope profile flash_simt --d 64\n"
         "  attnscope profile flash_simt --l 4096 --hq 16 --d 64 --sample --save flash.attn\n"
         "  attnscope profile naive --l 4096 --hq 16 --d 64 --heartbeat --counts\n"
         "  attnscope profile flash_mma --arch sm_80 --dtype bf16 --causal --csv lines.csv --png "
         "source.png\n"
         "  attnscope profile my_attention.cu --d 64"));
  return {parser, [a](Stopper& stopper) { return profile_kernel(*a, stopper); }};
}

}  // namespace attn::cli
