// Static truth: the flow of values that a kernel's source implies, against what the folded graph of its binary says.
//
//     static_flow truth KERNEL.c [SIZE...]             the flow that isl finds, and the domains
//     static_flow compare KERNEL.c TRACE [SIZE...]     equal as sets, and every piece exact? Else the differences
//     static_flow covers KERNEL.c TRACE [SIZE...]      is all of the source's flow in the folded graph, exact or not?
//     static_flow profile KERNEL.c TRACE [SIZE...]     is flow through memory the same in TRACE/profile.json?
//     static_flow list KERNEL.c TRACE [SIZE...]        the folded streams of the kernel's functions, as JSON
//
// SIZEs are the program's arguments. --fold=VARIANT, in front of all, chooses how streams are folded. Exit status 0 if
// so, 1 if not, 3 if something could not be read. Set equality is isl's: exact, whatever the number of pieces and
// however they are written. Nothing is ever coalesced: isl 0.25's coalesce, given a union of lattices such as
// { [i] : 1 <= i <= 9 and i mod 4 = 1; [i] : 3 <= i <= 7 and i mod 4 = 3; [i] : 0 <= i <= 2 } inside of a larger map,
// has been seen to add points, also to the objects that it shares parts with.
#include <fmt/format.h>
#include <isl/cpp.h>
#include <isl/ctx.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "analysed.h"
#include "description.h"
#include "listing.h"
#include "observed.h"
#include "profile_flow.h"
#include "truth.h"

namespace loopfold::oracle {

namespace {

constexpr int kEqual = 0;
constexpr int kDifferent = 1;
constexpr int kUsage = 2;
constexpr int kUnreadable = 3;

struct FreeContext {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};

void print(const std::string& text) { std::fputs((text + "\n").c_str(), stdout); }

int complain(const Error& error) {
  std::fputs(("static_flow: error: " + error.message + "\n").c_str(), stderr);
  return kUnreadable;
}

template <typename T>
std::string text_of(const T& object) {
  std::ostringstream stream;
  stream << object;
  return stream.str();
}

/// One line per relation between two statements.
void print_maps(const char* title, const isl::union_map& maps) {
  maps.foreach_map([title](isl::map map) { print(fmt::format("{}: {}", title, text_of(map))); });
}

void print_sets(const char* title, const isl::union_set& sets) {
  sets.foreach_set([title](isl::set set) { print(fmt::format("{}: {}", title, text_of(set))); });
}

int truth(isl::ctx context, const Description& description) {
  print_sets("domain", static_domains(context, description));
  print_maps("flow", static_flow(context, description));
  return kEqual;
}

/// Prints where the two differ; whether they are equal.
bool same(const isl::union_set& expected_domains, const isl::union_set& domains, const isl::union_map& expected_flow,
          const isl::union_map& flow) {
  print_sets("domain not observed", expected_domains.subtract(domains));
  print_sets("domain not in the source", domains.subtract(expected_domains));
  print_maps("flow not observed", expected_flow.subtract(flow));
  print_maps("flow not in the source", flow.subtract(expected_flow));
  return expected_domains.is_equal(domains) && expected_flow.is_equal(flow);
}

int compare(isl::ctx context, const Description& description, Analysed& run) {
  const Observed observed = observe(context, run, description);
  const bool equal =
      same(static_domains(context, description), observed.domains, static_flow(context, description), observed.flow) &&
      observed.inexact.empty();
  for (const std::string& line : observed.inexact) print("not exact: " + line);
  print(fmt::format("{}: {} statements, {} streams, {} pieces", equal ? "equal" : "different",
                    description.statements.size(), observed.streams, observed.pieces));
  return equal ? kEqual : kDifferent;
}

int compare_profile(isl::ctx context, const Description& description, const std::string& directory) {
  const Result<ProfileFlow> profile = profile_flow(context, directory, description);
  if (!profile) return complain(profile.error());
  const bool equal = same(static_domains(context, description), profile->domains,
                          static_flow(context, description, Through::kArrays), profile->flow);
  if (!profile->exact) print("the profile does not say that all of it is exact");
  return equal && profile->exact ? kEqual : kDifferent;
}

int covers(isl::ctx context, const Description& description, Analysed& run) {
  const Observed observed = observe(context, run, description);
  const isl::union_set domains = static_domains(context, description).subtract(observed.domains);
  const isl::union_map flow = static_flow(context, description).subtract(observed.flow);
  print_sets("domain not covered", domains);
  print_maps("flow not covered", flow);
  return domains.is_empty() && flow.is_empty() ? kEqual : kDifferent;
}

int usage() {
  std::fputs(
      "usage: static_flow [--fold=VARIANT] truth KERNEL.c [SIZE...] | compare|covers|profile|list KERNEL.c TRACE "
      "[SIZE...]\n",
      stderr);
  return kUsage;
}

int run(std::vector<std::string> words) {
  fold::Options options;
  if (!words.empty() && words[0].rfind("--fold=", 0) == 0) {
    if (!fold::parse_variant(words[0].substr(7), options.variant)) return usage();
    words.erase(words.begin());
  }
  const bool needs_trace = !words.empty() && words[0] != "truth";
  const std::size_t first_size = needs_trace ? 3 : 2;
  if (words.size() < first_size) return usage();
  std::vector<long> sizes;
  for (std::size_t i = first_size; i < words.size(); i++) sizes.push_back(std::stol(words[i]));
  const Result<Description> description = read_description(words[1], sizes);
  if (!description) return complain(description.error());
  const std::unique_ptr<isl_ctx, FreeContext> owner(isl_ctx_alloc());
  const isl::ctx context(owner.get());
  if (words[0] == "truth") return truth(context, *description);
  if (words[0] == "profile") return compare_profile(context, *description, words[2]);
  Result<Analysed> analysed = analyse(words[2], options);
  if (!analysed) return complain(analysed.error());
  if (words[0] == "compare") return compare(context, *description, *analysed);
  if (words[0] == "covers") return covers(context, *description, *analysed);
  if (words[0] != "list") return usage();
  print(listing(context, *analysed, *description).dump());
  return kEqual;
}

}  // namespace

}  // namespace loopfold::oracle

int main(int argc, char** argv) {
  try {
    return loopfold::oracle::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fputs(fmt::format("static_flow: error: {}\n", error.what()).c_str(), stderr);
    return loopfold::oracle::kUnreadable;
  }
}
