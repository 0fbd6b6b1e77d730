// libc's statistical profiler beside the collector's clock. Normal context.
#pragma once

namespace gnomon::collector {

// If libc's profil(3) had SIGPROF before the collector took it, libc will restore the action from
// before itself, at the program's end at the latest, and a tick would then end the program. Has
// libc begin anew, so that it restores the collector's. Returns false if that cannot be done. To be
// called while no clock runs.
bool let_profil_come_after();
// Stops the profiler of a program built with -pg until restart_profil, so that libc restores what
// it has found. Returns false if it does not run.
bool stop_profil();
void restart_profil();

}  // namespace gnomon::collector
