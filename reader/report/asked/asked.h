// What most reports begin with: the columns that can be shown, and the profile. Any thread, one at
// a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/report/base/columns.h"
#include "reader/report/base/items.h"
#include "reader/report/notes/losses.h"

namespace gnomon::reader {

struct Asked {
  Shown shown;
  const Profile* profile;
  bool has_inlines;           // inlined functions are functions of their own
  bool is_of_places = false;  // lines or instructions are shown
};

inline Result<Asked> ask(Analysis& analysis, const View& view) {
  auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  return Asked{std::move(*shown), *profile, analysis.has_inlines()};
}

// Of what has no attributed value of its own.
inline Result<Asked> ask_items(Analysis& analysis, const View& view) {
  auto asked = ask(analysis, view);
  if (!asked) return asked;
  if (auto* by = std::get_if<MetricColumn>(&asked->shown.sort.by);
      by && by->flavour == Flavour::attributed)
    by->flavour = Flavour::inclusive;
  return asked;
}

// What reports of lines and of instructions begin with.
struct AskedPlaces {
  Asked asked;
  PlaceItems items;
};

inline Result<AskedPlaces> ask_places(Analysis& analysis, const View& view, Grain grain) {
  auto asked = ask_items(analysis, view);
  if (!asked) return tl::unexpected(asked.error());
  const auto places = analysis.places(grain, view.interrupt);
  if (!places) return tl::unexpected(places.error());
  asked->is_of_places = true;
  return AskedPlaces{*asked, PlaceItems(**places, *asked->profile, analysis.address_space())};
}

// Puts what was lost in front of a table's own notes.
inline Result<Table> with_losses(Result<Table> table, const Analysis& analysis,
                                 const Asked& asked) {
  if (!table) return table;
  std::vector<std::string> losses = all_notes(analysis, *asked.profile, asked.shown);
  if (asked.has_inlines || asked.is_of_places)
    for (std::string& note : analysis.without_inlines()) losses.push_back(std::move(note));
  table->notes.insert(table->notes.begin(), losses.begin(), losses.end());
  return table;
}

}  // namespace gnomon::reader
