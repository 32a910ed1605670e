// Definitions of the templates that bind keys to fields; for sources that call describe() or bind keys of their own.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "models/keys/key.h"

namespace attnvp::config {

// Binds a key to a field, given by pointers to members: make_key<MachineConfig>(info, &MachineConfig::l1,
// &ScratchpadConfig::size_bytes). The field of a choice is an enumeration or the chosen name.
template <class Target, class... Members>
Key<Target> make_key(KeyInfo info, Members... members) {
  using Field = std::decay_t<decltype((std::declval<Target&>().*....*members))>;
  Key<Target> key;
  static_cast<KeyInfo&>(key) = std::move(info);
  const std::vector<std::string> names = key.names;
  key.get = [names, members...](const Target& target) -> Value {
    const Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, std::string>) {
      return names.empty() ? Value(field) : choice_of(names, field);
    } else if constexpr (std::is_same_v<Field, bool>) {
      return field;
    } else if constexpr (std::is_floating_point_v<Field>) {
      return static_cast<double>(field);
    } else {
      return static_cast<std::uint64_t>(field);
    }
  };
  key.set = [names, members...](Target& target, const Value& value) {
    Field& field = (target.*....*members);
    if constexpr (std::is_same_v<Field, std::string>) {
      field = names.empty() ? std::get<std::string>(value) : names.at(std::get<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Field, bool>) {
      field = std::get<bool>(value);
    } else if constexpr (std::is_floating_point_v<Field>) {
      field = static_cast<Field>(std::get<double>(value));
    } else {
      field = static_cast<Field>(std::get<std::uint64_t>(value));  // the limits were checked before
    }
  };
  return key;
}

template <class Target>
template <class Field>
void Keys<Target>::operator()(KeyInfo info, Field Target::*field) {
  keys_.push_back(make_key<Target>(std::move(info), field));
}

template <class Target>
template <class Part>
void Keys<Target>::section(const std::string& name, Part Target::*part) {
  section<Part>(
      name, [part](const Target& target) -> const Part& { return target.*part; },
      [part](Target& target) -> Part& { return target.*part; });
}

template <class Target>
template <class Part, class Read, class Write>
void Keys<Target>::section(const std::string& name, Read read, Write write) {
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

template <class Target>
template <class Part>
void Keys<Target>::members(Part Target::*part) {
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

}  // namespace attnvp::config
