// What is known of functions of the C library, by name.
#pragma once

#include <string>

namespace loopfold::layout {

/// It computes, prints, allocates or frees: memory that it is not given is left alone, and it comes back.
bool is_harmless(const std::string& function);

/// It gives memory that is nobody else's: malloc and its like.
bool allocates(const std::string& function);

/// It may read, copy and write what its arguments lead to, and keeps no address of it.
bool keeps_nothing(const std::string& function);

}  // namespace loopfold::layout
