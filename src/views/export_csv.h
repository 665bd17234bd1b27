// A profile as comma-separated tables: `loopfold export --format csv`.
//
// Tables: statements, accesses, values, dependences, objects, gave_up. One after the other in one file they all have
// the same columns, the first of which, `table`, says which one a row is of; what a table does not have is empty.
// Alone, a table has its own columns only. RFC 4180: fields with commas, quotes or line ends are quoted. Vectors are
// written as "8 0 -4", with * for what is not affine or not known; places as file:line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "views/writer.h"

namespace loopfold::views {

/// The names of the tables, in order.
const std::vector<std::string>& csv_tables();

/// All tables in one. False if `writer` did not want it.
bool write_csv(const profile::Profile& profile, const Writer& writer);

/// One table with its own columns.
bool write_csv_table(const profile::Profile& profile, std::string_view table, const Writer& writer);

}  // namespace loopfold::views
