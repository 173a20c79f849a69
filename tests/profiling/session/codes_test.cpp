// Machine code of rows in a session's file: once for rows that share it, bounded, and missing in older files.
#include "profiling/session/codes.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiling/figures/metrics.h"
#include "tests/profiling/session/session_fixture.h"

namespace attn {
namespace {

using nlohmann::json;
using namespace test;

std::shared_ptr<const gpu::MachineCode> code(const std::string& instruction) {
  return std::make_shared<const gpu::MachineCode>(gpu::MachineCode{"sm_90a", {{"k", {instruction, "EXIT"}}}});
}

Measurement row(std::int64_t length, std::shared_ptr<const gpu::MachineCode> code) {
  Measurement m;
  m.key.kernel = "naive";
  m.key.problem = small_problem();
  m.key.problem.Lq = m.key.problem.Lk = length;
  m.processor = Processor::gpu;
  m.state = RowState::refused;
  m.reason = "for the test";
  m.code = std::move(code);
  fill_figures(m);
  return m;
}

class SessionCodes : public SessionFile {
 protected:
  Container written(const Session& s) const {
    const auto done = write_session(file(), s);
    EXPECT_TRUE(done) << done.error().message;
    return read_container(file()).value_or(Container());
  }
  Result<Session> read_changed(const Session& s, void (*change)(json&, Container&)) const {
    Container c = written(s);
    json j = json::parse(c.session_json);
    change(j, c);
    c.session_json = j.dump();
    const auto bytes = container_bytes(c);
    EXPECT_TRUE(bytes && write_file_atomically(file("forged.attn"), *bytes));
    return read_session(file("forged.attn"));
  }
};

TEST_F(SessionCodes, IsKeptOnceForRowsOfOneCubin) {
  const auto one = code("FADD R1, R2, R3");
  // The third is equal to the first, of another file.
  const Session s = session_of(provenance_here(), {row(5, one), row(6, one), row(7, code("FADD R1, R2, R3")),
                                                   row(8, code("HMMA R1, R2, R3")), row(9, nullptr)});
  const Container c = written(s);
  EXPECT_EQ(json::parse(c.session_json)["version"], 3);
  EXPECT_EQ(c.files.size(), 2U);
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  const auto& rows = back->runs.at(0).rows;
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t n = 0; n < 4; ++n) {
    ASSERT_NE(rows[n].code, nullptr) << n;
    EXPECT_EQ(*rows[n].code, *s.runs[0].rows[n].code);
  }
  EXPECT_EQ(rows[0].code, rows[2].code) << "and once in memory";
  EXPECT_EQ(rows[4].code, nullptr);
}

TEST_F(SessionCodes, AFileWithoutIsWrittenAsItWas) {
  const Container c = written(session_of(provenance_here(), {row(5, nullptr)}));
  EXPECT_EQ(json::parse(c.session_json)["version"], 2);
  EXPECT_FALSE(json::parse(c.session_json).contains("codes"));
  EXPECT_TRUE(c.files.empty());
}

TEST_F(SessionCodes, IsBounded) {
  std::vector<Measurement> rows;
  for (int n = 0; n < 300; ++n) rows.push_back(row(5 + n, code(fmt::format("MOV R{}, RZ", n))));
  const Container c = written(session_of(provenance_here(), std::move(rows)));
  EXPECT_EQ(c.files.size(), 256U);
  const auto back = read_session(file());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_NE(back->runs[0].rows[255].code, nullptr);
  EXPECT_EQ(back->runs[0].rows[256].code, nullptr);
}

TEST_F(SessionCodes, WhatDoesNotFitIsRefusedInWords) {
  const Session s = session_of(provenance_here(), {row(5, code("NOP"))});
  void (*const changes[])(json&, Container&) = {
      [](json& j, Container&) { j["runs"][0]["measurements"][0]["code"] = 1; },
      [](json& j, Container&) { j["runs"][0]["measurements"][0]["code"] = -1; },
      [](json& j, Container&) { j["runs"][0]["measurements"][0]["code"] = "0"; },
      [](json& j, Container&) { j["codes"] = 7; },
      [](json& j, Container&) { j["codes"] = json::array({3}); },
      [](json& j, Container&) { j["codes"][0]["sass"] = "elsewhere"; },
      [](json& j, Container&) { j["codes"] = json(std::vector<json>(257, j["codes"][0])); },
      [](json&, Container& c) { c.files.begin()->second.clear(); },
      [](json&, Container& c) { c.files.begin()->second.push_back(std::byte{0}); },
  };
  for (const auto change : changes) {
    const auto read = read_changed(s, change);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::bad_input) << read.error().message;
    EXPECT_NE(read.error().message.find("forged.attn"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace attn
