// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles that were made to break a reader, and bundles that broke on the way.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "bundle/files/safetensors.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 3000;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string port_yaml(const std::string& fields) {
  return "models:\n  m:\n    inputs:\n    - " + fields + "\n    outputs: []\npipeline: {}\n";
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

struct HostileCase {
  std::string text;
  const char* expected;
};

TEST(HostileYaml, IsRefusedWithLineAndPlace) {
  const std::string tail = "\npipeline: {}\n";
  const std::string good = "name: x, dtype: float32, shape: [1]";
  std::vector<HostileCase> cases{
      {"", "expected a map, found an empty file"},
      {"# nothing\n", "expected a map, found"},
      {"text", "line 1: expected a map, found \"text\""},
      {"[1, 2]", "line 1: expected a map, found a list"},
      {"models: {}\n", "line 1: expected a key \"pipeline\", found none"},
      {"pipeline: {}\n", "expected a key \"models\", found none"},
      {"models: &a {}" + tail, "line 1: anchors are not allowed"},
      {"models: {}\npipeline: {inputs: &x {m: [a]}, outputs: *x}\n", "line 2: anchors are not allowed"},
      {"models: *x" + tail, "line 1: "},
      {"models: !!map {}" + tail, "line 1: tags are not allowed"},
      {"models: !python/object:os.system {}" + tail, "tags are not allowed"},
      {"models: {}\nmodels: {}" + tail, "line 2: the key \"models\" occurs twice"},
      {"models: {}" + tail + "pipeline: {}\n", "line 3: the key \"pipeline\" occurs twice"},
      {"models: {m: {inputs: [], inputs: []}}" + tail, "the key \"inputs\" occurs twice"},
      {"models: {}" + tail + "---\nmodels: {}\n", "expected one document, found another"},
      {"models: {}" + tail + "more: 1\n",
       "line 3: more: unknown key; known here are models, pipeline, system information"},
      {"models: {m: {inputs: [], outputs: [], colour: red}}" + tail, "models.m.colour: unknown key"},
      {"models: {}\npipeline: {speed: 1}\n", "pipeline.speed: unknown key"},
      {"models: {? [a] : 1}" + tail, "expected a name as key"},
      {"models: []" + tail, "models: expected a map of nodes, found a list"},
      {"models: {m: []}" + tail, "models.m: expected a map, found a list"},
      {"models: {m: {outputs: []}}" + tail, "models.m: expected a key \"inputs\", found none"},
      {"models: {'..': {inputs: [], outputs: []}}" + tail, "a node's name must not be"},
      {"models: {'': {inputs: [], outputs: []}}" + tail, "a node's name must not be"},
      {"models: {a/b: {inputs: [], outputs: []}}" + tail, "a node's name must not be"},
      {"models: {\"a\\tb\": {inputs: [], outputs: []}}" + tail, "a node's name must not be"},
      {"models: {m: {inputs: {}, outputs: []}}" + tail, "models.m.inputs: expected a list of ports, found a map"},
      {"models: {m: {inputs: [], outputs: [], parameters: []}}" + tail, "models.m.parameters: expected a map"},
      {"models: {m: {inputs: [], outputs: [], parameters: {model_path: [a]}}}" + tail,
       "models.m.parameters.model_path: expected a text, found a list"},
      {"models: {m: {inputs: [], outputs: [], parameters: {opset_version: x}}}" + tail,
       "opset_version: expected an integer, found \"x\""},
      {port_yaml("5"), "line 4: models.m.inputs[0]: expected a map, found \"5\""},
      {port_yaml("{dtype: float32, shape: [1]}"), "models.m.inputs[0]: expected a key \"name\", found none"},
      {port_yaml("{name: x, shape: [1]}"), "expected a key \"dtype\", found none"},
      {port_yaml("{name: x, dtype: float32}"), "expected a key \"shape\", found none"},
      {port_yaml("{name: '', dtype: float32, shape: [1]}"),
       "models.m.inputs[0].name: expected a name that is not empty"},
      {port_yaml("{name: a/b, dtype: float32, shape: [1]}"), "expected a name that is not empty and has no '/'"},
      {port_yaml("{name: null, dtype: float32, shape: [1]}"), "name: expected a text, found null"},
      {port_yaml("{name: x, dtype: float31, shape: [1]}"), "dtype: expected one of float16, float32"},
      {port_yaml("{name: x, dtype: complex64, shape: [1]}"), "dtype: expected one of float16, float32"},
      {port_yaml("{name: x, dtype: float32, shape: [-1]}"), "shape: expected extents from 0 to 4294967296, found -1"},
      {port_yaml("{name: x, dtype: float32, shape: [1.5]}"), "shape[0]: expected an integer, found \"1.5\""},
      {port_yaml("{name: x, dtype: float32, shape: {a: 1}}"), "shape: expected a shape such as [1, 48], found a map"},
      {port_yaml("{name: x, dtype: float32, shape: null}"), "shape: expected a shape such as [1, 48], found null"},
      {port_yaml("{name: x, dtype: float32, shape: '[1;2]'}"), "shape: expected a shape such as [1, 48]"},
      {port_yaml("{name: x, dtype: float32, shape: ''}"), "shape: expected a shape such as [1, 48]"},
      {port_yaml("{name: x, dtype: float32, shape: '99999999999999999999'}"), "shape: expected a shape such as"},
      {port_yaml("{name: x, dtype: float32, shape: [99999999999]}"), "expected extents from 0 to 4294967296"},
      {port_yaml("{name: x, dtype: float32, shape: [65536, 65536]}"),
       "expected at most 4294967296 bytes, found float32[65536,65536]"},
      {port_yaml("{name: x, dtype: float32, shape: [4294967296, 4294967296, 4294967296]}"),
       "expected at most 4294967296 bytes"},
      {port_yaml("{" + good + ", element_names: {a: 1}}"), "element_names: expected a text, found a map"},
      {port_yaml("{" + good + ", element_names: [[a], {}]}"), "element_names[1]: expected a list of names"},
      {port_yaml("{" + good + ", element_names: [[[a]]]}"), "element_names[0][0]: expected a name"},
      {port_yaml("{" + good + ", element_names: [__temporal_axis__, __temporal_axis__]}"), "a second temporal axis"},
      {port_yaml("{" + good + ", temporal_period_ms: 20}"), "no axis in element_names is __temporal_axis__"},
      {port_yaml("{" + good + ", element_names: [__temporal_axis__], temporal_period_ms: often}"), "expected a number"},
      {port_yaml("{" + good + "}\n    - {" + good + "}"), "models.m.inputs[1]: the name \"x\" occurs twice"},
      {"models: {}\npipeline: {data_flow: [a]}\n", "pipeline.data_flow: expected a map, found a list"},
      {"models: {}\npipeline: {data_flow: {a/b: {c: d}}}\n", "pipeline.data_flow[a/b]: expected a text, found a map"},
      {"models: {}\npipeline: {inputs: {m: [[x]]}}\n", "pipeline.inputs.m[0]: expected a text, found a list"},
      {"models: {}\npipeline: {initial_values: [x]}\n", "pipeline.initial_values: expected a text"},
      {"models: {}\npipeline: {configs: 5}\n", "pipeline.configs: expected a map"},
      {"models: {}" + tail + "system information: [x]\n", "system information: expected a map"},
      {"models: {\xff: 1}" + tail, "expected UTF-8 text"},
      {std::string("models: {}\0pipeline: {}\n", 24), "expected UTF-8 text"},
      {std::string("\xff\xfem\0o\0", 6), "expected UTF-8 text"},
      {"models: {" + tail, "not YAML"},
      {"models: [}" + tail, "not YAML"},
      {"models: \"unfinished" + tail, "line 1: models: expected a map of nodes"},
      {"\tmodels: {}" + tail, "line 1"},
      {"models: " + std::string(65, '[') + std::string(65, ']') + tail, "expected at most 64 levels"},
      {std::string(100'000, '['), "line 1"},
      {std::string(100'000, '{'), "line 1"},
      {std::string((std::size_t{4} << 20U) + 1, ' '), "expected at most 4194304 bytes, found 4194305"},
      {std::string(std::size_t{3} << 20U, '['), "line 1: expected values of at most 131072 bytes"},
      {repeated("{a: ", 1'000'000), "line 1: expected values of at most 131072 bytes"},
      {"models: {}" + tail + "\n\n" + repeated("[a: ", 500'000), "line 5: expected values of at most 131072 bytes"},
      {"models: " + std::string(1 << 20U, 'x') + tail, "line 1: expected values of at most 131072 bytes"},
      {"models:\n" + repeated("- []\n", 200'000) + tail, "expected at most 200000 values"},
  };
  std::string many = "models: [";
  for (int i = 0; i < 200'001; ++i) many += "a,";
  cases.push_back({many + "]" + tail, "expected at most 200000 values"});
  for (const HostileCase& one : cases) {
    const auto spec = parse_bundle(one.text);
    ASSERT_FALSE(spec.ok()) << one.text.substr(0, 200);
    EXPECT_EQ(spec.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(spec.status().message().find(one.expected), std::string::npos)
        << one.text.substr(0, 200) << "\nexpected " << one.expected << "\nfound " << spec.status().message();
  }
}

/// Changes, removes, doubles and moves bytes. The same seed gives the same damage.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string operator()(std::string text, const std::string& other) {
    for (std::size_t i = 0, count = 1 + below(4); i < count && !text.empty(); ++i) damage(text, other);
    return text;
  }

 private:
  // Not std::uniform_int_distribution, whose results differ between libraries.
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void damage(std::string& text, const std::string& other) {
    static const std::string kTelling = "{}[]:,-?&*!|>'\"%@`#\n\t ~\\0123456789\x7f\xff\xc3";
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(text.size() - at, 1 + below(12));
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = kTelling[below(kTelling.size())];
        break;
      case 2:
        text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << below(8)));
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      case 5:
        text.insert(at, 1, kTelling[below(kTelling.size())]);
        break;
      default:
        text.resize(at);
        text += other.substr(below(other.size()));
        break;
    }
  }

  std::mt19937 random_;
};

std::string nodes(std::size_t count, std::size_t ports) {
  std::string list;
  for (std::size_t i = 0; i < ports; ++i) list += "    - {name: p" + std::to_string(i) + ", dtype: bool, shape: []}\n";
  std::string text = "models:\n";
  for (std::size_t i = 0; i < count; ++i) {
    text += "  n" + std::to_string(i) +
            (ports == 0 ? ": {inputs: [], outputs: []}\n" : ":\n    outputs: []\n    inputs:\n");
    text += list;
  }
  return text + "pipeline: {}\n";
}

TEST(HostileYaml, NodesPortsAndNamesAreCounted) {
  EXPECT_TRUE(parse_bundle(nodes(kMostNodes, 0)).ok());
  EXPECT_TRUE(parse_bundle(nodes(2, kMostPorts / 2)).ok());
  const std::string longest(kLongestName, 'x');
  const auto named = [](const std::string& node, const std::string& name) {
    // A key of more than 1024 characters has to say that it is one.
    return "models:\n  ? " + node + "\n  :\n    outputs: []\n    inputs:\n    - {name: " + name +
           ", dtype: bool, shape: []}\npipeline: {}\n";
  };
  EXPECT_TRUE(parse_bundle(named(longest, longest)).ok());
  for (const auto& [text, expected] : std::vector<HostileCase>{
           {nodes(kMostNodes + 1, 0), "expected at most 4096 nodes, found 4097"},
           {nodes(1, kMostPorts + 1), "expected at most 16384 ports, found 16385"},
           {nodes(3, kMostPorts / 2), "expected at most 16384 ports of all nodes together"},
           {named(longest + "x", "a"), "expected names of at most 1024 bytes, found one of 1025"},
           {named("a", longest + "x"), "expected names of at most 1024 bytes, found one of 1025"}}) {
    const auto spec = parse_bundle(text);
    EXPECT_NE(spec.status().message().find(expected), std::string::npos) << spec.status().message().substr(0, 300);
  }
}

TEST(HostileYaml, ProblemsOfTheWiringAreCountedAndNotAllKept) {
  std::string text = "models: {}\npipeline:\n  data_flow:\n";
  for (int i = 0; i < 2000; ++i) text += "    a" + std::to_string(i) + "/x: []\n";
  const WiringReport report = resolve_wiring(parse_bundle(text).value());
  ASSERT_EQ(report.problems.size(), 1001U);
  EXPECT_EQ(report.problems.back().message(), "pipeline: 1000 more problems");
}

TEST(HostileYaml, OfALinkThatLeadsOutOnlyThePlaceIsSaid) {
  std::string name = (fs::temp_directory_path() / "leapp_hostile_test.XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path root = name;
  fs::create_directory(root / "b");
  std::ofstream(root / "secret") << "a: 1\nroot: hash\n";
  fs::create_symlink(root / "secret", root / "b" / "b.yaml");
  const std::string outside = read_bundle(root / "b" / "b.yaml").status().message();
  EXPECT_NE(outside.find("line 1"), std::string::npos) << outside;
  EXPECT_EQ(outside.find("root: "), std::string::npos) << outside;
  EXPECT_EQ(outside.find("unknown key"), std::string::npos) << outside;
  fs::rename(root / "secret", root / "b" / "real.yaml");
  fs::remove(root / "b" / "b.yaml");
  fs::create_symlink("real.yaml", root / "b" / "b.yaml");
  EXPECT_NE(read_bundle(root / "b" / "b.yaml").status().message().find("a: unknown key"), std::string::npos);
  EXPECT_EQ(locate_bundle(root / "b").value(), root / "b" / "b.yaml");
  EXPECT_EQ(locate_bundle(root).status().code(), StatusCode::kNotFound);
  fs::remove_all(root);
}

TEST(HostileYaml, DamagedBundlesEndInAnErrorOrInASpec) {
  std::vector<std::string> texts;
  for (const auto& folder : fs::directory_iterator(fs::path(LEAPP_TEST_BUNDLES) / "peer")) {
    texts.push_back(read(folder.path() / (folder.path().filename().string() + ".yaml")));
  }
  ASSERT_EQ(texts.size(), 6U);
  std::sort(texts.begin(), texts.end());
  Mutator mutate(1);
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string& text = texts[static_cast<std::size_t>(i) % texts.size()];
    const auto spec = parse_bundle(mutate(text, texts[static_cast<std::size_t>(i * 7 + 1) % texts.size()]));
    if (!spec.ok()) {
      EXPECT_FALSE(spec.status().message().empty());
      continue;
    }
    ++accepted;
    // Whatever was read can be checked.
    const auto wiring = check_wiring(spec.value());
    if (!wiring.ok()) continue;
    EXPECT_EQ(wiring.value().order.size(), spec.value().models.size());
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kMutations);
}

TEST(HostileSafetensors, DamagedFilesEndInAnErrorOrInTensors) {
  const fs::path peer = fs::path(LEAPP_TEST_BUNDLES) / "peer";
  std::vector<std::string> files;
  for (const char* name : {"stateful_gru", "stateful_policy", "sample_feedback_graph"}) {
    files.push_back(read(peer / name / (std::string(name) + "_initial_values.safetensors")));
    ASSERT_FALSE(files.back().empty());
  }
  Mutator mutate(2);
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string& file = files[static_cast<std::size_t>(i) % files.size()];
    const std::string damaged = mutate(file, files[static_cast<std::size_t>(i + 1) % files.size()]);
    const auto tensors = parse_safetensors(std::as_bytes(std::span(damaged)));
    if (!tensors.ok()) continue;
    ++accepted;
    std::size_t bytes = 0;
    for (const StoredTensor& tensor : tensors.value()) bytes += tensor.bytes.size();
    EXPECT_LE(bytes, damaged.size());
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kMutations);
}

}  // namespace
}  // namespace leapp::bundle
