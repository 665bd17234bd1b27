#include "views/collapsed.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "views/words.h"

namespace loopfold::views {

namespace {

/// A stack of names: contexts with the same names are one.
struct Stack {
  std::uint32_t above = 0;
  std::string name;
  std::uint64_t self = 0;
  std::vector<std::uint32_t> below;  // in order of first appearance
};

std::string frame_name(std::string name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); i++) {
    const bool edge = i == 0 || i + 1 == name.size();
    if (name[i] == ';' || (name[i] == ' ' && edge)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(name[i]));
    } else {
      result += name[i];
    }
  }
  return result;
}

/// All stacks; the first is the root. Names are looked up by parent and name, so this is linear.
std::vector<Stack> merged(const profile::Profile& profile) {
  const Words words(profile);
  std::vector<Stack> stacks;
  std::vector<std::uint32_t> stack_of(profile.tree.size());
  std::unordered_map<std::string, std::uint32_t> known;
  for (std::size_t i = 0; i < profile.tree.size(); i++) {
    const profile::TreeNode& node = profile.tree[i];
    const bool below = node.parent && *node.parent < i;
    const std::uint32_t above = below ? stack_of[*node.parent] : 0;
    std::string name = frame_name(words.frame(node));
    const auto [entry, fresh] =
        known.emplace(below ? fmt::format("{};{}", above, name) : "", static_cast<std::uint32_t>(stacks.size()));
    stack_of[i] = entry->second;
    if (fresh) {
      stacks.push_back({above, std::move(name), 0, {}});
      if (below) stacks[above].below.push_back(entry->second);
    }
    stacks[entry->second].self += node.self_ops;
  }
  return stacks;
}

}  // namespace

bool write_collapsed(const profile::Profile& profile, const Writer& write) {
  const std::vector<Stack> stacks = merged(profile);
  struct Open {
    std::uint32_t stack = 0;
    std::size_t next = 0;    // child to be written
    std::size_t length = 0;  // of the line without this frame
  };
  std::vector<Open> open;
  std::string line;
  const auto enter = [&](std::uint32_t stack) {
    open.push_back({stack, 0, line.size()});
    line += (open.size() == 1 ? "" : ";") + stacks[stack].name;
    return stacks[stack].self == 0 || (write(line) && write(fmt::format(" {}\n", stacks[stack].self)));
  };
  if (stacks.empty()) return true;
  if (!enter(0)) return false;
  while (!open.empty()) {
    Open& top = open.back();
    const std::vector<std::uint32_t>& below = stacks[top.stack].below;
    if (top.next < below.size()) {
      if (!enter(below[top.next++])) return false;
    } else {
      line.resize(top.length);
      open.pop_back();
    }
  }
  return true;
}

}  // namespace loopfold::views
