// What most reports begin with: the columns that can be shown, and the profile. Any thread, one at
// a time.
#pragma once
#include "reader/analysis/analysis.h"
#include "reader/analysis/view.h"
#include "reader/report/columns.h"

namespace gnomon::reader {

struct Asked {
  Shown shown;
  const Profile* profile;
};

inline Result<Asked> ask(Analysis& analysis, const View& view) {
  auto shown = reader::shown(view, analysis.sums());
  if (!shown) return tl::unexpected(shown.error());
  const auto profile = analysis.profile(view.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  return Asked{std::move(*shown), *profile};
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

}  // namespace gnomon::reader
