#include "views/speedscope.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/utf8.h"
#include "support/version.h"
#include "views/layout.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;
using profile::TreeNode;

/// Frames by their text, in order of first use.
class Frames {
 public:
  explicit Frames(const profile::Profile& profile) : words_(profile) {}

  std::size_t add(const TreeNode& node) {
    Json frame{{"name", words_.frame(node)}};
    if (node.source) {
      frame["file"] = valid_utf8(node.source->file);
      if (node.source->line > 0) frame["line"] = node.source->line;
    }
    const auto [entry, fresh] = known_.emplace(frame.dump(), texts_.size());
    if (fresh) texts_.push_back(entry->first);
    return entry->second;
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  Words words_;
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::string> texts_;
};

/// Opens and closes frames; those without instructions are left out.
class Events {
 public:
  explicit Events(const Writer& write) : write_(write) {}

  void open(std::size_t frame, const Span& span) {
    put('O', frame, span.start);
    open_.emplace_back(frame, span.start + span.width);
  }
  /// Closes frames until so many are open.
  void close_to(std::size_t count) {
    for (; open_.size() > count; open_.pop_back()) put('C', open_.back().first, open_.back().second);
  }
  std::size_t count() const { return open_.size(); }
  bool good() const { return good_; }

 private:
  void put(char type, std::size_t frame, std::uint64_t at) {
    good_ = good_ &&
            write_(fmt::format("{}\n{{\"type\":\"{}\",\"frame\":{},\"at\":{}}}", first_ ? "" : ",", type, frame, at));
    first_ = false;
  }

  const Writer& write_;
  std::vector<std::pair<std::size_t, std::uint64_t>> open_;  // frame, and where it ends
  bool first_ = true;
  bool good_ = true;
};

bool write_events(const profile::Profile& profile, const std::vector<Span>& spans,
                  const std::vector<std::size_t>& frames, const Writer& write) {
  Events events(write);
  std::vector<std::size_t> opened(profile.tree.size());  // by node: frames open on the way to it, itself included
  for (std::size_t i = 0; i < profile.tree.size() && events.good(); i++) {
    const TreeNode& node = profile.tree[i];
    if (spans[i].width == 0) continue;
    events.close_to(node.parent ? opened[*node.parent] : 0);
    events.open(frames[i], spans[i]);
    opened[i] = events.count();
  }
  events.close_to(0);
  return events.good();
}

}  // namespace

bool write_speedscope(const profile::Profile& profile, const Writer& write) {
  const std::vector<Span> spans = lay_out(profile);
  Frames frames(profile);
  std::vector<std::size_t> frame_of;
  for (const TreeNode& node : profile.tree) frame_of.push_back(frames.add(node));
  const std::string name = Json(Words(profile).command_line()).dump();
  const std::uint64_t end = profile.tree.empty() ? 0 : spans[0].width;
  if (!write(
          fmt::format("{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"loopfold "
                      "{}\",\n\"name\":{},\n\"activeProfileIndex\":0,\n\"shared\":{{\"frames\":[",
                      kVersion, name)))
    return false;
  for (std::size_t i = 0; i < frames.texts().size(); i++) {
    if (!write((i == 0 ? "\n" : ",\n") + frames.texts()[i])) return false;
  }
  if (!write(fmt::format("\n]}},\n\"profiles\":[{{\"type\":\"evented\",\"name\":{},\"unit\":\"none\",\"startValue\":0,"
                         "\"endValue\":{},\n\"events\":[",
                         name, end)))
    return false;
  return write_events(profile, spans, frame_of, write) && write("\n]}]}\n");
}

}  // namespace loopfold::views
