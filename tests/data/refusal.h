#pragma once

#include <string>

#include "core/error.h"

namespace weft::data {

/// The error that `act` throws.
template <class Act>
core::Error refusal_of(Act act) {
  try {
    act();
  } catch (const core::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return core::Error("nothing was refused");
}

/// Whether the error is about `fault` and its message holds every one of `parts`.
template <class... Parts>
void expect_says(const core::Error& error, core::Fault fault, const Parts&... parts) {
  EXPECT_EQ(error.fault(), fault) << error.what();
  const std::string message = error.what();
  for (const std::string& part : {std::string(parts)...}) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in: " << message;
  }
}

}  // namespace weft::data
