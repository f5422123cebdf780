// Golden tests: one file holds the command, its inputs and the output that it must give. Idea: WABT's
// test/parse/. Usage: golden_test [FILE.test…]; without files, all below tests/golden/. LANESCOPE_REBASE=1
// rewrites the expected parts of the files from what the program does now.
//
//   What this test shows, in free text up to the first directive.
//   ;; run: $LANESCOPE model --arch sm_90   (several run lines make one shell script)
//   ;; exit: 2                              (of the last command; 0 when not given)
//   ;; stdin:                               (a block: all lines up to the next directive)
//   ;; file: NAME                           (a block written to NAME in the folder where the commands run)
//   ;; stdout:                              (the block that must come out; none = nothing may come out)
//   ;; stderr:
//
// The commands run in a fresh folder with LANESCOPE (the program) and KERNELS_DIR set. In the output the
// paths of the source tree and of that folder are replaced by $SOURCE_DIR and $TEST_DIR, so that goldens hold
// on every machine.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::string_view no_newline = "\\ no newline at end of output\n";

/// One directive `;; name: value` and the lines below it.
struct Section {
  std::string name;
  std::string value;
  std::string body;
};

struct GoldenFile {
  std::string description;
  std::vector<Section> sections;

  /// The only section of this name; an empty one when there is none.
  [[nodiscard]] Section find(std::string_view name) const {
    for (const Section& section : sections)
      if (section.name == name) return section;
    return {std::string(name), "", ""};
  }
};

struct Outcome {
  int exit = 0;
  std::string out;
  std::string err;
};

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

GoldenFile parse(const fs::path& path) {
  static constexpr std::string_view known[] = {"run", "exit", "stdin", "file", "stdout", "stderr"};
  GoldenFile golden;
  std::istringstream in(read_text(path));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(";; ")) {
      const size_t colon = line.find(':');
      const std::string name = line.substr(3, colon == std::string::npos ? colon : colon - 3);
      if (std::find(std::begin(known), std::end(known), name) == std::end(known))
        throw std::runtime_error(path.string() + ": unknown directive: " + line);
      const size_t value = line.find_first_not_of(' ', colon + 1);
      golden.sections.push_back({name, value == std::string::npos ? "" : line.substr(value), ""});
    } else {
      (golden.sections.empty() ? golden.description : golden.sections.back().body) += line + '\n';
    }
  }
  if (golden.find("run").value.empty()) throw std::runtime_error(path.string() + ": no ';; run:' line");
  return golden;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Output as it stands in a golden file: whole lines, no paths of this machine.
std::string canonical(std::string text, const fs::path& test_dir) {
  if (!text.empty() && text.back() != '\n') text += '\n' + std::string(no_newline);
  replace_all(text, test_dir.string(), "$TEST_DIR");
  replace_all(text, LANESCOPE_SOURCE_DIR, "$SOURCE_DIR");
  return text;
}

/// A folder that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "lanescope-golden-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Outcome run(const GoldenFile& golden) {
  const TemporaryFolder folder;
  const fs::path work = folder.path() / "work";
  fs::create_directories(work);
  std::string script;
  for (const Section& section : golden.sections) {
    if (section.name == "run") script += section.value + '\n';
    if (section.name == "file") write_text(work / section.value, section.body);
  }
  write_text(folder.path() / "script", script);
  write_text(folder.path() / "stdin", golden.find("stdin").body);

  setenv("TEST_FOLDER", folder.path().c_str(), 1);
  const int status =
      std::system("cd \"$TEST_FOLDER/work\" && exec sh ../script < ../stdin > ../stdout 2> ../stderr");
  if (!WIFEXITED(status)) throw std::runtime_error("the shell was stopped by a signal");
  return {WEXITSTATUS(status), canonical(read_text(folder.path() / "stdout"), work),
          canonical(read_text(folder.path() / "stderr"), work)};
}

/// Rewrites exit, stdout and stderr; leaves the rest of the file as its author wrote it.
void rebase(const fs::path& path, const GoldenFile& golden, const Outcome& outcome) {
  std::string text = golden.description;
  for (const Section& section : golden.sections) {
    if (section.name == "exit" || section.name == "stdout" || section.name == "stderr") continue;
    text +=
        ";; " + section.name + ":" + (section.value.empty() ? "" : " " + section.value) + '\n' + section.body;
  }
  if (outcome.exit != 0) text += ";; exit: " + std::to_string(outcome.exit) + '\n';
  if (!outcome.out.empty()) text += ";; stdout:\n" + outcome.out;
  if (!outcome.err.empty()) text += ";; stderr:\n" + outcome.err;
  write_text(path, text);
}

class GoldenTest : public testing::Test {
 public:
  explicit GoldenTest(fs::path path) : path_(std::move(path)) {}

  void TestBody() override {
    const GoldenFile golden = parse(path_);
    const Outcome outcome = run(golden);
    const char* rebasing = std::getenv("LANESCOPE_REBASE");
    if (rebasing != nullptr && std::string_view(rebasing) == "1") return rebase(path_, golden, outcome);

    const std::string exit = golden.find("exit").value;
    EXPECT_EQ(exit.empty() ? "0" : exit, std::to_string(outcome.exit)) << "exit status of " << path_;
    EXPECT_EQ(golden.find("stdout").body, outcome.out) << "stdout of " << path_;
    EXPECT_EQ(golden.find("stderr").body, outcome.err) << "stderr of " << path_;
  }

 private:
  fs::path path_;
};

std::vector<fs::path> all_golden_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const fs::path source = LANESCOPE_SOURCE_DIR;
  setenv("LANESCOPE", LANESCOPE_PROGRAM, 1);
  setenv("KERNELS_DIR", (source / "kernels").c_str(), 1);
  setenv("COLUMNS", "100", 1);
  setenv("LC_ALL", "C", 1);

  std::vector<fs::path> files(argv + 1, argv + argc);
  if (files.empty()) files = all_golden_files(source / "tests" / "golden");
  for (const fs::path& file : files) {
    testing::RegisterTest("Golden", file.stem().c_str(), nullptr, nullptr, file.c_str(), 1,
                          [file]() -> GoldenTest* { return new GoldenTest(file); });
  }
  return RUN_ALL_TESTS();
}
