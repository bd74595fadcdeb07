#!/usr/bin/env python3
"""Each rule is seen to fail on a tiny bad sample and to pass on the good one beside it."""

import shutil
import tempfile
import unittest
from pathlib import Path

import modules
import reach
import text
import tidy
from tree import Tree, blank

GOOD = {
    "cmake/modules.cmake": "covey_module(base PORTABLE)\n"
                           "covey_module(tensor PORTABLE USES base THIRD_PARTY Eigen3::Eigen)\n"
                           "covey_module(nn PORTABLE USES tensor)\n"
                           "covey_module(node USES nn THIRD_PARTY Threads::Threads)\n",
    "cmake/programs.cmake": "covey_program(coveyd daemon USES node THIRD_PARTY CLI11::CLI11)\n",
    "docs/architecture.md": "| module | holds | may use | third party |\n"
                            "| --- | --- | --- | --- |\n"
                            "| `base` p | x | - | tl::expected |\n"
                            "| `tensor` p | x | base | Eigen |\n"
                            "| `nn` p | x | tensor | - |\n"
                            "| `node` | x | nn | threads |\n",
    "include/covey/base/a.h": "#pragma once\n#include <vector>\n",
    "include/covey/tensor/b.h": '#pragma once\n#include <Eigen/Core>\n#include "covey/base/a.h"\n',
    "src/base/a.cc": '#include "covey/base/a.h"\n',
    "src/nn/c.h": '#pragma once\n#include "covey/base/a.h"\n#include "covey/tensor/b.h"\n',
    "src/nn/c.cc": '#include "nn/c.h"\n#include <Eigen/Core>\n',
    "src/node/d.cc": "#include <thread>\nvoid F() { std::this_thread::sleep_for(s); }\n",
    "tests/unit/nn/c_test.cc": '#include <gtest/gtest.h>\n#include "nn/c.h"\n',
    "daemon/main.cc": "#include <CLI/CLI.hpp>\nint main() {}\n",
}


