// The function or source file that a report is about, by what the user typed. Any thread.
#include "reader/report/asked/chosen_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reader/report/base/items.h"
#include "reader/symbols/name_match.h"
#include "reader/table/shorten.h"

namespace gnomon::reader {
namespace {

// The functions that `name` means: those it names fully, else those it names in part.
std::vector<FunctionId> meant(const Profile& profile, const std::vector<std::uint32_t>& functions,
                              const std::string& name) {
  std::vector<FunctionId> fully, partly;
  const auto look = [&](FunctionId id) {
    const std::string& known = profile.name(id);
    const auto& aliases = profile.function(id).aliases;
    const auto is_meant = [&](const std::string& alias) { return names_function(name, alias); };
    if (known == name) fully.push_back(id);
    if (is_meant(known) || is_meant(profile.function(id).name) ||
        std::any_of(aliases.begin(), aliases.end(), is_meant))
      partly.push_back(id);
  };
  look(profile.total());
  for (const std::uint32_t id : functions) look(FunctionId{id});
  return fully.empty() ? partly : fully;
}

tl::unexpected<Fault> several(const Profile& profile, const std::vector<FunctionId>& functions,
                              const std::string& name) {
  constexpr std::size_t kShown = 9;
  std::string list;
  for (std::size_t i = 0; i < std::min(functions.size(), kShown); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, profile.name(functions[i]));
  if (functions.size() > kShown) list += fmt::format(" and {} more", functions.size() - kShown);
  return fault(fmt::format("{} functions are meant by {}: {}", functions.size(), name, list),
               "append the number of one");
}

// The first of the functions whose names contain the word, in any case, as a question.
std::string similar(const Profile& profile, const std::vector<std::uint32_t>& functions,
                    const std::string& word, bool has_inlines) {
  constexpr std::size_t kShown = 3;
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  std::string names;
  std::size_t count = 0;
  for (const std::uint32_t id : functions) {
    const std::string& name = profile.name(FunctionId{id});
    if (std::search(name.begin(), name.end(), word.begin(), word.end(), is_same) == name.end())
      continue;
    if (count++ == kShown) break;
    names += (names.empty() ? "" : " or ") + shortened(name, 60);
  }
  if (!names.empty()) return fmt::format("did you mean {}?", names);
  return has_inlines ? "`functions` lists those that were sampled"
                     : "`functions` lists those that were sampled, after `inlines on` also those "
                       "that were inlined";
}

// The source files that a word means: a path, or its end.
std::vector<SourceFileId> files_meant(const SourceFiles& files, const std::string& word) {
  std::vector<SourceFileId> found;
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    const std::string& path = files.path(SourceFileId{i});
    if (path == word || (path.ends_with(word) && path[path.size() - word.size() - 1] == '/'))
      found.push_back(SourceFileId{i});
  }
  return found;
}

Result<SourceFileId> chosen_file(const SourceFiles& files, const FunctionChoice& choice) {
  const std::vector<SourceFileId> found = files_meant(files, choice.name);
  if (choice.number > found.size() || found.empty())
    return fault(fmt::format("{} means {} source file{}", choice.name, found.size(),
                             found.size() == 1 ? "" : "s"));
  if (choice.number != 0 || found.size() == 1)
    return found[choice.number == 0 ? 0 : choice.number - 1];
  std::string list;
  for (std::size_t i = 0; i < found.size(); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, files.path(found[i]));
  return fault(fmt::format("{} source files are meant by {}: {}", found.size(), choice.name, list),
               "append the number of one");
}

}  // namespace

Result<FunctionId> chosen(const FunctionChoice& choice, const Asked& asked) {
  const Profile& profile = *asked.profile;
  const auto& [name, number] = choice;
  const std::vector<std::uint32_t> sampled = in_order(asked.shown, FunctionItems(profile));
  const std::vector<FunctionId> functions = meant(profile, sampled, name);
  if (functions.empty())
    return fault("no sample has a function " + name + " on its call stack",
                 similar(profile, sampled, name, asked.has_inlines));
  if (number == 0 && functions.size() > 1) return several(profile, functions, name);
  if (number > functions.size())
    return fault(fmt::format("{} means {} function{}, not {}", name, functions.size(),
                             functions.size() == 1 ? "" : "s", number),
                 "omit the number, or give a smaller one");
  return functions[number == 0 ? 0 : number - 1];
}

Result<ChosenCode> chosen_code(const FunctionChoice& choice, const Asked& asked,
                               const Places& places) {
  if (!files_meant(places.files(), choice.name).empty()) {
    const auto file = chosen_file(places.files(), choice);
    if (!file) return tl::unexpected(file.error());
    return ChosenCode{std::nullopt, *file};
  }
  const auto function = chosen(choice, asked);
  if (!function) return tl::unexpected(function.error());
  return ChosenCode{*function};
}

std::map<std::uint32_t, std::vector<FunctionId>> functions_of(SourceFileId file,
                                                              const Profile& profile,
                                                              Places& places,
                                                              const Interrupt& interrupt) {
  std::map<std::uint32_t, std::vector<FunctionId>> by_line;
  for (std::uint32_t f = 0; f < profile.functions(); ++f) {
    const SourcePlace begin = places.begin_of(FunctionId{f}, interrupt);
    if (begin.is_known() && begin.file == file) by_line[begin.line].push_back(FunctionId{f});
  }
  for (auto& [line, functions] : by_line)
    std::sort(functions.begin(), functions.end(), [&](FunctionId a, FunctionId b) {
      return profile.function(a).address < profile.function(b).address;
    });
  return by_line;
}

}  // namespace gnomon::reader
