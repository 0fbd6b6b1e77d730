// The host of `gnomon print`: prints reports as they are made, to the terminal or to a file. The
// program's only thread.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands/host/host.h"

namespace gnomon::commands {

class ShellHost : public Host {
 public:
  explicit ShellHost(std::vector<std::string> experiments = {});

  Result<std::string> experiment() override;
  Result<std::vector<std::string>> experiments() override;
  Result<std::string> function() override;
  std::size_t default_limit() const override { return 0; }
  reader::TextStyle style() const override;
  Interrupt interrupt() const override;
  std::string state() override { return ""; }
  Result<reader::Disassembler*> disassembler() override;
  reader::Put printer() override;

  // Reports go there from now on; "-": to the standard output.
  Result<void> redirect(const std::string& path, bool appends) override;
  Result<void> open_experiment(const std::string& name) override;
  Result<void> add_experiment(const std::string& name) override;
  Result<void> drop_experiment(const std::string& name) override;
  Result<void> run_script(const std::string& path) override;
  Result<void> quit() override;
  bool is_over() const { return is_over_; }

  // What `printer` takes is printed from now on, or kept in the answer.
  void set_printing(bool is_printing) { is_printing_ = is_printing; }
  // Prints what a command answers that prints nothing itself; a blank line sets it off from what
  // was printed before. Empty text: nothing.
  Result<void> put_answer(const std::string& text);
  Result<void> flush();

  // Long work ends when SIGINT comes; at first the signal ends the program.
  void take_interrupts();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Result<void> put(std::string_view piece);

  std::vector<std::string> experiments_;
  std::unique_ptr<std::FILE, Close> file_;  // null: the standard output
  int scripts_ = 0;                         // that are being run
  bool is_printing_ = false, is_blank_due_ = false;
  bool has_printed_ = false, stdout_has_printed_ = false;
  bool is_over_ = false, takes_interrupts_ = false;
};

}  // namespace gnomon::commands
