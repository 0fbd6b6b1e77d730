// The format of pprof (github.com/google/pprof, proto/profile.proto), compressed by gzip. Any
// thread.
#include <fmt/format.h>
#include <zlib.h>

#include <map>

#include "reader/export/formats.h"

namespace gnomon::reader {
namespace {

// A message in the wire format of protocol buffers.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    varint(field << 3);
    varint(value);
  }
  void bytes(unsigned field, std::string_view content) {
    varint(field << 3 | 2);
    varint(content.size());
    bytes_ += content;
  }
  void packed(unsigned field, const std::vector<std::uint64_t>& values) {
    Message content;
    for (const std::uint64_t value : values) content.varint(value);
    bytes(field, content.bytes_);
  }
  const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// String 0 is empty.
class StringTable {
 public:
  std::uint64_t of(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_{""};
  std::map<std::string, std::uint64_t> numbers_{{"", 0}};
};

class Gzip {
 public:
  explicit Gzip(const Put& put) : put_(put) {
    constexpr int kWindowAndGzip = 15 + 16, kMemory = 8;
    is_ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowAndGzip, kMemory,
                             Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() {
    if (is_ready_) deflateEnd(&stream_);
  }
  Result<void> put(const std::string& bytes) { return deflated(bytes, Z_NO_FLUSH); }
  Result<void> finish() { return deflated("", Z_FINISH); }

 private:
  Result<void> deflated(const std::string& bytes, int flush) {
    if (!is_ready_) return fault("there is not enough memory to compress the profile");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    char room[1 << 14];
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room);
      stream_.avail_out = sizeof room;
      deflate(&stream_, flush);
      if (auto done = put_({room, sizeof room - stream_.avail_out}); !done) return done;
    } while (stream_.avail_out == 0);
    return {};
  }

  const Put& put_;
  z_stream stream_{};
  bool is_ready_;
};

// Field numbers of profile.proto.
namespace profile_field {
constexpr unsigned kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5,
                   kStringTable = 6, kTime = 9, kDuration = 10, kPeriodType = 11, kPeriod = 12,
                   kDefaultType = 14;
}

class PprofWriter {
 public:
  explicit PprofWriter(const ExportSource& source, const Put& put) : source_(source), gzip_(put) {
    for (std::uint32_t m = 0; m < metric_table().size(); ++m)
      if (source.analysis.sums().has(MetricId{m})) metrics_.push_back(MetricId{m});
  }

  Result<void> write() {
    for (const MetricId metric : metrics_)
      if (auto done = put(profile_field::kSampleType, type_of(metric)); !done) return done;
    // pprof takes the first mapping for the program's.
    const std::string& program = source_.analysis.experiment().header.executable;
    if (auto done = program.empty() ? Result<void>() : write_mapping(program); !done) return done;
    const CallTree& tree = source_.profile.tree();
    for (std::uint32_t node = 1; node < tree.size(); ++node) {
      if (source_.interrupt.asked(node)) return interrupted();
      if (auto done = write_sample(CallId{node}); !done) return done;
    }
    if (auto done = write_run(); !done) return done;
    for (const std::string& text : strings_.all())
      if (auto done = put(profile_field::kStringTable, text); !done) return done;
    return gzip_.finish();
  }

 private:
  Result<void> put(unsigned field, const std::string& content) {
    Message message;
    message.bytes(field, content);
    return gzip_.put(message.text());
  }

  std::string type_of(MetricId metric) {
    const Metric& of = row(metric);
    Message type;
    type.number(1, strings_.of(std::string(of.key)));
    type.number(2, strings_.of(of.quantity == Quantity::time    ? "nanoseconds"
                               : of.quantity == Quantity::bytes ? "bytes"
                                                                : "count"));
    return type.text();
  }

  // Locations are told from the innermost out.
  Result<void> write_sample(CallId node) {
    std::vector<std::uint64_t> values, locations;
    bool has_value = false;
    for (const MetricId metric : metrics_) {
      values.push_back(source_.profile.values(metric).exclusive[index(node)]);
      has_value = has_value || values.back() != 0;
    }
    if (!has_value) return {};
    for (CallId at = node; at != CallId::total; at = source_.profile.tree().node(at).parent) {
      const FunctionId function = source_.profile.tree().node(at).function;
      if (auto done = write_function(function); !done) return done;
      locations.push_back(std::uint64_t{index(function)} + 1);
    }
    Message sample;
    sample.packed(1, locations);
    sample.packed(2, values);
    return put(profile_field::kSample, sample.text());
  }

  // A function, the only location in it and, once, its load object.
  Result<void> write_function(FunctionId id) {
    if (written_.size() < source_.profile.functions()) written_.resize(source_.profile.functions());
    if (written_[index(id)]) return {};
    written_[index(id)] = true;
    const Function& function = source_.profile.function(id);
    const SourcePlace begin = source_.analysis.code().begin_of(id, source_.interrupt);
    const std::uint64_t number = std::uint64_t{index(id)} + 1;
    Message told;
    told.number(1, number);
    told.number(2, strings_.of(source_.profile.name(id)));
    told.number(3, strings_.of(function.symbol));
    if (begin.is_known()) {
      told.number(4, strings_.of(source_.analysis.code().files().path(begin.file)));
      told.number(5, begin.line);
    }
    Message line, location;
    line.number(1, number);
    line.number(2, begin.is_known() ? begin.line : 0);
    location.number(1, number);
    if (!function.object.empty()) {
      if (auto done = write_mapping(function.object); !done) return done;
      location.number(2, mappings_[function.object]);
    }
    location.number(3, function.address);
    location.bytes(4, line.text());
    if (auto done = put(profile_field::kFunction, told.text()); !done) return done;
    return put(profile_field::kLocation, location.text());
  }

  Result<void> write_mapping(const std::string& path) {
    const auto [at, is_new] = mappings_.try_emplace(path, mappings_.size() + 1);
    if (!is_new) return {};
    Message mapping;
    mapping.number(1, at->second);
    mapping.number(5, strings_.of(path));
    mapping.number(7, 1);  // it has functions
    return put(profile_field::kMapping, mapping.text());
  }

  Result<void> write_run() {
    const Part& first = source_.analysis.first();
    const Experiment& experiment = first.experiment();
    const format::ControlPage& control = experiment.control;
    const std::uint64_t end = control.end_time != 0 ? control.end_time : first.last_event();
    Message run;
    run.number(profile_field::kTime, experiment.header.start_realtime);
    run.number(profile_field::kDuration, end - std::min(end, control.start_time));
    if (source_.analysis.sums().has(kTotalCpu)) {
      run.bytes(profile_field::kPeriodType, type_of(kTotalCpu));
      run.number(profile_field::kPeriod, experiment.header.interval.value);
    }
    run.number(profile_field::kDefaultType, strings_.of(std::string(row(source_.metric).key)));
    return gzip_.put(run.text());
  }

  const ExportSource& source_;
  Gzip gzip_;
  std::vector<MetricId> metrics_;
  StringTable strings_;
  std::vector<bool> written_;                      // functions
  std::map<std::string, std::uint64_t> mappings_;  // numbers from 1, by path
};

}  // namespace

Result<void> write_pprof(const ExportSource& source, const Put& put) {
  return PprofWriter(source, put).write();
}

}  // namespace gnomon::reader
