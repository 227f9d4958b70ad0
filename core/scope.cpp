#include "core/scope.h"

#include <utility>

namespace weft::core {
namespace {
thread_local std::string current;
}

Scope::Scope(std::string_view name) : outer_(current.size()) {
  if (!current.empty()) current += '.';
  current += name;
}

Scope::Scope(std::string_view name, Index number) : Scope(name) {
  current += '.';
  current += std::to_string(number);
}

Scope::~Scope() { current.resize(outer_); }

ResumedScope::ResumedScope(const std::string& path) : outer_(std::exchange(current, path)) {}

ResumedScope::~ResumedScope() { current.swap(outer_); }

const std::string& Scope::path() { return current; }

}  // namespace weft::core
