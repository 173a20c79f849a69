// A CSV parser that forgives nothing: RFC 4180 with "\n" line ends, every record as long as the header.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attn::test {

class StrictCsv {
 public:
  explicit StrictCsv(std::string_view text) {
    std::vector<std::vector<std::string>> records = parse(text);
    if (records.empty()) return;
    header = records.front();
    for (std::size_t r = 1; r < records.size(); ++r) {
      EXPECT_EQ(records[r].size(), header.size()) << "record " << r;
      std::map<std::string, std::string> row;
      for (std::size_t c = 0; c < records[r].size() && c < header.size(); ++c) row[header[c]] = records[r][c];
      rows.push_back(row);
    }
  }

  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;

 private:
  static std::vector<std::vector<std::string>> parse(std::string_view text) {
    std::vector<std::vector<std::string>> records;
    std::vector<std::string> record;
    EXPECT_TRUE(text.ends_with('\n'));
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::string field;
      if (text[i] == '"') {
        i = quoted(text, i + 1, field);
      } else {
        for (; i < text.size() && text[i] != ',' && text[i] != '\n'; ++i) {
          EXPECT_NE(text[i], '"') << "a quote inside a bare field, byte " << i;
          EXPECT_NE(text[i], '\r') << "a bare carriage return, byte " << i;
          field += text[i];
        }
      }
      record.push_back(field);
      if (i >= text.size() || text[i] == '\n') {
        records.push_back(record);
        record.clear();
      } else {
        EXPECT_EQ(text[i], ',') << "after a quoted field, byte " << i;
      }
    }
    return records;
  }

  // Reads up to the closing quote; returns the index after it.
  static std::size_t quoted(std::string_view text, std::size_t i, std::string& field) {
    for (; i < text.size(); ++i) {
      if (text[i] == '"') {
        if (i + 1 >= text.size() || text[i + 1] != '"') return i + 1;
        ++i;
      }
      field += text[i];
    }
    ADD_FAILURE() << "a quoted field without end";
    return i;
  }
};

}  // namespace attn::test
