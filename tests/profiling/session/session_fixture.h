// A session of measured, failed and planned rows, and a folder that its file is written to.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "kernels/base/files.h"
#include "kernels/formats/container.h"
#include "profiling/figures/baseline.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/session/session.h"
#include "tests/kernels/temp_folder.h"
#include "tests/profiling/fake_kernels.h"

namespace attn::test {

class SessionFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name = "s.attn") const { return folder_ / name; }

  // Writes a container around this JSON and reads it as a session.
  Result<Session> read_json(const nlohmann::json& j) const {
    Container c;
    c.session_json = session_text(j);
    const auto bytes = container_bytes(c);
    EXPECT_TRUE(bytes && write_file_atomically(file("forged.attn"), *bytes));
    return read_session(file("forged.attn"));
  }

 private:
  TempFolder folder_;
};

inline Measurement measured(const KernelRow& row = real_row()) {
  Point p;
  p.kernel = row.id;
  p.problem = small_problem();
  p.seconds_per_point = 0.01;
  return measure_on_cpu(row, p, {100, 10, 1}, {});
}

inline Session example() {
  Session s = session_of(provenance_here(), {measured(), measured(failing_kernel()), measured(idle_kernel())});
  s.runs[0].provenance.peak_gflops = 123.5;
  s.runs[0].rows[0].launch_us.assign(s.runs[0].rows[0].launches.size(), 12.25);
  relate_to_baseline(s.runs[0].rows);
  return s;
}

}  // namespace attn::test
