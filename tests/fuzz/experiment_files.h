// An experiment's files in memory, to be damaged. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace gnomon::fuzz {

using Files = std::map<std::string, std::string>;  // contents by name

// Regular files of a directory.
Files read_files(const std::string& directory);
// Writes them into a directory, which has no other files then. A run of zeros at a file's end that
// is longer than 64 KiB becomes a hole. Returns false if that failed.
bool write_files(const Files& files, const std::string& directory);

// Computes every checksum anew, as far as the files still have places for them: the damage gets
// past the checks to what trusts the values behind them.
void mend_checks(Files& files);

// One damage of one file, or between files. other: of another experiment, or another time.
void damage(Files& files, const Files& other, std::mt19937_64& random);

}  // namespace gnomon::fuzz
