// For tests: storages and orders that are written down by hand, as isl's text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "advise/liveness/dataflow.h"
#include "advise/liveness/repair.h"

namespace loopfold::advise::liveness::testing {

using poly::Isl;

class HandMade {
 public:
  HandMade() : isl(isl_ctx_alloc()) {}
  HandMade(const HandMade&) = delete;

  /// "{ S1[i, j] : ... }" and when its instances run as written.
  std::uint32_t unit(const std::string& domain, const std::string& time) {
    domains.emplace_back(isl_set_read_from_str(isl.get(), domain.c_str()));
    EXPECT_TRUE(domains.back()) << domain;
    written.of.push_back(map(time));
    written.parallel.emplace_back(length_of(written));
    return static_cast<std::uint32_t>(domains.size() - 1);
  }

  /// "{ S1[i, j] -> [i] }", in all instances of the unit.
  void access(Storage& storage, std::uint32_t unit, bool write, const std::string& cells) {
    Access& made = storage.accesses.emplace_back();
    made.unit = unit;
    made.write = write;
    made.position = static_cast<std::int64_t>(storage.accesses.size());
    made.cells = Isl<isl_map>(isl_map_intersect_domain(map(cells).release(), domains[unit].copy()));
  }

  Isl<isl_map> map(const std::string& text) const {
    Isl<isl_map> made(isl_map_read_from_str(isl.get(), text.c_str()));
    EXPECT_TRUE(made) << text;
    return made;
  }

  /// Another order of the same units; rows that are parallel are so for all of them.
  Times order(const std::vector<std::string>& times, const std::vector<std::size_t>& parallel = {}) const {
    Times made;
    for (const std::string& time : times) made.of.push_back(map(time));
    std::vector<bool> rows(length_of(made));
    for (const std::size_t row : parallel) rows[row] = true;
    made.parallel.assign(times.size(), rows);
    return made;
  }
  Times in_parallel(const std::vector<std::size_t>& rows) const {
    Times made = written;
    for (std::vector<bool>& parallel : made.parallel)
      for (const std::size_t row : rows) parallel[row] = true;
    return made;
  }

  poly::IslContext isl;  // before what lives in it
  std::vector<Isl<isl_set>> domains;
  Times written;
};

inline bool equal(const Isl<isl_map>& a, const Isl<isl_map>& b) {
  return isl_map_is_equal(a.get(), b.get()) == isl_bool_true;
}

}  // namespace loopfold::advise::liveness::testing
