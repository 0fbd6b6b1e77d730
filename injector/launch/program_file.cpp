// The file that a command line executes, and the program that then runs. Any thread.
#include "injector/launch/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace gnomon::injector {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShell = "/bin/sh";

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path ? path : "/bin:/usr/bin";  // as execvp(3)
}

Result<std::string> find_file(const std::string& word) {
  constexpr const char* kPermissions = "see its permissions: `ls -l` shows them";
  if (word.find('/') != std::string::npos) {
    std::error_code error;
    if (!fs::exists(word, error))
      return fault(fmt::format("there is no program {}", word), "see whether the path is right");
    if (fs::is_directory(word, error)) return fault(word + " is a directory", "name a program");
    if (is_executable_file(word)) return word;
    return fault(word + " may not be executed", kPermissions);
  }
  std::istringstream folders(search_path());
  std::string forbidden;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder.empty() ? "." : folder) / word;
    if (is_executable_file(path)) return path.string();
    std::error_code error;
    if (fs::is_regular_file(path, error)) forbidden = path.string();
  }
  if (!forbidden.empty()) return fault(forbidden + " may not be executed", kPermissions);
  return fault(fmt::format("there is no program {} in PATH", word),
               word.empty() ? "name a program" : fmt::format("give its path, such as ./{}", word));
}

// The beginning of a file, as much as the kernel looks at for "#!".
std::string head_of(const std::string& path) {
  std::array<char, 256> text{};
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(file.gcount())};
}

// The first word of env(1)'s arguments that is neither an option nor a variable.
std::string program_of_env(std::istringstream& words) {
  for (std::string word; words >> word;)
    if (word[0] != '-' && word.find('=') == std::string::npos) return word;
  return "";
}

// The interpreter in a first line "#! INTERPRETER [ARGUMENT]".
Result<std::string> interpreter_of(const std::string& script, const std::string& head) {
  std::istringstream words(head.substr(2, head.find('\n') - 2));
  std::string interpreter;
  words >> interpreter;
  if (!is_executable_file(interpreter))
    return fault(fmt::format("{} needs the interpreter {}, which is missing or may not be executed",
                             script, interpreter.empty() ? "that it does not name" : interpreter),
                 "see its first line");
  if (fs::path(interpreter).filename() != "env") return interpreter;
  const std::string program = program_of_env(words);
  if (program.empty()) return interpreter;
  auto found = find_file(program);
  if (found) return found;
  return fault(fmt::format("{} needs an interpreter: {}", script, found.error().what),
               "see its first line");
}

}  // namespace

Result<ProgramFile> find_program(const std::string& word) {
  constexpr int kMostScripts = 5;  // an interpreter may be a script (execve(2))
  auto found = find_file(word);
  if (!found) return tl::unexpected(found.error());
  ProgramFile program{*found, "", false};
  std::string file = *found;
  for (int scripts = 0;; ++scripts) {
    const std::string head = head_of(file);
    if (!head.starts_with("#!")) {
      // What cannot be read may be a program; the kernel knows.
      program.is_text = scripts == 0 && !head.empty() && !head.starts_with(ELFMAG);
      break;
    }
    if (scripts == kMostScripts)
      return fault(word + " is a script of too many interpreters", "see their first lines");
    auto interpreter = interpreter_of(file, head);
    if (!interpreter) return tl::unexpected(interpreter.error());
    file = std::move(*interpreter);
  }
  std::error_code error;
  program.executable = fs::canonical(program.is_text ? kShell : file, error).string();
  return program;
}

}  // namespace gnomon::injector
