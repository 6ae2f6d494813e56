#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Counts allocations by replacing the global operator new: to be included by one file of a program.

namespace {

std::atomic<long> allocations = 0;
std::atomic<std::size_t> allocated_bytes = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  allocated_bytes += size;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

template <class F>
long allocations_of(F&& function) {
  function();  // what is made once, at the first call, is not a cost of each
  const long before = allocations;
  for (int i = 0; i < 100; ++i)
    function();
  return allocations - before;
}
