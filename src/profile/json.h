// A profile as JSON, and back: the file profile.json, and what `--format json` prints.
//
// Writing: names are those of profile.h, sections are arrays with one element per line, so that the file can be
// grepped, compared line by line and cut by line-based tools. Names of the contract are always there; others are left
// out where they have their default (docs/profile.schema.json), which makes the profile of a large program less than a
// third as long. The same profile gives the same bytes. JSON is UTF-8 and names are bytes: what is not well-formed
// becomes U+FFFD, everything else is kept exactly, control characters included.
//
// Reading trusts nothing: the file may be cut off, foreign or made to do harm. Whatever is not as
// docs/profile.schema.json has it, or contradicts itself (a parent that is not on the way to its child, parts that are
// larger than the whole), is an Error that says where. Names that are not known are skipped: a later version may have
// more of them. Both directions are linear in the size of the document, and neither has it in memory as a tree of JSON
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "support/result.h"

namespace loopfold::profile {

inline constexpr std::string_view kSchema = "loopfold-profile/1";

/// What a kind is called in JSON: "loop", "system call", "store", "memory", "heap", ...
std::string_view kind_name(TreeNode::Kind kind);
std::string_view kind_name(Statement::Kind kind);
std::string_view kind_name(Access::Kind kind);
std::string_view kind_name(Dependence::Kind kind);
std::string_view kind_name(Object::Kind kind);
std::string_view kind_name(Blocking::Kind kind);
std::string_view verdict_name(Loop::Parallel verdict);

/// The document as text, with a newline at its end; the same for any number of jobs.
std::string to_json_text(const Profile& profile, unsigned jobs = 1);

/// The loop tree only, and a part of it: nodes for which `shown` is true, with all their names. Ids, parents and counts
/// stay those of the whole.
std::string to_json_text(const Profile& profile, const std::vector<bool>& shown);

/// What is said of the loops only: program, quality and the first `most` regions, of those with `min_percent` of the
/// operations, with all their names.
std::string report_json_text(const Profile& profile, std::size_t most, double min_percent);

/// How much of a profile is wanted.
enum class Parts {
  kAll,
  kReport,  // tree, regions and objects; `folded` is false then
  kTree,    // no statements and what follows: of a large profile, that is nearly all. `folded` is false then
};

/// The profile that a document holds. `name` is what errors call it: the file's name.
Result<Profile> from_json_text(std::string_view text, const std::string& name, Parts parts = Parts::kAll);

/// The profile in a file.
Result<Profile> read_profile(const std::string& path, Parts parts = Parts::kAll);

}  // namespace loopfold::profile