class Sample(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for path, content in GOOD.items():
            self.write(path, content)

    def write(self, path, content):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(content, encoding="utf-8")

    def run_rule(self, rule):
        tree = Tree(self.root)
        return [str(problem) for check in tidy.RULES[rule] for problem in check(tree)]

    def assert_bad(self, rule, path, content, wanted):
        self.assertEqual(self.run_rule(rule), [], "the sample without the fault must be clean")
        self.write(path, content)
        found = self.run_rule(rule)
        self.assertEqual(len(found), 1, found)
        self.assertIn(path, found[0])
        self.assertIn(wanted, found[0])



class Claims(Sample):
    def setUp(self):
        super().setUp()
        self.write("tests/unit/nn/c_test.cc", "TEST(Net, Learns) {}\nTEST_F(Fleet, Agrees) {}\n")
        self.write("docs/robustness.md", "| `Net.Learns`, `network.chunk` | `Fleet.Agrees` |\n")

    def test_of_a_test(self):
        self.assert_bad("claims", "docs/robustness.md", "a\n| `Net.Forgets` |\n", "Net.Forgets")

    def test_of_a_file(self):
        self.assert_bad("claims", "docs/robustness.md", "`tests/unit/nn/d_test.cc`\n", "d_test.cc")

class ModuleTable(Sample):
    def test_module_outside_the_closure(self):
        self.assert_bad("modules", "src/base/a.cc", '#include "covey/tensor/b.h"\n',
                        "base may not use tensor")

    def test_test_file_outside_the_closure(self):
        self.write("tests/unit/base/a_test.cc", "int x;\n")
        self.assert_bad("modules", "tests/unit/base/a_test.cc", '#include "covey/tensor/b.h"\n',
                        "base may not use tensor")

    def test_private_header_of_another_module(self):
        self.assert_bad("modules", "src/node/d.cc", '#include "nn/c.h"\n', "private header of nn")

    def test_third_party_in_public_header_needs_its_own_row(self):
        self.write("include/covey/nn/e.h", "#pragma once\n")
        self.assert_bad("modules", "include/covey/nn/e.h", "#include <Eigen/Core>\n",
                        "Eigen is not in the row of nn")

    def test_third_party_in_source_needs_an_allowed_row(self):
        self.assert_bad("modules", "src/base/a.cc", "#include <Eigen/Core>\n", "Eigen is not in")

    def test_generated_messages_are_protobuf(self):
        self.assert_bad("modules", "src/nn/c.cc", '#include "covey/v1/peer.pb.h"\n', "protobuf")

    def test_portable_module_takes_no_threads(self):
        self.assert_bad("modules", "src/nn/c.cc", "#include <mutex>\n", "nn is portable")

    def test_program_includes_only_what_it_uses(self):
        self.assert_bad("modules", "daemon/main.cc", "#include <zmq.hpp>\n", "cppzmq")

    def test_missing_header(self):
        self.assert_bad("modules", "src/nn/c.cc", '#include "covey/nn/none.h"\n', "no such header")

    def test_unknown_header(self):
        self.assert_bad("modules", "src/nn/c.cc", '#include "foreign/x.h"\n', "unknown header")

    def test_cycle(self):
        text_now = GOOD["cmake/modules.cmake"].replace("base PORTABLE", "base PORTABLE USES nn")
        self.write("docs/architecture.md",
                   GOOD["docs/architecture.md"].replace("| - | tl", "| nn | tl"))
        self.write("cmake/modules.cmake", text_now)
        self.assertIn("base uses nn, which has no row above it", self.run_rule("modules")[0])

    def test_unknown_target(self):
        self.assertEqual(self.run_rule("modules"), [])
        self.write("cmake/modules.cmake",
                   GOOD["cmake/modules.cmake"].replace("tensor)", "tensor THIRD_PARTY Odd::Odd)"))
        self.assertIn("Odd::Odd is unknown", "\n".join(self.run_rule("modules")))

    def test_folder_without_row(self):
        self.assert_bad("modules", "src/extra/x.cc", "int x;\n", "module extra has no row")

    def test_document_differs(self):
        page = GOOD["docs/architecture.md"]
        for old, new, wanted in [("`nn` p", "`nn`", "nn, portable"),
                                 ("| tensor | -", "| base | -", "nn, may use"),
                                 ("| base | Eigen", "| base | -", "tensor, third party"),
                                 ("| `nn` p | x | tensor | - |\n", "", "no row for module nn"),
                                 ("| `base` p", "| `gone` | x | - | - |\n| `base` p",
                                  "gone has no")]:
            self.write("docs/architecture.md", page.replace(old, new))
            found = self.run_rule("modules")
            self.assertEqual(len(found), 1, found)
            self.assertIn(wanted, found[0])


class Tokens(Sample):
    def test_every_banned_token(self):
        for line in ["auto t = std::chrono::steady_clock::now();", "auto t = time(nullptr);",
                     "std::random_device d;", "int r = rand();", "int r = std::rand();",
                     "srand(7);", "auto m = MatrixXf::Random(3, 3);", "m.setRandom();",
                     "std::normal_distribution<float> d;", "std::this_thread::sleep_for(s);",
                     "usleep(3);", "std::mt19937 g;", "throw 3;", "try { F(); }",
                     "auto* p = dynamic_cast<B*>(a);"]:
            self.write("src/nn/c.cc", GOOD["src/nn/c.cc"])
            self.assert_bad("tokens", "src/nn/c.cc", f"\nvoid F() {{\n  {line}\n}}\n", "c.cc:3")

    def test_comments_and_literals_may_say_anything(self):
        self.write("src/nn/c.cc", '// rand() and sleep_for\n/* throw\n try */\n'
                   'const char* kText = "rand() \\" throw";\nconst char* kRaw = R"(try)";\n'
                   "int operand(int a);\nint x = model.rand();\nint y = 1'000;\nchar c = '\"';\n")
        self.assertEqual(self.run_rule("tokens"), [])

    def test_worldly_module_may_but_never_distributions(self):
        self.write("src/node/d.cc", "auto t = std::chrono::steady_clock::now();\n")
        self.assertEqual(self.run_rule("tokens"), [])
        self.write("src/node/d.cc", "std::uniform_int_distribution<int> d;\n")
        self.assertEqual(len(self.run_rule("tokens")), 1)

    def test_tests_never_sleep(self):
        self.assert_bad("tokens", "tests/unit/node/d_test.cc",
                        "void F() { std::this_thread::sleep_for(s); }\n", "a sleep")

    def test_tests_listen_on_port_zero(self):
        self.write("tests/unit/node/d_test.cc", 'settings.listen = "tcp://127.0.0.1:0";\n')
        self.assert_bad("tokens", "tests/unit/node/d_test.cc",
                        'settings.listen = "tcp://127.0.0.1:7420";\n', "fixed port")

    def test_hash_order_in_consensus(self):
        self.assert_bad("tokens", "src/consensus/x.cc", "std::unordered_map<int, int> m;\n",
                        "hash order")


class Sizes(Sample):
    def test_file_at_its_limit_and_beyond(self):
        self.write("src/nn/c.cc", "int x;\n" * text.MAX_LINES)
        self.assert_bad("sizes", "src/nn/c.cc", "int x;\n" * (text.MAX_LINES + 1), "401 lines")

    def test_line_at_its_limit_and_beyond(self):
        self.write("src/nn/c.cc", "/" * text.MAX_COLUMNS + "\n")
        self.assert_bad("sizes", "src/nn/c.cc", "/" * (text.MAX_COLUMNS + 1) + "\n", "101 columns")

    def test_columns_are_characters(self):
        self.write("src/nn/c.cc", "// " + "\u00e9" * (text.MAX_COLUMNS - 3) + "\n")
        self.assertEqual(self.run_rule("sizes"), [])

    @staticmethod
    def function(lines, head="int F(int a)"):
        return ("namespace covey {\nclass A : public B {\n  " + head + " {\n"
                + "    if (a) { b(); }\n" * (lines - 2) + "  }\n};\n}\n")

    def test_function_at_its_limit_and_beyond(self):
        self.write("src/nn/c.cc", self.function(text.MAX_FUNCTION))
        self.assert_bad("sizes", "src/nn/c.cc", self.function(text.MAX_FUNCTION + 1),
                        "c.cc:3: function of 71 lines")

    def test_function_found_behind_tables_and_macros(self):
        before = ("#define M(x) \\\n  do { x; \\\n  } while (0)\n"
                  "constexpr int kTable[] = {1, 2,\n3};\n")
        self.write("src/nn/c.cc", before + self.function(80, "TEST(A, B)"))
        self.assertEqual(len(self.run_rule("sizes")), 1)


class Words(Sample):
    def test_unfinished(self):
        self.assert_bad("words", "src/nn/c.cc", "// TODO: later\n", "TODO")

    def test_tab(self):
        self.assert_bad("words", "src/nn/c.cc", "\tint x;\n", "tab")

    def test_trailing_blank(self):
        self.assert_bad("words", "src/nn/c.cc", "int x; \n", "blank")

    def test_missing_newline(self):
        self.assert_bad("words", "src/nn/c.cc", "int x;", "no newline")


class Reach(Sample):
    def test_header_that_nobody_includes(self):
        self.assert_bad("reach", "include/covey/nn/dead.h", "#pragma once\n", "no file includes")

    def test_sources_that_nobody_compiles(self):
        for path in ["src/nn/deep/x.cc", "src/none/x.cc", "tests/unit/nn/x.cc",
                     "tests/unit/x_test.cc",
                     "tests/unit/none/x_test.cc", "tests/fuzz/nn/x.cc", "daemon/deep/x.cc"]:
            self.assert_bad("reach", path, "int x;\n", "no build rule")
            (self.root / path).unlink()

    def test_fuzz_target_and_corpus_belong_together(self):
        self.write("tests/fuzz/nn/x_fuzz.cc", "int x;\n")
        self.assertIn("no corpus", self.run_rule("reach")[0])
        self.write("tests/fuzz/nn/corpus/x/seed", "seed")
        self.assert_bad("reach", "tests/fuzz/nn/corpus/y", "", "without a fuzz target")

    def test_script_that_nobody_runs(self):
        self.assert_bad("reach", "tests/e2e/lost.py", "print()\n", "no CMake file registers")
        self.write("tests/e2e/CMakeLists.txt", "add_test(NAME x COMMAND python lost.py)\n")
        self.assertEqual(self.run_rule("reach"), [])

    def test_pragma_once(self):
        self.assert_bad("reach", "src/nn/c.h",
                        GOOD["src/nn/c.h"].replace("#pragma once\n", ""), "#pragma once")

    def test_inl_header_needs_no_pragma(self):
        self.write("src/nn/k-inl.h", "int x;\n")
        self.write("src/nn/c.cc", GOOD["src/nn/c.cc"] + '#include "nn/k-inl.h"\n')
        self.assertEqual(self.run_rule("reach"), [])

    def test_own_header_first(self):
        self.assert_bad("reach", "src/nn/c.cc", '#include <vector>\n#include "nn/c.h"\n',
                        "first include")


class Groups(Sample):
    HEADER = ("#pragma once\nnamespace covey::nn {\ninline constexpr int kSize = 1;\n"
              "struct Step {\n};\nint Half(int x) { return x / 2; }\n}\n")
    SOURCE = "namespace covey::nn {\nnamespace {\n%s\n}  // namespace\nint x;\n}\n"

    def test_helper_that_hides_a_name_of_the_module(self):
        self.write("src/nn/c.h", self.HEADER)
        self.write("src/nn/e.cc", self.SOURCE % "constexpr int kOwnSize = 2;\nint Own() {}")
        for code, name in [("constexpr int kSize = 2;", "kSize"), ("struct Step {};", "Step"),
                           ("using Step = int;", "Step"), ("int Half(int) {}", "Half")]:
            self.assert_bad("groups", "src/nn/d.cc", self.SOURCE % code, f"{name} hides")
            (self.root / "src/nn/d.cc").unlink()

    def test_what_no_file_of_the_group_can_see(self):
        self.write("src/nn/c.h", self.HEADER)
        self.write("src/node/d.cc", self.SOURCE % "constexpr int kSize = 2;")
        own = self.SOURCE.replace("covey::nn", "covey::node") % "constexpr int kSize = 2;"
        self.write("src/node/e.cc", own)
        self.assertEqual(self.run_rule("groups"), [])


class Tools(Sample):
    def test_header_that_does_not_stand_alone(self):
        compiler = shutil.which("c++") or shutil.which("clang++-14")
        if not compiler:
            self.skipTest("no compiler")
        self.write("include/covey/base/lonely.h",
                   "#pragma once\n#include <string>\nstd::string F();\n")
        self.write("include/covey/tensor/b.h", "#pragma once\n")
        self.assertEqual(reach.check_self_contained(Tree(self.root), compiler, []), [])
        self.write("include/covey/base/lonely.h", "#pragma once\nstd::string F();\n")
        found = reach.check_self_contained(Tree(self.root), compiler, [])
        self.assertEqual([problem.path for problem in found], ["include/covey/base/lonely.h"])

    def test_format(self):
        program = shutil.which("clang-format-14")
        if not program:
            self.skipTest("clang-format-14 is not installed")
        self.write(".clang-format", "BasedOnStyle: Google\n")
        for path, content in GOOD.items():
            if path.endswith((".h", ".cc")):
                self.write(path, "int x;\n" if path != "src/nn/c.cc" else content)
        self.write("src/nn/c.cc", "int  x;\n")
        found = reach.check_format(Tree(self.root), program)
        self.assertEqual([problem.path for problem in found], ["src/nn/c.cc"])


    def test_shell(self):
        program = shutil.which("shellcheck")
        if not program:
            self.skipTest("shellcheck is not installed")
        self.write("scripts/run", "#!/usr/bin/env bash\necho \"$1\"\n")
        self.assertEqual(reach.check_shell(Tree(self.root), program), [])
        self.write("scripts/run", "#!/usr/bin/env bash\necho $1\n")
        found = reach.check_shell(Tree(self.root), program)
        self.assertEqual([problem.line for problem in found], [2])


class Blank(unittest.TestCase):
    def test_keeps_lines_and_code(self):
        self.assertEqual(blank('a; // b\n"c\\"d" /* e\n f */ g'), 'a;     \n"    "     \n      g')


if __name__ == "__main__":
    unittest.main()
