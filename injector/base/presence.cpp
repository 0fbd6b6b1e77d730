// Presence: did libcollector.so get into a launched process? Seen from /proc; any thread.
#include "injector/base/presence.h"

#include <elf.h>

#include <sstream>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

// "address perms offset dev inode   path" (proc(5)); empty: no path.
std::string path_in(const std::string& line) {
  const auto at = line.find('/');
  return at == std::string::npos ? "" : line.substr(at);
}

// libc.so.6, also by the name libc-2.31.so
bool is_libc(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libc.so.") || name.starts_with("libc-2.");
}

bool is_secure(pid_t pid) {
  const std::string words = proc_text(pid, "auxv");
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= words.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry{};
    words.copy(reinterpret_cast<char*>(&entry), sizeof entry, at);
    if (entry.a_type == AT_SECURE) return entry.a_un.a_val != 0;
  }
  return false;
}

// The value of a variable in the environment that the process was started with.
std::string variable(pid_t pid, const std::string& name) {
  std::istringstream all(proc_text(pid, "environ"));
  for (std::string entry; std::getline(all, entry, '\0');)
    if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
  return "";
}

}  // namespace

Presence presence(pid_t pid, const std::string& executable, const std::string& library) {
  const std::string running = proc_link(pid, "exe");
  if (running.empty()) return Presence::gone;
  if (running != executable) return Presence::not_yet;
  std::istringstream maps(proc_text(pid, "maps"));
  bool has_libc = false;
  for (std::string line; std::getline(maps, line);) {
    const std::string path = path_in(line);
    if (path == library) return Presence::here;
    has_libc |= is_libc(path);
  }
  // An auditor (LD_AUDIT) and its libraries are loaded before preloaded ones.
  return has_libc && variable(pid, "LD_AUDIT").empty() ? Presence::absent : Presence::not_yet;
}

bool was_launched(pid_t pid) {
  std::istringstream status(proc_text(pid, "status"));
  long parent = -1, tracer = -2;
  for (std::string word; status >> word;)
    if (word == "PPid:")
      status >> parent;
    else if (word == "TracerPid:")
      status >> tracer;
  return parent == tracer;
}

Fault absence(pid_t pid, const std::string& library) {
  if (is_secure(pid))
    return {"the loader preloads nothing into a program that changes its user or has capabilities",
            "start it as that user"};
  if (variable(pid, "LD_PRELOAD").find(library) == std::string::npos)
    return {
        "its LD_PRELOAD lacks " + library,
        "see `settings show target.env-vars` and the options of `process launch`; while it runs, "
        "`collector enable` records it, too"};
  return {"the loader did not load " + library, "see what the program printed"};
}

}  // namespace gnomon::injector
