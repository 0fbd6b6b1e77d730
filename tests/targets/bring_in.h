// Brings the collector into this process, on a thread made for it, and prints what it answered; and
// lets it give back what it has.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
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

inline gnomon::format::AttachRequest& new_request() {
  static gnomon::format::AttachRequest request;
  request = {};
  request.bytes = sizeof request;
  request.version = gnomon::format::kAttachVersion;
  request.session = 5;
  return request;
}

inline void* collector = nullptr;  // once it is there

inline void* bring_in(void* pointer) {
  const auto& wanted = *static_cast<Wanted*>(pointer);
  auto& request = new_request();
  std::memcpy(request.settings, "p=10000000;", sizeof "p=10000000;");
  request.unblocking = static_cast<std::uint32_t>(gnomon::format::Unblocking::answered);
  std::memcpy(request.stem, wanted.stem, std::strlen(wanted.stem) + 1);
  collector = dlopen(wanted.library, RTLD_NOW);
  if (!collector) std::puts(dlerror());
  check(collector);
  auto* attach = reinterpret_cast<int (*)(gnomon::format::AttachRequest*)>(
      dlsym(collector, gnomon::format::kAttachFunction));
  check(attach);
  attach(&request);
  std::printf("answer %u threads %u blocking %u refused %u error %d %s\n", request.answer,
              request.threads, request.blocking, request.refused, request.error, request.directory);
  if (request.unbound != 0 || request.thread_maker[0])
    std::printf("unbound %u %s\n", request.unbound, request.thread_maker);
  std::fflush(stdout);
  return nullptr;
}

inline void* give_back(void*) {
  auto* release = reinterpret_cast<int (*)(gnomon::format::AttachRequest*)>(
      dlsym(collector, gnomon::format::kReleaseFunction));
  check(release);
  auto& request = new_request();
  release(&request);
  std::printf("released %u unbound %u\n", request.answer, request.unbound);
  std::fflush(stdout);
  return nullptr;
}

struct Work {
  void* (*function)(void*);
  void* argument;
  std::atomic<bool> may_begin;
};

// Begins when its maker has its own mask again: the collector would count the maker as a thread
// that blocks SIGPROF.
inline void* do_work(void* pointer) {
  auto& work = *static_cast<Work*>(pointer);
  work.may_begin.wait(false);
  return work.function(work.argument);
}

inline void do_by_thread(void* (*what)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Work work{what, argument, false};
  pthread_t helper;
  check(pthread_create(&helper, nullptr, do_work, &work) == 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  work.may_begin = true;
  work.may_begin.notify_one();
  check(pthread_join(helper, nullptr) == 0);
}

inline void bring_in_by_thread(Wanted wanted) { do_by_thread(bring_in, &wanted); }
