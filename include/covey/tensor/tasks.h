// Independent parts of one computation, run by however many threads there are.
//
// The computation decides how many parts there are, never the number of threads; each part writes
// what no other part reads or writes, and whoever adds their results adds them in part order.
// Then 1, 2 and 7 threads give the same bits.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace covey::tensor {

// A reference to a callable body(part) or body(part, worker); owns and allocates nothing.
// part: 0 <= part < count. worker: 0 <= worker < width(); no two parts that run at once have the
// same worker, so it may choose a scratch buffer (but never a value).
// Requires: the body outlives the call of Tasks::Run that it is given to (a lambda written inside
// the call does) and does not throw.
class Task {
 public:
  template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, Task>)
      Task(const Body& body)  // NOLINT(google-explicit-constructor): lambdas are meant to be passed
      : body_(std::addressof(body)),
        call_([](const void* to, std::size_t part, std::size_t worker) {
          const Body& typed = *static_cast<const Body*>(to);
          if constexpr (std::is_invocable_v<const Body&, std::size_t, std::size_t>) {
            typed(part, worker);
          } else {
            typed(part);
          }
        }) {}

  void operator()(std::size_t part, std::size_t worker) const { call_(body_, part, worker); }

 private:
  const void* body_;
  void (*call_)(const void*, std::size_t, std::size_t);
};

// Thread: one Run at a time; a part does not call Run of the same object.
class Tasks {
 public:
  Tasks() = default;
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  virtual ~Tasks() = default;

  // The greatest number of parts that run at once; constant over the life of the object, at least
  // 1. Scratch for each worker is sized by it.
  virtual std::size_t width() const = 0;

  // Calls task(part, worker) once for each part in [0, count), in any order and possibly at once;
  // returns when all are done. What they wrote is visible to the caller then.
  // Cost: no allocation.
  virtual void Run(std::size_t count, Task task) = 0;
};

// All parts on the calling thread, in order.
class SerialTasks final : public Tasks {
 public:
  std::size_t width() const override { return 1; }
  void Run(std::size_t count, Task task) override {
    for (std::size_t part = 0; part < count; ++part) task(part, 0);
  }
};

}  // namespace covey::tensor
