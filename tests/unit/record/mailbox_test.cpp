// Requests to gnomon-sampler that are taken over while they are read.
#include "libcollector/record/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "libcollector/core/atomic.h"

namespace gnomon::collector {
namespace {

TEST(Mailbox, ARequestIsReadWholeOrNotAtAll) {
  format::Mailbox box{};
  std::atomic<bool> over = false;
  // Each request is of one letter and fits no other.
  std::thread requesters([&] {
    for (std::uint32_t number = 0; !over; number += 2) {
      atomic(box.sequence).store(number + 1);
      const int letter = 'a' + static_cast<int>(number / 2 % 26);
      box.event = static_cast<std::uint32_t>(letter);
      std::memset(box.label, letter, sizeof box.label);
      atomic(box.sequence).store(number + 2);
    }
  });
  for (int read = 0; read < 10'000;) {
    format::Mailbox request{};
    const std::uint32_t number = take_request(box, 0, request);
    if (number == 0) continue;
    ++read;
    const std::string label(request.label);
    ASSERT_EQ(label, std::string(sizeof request.label - 1, static_cast<char>(request.event)));
    ASSERT_EQ(request.event, 97 + (number / 2 - 1) % 26);
  }
  over = true;
  requesters.join();
}

TEST(Mailbox, ARequestIsTakenOnce) {
  format::Mailbox box{}, request{};
  EXPECT_EQ(take_request(box, 0, request), 0u);
  box.sequence = 4;
  EXPECT_EQ(take_request(box, 2, request), 4u);
  EXPECT_EQ(take_request(box, 4, request), 0u);
  box.sequence = 5;
  EXPECT_EQ(take_request(box, 4, request), 0u);
}

}  // namespace
}  // namespace gnomon::collector
