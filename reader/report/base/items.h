// What a report lists, one a row: functions, lines, instructions, threads ..., each with exclusive
// and inclusive values. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/analysis/place_profile.h"
#include "reader/analysis/profile.h"
#include "reader/report/base/columns.h"
#include "reader/table/table.h"

namespace gnomon::reader {

// Items have numbers from 0 on.
class Items {
 public:
  virtual ~Items() = default;
  virtual std::string_view plural() const = 0;  // "functions"
  virtual std::uint32_t size() const = 0;
  virtual Phrase name(std::uint32_t item) const = 0;
  // What items are put in order by when they are ordered by name.
  virtual std::string order(std::uint32_t item) const { return name(item).text(); }
  // Where its code begins in the load object's file; none: it is at several places, or at none.
  virtual std::optional<std::uint64_t> address(std::uint32_t) const { return std::nullopt; }
  // Bytes of code; 0: not known.
  virtual std::uint64_t bytes(std::uint32_t) const { return 0; }
  // flavour attributed: the inclusive value.
  virtual std::uint64_t value(Flavour flavour, MetricId metric, std::uint32_t item) const = 0;
  // The item that stands for all of them, <Total>.
  virtual std::uint32_t total() const = 0;
};

// Those that are code.
class CodeItems : public Items {
 public:
  // The function that the item is or lies in.
  virtual FunctionId function_id(std::uint32_t item) const = 0;
  virtual const Function& function(std::uint32_t item) const = 0;
  // Path of the source file, where the item tells more than its function does; else empty.
  virtual std::string source_file(std::uint32_t) const { return ""; }
};

class FunctionItems : public CodeItems {
 public:
  explicit FunctionItems(const Profile& profile) : profile_(profile) {}
  std::string_view plural() const override { return "functions"; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(profile_.functions()); }
  Phrase name(std::uint32_t item) const override {
    return {"", profile_.name(FunctionId{item}), ""};
  }
  FunctionId function_id(std::uint32_t item) const override { return FunctionId{item}; }
  const Function& function(std::uint32_t item) const override {
    return profile_.function(FunctionId{item});
  }
  std::optional<std::uint64_t> address(std::uint32_t item) const override;
  std::uint64_t bytes(std::uint32_t item) const override { return function(item).size; }
  std::uint64_t value(Flavour flavour, MetricId metric, std::uint32_t item) const override {
    return profile_.value(flavour, metric, FunctionId{item});
  }
  std::uint32_t total() const override { return index(profile_.total()); }

 private:
  const Profile& profile_;
};

class PlaceItems : public CodeItems {
 public:
  // functions: has the functions of places with a value; space: all.
  PlaceItems(const PlaceProfile& places, const Profile& functions, const AddressSpace& space)
      : places_(places), functions_(functions), space_(space) {}
  std::string_view plural() const override;
  std::uint32_t size() const override { return static_cast<std::uint32_t>(places_.size()); }
  // "fib, line 20 in "fib.c"", "fib + 0x00000019, line 20 in "fib.c"", "<Function: fib,
  // instructions without line numbers>".
  Phrase name(std::uint32_t item) const override;
  FunctionId function_id(std::uint32_t item) const override { return place(item).function; }
  const Function& function(std::uint32_t item) const override {
    return space_.function(place(item).function);
  }
  // As `functions` lists it.
  const std::string& function_name(std::uint32_t item) const;
  std::optional<std::uint64_t> address(std::uint32_t item) const override;
  std::string source_file(std::uint32_t item) const override;
  std::uint64_t value(Flavour flavour, MetricId metric, std::uint32_t item) const override;
  std::uint32_t total() const override { return index(places_.total()); }

  bool are_instructions() const { return places_.grain() == Grain::instruction; }
  const Place& place(std::uint32_t item) const { return places_.place(PlaceId{item}); }

 private:
  const PlaceProfile& places_;
  const Profile& functions_;
  const AddressSpace& space_;
};

// The items to show, in the view's order: each has an inclusive value of a listed metric, or of the
// metric that the view is sorted by. <Total> is not among them.
std::vector<std::uint32_t> in_order(const Shown& shown, const Items& items);

// Appends the cells of a list's columns that are exclusive, inclusive or static values of the item;
// shares are those of the total.
void add_item_cells(Row& row, const MetricList& list, const Items& items, std::uint32_t item);

}  // namespace gnomon::reader
