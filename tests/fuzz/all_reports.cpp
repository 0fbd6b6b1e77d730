// Every report on an experiment, as a user would ask for them in one session. Any thread.
#include "tests/fuzz/all_reports.h"

#include <iterator>
#include <sstream>

#include "commands/base/command.h"

namespace gnomon::fuzz {
namespace {

class OneExperiment : public commands::Host {
 public:
  explicit OneExperiment(std::string directory) : directory_(std::move(directory)) {}
  Result<std::string> experiment() override { return directory_; }
  Result<std::string> function() override { return std::string("main"); }
  std::size_t default_limit() const override { return 0; }
  reader::TextStyle style() const override { return {100, true}; }
  Interrupt interrupt() const override { return {}; }
  std::string state() override { return ""; }

 private:
  std::string directory_;
};

Report ask(commands::Host& host, const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  const std::vector<std::string> rest{std::istream_iterator<std::string>(words), {}};
  const auto command = commands::find_command(name);
  if (!command) return {line, false, sentence(command.error())};
  const auto answer = execute(host, **command, rest);
  return {line, bool(answer), answer ? answer->text : sentence(answer.error())};
}

}  // namespace

std::vector<Report> all_reports(const std::string& directory) {
  constexpr const char* kLines[] = {"status",
                                    "functions",
                                    "callers-callees",
                                    "csingle main",
                                    "calltree",
                                    "lines",
                                    "pcs",
                                    "source main",
                                    "fsummary",
                                    "lsummary --limit 20",
                                    "inlines on",
                                    "calltree --limit 30",
                                    "lines",
                                    "inlines off",
                                    "hot",
                                    "where",
                                    "lines --here",
                                    "doctor",
                                    "threads",
                                    "cpus",
                                    "seconds",
                                    "objects",
                                    "object_hide all",
                                    "filters FNAME(main) SOME IN STACK",
                                    "functions",
                                    "objects_default",
                                    "calltree --limit 30",
                                    "filters off",
                                    "thread_list",
                                    "header",
                                    "overview",
                                    "samples",
                                    "sample_detail",
                                    "statistics",
                                    "dump",
                                    "dump clock --limit 100",
                                    "dump heap --limit 100",
                                    "dump sync --limit 100",
                                    "dump io --limit 100",
                                    "dump use --limit 100",
                                    "heap",
                                    "allocs --limit 20",
                                    "leaks",
                                    "heapstat",
                                    "sync",
                                    "blockers",
                                    "ioactivity",
                                    "iodetail",
                                    "iocallstack",
                                    "iostat",
                                    "accesses",
                                    "calls",
                                    "describe",
                                    "processes",
                                    "functions --metrics all",
                                    "metric_list",
                                    "functions --since stop",
                                    "functions --between 1 2",
                                    "functions --format json",
                                    "calltree --format csv",
                                    "leaks --format json",
                                    "sync --format csv",
                                    "export --to collapsed",
                                    "export --to pprof",
                                    "export --to firefox"};
  OneExperiment host(directory);
  std::vector<Report> reports;
  for (const char* line : kLines) reports.push_back(ask(host, line));
  return reports;
}

}  // namespace gnomon::fuzz
