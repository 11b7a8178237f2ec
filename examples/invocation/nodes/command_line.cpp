// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <filesystem>

namespace weft::invocation {

std::optional<stop_with> parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return stop_with{code == 0 ? 0 : 2};
  }
}

std::string program(std::string_view name, std::string_view fabric) {
  return std::string(name) + "." + std::string(fabric);
}

std::string beside(const char* self, const std::string& name) {
  std::error_code ignored;
  auto path = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (ignored) path = self;
  return (path.parent_path() / name).string();
}

void add_fabric(CLI::App& app, std::string& fabrics) {
  app.add_option("--fabric", fabrics, "Of a program of several fabrics: those that it may use, with commas between");
}

milliseconds_option::milliseconds_option(CLI::App& app, const char* name, duration& target, const char* help,
                                         std::uint64_t least)
    : value(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(target).count())),
      into(target),
      option(app.add_option(name, value, help)) {
  option->capture_default_str()->type_name("MS")->check(CLI::Range(least, std::uint64_t{86'400'000}));
}

spawn_options::spawn_options(CLI::App& app, process_spawner::settings& into, std::string program)
    : into_(into), program_(std::move(program)) {
  into_.fresh = false;
  const auto also = [&](CLI::Option* option) {
    all_.push_back(option);
    return option;
  };
  also(app.add_option("--executor", into_.executor,
                      "Program to start. A chosen one is started for each executor, as it may be a wrapper that "
                      "chooses a place: --fresh-executors is implied"))
      ->capture_default_str()
      ->type_name("FILE");
  also(app.add_option("--functions", into_.folder,
                      "Folder of trusted objects of functions; without it none are accepted"))
      ->type_name("DIR");
  also(app.add_option("--trust", into_.trusted, "SHA-256 of an object that clients may send (repeatable)"))
      ->type_name("HASH")
      ->check([](const std::string& text) {
        return parse_digest(text) ? std::string() : "a SHA-256 has 64 hexadecimal digits, not \"" + text + "\"";
      });
  also(app.add_option("--executor-memory-mib", into_.confined.memory_mib,
                      "Memory that an executor may take after its start; 0: no limit"))
      ->capture_default_str();
  also(app.add_option("--executor-user", into_.confined.user,
                      "User of executors; it must be able to read --functions, and to write there. Needs root"))
      ->type_name("NAME");
  also(app.add_flag(
      "--fresh-executors", into_.fresh,
      "Each executor is a program started from nothing. Without this it is a copy of a process that has loaded "
      "the libraries, which is faster, but all such executors have their code at the same addresses"));
  also(app.add_option("--pool", into_.pool, "Executors to start ahead, so that the next clients need not wait"))
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  also(app.add_flag(
      "--unconfined-executors", unconfined_,
      "Executors may make any system call: for functions that open files or connections, and for debuggers"));
}

std::optional<stop_with> spawn_options::store() {
  const std::string rules_out = into_.fresh ? "--fresh-executors" : "--executor";
  into_.fresh = into_.fresh || all_.front()->count() > 0;
  if (into_.fresh && into_.pool > 0) {
    complain(program_, "--pool " + std::to_string(into_.pool) + " keeps copies of a warm parent, which " + rules_out +
                           " rules out; leave one of them out");
    return stop_with{2};
  }
  into_.confined.filter = !unconfined_;
  return std::nullopt;
}

std::string spawn_options::given() const {
  for (const CLI::Option* each : all_)
    if (each->count() > 0) return each->get_name();
  return {};
}

}  // namespace weft::invocation
