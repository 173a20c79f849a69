// A sweep as a folder to hand on: plots, table, summary and rows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/window/pictures.h"
#include "kernels/base/result.h"
#include "profiling/session/session.h"

namespace attn {

struct Report {
  std::vector<std::string> files;  // names in the folder
  std::string no_plots;            // why there are none (no OpenGL); empty: there are
};

// The names of all that write_report() may write.
std::vector<std::string> report_files();

// Writes into `folder`, which is made where it is not there: summary.md (what is faster than what at every value, how
// time grows, the table, what failed and why), rows.csv, timeline.trace.json where the rows keep stages, and as PNG
// latency, throughput, speed-up, DRAM bytes and memory. `picture` names rows, provenance, sweep, theme and the size of
// a plot. Plots that cannot be drawn for want of OpenGL leave the rest, and summary.md says so.
Result<Report> write_report(const PictureSpec& picture, const std::filesystem::path& folder);

// summary.md alone. `plots`: file names of the pictures that it shows; `no_plots` as in Report.
std::string report_text(const PictureSpec& picture, const std::vector<std::string>& plots, const std::string& no_plots);

}  // namespace attn
