// Who calls whom, from <Total> down. Any thread.
#include <algorithm>
#include <numeric>
#include <vector>

#include "reader/report/profile.h"
#include "reader/report/report.h"

namespace gnomon::reader {
namespace {

class Drawing {
 public:
  Drawing(const Profile& profile, Table& table) : profile_(profile), table_(table) {}

  // False: interrupted.
  bool draw(std::size_t limit, const Interrupt& interrupt) {
    called_.resize(profile_.tree.size());
    for (const std::uint32_t n : heaviest(limit))
      if (n != 0) called_[index(profile_.tree.node(CallId{n}).parent)].push_back(n);
    add(0, 0, "+-");
    std::vector<Step> path{{0, 0, "  "}};
    while (!path.empty()) {
      Step& top = path.back();
      if (top.next == called_[top.node].size()) {
        path.pop_back();
        continue;
      }
      if (interrupt.asked(table_.rows.size())) return false;
      const std::uint32_t node = called_[top.node][top.next++];
      const bool last = top.next == called_[top.node].size();
      add(node, path.size(), top.indent + "+-");
      path.push_back({node, 0, top.indent + (last ? "  " : "|  ")});
    }
    return true;
  }

 private:
  struct Step {
    std::uint32_t node;
    std::size_t next;
    std::string indent;  // of what it calls
  };

  // In the order of their inclusive values: a node never stands before its caller.
  std::vector<std::uint32_t> heaviest(std::size_t limit) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < profile_.tree.size(); ++n)
      if (n == 0 || profile_.inclusive[n] != 0) nodes.push_back(n);
    std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return profile_.inclusive[a] != profile_.inclusive[b]
                 ? profile_.inclusive[a] > profile_.inclusive[b]
                 : a < b;
    });
    const std::size_t kept = limit == 0 ? nodes.size() : std::min(limit, nodes.size());
    table_.left_out = {nodes.size() - kept, "calls"};
    nodes.resize(kept);
    return nodes;
  }

  void add(std::uint32_t node, std::size_t depth, std::string mark) {
    const Nanoseconds time{profile_.inclusive[node]};
    const FunctionId function = profile_.tree.node(CallId{node}).function;
    table_.rows.push_back({depth, time, share(time, profile_.total.time),
                           Label{std::move(mark), profile_.names[index(function)]}});
  }

  const Profile& profile_;
  Table& table_;
  std::vector<std::vector<std::uint32_t>> called_;
};

}  // namespace

Result<Table> calltree_report(const Query& query) {
  auto profile = open_profile(query.experiment, query.interrupt);
  if (!profile) return tl::unexpected(profile.error());
  Table table;
  table.title = "Functions Call Tree. Metric: Attributed User CPU Time";
  table.notes = profile->notes;
  table.columns = {{"depth", {}, false},
                   {"attributed_user_cpu", {"Attr.", "User CPU", "sec."}},
                   {"attributed_user_cpu_percent", {"", "", "%"}},
                   {"name", {"Name"}}};
  if (!Drawing(*profile, table).draw(query.limit, query.interrupt)) return interrupted();
  return table;
}

}  // namespace gnomon::reader
