// Declaration of the keys of a struct of parameters:
//
//   struct DramConfig {
//     std::uint64_t size_bytes = 6ULL << 30;
//     static void describe(config::Keys<DramConfig>& key) {
//       using namespace config;
//       key(number("size", Unit::kBytes, kMiB, 16 * kTiB, "main memory"), &DramConfig::size_bytes);
//     }
//   };
#pragma once

#include "models/keys/key.h"

namespace attnvp::config {

template <class Target>
class Keys {
 public:
  template <class Field>
  void operator()(KeyInfo info, Field Target::*field) {
    keys_.push_back(make_key<Target>(std::move(info), field));
  }

  // Adds the keys that Part::describe() declares, with `name` as prefix of their paths.
  template <class Part>
  void section(const std::string& name, Part Target::*part) {
    section<Part>(
        name, [part](const Target& target) -> const Part& { return target.*part; },
        [part](Target& target) -> Part& { return target.*part; });
  }
  template <class Part, class Read, class Write>
  void section(const std::string& name, Read read, Write write) {
    Keys<Part> part;
    Part::describe(part);
    for (const Key<Part>& of_part : part.all()) {
      Key<Target> key;
      static_cast<KeyInfo&>(key) = of_part;
      key.path = name + "." + of_part.path;
      key.get = [read, get = of_part.get](const Target& target) { return get(read(target)); };
      key.set = [write, set = of_part.set](Target& target, const Value& value) { set(write(target), value); };
      keys_.push_back(std::move(key));
    }
  }

  // Adds the keys of a part without a prefix.
  template <class Part>
  void members(Part Target::*part) {
    Keys<Part> keys;
    Part::describe(keys);
    for (const Key<Part>& of_part : keys.all()) {
      Key<Target> key;
      static_cast<KeyInfo&>(key) = of_part;
      key.get = [part, get = of_part.get](const Target& target) { return get(target.*part); };
      key.set = [part, set = of_part.set](Target& target, const Value& value) { set(target.*part, value); };
      keys_.push_back(std::move(key));
    }
  }

  const std::vector<Key<Target>>& all() const { return keys_; }

 private:
  std::vector<Key<Target>> keys_;
};

}  // namespace attnvp::config
