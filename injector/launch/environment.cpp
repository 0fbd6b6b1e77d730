// The environment in which a program is launched so that it loads libcollector.so. Any thread.
#include "injector/launch/environment.h"

#include <fmt/format.h>

#include "injector/files/linkage.h"
#include "injector/files/sanitizers.h"
#include "libcollector/format/names.h"

namespace gnomon::injector {
namespace {

// ours: the entries of LD_PRELOAD (ld.so(8)) that the library removes again.
struct Preload {
  std::string ours, all;
};

Preload preload_of(const std::string& executable, const std::string& library,
                   const std::string& theirs) {
  const auto linkage = Linkage::of(executable);
  const std::string first = linkage ? first_library(*linkage) : "";
  if (!first.empty() && theirs.find(first) != std::string::npos)
    return {library, theirs + ":" + library};
  const std::string ours = first.empty() ? library : first + ":" + library;
  return {ours, theirs.empty() ? ours : ours + ":" + theirs};
}

}  // namespace

Result<Variables> launch_variables(const Settings& settings, const std::string& executable,
                                   const std::string& users_preload) {
  // ld.so takes ':' and ' ' for the end of an entry.
  if (settings.library.find_first_of(": ") != std::string::npos)
    return fault(
        settings.library + " cannot be preloaded because of the blank or colon in its path",
        "install Gnomon under another path");
  format::SettingValues values = settings.values;
  values[format::Setting::hold] = kHoldMs * std::uint64_t{1'000'000};
  const Preload preload = preload_of(executable, settings.library, users_preload);
  return Variables{{format::kEnvLibrary, preload.ours},
                   {format::kEnvTarget, executable},
                   {format::kEnvSession, fmt::format("{:x}", settings.session)},
                   {format::kEnvStem, settings.stem},
                   {format::kEnvSettings, format::settings_text(values).text},
                   {"LD_PRELOAD", preload.all}};
}

}  // namespace gnomon::injector
