#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ddg/graph.h"
#include "symbols/symbolizer.h"
#include "trace/types.h"

namespace loopfold::ddg {
class Objects {
 public:
  Objects(symbols::Symbolizer&, const std::vector<trace::CallStack>&, const std::vector<trace::Module>&) : objects_(2) {
    objects_[0] = {0, Object::Kind::kEnvironment, "environment", "", 0, 0, 0, "", 0};
    objects_[1] = {1, Object::Kind::kUnknown, "unknown", "", 0, 0, 0, "", 0};
  }
  struct Place {
    ObjectId object = kUnknownObject;
    std::int64_t block = 0;
    std::int64_t offset = 0;
  };
  Place find(std::uint64_t address) {
    auto it = live_.upper_bound(address);
    if (it != live_.begin() && address - (--it)->first < it->second.size) {
      Site& site = sites_[it->second.site];
      if (site.object == 0) site.object = make(Object::Kind::kHeap, "malloc");
      return {site.object, it->second.block, static_cast<std::int64_t>(address - it->first)};
    }
    return {kUnknownObject, 0, static_cast<std::int64_t>(address)};
  }
  void allocation(const trace::Allocation& a) {
    if (a.old_address != 0) live_.erase(a.old_address);
    if (a.address != 0) live_[a.address] = {a.size, a.stack, sites_[a.stack].blocks++};
  }
  void mapping(const trace::Mapping&) {}
  ObjectId frame(std::uint64_t) { return make(Object::Kind::kStack, "frame"); }
  void frame_size(ObjectId, std::uint64_t) {}
  void frame_block(ObjectId, std::int64_t) {}
  std::vector<Object> finish() { return objects_; }

 private:
  ObjectId make(Object::Kind kind, const char* name) {
    Object object;
    object.id = static_cast<ObjectId>(objects_.size());
    object.kind = kind;
    object.name = name;
    objects_.push_back(object);
    return object.id;
  }
  struct Site {
    ObjectId object = 0;
    std::int64_t blocks = 0;
  };
  struct Block {
    std::uint64_t size = 0;
    trace::StackId site = 0;
    std::int64_t block = 0;
  };
  std::map<std::uint64_t, Block> live_;
  std::unordered_map<trace::StackId, Site> sites_;
  std::vector<Object> objects_;
};
}  // namespace loopfold::ddg
