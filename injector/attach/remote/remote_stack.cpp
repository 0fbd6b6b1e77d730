// Walks the call stack of a stopped thread of another process by the CFI of its load objects. Any
// thread; stops nothing.
#include "injector/attach/remote/remote_stack.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

#include "injector/attach/remote/remote_process.h"

namespace gnomon::injector {
namespace {

constexpr std::size_t kDeepest = 4096;  // frames

int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
  return -1;
}
const Dwfl_Callbacks kFiles = {dwfl_linux_proc_find_elf, no_debug_file, nullptr, nullptr};
const Dwfl_Callbacks kNamedFiles = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr,
                                    nullptr};

// Opens the object's file as the process sees it; a removed file by its mapping, which needs root's
// rights.
int open_object(pid_t pid, const Mapping& mapping) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const int file = open((proc + "/root" + mapping.path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) return file;
  char range[48];
  std::snprintf(range, sizeof range, "/map_files/%llx-%llx",
                static_cast<unsigned long long>(mapping.begin),
                static_cast<unsigned long long>(mapping.end));
  return open((proc + range).c_str(), O_RDONLY | O_CLOEXEC);
}

void report(Dwfl* dwfl, pid_t pid) {
  const std::vector<Mapping> mappings = mappings_of(pid);
  std::set<std::string> executable;
  for (const Mapping& mapping : mappings)
    if (mapping.permissions.find('x') != std::string::npos) executable.insert(mapping.path);
  const std::string vdso = "[vdso: " + std::to_string(pid) + "]";
  dwfl_report_begin(dwfl);
  for (const Mapping& mapping : mappings) {
    if (mapping.path == "[vdso]")
      dwfl_report_module(dwfl, vdso.c_str(), mapping.begin, mapping.end);
    if (mapping.offset != 0 || !mapping.path.starts_with("/") || !executable.erase(mapping.path))
      continue;
    const int file = open_object(pid, mapping);
    // dwfl_report_elf owns the descriptor if it succeeds.
    if (file >= 0 && !dwfl_report_elf(dwfl, mapping.path.c_str(), mapping.path.c_str(), file,
                                      mapping.begin, false))
      close(file);
  }
  dwfl_report_end(dwfl, nullptr, nullptr);
}

int read_cfi(Dwfl_Module* module, void**, const char*, Dwarf_Addr, void*) {
  Dwarf_Addr bias = 0;
  dwfl_module_eh_cfi(module, &bias);
  return DWARF_CB_OK;
}

int add_frame(Dwfl_Frame* state, void* arg) {
  auto& frames = *static_cast<std::vector<Frame>*>(arg);
  Frame frame{};
  if (!dwfl_frame_pc(state, &frame.pc, &frame.is_interrupted)) return DWARF_CB_ABORT;
  frames.push_back(frame);
  return frames.size() < kDeepest ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

const Dwfl_Thread_Callbacks RemoteStacks::kThreads = {
    .next_thread = [](Dwfl*, void* arg, void** seen) -> pid_t {
      if (*seen) return 0;
      *seen = arg;
      return static_cast<Thread*>(arg)->pid;
    },
    .get_thread = nullptr,
    .memory_read = [](Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* arg) -> bool {
      return read_memory(static_cast<Thread*>(arg)->pid, address, word, sizeof *word);
    },
    .set_initial_registers = [](Dwfl_Thread* thread, void* arg) -> bool {
      const DwarfRegisters& registers = static_cast<Thread*>(arg)->registers;
      return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(registers.size()),
                                         registers.data());
    },
    .detach = nullptr,
    .thread_detach = nullptr,
};

RemoteStacks::RemoteStacks(pid_t pid, Names names)
    : thread_(std::make_unique<Thread>(Thread{pid, {}})),
      dwfl_(dwfl_begin(names == Names::read ? &kNamedFiles : &kFiles)) {
  if (!dwfl_) return;
  report(dwfl_.get(), pid);
  // Reads the CFI now, not at the first walk, while a thread is stopped.
  dwfl_getmodules(dwfl_.get(), read_cfi, nullptr, 0);
  dwfl_attach_state(dwfl_.get(), nullptr, pid, &kThreads, thread_.get());
}

CallStack RemoteStacks::walk(const DwarfRegisters& registers) {
  CallStack stack;
  thread_->registers = registers;
  stack.is_whole =
      dwfl_ && dwfl_getthread_frames(dwfl_.get(), thread_->pid, add_frame, &stack.frames) == 0;
  return stack;
}

Named RemoteStacks::name_of(std::uint64_t address) const {
  Named found;
  Dwfl_Module* const module = dwfl_ ? dwfl_addrmodule(dwfl_.get(), address) : nullptr;
  if (!module) return found;
  const char* const path =
      dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (path) found.object = path;
  GElf_Sym symbol{};
  GElf_Off offset = 0;
  const char* const name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name) found.symbol = name;
  found.offset = offset;
  if (Dwfl_Line* const at = dwfl_module_getsrc(module, address))
    if (const char* const file = dwfl_lineinfo(at, nullptr, &found.line, nullptr, nullptr, nullptr))
      found.file = file;
  return found;
}

}  // namespace gnomon::injector
