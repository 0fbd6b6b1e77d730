// An experiment's files in memory: reading, writing, their checksums. Any thread.
#include "tests/fuzz/experiment_files.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "libcollector/format/block.h"
#include "libcollector/format/control.h"
#include "libcollector/format/names.h"
#include "libcollector/format/overview.h"
#include "libcollector/format/stacks.h"
#include "libcollector/format/text.h"

namespace gnomon::fuzz {
namespace {

namespace fs = std::filesystem;

template <typename T>
T value_at(const std::string& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <typename T>
void put_at(std::string& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string with_check(std::uint64_t session, const std::string& line) {
  const auto key = line.rfind(format::kCheckKey);
  if (key == std::string::npos) return line;
  const std::string body = line.substr(0, key);
  return fmt::format("{}{}{:08x}{}", body, format::kCheckKey,
                     format::line_check(session, body.data(), body.size()), format::kCheckEnd);
}

void mend_lines(std::string& text, std::uint64_t session) {
  std::istringstream lines(text);
  std::string mended;
  for (std::string line; std::getline(lines, line);) {
    mended += with_check(session, line);
    if (!lines.eof()) mended += '\n';
  }
  text = mended;
}

void mend_blocks(std::string& bytes) {
  for (std::size_t at = 0; at + sizeof(format::BlockHeader) <= bytes.size();
       at += format::kBlockBytes) {
    auto header = value_at<format::BlockHeader>(bytes, at);
    if (header.magic != format::kBlockMagic) continue;
    header.begun = format::header_check(header);
    put_at(bytes, at, header);
    const std::size_t used = header.bytes;
    if (used < sizeof header || used % 8 != 0 || used > format::kBlockBytes ||
        at + used > bytes.size())
      continue;
    std::vector<std::uint64_t> words(used / 8);
    std::memcpy(words.data(), bytes.data() + at, used);
    header.check = format::block_check(words.data(), used);
    put_at(bytes, at, header);
  }
}

void mend_stacks(std::string& bytes) {
  if (bytes.size() < format::kStackNodesOffset) return;
  auto header = value_at<format::StackHeader>(bytes, 0);
  header.digest = 0;
  const std::size_t nodes = (bytes.size() - format::kStackNodesOffset) / sizeof(format::StackNode);
  for (std::uint32_t id = 1; id < std::min<std::size_t>(nodes, header.nodes); ++id) {
    const std::size_t at = format::kStackNodesOffset + id * sizeof(format::StackNode);
    auto node = value_at<format::StackNode>(bytes, at);
    const std::uint64_t digest = format::node_digest(id, node);
    node.check = format::node_check(digest);
    header.digest ^= digest;
    put_at(bytes, at, node);
  }
  put_at(bytes, 0, header);
}

void mend_control(std::string& bytes) {
  if (bytes.size() < format::kControlBytes) return;
  auto page = value_at<format::ControlPage>(bytes, 0);
  page.begun = format::begun_check(page);
  put_at(bytes, 0, page);
  auto closed = value_at<format::ClosedPage>(bytes, format::kClosedPageOffset);
  if (closed.check == 0) return;
  closed.page.begun = format::begun_check(closed.page);
  closed.check = format::page_check(closed.page);
  put_at(bytes, format::kClosedPageOffset, closed);
}

}  // namespace

Files read_files(const std::string& directory) {
  Files files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
  return files;
}

bool write_files(const Files& files, const std::string& directory) {
  constexpr std::size_t kHole = 64 << 10;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (!files.contains(entry.path().filename())) fs::remove(entry.path(), error);
  bool is_written = !error;
  for (const auto& [name, bytes] : files) {
    const std::size_t end = bytes.find_last_not_of('\0') + 1;
    const std::size_t kept = bytes.size() - end > kHole ? end : bytes.size();
    const std::string path = directory + "/" + name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(kept));
    file.close();
    is_written = is_written && file.good();
    if (kept < bytes.size()) fs::resize_file(path, bytes.size(), error);
  }
  return is_written && !error;
}

void mend_checks(Files& files) {
  const auto control = files.find(format::kControlFile);
  if (control == files.end() || control->second.size() < sizeof(format::ControlPage)) return;
  const std::uint64_t session = value_at<format::ControlPage>(control->second, 0).session;
  for (auto& [name, bytes] : files) {
    if (name == format::kHeaderFile)
      mend_lines(bytes, 0);
    else if (name == format::kMapFile || name == format::kLogFile || name == format::kOverviewFile)
      mend_lines(bytes, session);
    else if (name == format::kStacksFile)
      mend_stacks(bytes);
    else if (name == format::kControlFile)
      mend_control(bytes);
    else if (name != format::kNotesFile)
      mend_blocks(bytes);
  }
}

}  // namespace gnomon::fuzz
