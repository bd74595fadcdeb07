#include "covey/metrics/table.h"

#include <cmath>
#include <cstdio>
#include <set>

#include "covey/base/check.h"

namespace covey::metrics {
namespace {

bool IsName(std::string_view name) {
  if (name.substr(0, 6) != "covey_" || name.size() == 6) return false;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!fits) return false;
  }
  return true;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string Full(std::string_view name, std::string_view labels) {
  std::string full(name);
  if (!labels.empty()) full.append("{").append(labels).append("}");
  return full;
}

// Exposition format: backslash and line end are escaped in help texts.
std::string EscapeHelp(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Counter& Table::AddCounter(std::string_view name, std::string_view help, std::string_view labels) {
  COVEY_CHECK(EndsWith(name, "_total"), name);
  return Add(name, help, labels, true).counter;
}

Gauge& Table::AddGauge(std::string_view name, std::string_view help, std::string_view labels) {
  COVEY_CHECK(!EndsWith(name, "_total"), name);
  return Add(name, help, labels, false).gauge;
}

Table::Entry& Table::Add(std::string_view name, std::string_view help, std::string_view labels,
                         bool is_counter) {
  COVEY_CHECK(IsName(name), name);
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.name != name) continue;
    COVEY_CHECK(entry.is_counter == is_counter && entry.help == help, name);
    if (entry.labels == labels) return entry;
  }
  COVEY_CHECK(entries_.size() < kMaxMetrics, entries_.size());
  Entry& entry = entries_.emplace_back();
  entry.name = name;
  entry.help = help;
  entry.labels = labels;
  entry.is_counter = is_counter;
  return entry;
}

std::string Table::JsonLine() const {
  const std::lock_guard lock(mutex_);
  std::string line = "{";
  for (const Entry& entry : entries_) {
    if (line.size() > 1) line += ',';
    line += '"';
    for (const char c : Full(entry.name, entry.labels)) {
      if (c == '"' || c == '\\') line += '\\';
      line += c;
    }
    line += "\":";
    if (entry.is_counter) {
      line += std::to_string(entry.counter.value());
    } else {
      const double value = entry.gauge.value();
      line += std::isfinite(value) ? Number(value) : "null";
    }
  }
  return line + '}';
}

std::string Table::Exposition() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  std::set<std::string_view> written;
  for (const Entry& first : entries_) {
    if (!written.insert(first.name).second) continue;
    text += "# HELP " + first.name + ' ' + EscapeHelp(first.help) + '\n';
    text += "# TYPE " + first.name + (first.is_counter ? " counter\n" : " gauge\n");
    for (const Entry& entry : entries_) {
      if (entry.name != first.name) continue;
      text += Full(entry.name, entry.labels) + ' ';
      if (entry.is_counter) {
        text += std::to_string(entry.counter.value());
      } else {
        const double value = entry.gauge.value();
        text += std::isnan(value)   ? "NaN"
                : std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                                    : Number(value);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace covey::metrics
