#include "ddg/stretch.h"

#include <algorithm>

namespace loopfold::ddg {

namespace {

bool is_simple(const PartCode& code, const Streams& streams, SiteId site) {
  const auto is_x87 = [](const RegisterRead& read) { return read.x87; };
  const auto guarded = [](const MemoryAccess& access) { return access.guarded; };

  return !streams.cold(site) && code.x87_live_outs.empty() &&
         std::none_of(code.reads.begin(), code.reads.end(), is_x87) &&
         std::none_of(code.accesses.begin(), code.accesses.end(), guarded);
}

class Planner {
 public:
  Planner(std::size_t granules, const Streams& streams)
      : streams_(streams),
        writer_(granules),
        exposed_(granules),
        copied_(granules),
        made_(granules),
        loaded_(granules) {}

  StretchPlan plan(std::span<const PathPart> parts) {
    plan_.parts.assign(parts.begin(), parts.end());
    for (const PathPart& part : parts) {
      const auto again =
          std::count_if(parts.begin(), parts.end(), [&](const PathPart& p) { return p.site == part.site; });
      plan_.possible = plan_.possible && again == 1 && is_simple(*part.code, streams_, part.site);
      if (part.code->unknown) plan_.unknown_instructions += part.code->instructions;
    }
    if (!plan_.possible) return std::move(plan_);
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      read(parts[i], i);
      expose(parts[i].code->origins);
      list_uses(parts[i].code->origins, i);
      use_loads(parts[i].code->origins);
      write(parts[i]);
    }
    finish();
    return std::move(plan_);
  }

 private:
  using ReadGranule = StretchPlan::ReadGranule;
  static constexpr std::uint32_t kNoAccess = 0xffffffff;
  /// The load of this iteration that got what a granule has.
  struct Loaded {
    std::uint32_t access = kNoAccess;  // of the path
    bool copied = false;
  };

  void read(const PathPart& part, std::uint32_t index) {
    for (const RegisterRead& read : part.code->reads) {
      plan_.reads.push_back({index, &read, static_cast<std::uint32_t>(plan_.granules.size()), false, {}});
      for (std::uint32_t i = 0; i < read.count; ++i) {
        const LiveIn& in = part.code->live_ins[read.first + i];
        const DefinitionId writer = writer_[in.granule];
        plan_.granules.push_back({writer != 0 ? ReadGranule::From::kThisIteration : ReadGranule::From::kBefore,
                                  in.granule, in.lane, writer});
      }
    }
  }

  void expose(const OriginCode& code) {
    for (const OriginCode::Piece& piece : code.pieces) expose(code, piece.source, piece.writer != kOutside);
    for (const OriginCode::Out& out : code.outs) expose(code, out.source, true);
  }
  void expose(const OriginCode& code, const Source& source, bool copied) {
    if (source.kind == Source::Kind::kLiveIn && writer_[source.index] == 0) {
      exposed_[source.index] = true;
      if (copied) copied_[source.index] = true;
    }
    if (source.kind != Source::Kind::kSeveral) return;
    for (std::size_t i = 0; i < source.bytes; ++i) expose(code, code.several[source.index + i], true);
  }

  bool is_exposed(const OriginCode::Piece& piece) const {
    return piece.writer == kOutside && piece.source.kind == Source::Kind::kLiveIn && writer_[piece.source.index] == 0;
  }
  /// Uses of what the path has not written so far.
  void list_uses(const OriginCode& code, std::uint32_t part) {
    for (const OriginCode::Use& use : code.uses) {
      const std::span<const OriginCode::Piece> pieces{code.pieces.data() + use.first, use.count};
      const auto exposed = std::count_if(pieces.begin(), pieces.end(),
                                         [&](const OriginCode::Piece& piece) { return is_exposed(piece); });
      if (exposed != 0) plan_.first_uses.push_back({part, &use});
      plan_.mixes_uses = plan_.mixes_uses || (exposed != 0 && exposed != std::ssize(pieces));
    }
  }
  /// Only those of what it writes later.
  void choose_uses() {
    std::erase_if(plan_.first_uses, [&](const StretchPlan::FirstUse& first) {
      const OriginCode& code = plan_.parts[first.part].code->origins;
      const std::span<const OriginCode::Piece> pieces{code.pieces.data() + first.use->first, first.use->count};
      const auto written = std::count_if(pieces.begin(), pieces.end(),
                                         [&](const OriginCode::Piece& piece) { return writer_[piece.granule] != 0; });
      plan_.mixes_uses = plan_.mixes_uses || (written != 0 && written != std::ssize(pieces));
      return written == 0;
    });
  }

  void use_loads(const OriginCode& code) {
    for (const OriginCode::Piece& piece : code.pieces) use_load(code, piece.source, piece.writer != kOutside);
  }
  void use_load(const OriginCode& code, const Source& source, bool copied) {
    if (source.kind == Source::Kind::kSeveral)
      for (std::size_t i = 0; i < source.bytes; ++i) use_load(code, code.several[source.index + i], true);
    if (source.kind != Source::Kind::kLiveIn) return;
    const Loaded& loaded = loaded_[source.index];
    if (loaded.access != kNoAccess && (loaded.copied || copied)) plan_.copied_loads.push_back(loaded.access);
  }

