// What the commands of covey-sim share: messages, exit codes, folders.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "covey/base/result.h"

namespace covey::harness {

inline constexpr int kInterruptedCode = 130;  // as a shell reports Ctrl-C

// Writes and flushes.
void Print(std::FILE* to, std::string_view text);

// Prints the error. Returns: its exit code.
int Complain(const Error& error);

// Makes a folder that everybody may read, and what is missing above it. Errors: kCantCreate.
Status MakeSharedFolder(const std::string& path);

// Replaces a file that everybody may read. Errors: as store::WriteAtomically.
Status WriteShared(const std::string& path, std::string_view text);

// Returns: "covey-sim 0.1.0 (abc1234, kernels v3)".
std::string BuildLine();

}  // namespace covey::harness
