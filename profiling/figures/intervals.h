// Lengths of intervals of time that may lie over one another, as launches do where one starts before the one before it
// has ended. T: whole nanoseconds, exact, or microseconds.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace attn {

template <class T>
struct Interval {
  T start{}, end{};  // start <= end
  bool operator==(const Interval&) const = default;
};

// In the order of their starts, those that overlap made one.
template <class T>
std::vector<Interval<T>> united(std::vector<Interval<T>> intervals) {
  std::ranges::stable_sort(intervals, {}, &Interval<T>::start);
  std::vector<Interval<T>> apart;
  for (const Interval<T>& next : intervals) {
    if (apart.empty() || next.start >= apart.back().end)
      apart.push_back(next);
    else
      apart.back().end = std::max(apart.back().end, next.end);
  }
  return apart;
}

// Time that lies in at least one of them, counted once: their sum where none overlap.
template <class T>
T union_of(std::vector<Interval<T>> intervals) {
  T length{};
  for (const Interval<T>& one : united(std::move(intervals))) length += one.end - one.start;
  return length;
}

// From the first start to the last end, with what lies between; 0 of none.
template <class T>
T span_of(const std::vector<Interval<T>>& intervals) {
  if (intervals.empty()) return T{};
  T first = intervals.front().start, last = intervals.front().end;
  for (const Interval<T>& one : intervals) {
    first = std::min(first, one.start);
    last = std::max(last, one.end);
  }
  return last - first;
}

}  // namespace attn
