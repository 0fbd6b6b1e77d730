// Records of the kernel's rings, put together word by word (perf_event_open(2), "MMAP layout").
#pragma once
#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace gnomon::test {

class RecordBytes {
 public:
  explicit RecordBytes(std::uint32_t type, std::uint16_t misc = 0) {
    add(perf_event_header{type, misc, 0});
  }

  template <typename T>
  RecordBytes& add(const T& value) {
    const std::size_t at = size_;
    size_ += sizeof value;
    words_.resize((size_ + 7) / 8);
    std::memcpy(reinterpret_cast<char*>(words_.data()) + at, &value, sizeof value);
    return *this;
  }
  RecordBytes& numbers(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) add(value);
    return *this;
  }
  RecordBytes& origin_behind(std::uint64_t event, std::uint64_t time, std::uint32_t process = 7,
                             std::uint32_t thread = 8) {
    add(process).add(thread).add(time);
    return add(std::uint32_t{1}).add(std::uint32_t{0}).add(event);
  }
  // less: what is cut off.
  const perf_event_header& record(std::size_t less = 0) {
    auto* header = reinterpret_cast<perf_event_header*>(words_.data());
    header->size = static_cast<std::uint16_t>(size_ - less);
    return *header;
  }
  std::size_t size() const { return size_; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace gnomon::test
