// What a daemon asks of its process.
#pragma once

#include <cstdint>

namespace covey::node {

// Keeps model-sized buffers (229 kB for the paper's MLP) on the heap instead of mapping and
// unmapping each, and keeps the heap small: one arena for all threads. Before other threads start.
void TuneAllocator();

// Gives heap pages that hold nothing back to the system: the queues of a busy moment leave holes,
// and a node is to stay below 20 MB. Cost: about a millisecond for 10 MB. Thread: any.
void ReturnFreedMemory();

// Raises the limit of open files to `wanted`, or to what the system allows.
void RaiseFileLimit(std::uint64_t wanted);

// Proportional set size: private pages, and shared ones divided by the number of processes that map
// them.
// Returns: 0 when the system does not tell.  Cost: a walk over the page tables, below 1 ms for 50
// MB.
std::uint64_t PssBytes();

// Lowers the calling thread's priority, so that it takes what the others leave.
void LowerPriority();

// Names the calling thread for ps and debuggers; at most 15 characters.
void NameThread(const char* name);

}  // namespace covey::node
