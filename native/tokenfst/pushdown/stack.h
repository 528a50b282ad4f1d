// Stack: an immutable stack of symbols as a reference-counted linked list; stacks share cells.
//
//     Cell        the topmost symbol of a stack, the stack below it, and properties of the whole stack
//     CellNote    a value that an owner, such as a distance table, caches in a cell for the stack up to there
//     Stack       one stack
//
// A stack may have a million symbols, so nothing here recurses: a cell stores its hash and its height, comparisons
// stop at the first shared cell, and the last owner frees cells in a loop.
//
// Several threads may share cells. Only the note of a cell changes after it is made; a thread that finds it locked by
// another one proceeds without the note.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "support/hash.h"

namespace tokenfst {

// A number and a cost, and the owner to whom they mean something.
struct CellNote {
  std::shared_ptr<const void> to;
  int32_t number = 0, cost = 0;
};

class Stack {
 public:
  class Cell {
   public:
    int32_t symbol() const { return symbol_; }
    const Cell* below() const { return below_; }
    // Return how many symbols the stack has, the greatest of them, and a hash.
    int32_t height() const { return height_; }
    int32_t highest() const { return highest_; }
    uint64_t hash() const { return hash_; }

    // Return whether `owner` has left a note on the stack and no other thread is accessing it.
    bool noted(const void* owner, CellNote& found) const {
      if (busy_.test_and_set(std::memory_order_acquire)) return false;
      const bool is_noted = note_.to.get() == owner;
      if (is_noted) found.number = note_.number, found.cost = note_.cost;
      busy_.clear(std::memory_order_release);
      return is_noted;
    }
    void note(const CellNote& note) const {
      if (busy_.test_and_set(std::memory_order_acquire)) return;
      // The previous note is released after the flag is cleared.
      CellNote before = std::exchange(note_, note);
      busy_.clear(std::memory_order_release);
    }

   private:
    friend class Stack;
    Cell(int32_t symbol, const Cell* below)
        : symbol_(symbol),
          height_(below ? below->height_ + 1 : 1),
          highest_(below ? std::max(below->highest_, symbol) : symbol),
          below_(below),
          hash_(support::mixed(below ? below->hash_ : 0, static_cast<uint64_t>(symbol) + 1)) {}

    const int32_t symbol_, height_, highest_;
    mutable std::atomic_flag busy_;
    const Cell* const below_;
    const uint64_t hash_;
    mutable std::atomic<int64_t> owners_{1};
    mutable CellNote note_;
  };

  Stack() = default;
  Stack(const Stack& other) : top_(kept(other.top_)) {}
  Stack(Stack&& other) noexcept : top_(std::exchange(other.top_, nullptr)) {}
  Stack& operator=(Stack other) noexcept {
    std::swap(top_, other.top_);
    return *this;
  }
  ~Stack() { release(top_); }

  // Return the stack whose topmost cell this is.
  static Stack of(const Cell* cell) { return Stack(kept(cell)); }

  const Cell* top() const { return top_; }
  bool empty() const { return !top_; }
  int32_t height() const { return top_ ? top_->height_ : 0; }
  uint64_t hash() const { return top_ ? top_->hash_ : 0; }
  // Return the greatest symbol, -1 for none.
  int32_t highest() const { return top_ ? top_->highest_ : -1; }

  void push(int32_t symbol) { top_ = new Cell(symbol, top_); }
  // Return the symbols, the topmost last.
  std::vector<int32_t> symbols() const;

  friend bool operator==(const Stack& left, const Stack& right);
  // Return an arbitrary total order, consistent with equality.
  friend bool operator<(const Stack& left, const Stack& right);

 private:
  explicit Stack(const Cell* top) : top_(top) {}
  static const Cell* kept(const Cell* cell) {
    if (cell) cell->owners_.fetch_add(1, std::memory_order_relaxed);
    return cell;
  }
  static void release(const Cell* cell) noexcept {
    while (cell && cell->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const Cell* const below = cell->below_;
      delete cell;
      cell = below;
    }
  }

  const Cell* top_ = nullptr;
};

}  // namespace tokenfst
