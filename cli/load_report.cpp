#include "cli/load_report.hpp"

#include "protocol/json_writer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

namespace gatehouse::cli {
namespace {

constexpr std::array percents = {50.0, 90.0, 99.0, 99.9};

std::string decimal(double value, int digits) {
  char out[64];
  std::snprintf(out, sizeof out, "%.*f", digits, value);
  return out;
}

double ms(std::chrono::microseconds latency) {
  return static_cast<double>(latency.count()) / 1000;
}

std::string name_of(double percent) {
  return "p" + (percent == std::floor(percent) ? decimal(percent, 0) : decimal(percent, 1));
}

double per_second(const load_result& result) {
  return result.seconds > 0 ? static_cast<double>(result.latency.count()) / result.seconds : 0;
}

std::string shape_of(const load_terms& terms) {
  const auto lines =
      std::to_string(terms.connections) + (terms.connections == 1 ? " connection" : " connections");
  if (terms.rate) return "open loop, " + decimal(*terms.rate, 1) + " calls/s, " + lines;
  return "closed loop, " + std::to_string(terms.callers) + " callers, " + lines;
}

/// First and last point at which the server was seen, after the warm-up.
std::pair<const load_point*, const load_point*> ends_of(const load_result& result) {
  const load_point* first = nullptr;
  const load_point* last = nullptr;
  for (const auto& point : result.points)
    if (point.server) {
      if (!first || first->seconds < 0) first = &point;
      last = &point;
    }
  return {first, last};
}

double cpu_per_call_us(const load_result& result) {
  const auto [first, last] = ends_of(result);
  if (!first || last->calls <= first->calls) return 0;
  return static_cast<double>((last->server->cpu - first->server->cpu).count()) * 1000 /
         static_cast<double>(last->calls - first->calls);
}

// ---- the page ----

std::string html(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  return out;
}

using points = std::vector<std::pair<double, double>>;

/// A round number that is no smaller.
double nice(double value) {
  if (value <= 0) return 1;
  const double scale = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (step * scale >= value) return step * scale;
  return value;
}

/// One line over time (or over percentiles), from zero up.
std::string plot(const std::string& title, const points& line, const std::string& x_unit,
                 const std::function<std::string(double)>& x_name) {
  constexpr double width = 760;
  constexpr double height = 200;
  constexpr double left = 70;
  constexpr double bottom = 24;
  if (line.empty()) return {};
  double most = 0;
  for (const auto& [x, y] : line)
    most = std::max(most, y);
  most = nice(most);
  const double x0 = line.front().first;
  const double x1 = std::max(line.back().first, x0 + 1e-9);
  const auto at_x = [&](double x) { return left + (x - x0) / (x1 - x0) * (width - left - 10); };
  const auto at_y = [&](double y) { return 10 + (1 - y / most) * (height - bottom - 10); };
  std::string out = "<h2>" + html(title) + "</h2>\n<svg viewBox=\"0 0 " + decimal(width, 0) + " " +
                    decimal(height, 0) + "\" role=\"img\" aria-label=\"" + html(title) + "\">\n";
  for (int i = 0; i <= 4; ++i) {
    const double y = most * i / 4;
    out += "<line class=\"grid\" x1=\"" + decimal(left, 0) + "\" x2=\"" + decimal(width - 10, 0) +
           "\" y1=\"" + decimal(at_y(y), 1) + "\" y2=\"" + decimal(at_y(y), 1) +
           "\"/><text text-anchor=\"end\" x=\"" + decimal(left - 6, 0) + "\" y=\"" +
           decimal(at_y(y) + 4, 1) + "\">" + decimal(y, most < 10 ? 2 : 0) + "</text>\n";
    const double x = x0 + (x1 - x0) * i / 4;
    out += "<text text-anchor=\"middle\" x=\"" + decimal(std::min(at_x(x), width - 30), 1) +
           "\" y=\"" + decimal(height - 6, 0) + "\">" + html(x_name(x) + x_unit) + "</text>\n";
  }
  out += "<polyline points=\"";
  for (const auto& [x, y] : line)
    out += decimal(at_x(x), 1) + "," + decimal(at_y(y), 1) + " ";
  return out + "\"/>\n</svg>\n";
}

std::string seconds_name(double x) {
  return decimal(x, x == std::floor(x) ? 0 : 1);
}

} // namespace

std::string load_summary(const load_terms& terms, const load_result& result) {
  const auto& latency = result.latency;
  std::string out = shape_of(terms) + ", " + decimal(result.seconds, 1) + " s after " +
                    decimal(std::chrono::duration<double>{terms.warm_up}.count(), 1) +
                    " s of warm-up: " + terms.url + "\n";
  out += "calls    " + std::to_string(latency.count()) + " fine, " +
         decimal(per_second(result), 1) + "/s; " + std::to_string(result.failed) + " failed\n";
  for (const auto& [kind, number] : result.errors)
    out += "         " + std::to_string(number) + " × " + kind + "\n";
  out += "latency  from the intended start:";
  for (const double percent : percents)
    out += " " + name_of(percent) + " " + decimal(ms(latency.percentile(percent)), 2) + " ms ";
  out += " max " + decimal(ms(latency.max()), 2) + " ms\n";
  if (const auto [first, last] = ends_of(result); first)
    out += "server   memory " + std::to_string(first->server->memory_kib) + " to " +
           std::to_string(last->server->memory_kib) + " KiB, descriptors " +
           std::to_string(first->server->descriptors) + " to " +
           std::to_string(last->server->descriptors) + ", children " +
           std::to_string(first->server->children) + " to " +
           std::to_string(last->server->children) + ", processor " +
           decimal(cpu_per_call_us(result), 0) + " µs a call (its own)\n";
  if (!result.broken.empty()) out += "ended early: " + result.broken + "\n";
  return out;
}

std::string load_json(const load_terms& terms, const load_result& result) {
  json_writer out;
  // json_writer knows whole numbers only.
  const auto real = [&](std::string_view name, double value, int digits) {
    out.key(name);
    out.raw(decimal(value, digits));
  };
  const auto whole = [&](std::string_view name, auto value) {
    out.key(name);
    out.number(static_cast<std::int64_t>(value));
  };
  out.open('{');
  out.field("target", terms.url);
  out.field("dialect", terms.protocol == load_protocol::app ? "app" : "exec");
  out.field("loop", terms.rate ? "open" : "closed");
  if (terms.rate)
    real("rate", *terms.rate, 3);
  else
    whole("callers", terms.callers);
  whole("connections", terms.connections);
  real("seconds", result.seconds, 3);
  whole("calls", result.latency.count());
  whole("failed", result.failed);
  real("calls_per_second", per_second(result), 3);
  out.key("latency_us");
  out.open('{');
  for (const double percent : percents)
    whole(name_of(percent), result.latency.percentile(percent).count());
  whole("max", result.latency.max().count());
  whole("mean", result.latency.mean().count());
  out.close('}');
  out.key("errors");
  out.open('{');
  for (const auto& [kind, number] : result.errors)
    whole(kind, number);
  out.close('}');
  if (!result.broken.empty()) out.field("broken", result.broken);
  if (ends_of(result).first) real("server_cpu_us_per_call", cpu_per_call_us(result), 1);
  out.key("histogram_us");
  out.open('[');
  for (const auto& [upper, number] : result.latency.buckets()) {
    out.item();
    out.raw("[" + std::to_string(upper.count()) + "," + std::to_string(number) + "]");
  }
  out.close(']');
  out.key("over_time");
  out.open('[');
  for (const auto& point : result.points) {
    out.item();
    out.open('{');
    real("s", point.seconds, 3);
    whole("calls", point.calls);
    whole("under_way", point.under_way);
    if (point.server) {
      whole("memory_kib", point.server->memory_kib);
      whole("descriptors", point.server->descriptors);
      whole("children", point.server->children);
      whole("cpu_ms", point.server->cpu.count());
    }
    out.close('}');
  }
  out.close(']');
  out.close('}');
  return std::move(out).take() + "\n";
}

std::string load_page(const load_terms& terms, const load_result& result) {
  points rate;
  points memory;
  points descriptors;
  points waiting;
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const auto& p = result.points[i];
    waiting.emplace_back(p.seconds, p.under_way);
    if (i > 0 && p.seconds > result.points[i - 1].seconds)
      rate.emplace_back(p.seconds, static_cast<double>(p.calls - result.points[i - 1].calls) /
                                       (p.seconds - result.points[i - 1].seconds));
    if (!p.server) continue;
    memory.emplace_back(p.seconds, static_cast<double>(p.server->memory_kib) / 1024);
    descriptors.emplace_back(p.seconds, static_cast<double>(p.server->descriptors));
  }
  // Percentiles by the number of nines, as far as there are calls for them.
  points tail;
  const double nines =
      std::log10(std::max<double>(10, static_cast<double>(result.latency.count())));
  if (result.latency.count() > 0)
    for (int step = 0; step <= 100; ++step) {
      const double x = nines * step / 100;
      tail.emplace_back(x, ms(result.latency.percentile(100 * (1 - std::pow(10, -x)))));
    }
  const auto percent_name = [](double x) { return decimal(100 * (1 - std::pow(10, -x)), 3); };
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<title>gatehouse load</title>\n<style>body{font:15px/1.5 sans-serif;max-width:800px;"
         "margin:2em auto;padding:0 1em;color:#222;background:#fff}pre{background:#f4f4f4;"
         "padding:1em;white-space:pre-wrap}h2{font-size:1em;margin:1.5em 0 .3em}svg{width:100%}"
         "svg text{font-size:11px;fill:#555}.grid{stroke:#ddd}polyline{fill:none;stroke:#1565c0;"
         "stroke-width:1.5}</style></head><body>\n<h1>gatehouse load</h1>\n<pre>" +
         html(load_summary(terms, result)) + "</pre>\n" +
         plot("Latency by percentile (ms, from the intended start)", tail, " %", percent_name) +
         plot("Calls that ended, a second", rate, " s", seconds_name) +
         plot("Calls under way", waiting, " s", seconds_name) +
         plot("Server: resident memory (MiB)", memory, " s", seconds_name) +
         plot("Server: descriptors", descriptors, " s", seconds_name) + "</body></html>\n";
}

} // namespace gatehouse::cli
