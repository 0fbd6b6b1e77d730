// Reports on an experiment that was not open before.
#pragma once
#include "reader/analysis/analysis_cache.h"
#include "reader/report/asked/report.h"

namespace gnomon::test {

inline Result<reader::Table> functions_of(const std::string& directory,
                                          const reader::View& view = {}) {
  reader::AnalysisCache cache;
  const auto analysis = cache.get({directory}, {}, {}, view.interrupt);
  if (!analysis) return tl::unexpected(analysis.error());
  return reader::functions_report(**analysis, view);
}

inline Result<reader::Table> status_of(const std::string& directory) {
  reader::AnalysisCache cache;
  const auto analysis = cache.get({directory}, {}, {}, {});
  if (!analysis) return tl::unexpected(analysis.error());
  return reader::status_report(**analysis);
}

}  // namespace gnomon::test
