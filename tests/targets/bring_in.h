// Brings the collector into this process, on a thread made for it, and prints what it answered.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libcollector/format/attach.h"

inline void check(bool right) {
  if (!right) std::exit(1);
}

// libcollector.so, and /directory/test of test.N.er.
struct Wanted {
  const char *library, *stem;
};

inline void* bring_in(void* pointer) {
  const auto& wanted = *static_cast<Wanted*>(pointer);
  static gnomon::format::AttachRequest request;
  request = {};
  request.bytes = sizeof request;
  request.version = gnomon::format::kAttachVersion;
  request.session = 5;
  request.interval = 10'000'000;
  request.unblocking = static_cast<std::uint32_t>(gnomon::format::Unblocking::answered);
  std::strcpy(request.stem, wanted.stem);
  void* library = dlopen(wanted.library, RTLD_NOW);
  if (!library) std::puts(dlerror());
  check(library);
  auto* attach = reinterpret_cast<int (*)(gnomon::format::AttachRequest*)>(
      dlsym(library, gnomon::format::kAttachFunction));
  check(attach);
  attach(&request);
  std::printf("answer %u threads %u blocking %u refused %u error %d %s\n", request.answer,
              request.threads, request.blocking, request.refused, request.error, request.directory);
  if (request.unbound != 0 || request.thread_maker[0])
    std::printf("unbound %u %s\n", request.unbound, request.thread_maker);
  std::fflush(stdout);
  return nullptr;
}

inline void bring_in_by_thread(Wanted wanted) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t helper;
  check(pthread_create(&helper, nullptr, bring_in, &wanted) == 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  check(pthread_join(helper, nullptr) == 0);
}
