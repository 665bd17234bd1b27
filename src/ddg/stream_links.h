// The streams of one access or operand, found by a key: the object that is accessed; the producer and the lane.
//
// Nearly every look-up asks for the key of the last one, and is one comparison, with the answer beside the key. Where
// there are several, all of them are in one array, the last found moved one place to the front each time: few are
// searched one by one, many through a table of indices. Nothing is ever removed. What is found does not depend on the
// order of look-ups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace loopfold::ddg {

template <class Details>
class StreamLinks {
 public:
  /// Null if there is none. No key is 0.
  Details* find(std::uint64_t key) {
    if (last_.key == key) [[likely]]
      return last_.details;
    return more_ ? find_slowly(key) : nullptr;
  }

  /// What was found last; null if there is nothing.
  const Details* last() const { return last_.details; }

  /// One that is not there yet; it must stay where it is.
  void insert(std::uint64_t key, Details* details) {
    if (last_.key != 0) {
      if (!more_) more_ = std::make_unique<More>(More{{last_}, {}});
      more_->links.push_back({key, details});
      if (more_->links.size() > kFew) insert_into_index(key, details);
    }
    last_ = {key, details};
  }

  std::size_t size() const { return more_ ? more_->links.size() : last_.key != 0 ? 1 : 0; }

 private:
  static constexpr std::size_t kFew = 8;  // are searched one by one

  struct Link {
    std::uint64_t key = 0;
    Details* details = nullptr;
  };
  struct More {
    std::vector<Link> links;
    std::unordered_map<std::uint64_t, Details*> index;  // of all of them, if they are many
  };

  Details* find_slowly(std::uint64_t key) {
    std::vector<Link>& links = more_->links;
    if (links.size() > kFew) {
      const auto found = more_->index.find(key);
      if (found == more_->index.end()) return nullptr;
      last_ = {key, found->second};
      return last_.details;
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (links[i].key != key) continue;
      last_ = links[i];
      if (i > 0) std::swap(links[i], links[i - 1]);
      return last_.details;
    }
    return nullptr;
  }

  void insert_into_index(std::uint64_t key, Details* details) {
    if (more_->index.empty())
      for (const Link& link : more_->links) more_->index.emplace(link.key, link.details);
    else
      more_->index.emplace(key, details);
  }

  Link last_;
  std::unique_ptr<More> more_;
};

}  // namespace loopfold::ddg
