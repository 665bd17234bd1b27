// Whether what a profile names as a reason for a `no` happened: an instance in the trace with these source lines, over
// this distance, in this object.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "symbols/symbolizer.h"
#include "structure/structure.h"
#include "trace/reader.h"
#include "verify/flow.h"
#include "verify/judge.h"
#include "verify/names.h"

namespace loopfold::verify {

class Witnesses {
 public:
  Witnesses(const Flow& flow, const Names& names, symbols::Symbolizer& symbolizer, const trace::Reader& reader,
            const structure::Structure& structure, const std::vector<profile::Object>& objects)
      : flow_(flow),
        names_(names),
        symbolizer_(symbolizer),
        reader_(reader),
        structure_(structure),
        objects_(objects) {}

  /// How many instances that a loop carries are what `blocking` says. None: it did not happen.
  std::uint64_t count(const profile::Blocking& blocking, const Judge& judge, std::size_t level) const;

  /// What an address was in, for people; empty if not known.
  std::string object_name(const TouchedObject& object) const;

 private:
  bool is_kind(const profile::Blocking& blocking, const Carried& carried) const;
  bool is_distance(const profile::Blocking& blocking, const Carried& carried) const;
  std::uint64_t count_others(const profile::Blocking& blocking, const Judge& judge, std::size_t level) const;
  std::uint64_t count_copies(const profile::Blocking& blocking, const Judge& judge, std::size_t level) const;
  bool is_object(const profile::Object& object, const TouchedObject& touched) const;
  bool is_in_object(const profile::Blocking& blocking, const Carried& carried, std::size_t level) const;
  const profile::Object* object_of(const profile::Blocking& blocking) const;
  bool is_frame_of(const profile::Object& object, structure::FunctionId function) const;
  bool may_be_spill(const profile::Blocking& blocking, NodeIndex from, NodeIndex to) const;
  bool is_allocated_at(const profile::Object& object, trace::StackId stack) const;

  const Flow& flow_;
  const Names& names_;
  symbols::Symbolizer& symbolizer_;
  const trace::Reader& reader_;
  const structure::Structure& structure_;
  const std::vector<profile::Object>& objects_;
};

}  // namespace loopfold::verify