  /// Several sources in one granule: as if all of them were copies.
  void note_sources(const OriginCode& code, const Source& source, std::uint32_t first_access, Loaded& into) {
    if (source.kind == Source::Kind::kSeveral) {
      for (std::size_t i = 0; i < source.bytes; ++i) {
        Loaded one;
        note_sources(code, code.several[source.index + i], first_access, one);
        if (one.access != kNoAccess) plan_.copied_loads.push_back(one.access);
      }
    } else if (source.kind == Source::Kind::kLiveIn) {
      into = loaded_[source.index];
      into.copied = true;
    } else if (source.kind == Source::Kind::kLoaded) {
      into.access = access_of_[first_access + source.index];
    }
  }

  void write(const PathPart& part) {
    const OriginCode& code = part.code->origins;
    const auto first_load = static_cast<std::uint32_t>(access_of_.size());
    access_of_.resize(first_load + code.loads.size(), kNoAccess);
    for (const MemoryAccess& access : part.code->accesses) {
      if (access.load != MemoryAccess::kNo) access_of_[first_load + access.load] = accesses_;
      ++accesses_;
    }
    std::vector<Loaded> outs(code.outs.size());
    for (std::size_t i = 0; i < outs.size(); ++i) note_sources(code, code.outs[i].source, first_load, outs[i]);
    for (const LiveOut& out : part.code->live_outs) {
      for (std::size_t granule = out.granule; granule < std::size_t{out.granule} + out.count; ++granule) {
        writer_[granule] = streams_.definition(part.site, out.instruction);
        loaded_[granule] = {};
        made_[granule] = true;
      }
    }
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const Source& source = code.outs[i].source;
      const DefinitionId writer = writer_[code.outs[i].granule];
      if (source.kind == Source::Kind::kLoaded &&
          writer != streams_.definition(part.site, 0) + code.loads[source.index].instruction)
        outs[i].copied = true;
      loaded_[code.outs[i].granule] = outs[i];
      made_[code.outs[i].granule] = false;
    }
  }

  void finish() {
    std::sort(plan_.copied_loads.begin(), plan_.copied_loads.end());
    plan_.copied_loads.erase(std::unique(plan_.copied_loads.begin(), plan_.copied_loads.end()),
                             plan_.copied_loads.end());
    for (ReadGranule& granule : plan_.granules)
      if (granule.from == ReadGranule::From::kBefore && writer_[granule.granule] != 0) {
        granule.from = ReadGranule::From::kLastIteration;
        granule.definition = writer_[granule.granule];
      }
    choose_uses();
    for (StretchPlan::Read& read : plan_.reads) {
      const std::span<ReadGranule> granules{plan_.granules.data() + read.first, read.read->count};
      count_alike(granules);
      read.whole = !granules.empty() && granules[0].alike == granules.size();
      for (std::size_t i = 1; i < granules.size(); ++i)
        read.whole = read.whole && granules[i].granule == granules[0].granule + i;
    }
    for (std::size_t i = 0; i < exposed_.size(); ++i)
      if (exposed_[i])
        plan_.exposed.push_back({static_cast<Granule>(i),
                                 writer_[i],
                                 writer_[i] != 0,
                                 loaded_[i].access != kNoAccess,
                                 made_[i],
                                 copied_[i],
                                 1,
                                 {}});
    find_runs();
  }

  /// No longer than a register may be.
  void find_runs() {
    const auto goes_on = [](const StretchPlan::Exposed& a, const StretchPlan::Exposed& b) {
      return a.granule + 1 == b.granule && a.writer == b.writer && a.written == b.written && a.loaded == b.loaded &&
             a.made == b.made && a.copied == b.copied && b.run < Granules::kVectorRegister;
    };
    for (std::size_t i = plan_.exposed.size(); i-- > 0;) {
      StretchPlan::Exposed& exposed = plan_.exposed[i];
      if (i + 1 < plan_.exposed.size() && goes_on(exposed, plan_.exposed[i + 1]))
        exposed.run = static_cast<std::uint8_t>(plan_.exposed[i + 1].run + 1);
      exposed.behind = GranuleSet::behind(exposed.granule, exposed.run);
    }
  }

  static void count_alike(std::span<ReadGranule> granules) {
    for (std::size_t i = granules.size(); i-- > 1;)
      if (granules[i - 1].from == granules[i].from && granules[i - 1].definition == granules[i].definition)
        granules[i - 1].alike = granules[i].alike + 1;
  }

  const Streams& streams_;
  StretchPlan plan_;
  std::vector<DefinitionId> writer_;  // by granule: the last in the path so far
  std::vector<bool> exposed_;
  std::vector<bool> copied_;              // by granule: what it had before the path is
  std::vector<bool> made_;                // by granule: what the path wrote last has no other origin
  std::vector<Loaded> loaded_;            // by granule
  std::vector<std::uint32_t> access_of_;  // by load of the path so far
  std::uint32_t accesses_ = 0;            // of the parts so far
};

}  // namespace

bool shows_uneven(std::span<const std::uint64_t> addresses, std::uint64_t k) {
  const std::size_t n = addresses.size();
  const std::uint64_t step = addresses[1] - addresses[0];
  std::uint64_t first = 1;  // that is not in line
  while (first < n && addresses[first] - addresses[0] == step * first) ++first;
  return first == n || first <= k || addresses[n - 1] - addresses[0] != step * (n - 1);
}

bool are_in_line(std::span<const std::uint64_t> addresses) {
  const std::uint64_t step = addresses[1] - addresses[0];
  for (std::size_t i = 2; i < addresses.size(); ++i)
    if (addresses[i] - addresses[i - 1] != step) return false;
  return true;
}

StretchPlan plan_stretch(std::span<const PathPart> parts, std::size_t granules, const Streams& streams) {
  return Planner(granules, streams).plan(parts);
}

}  // namespace loopfold::ddg
