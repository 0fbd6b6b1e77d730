// The settings, their values and what sets each, as a table. Any thread.
#pragma once
#include <string_view>

#include "commands/host/collect_settings.h"
#include "reader/base/result.h"
#include "reader/table/table.h"

namespace gnomon::commands {

// Who reads a list of settings: a user of `collector`, or of `gnomon collect`.
enum class Speaks { commands, options };
// The settings, their values and what sets each. item: the first word of those wanted, empty or
// `all`: every one. Fault: there is no such item.
Result<reader::Table> settings_table(const CollectSettings& settings, Speaks speaks,
                                     std::string_view item = {});

}  // namespace gnomon::commands
