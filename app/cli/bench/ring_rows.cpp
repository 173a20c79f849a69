#include "app/cli/bench/ring_rows.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/cli/arguments/console_text.h"
#include "app/cli/bench/bench_file.h"
#include "app/control/bench/run_list.h"
#include "kernels/base/text.h"
#include "profiling/session/session.h"

namespace attn::cli {

Result<void> check_files(const RingFiles& files) {
  if (files.attn.empty() && files.resume) return bad_input(tr("--resume continues a session; name it with --attn."));
  if (files.attn.empty() && files.force)
    return bad_input(tr("--force needs a session to replace; specify one with --attn."));
  if (files.resume && files.force)
    return bad_input(tr("--resume continues a session and --force replaces it; use only one of the two."));
  std::error_code error;
  if (!files.attn.empty() && !files.resume && !files.force && std::filesystem::is_regular_file(files.attn, error))
    return bad_input(phrase(
        "{} already exists; use --resume to continue it or --force to replace it, or name another file.", files.attn));
  if (files.attn == "-") return bad_input(phrase("{} -: cannot write to stdout; name a file.", "--attn"));
  for (const auto& [name, file] : {NamedFile{"--attn", files.attn}, {"--rows-csv", files.rows_csv}}) {
    if (file.empty()) continue;
    if (auto r = check_writable(name, file); !r) return r;
  }
  return ok();
}

Result<void> write_rows(const RingFiles& files, const SweepSpec& sweep, const Provenance& where,
                        std::vector<Measurement> rows) {
  auto file = BenchFile::open({files.attn, files.resume, files.force, true}, sweep_text(sweep), where);
  if (!file) return tl::unexpected(file.error());
  for (const std::string& note : file->notes()) say(phrase("attnscope: {}: {}.", files.attn, note));
  for (Measurement& m : rows) file->add(std::move(m));
  if (auto written = file->write(); !written) return written;
  if (files.rows_csv.empty()) return ok();
  return write_text(files.rows_csv, to_csv(session_of(file->run().provenance, file->run().rows)));
}

}  // namespace attn::cli
