#include "cli/trace_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "support/units.h"

namespace loopfold::cli {

namespace {

using trace::RunCursor;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void count(RunCensus& census, const trace::Run& run) {
  census.instructions += run.instructions;
  if (run.literal()) {
    census.literals++;
    return;
  }
  census.loops++;
  census.iterations += run.iterations;
  census.columns += run.columns.size();
  for (const trace::RunColumn& column : run.columns) {
    census.regular_columns += column.kind == trace::RunColumn::Kind::kRegular ? 1 : 0;
  }
  if (run.iterations >= 4) census.at_least_4 += run.instructions;
  if (run.iterations >= 16) census.at_least_16 += run.instructions;
  if (run.iterations >= 64) census.at_least_64 += run.instructions;
}

Result<void> read_runs(const trace::Reader& reader, bool control_only, RunCensus* census) {
  trace::CursorOptions options;
  options.control_only = control_only;
  RunCursor cursor = reader.runs(options);
  for (;;) {
    const Result<RunCursor::Item> item = cursor.next();
    if (!item) return tl::unexpected<Error>(item.error());
    if (*item == RunCursor::Item::kEnd) return {};
    if (*item == RunCursor::Item::kRun && census != nullptr) count(*census, cursor.run());
  }
}

Result<void> read_events(const trace::Reader& reader) {
  trace::Cursor cursor = reader.cursor();
  for (;;) {
    const Result<trace::Cursor::Item> item = cursor.next();
    if (!item) return tl::unexpected<Error>(item.error());
    if (*item == trace::Cursor::Item::kEnd) return {};
  }
}

double per_second(std::uint64_t instructions, double seconds) {
  return static_cast<double>(instructions) / std::max(seconds, 1e-6);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Result<RunCensus> take_run_census(const trace::Reader& reader) {
  RunCensus census;
  double before = cpu_seconds();
  if (Result<void> read = read_runs(reader, false, &census); !read) return tl::unexpected<Error>(read.error());
  census.seconds_runs = cpu_seconds() - before;
  before = cpu_seconds();
  if (Result<void> read = read_runs(reader, true, nullptr); !read) return tl::unexpected<Error>(read.error());
  census.seconds_control = cpu_seconds() - before;
  before = cpu_seconds();
  if (Result<void> read = read_events(reader); !read) return tl::unexpected<Error>(read.error());
  census.seconds_events = cpu_seconds() - before;
  return census;
}

nlohmann::json to_json(const RunCensus& c) {
  return {{"loops", c.loops},
          {"literals", c.literals},
          {"iterations", c.iterations},
          {"columns", c.columns},
          {"regular_columns", c.regular_columns},
          {"share",
           {{"4", share(c.at_least_4, c.instructions)},
            {"16", share(c.at_least_16, c.instructions)},
            {"64", share(c.at_least_64, c.instructions)}}},
          {"speed",
           {{"runs", per_second(c.instructions, c.seconds_runs)},
            {"control", per_second(c.instructions, c.seconds_control)},
            {"events", per_second(c.instructions, c.seconds_events)}}}};
}

std::string describe_runs(const RunCensus& c) {
  const auto speed = [&](double seconds) {
    return short_count(static_cast<std::uint64_t>(per_second(c.instructions, seconds)));
  };
  return fmt::format(
      "  {} runs of loops with {} iterations, {} pieces in no loop that pays\n"
      "  instructions in runs of at least 4, 16, 64 iterations: {:.0f} %, {:.0f} %, {:.0f} %\n"
      "  columns that advance evenly: {:.0f} %\n"
      "  read here, in instructions per second: {} as runs, {} control only, {} as events\n",
      short_count(c.loops), short_count(c.iterations), short_count(c.literals),
      100 * share(c.at_least_4, c.instructions), 100 * share(c.at_least_16, c.instructions),
      100 * share(c.at_least_64, c.instructions), 100 * share(c.regular_columns, c.columns), speed(c.seconds_runs),
      speed(c.seconds_control), speed(c.seconds_events));
}

}  // namespace loopfold::cli
