#include "lab/capture/read_capture.hpp"
#include "lab/capture/readers.hpp"
#include "tests/captures/launches.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

namespace isomer::lab {
namespace {

std::string database(const Folder& folder, const std::string& name, const std::string& sql) {
  const std::string path = folder.path / name;
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* why = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
  sqlite3_close(handle);
  return path;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Capture read_file(const std::string& path) {
  return collected([&](const LaunchSink& sink) { return read_capture(path, sink); });
}

constexpr const char* kNewNsys =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1,'void soft<(int)32>(T1::P)'),(2,'_Z4softILi32EEv1P'),(3,'soft');"
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.25.0');"
    "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES(0,'NVIDIA H200');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId "
    "INT,"
    " globalPid INT, demangledName INT, shortName INT, mangledName INT, gridX INT, gridY INT, gridZ INT, "
    "blockX INT,"
    " blockY INT, blockZ INT, clusterX INT, clusterY INT, clusterZ INT, registersPerThread INT, "
    "staticSharedMemory INT,"
    " dynamicSharedMemory INT, localMemoryPerThread INT, graphNodeId INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
    "(2000,2600,0,7,12,281474976710656+77*16777216,1,3,2,132,1,1,384,1,1,2,1,1,168,16,221184,0,NULL),"
    "(1000,1500,0,7,11,281474976710656+77*16777216,1,3,2,64,1,1,128,1,1,0,0,0,24,0,0,0,9);";

TEST(NsysReader, ReadsKernelsInTheOrderOfTheirStart) {
  const Folder folder;
  const Capture read = read_file(database(folder, "new.sqlite", kNewNsys));
  EXPECT_EQ(read.kind, "nsys");
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.facts.at("schema"), "3.25.0");
  EXPECT_EQ(read.facts.at("device"), "NVIDIA H200");
  ASSERT_EQ(read.launches.size(), 2u);
  const Launch& first = read.launches[0];
  EXPECT_EQ(first.name, "_Z4softILi32EEv1P");
  EXPECT_EQ(first.demangled, "void soft<(int)32>(T1::P)");
  EXPECT_EQ(triple_text(first.grid), "64x1x1");
  EXPECT_EQ(first.graph_node, 9u);
  EXPECT_FALSE(first.cluster);
  EXPECT_EQ(first.duration_ns, 500.0);
  EXPECT_EQ(first.process, 77u);
  const Launch& second = read.launches[1];
  EXPECT_EQ(triple_text(second.cluster), "2x1x1");
  EXPECT_EQ(second.registers, 168u);
  EXPECT_EQ(second.shared_dynamic, 221184u);
  EXPECT_EQ(second.shared_static, 16u);
  EXPECT_FALSE(second.graph_node);
}

TEST(NsysReader, GivesALaunchTheInnermostRangeInWhichItWasMade) {
  const Folder folder;
  const std::string thread = "281474976710656+77*16777216+5", other = "281474976710656+77*16777216+6";
  const Capture read = read_file(database(
      folder, "ranges.sqlite",
      std::string(kNewNsys) +
          "INSERT INTO StringIds VALUES(9,'layer 3');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900,910," +
          thread + ",11),(950,960," + thread +
          ",12);"
          "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT);"
          "INSERT INTO NVTX_EVENTS VALUES(800,990,59,NULL,9," +
          thread +
          "),"
          "(890,920,59,'aten::mm, seq = 5, op_id = 7, sizes = [[8, 16], [16, 8]]',NULL," +
          thread +
          "),"
          "(940,970,60,'begun elsewhere',NULL," +
          thread + "),(940,970,59,'of another thread',NULL," + other + ");"));
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(read.launches[0].operation, "aten::mm [[8,16],[16,8]]");
  EXPECT_EQ(read.launches[1].operation, "layer 3");
}

TEST(NsysReader, ReadsWhatAnOldExportHas) {
  const Folder folder;
  const Capture read = read_file(database(
      folder, "old.db",
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES(3,'soft');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, shortName INT, gridX INT, gridY INT, "
      "gridZ INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5,9,3,1,2,3),(6,4,99,-1,2,3);"));
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(read.launches[0].demangled, "soft");
  EXPECT_EQ(triple_text(read.launches[0].grid), "1x2x3");
  EXPECT_FALSE(read.launches[0].block || read.launches[0].registers || read.launches[0].device);
  EXPECT_TRUE(read.launches[1].demangled.empty());
  EXPECT_FALSE(read.launches[1].duration_ns || read.launches[1].grid);
}

TEST(NsysReader, SaysWhatTheExportHides) {
  const Folder folder;
  const Capture graphs = read_file(database(
      folder, "graphs", std::string(kNewNsys) + "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(x INT);"));
  EXPECT_NE(graphs.facts.at("note graphs").find("--cuda-graph-trace=node"), std::string::npos);
  const Capture none = read_file(database(folder, "none", "CREATE TABLE StringIds(id INT, value TEXT);"));
  EXPECT_NE(none.facts.at("note kernels").find("no kernel"), std::string::npos);
}

TEST(NsysReader, RefusesForeignAndBrokenDatabases) {
  const Folder folder;
  const std::string foreign = database(folder, "foreign", "CREATE TABLE people(name TEXT);");
  // A view of that name could make us do anything.
  const std::string view = database(folder, "view",
                                    "CREATE TABLE StringIds(id INT, value TEXT);"
                                    "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end;");
  const std::string whole = content_of(database(folder, "whole", kNewNsys));
  EXPECT_THROW(read_file(foreign), Error);
  EXPECT_TRUE(read_file(view).launches.empty());
  EXPECT_THROW(read_file(folder.file("cut", whole.substr(0, 200))), Error);
  std::string damaged = whole;
  for (std::size_t i = 5000; i < damaged.size(); i += 3) damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
  try {
    EXPECT_FALSE(read_file(folder.file("damaged", damaged)).complete);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
  }
}

constexpr const char* kKineto = R"json({
 "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
 "distributedInfo": {"rank": 0, "deep": [[[{"ph": "X", "cat": "kernel", "name": "not an event"}]]]},
 "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::sin", "pid": 1, "tid": 1, "ts": 1, "dur": 5},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1},
  {"ph": "X", "cat": "kernel", "name": "void soft<64>(P)", "pid": 0, "tid": 7, "ts": 20.5, "dur": 3.25,
   "args": {"External id": 3, "device": 0, "stream": 7, "correlation": 12, "registers per thread": 24,
    "shared memory": 400, "grid": [64, 1, 1], "block": [128, 1, 1], "graph node id": 0}},
  {"ph": "X", "cat": "kernel", "name": "void soft<32>(P)", "pid": 0, "tid": 7, "ts": 10.5, "dur": 2,
   "args": {"grid": [1, 2], "block": [1, 2, -3], "stream": "7", "correlation": 1e30, "graph node id": 5}},
  {"ph": "s", "id": 12, "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"}, 7, "text", [1, 2], null
 ], "traceName": "x.json"})json";

void expect_kineto(const Capture& read) {
  EXPECT_EQ(read.kind, "kineto");
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(read.launches[0].demangled, "void soft<32>(P)");
  EXPECT_FALSE(read.launches[0].grid || read.launches[0].block || read.launches[0].stream ||
               read.launches[0].correlation);
  EXPECT_EQ(read.launches[0].graph_node, 5u);
  const Launch& second = read.launches[1];
  EXPECT_EQ(second.start_ns, 20500.0);
  EXPECT_EQ(second.duration_ns, 3250.0);
  EXPECT_EQ(triple_text(second.grid), "64x1x1");
  EXPECT_EQ(second.registers, 24u);
  EXPECT_FALSE(second.shared_dynamic || second.shared_static || second.graph_node);
}

TEST(KinetoReader, ReadsPlainAndCompressedText) {
  const Folder folder;
  const Capture plain = read_file(folder.file("trace.json", kKineto));
  EXPECT_TRUE(plain.complete) << plain.incomplete;
  EXPECT_EQ(plain.facts.at("device"), "NVIDIA H200");
  expect_kineto(plain);
  expect_kineto(read_file(folder.file("trace.json.gz", gzip(kKineto))));
  // What is written in two goes is two members.
  const std::string text = kKineto;
  expect_kineto(read_file(folder.file("two.json.gz", gzip(text.substr(0, 300)) + gzip(text.substr(300)))));
}

TEST(KinetoReader, ReadsABareListOfEvents) {
  const Folder folder;
  const std::string text = kKineto;
  const std::size_t begin = text.find('[', text.find("traceEvents")), end = text.rfind(']');
  expect_kineto(read_file(folder.file("list.json", text.substr(begin, end - begin + 1))));
}

TEST(KinetoReader, GivesWhatACutTraceHas) {
  const Folder folder;
  const std::string text = kKineto;
  const Capture cut = read_file(folder.file("cut.json", text.substr(0, text.find("{\"ph\": \"s\""))));
  EXPECT_FALSE(cut.complete);
  EXPECT_EQ(cut.launches.size(), 2u);
  const std::string packed = gzip(kKineto);
  const Capture torn = read_file(folder.file("torn.json.gz", packed.substr(0, packed.size() - 30)));
  EXPECT_FALSE(torn.complete);
  EXPECT_NE(torn.incomplete.find("gzip"), std::string::npos) << torn.incomplete;
}

TEST(KinetoReader, ReadsEventsWhereverTheTextIsCutIntoPieces) {
  const Folder folder;
  // Strings with quotes, brackets and backslashes, moved byte by byte across the end of a piece.
  const std::string odd = R"({"ph": "i", "name": "a \\\" ]}{[ \\", "cat": "x"},)";
  for (std::size_t shift = 0; shift < odd.size() + 2; ++shift) {
    std::string text = kKineto;
    const std::size_t at = text.find('[', text.find("traceEvents")) + 1;
    const std::string filler =
        "{\"name\": \"" + std::string((1 << 20) - at - odd.size() + shift - 13, 'x') + "\"},";
    text.insert(at, filler + odd);
    std::istringstream in(text);
    const Capture read = collected([&](const LaunchSink& sink) { return read_kineto(in, "text", sink); });
    EXPECT_TRUE(read.complete) << shift;
    expect_kineto(read);
  }
}

TEST(KinetoReader, GivesALaunchTheOperatorThatMadeIt) {
  const Folder folder;
  const Capture read = read_file(folder.file("ops.json", R"json({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "args": {"External id": 5, "Input Dims": [[2, 3], [3, 4]]}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": {"External id": 5, "correlation": 40}},
    {"ph": "X", "cat": "kernel", "name": "by_call", "ts": 1, "dur": 1, "args": {"correlation": 40}},
    {"ph": "X", "cat": "kernel", "name": "by_number", "ts": 2, "dur": 1, "args": {"External id": 5}},
    {"ph": "X", "cat": "kernel", "name": "nobodys", "ts": 3, "dur": 1, "args": {"correlation": 41}}]})json"));
  ASSERT_EQ(read.launches.size(), 3u);
  EXPECT_EQ(read.launches[0].operation, "aten::mm [[2,3],[3,4]]");
  EXPECT_EQ(read.launches[1].operation, "aten::mm [[2,3],[3,4]]");
  EXPECT_EQ(read.launches[2].operation, "");
}

TEST(Readers, SayWhatNoTraceIs) {
  const Folder folder;
  const auto sentence = [](const std::string& path) -> std::string {
    try {
      kind_of_file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(sentence(folder.file("twice.json.gz", gzip(gzip(kKineto)))).find("gzip inside of gzip"),
            std::string::npos);
  EXPECT_NE(sentence(folder.file("words.gz", gzip("words"))).find("what it unpacks to is not JSON"),
            std::string::npos);
  EXPECT_NE(sentence("/dev/zero").find("is a device or a pipe"), std::string::npos);
  EXPECT_NE(sentence(folder.path).find("is a folder"), std::string::npos);
  EXPECT_NE(sentence(folder.file("nothing", "")).find("is empty"), std::string::npos);
}

TEST(KinetoReader, GivesALaunchTheOperatorThatRanWhereItsNumberIsTheCallsOwn) {
  // As older releases of PyTorch write it: launches have the number of their call, operators their own.
  const Folder folder;
  const Capture read = read_file(folder.file("t.json", R"({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"a","ts":100,"dur":1,"args":{"External id":70,"correlation":70}},
    {"ph":"X","cat":"cpu_op","name":"aten::other","pid":1,"tid":2,"ts":0,"dur":5,"args":{"External id":70}},
    {"ph":"X","cat":"cpu_op","name":"aten::inner","pid":1,"tid":2,"ts":20,"dur":10,"args":{"External id":2}},
    {"ph":"X","cat":"cpu_op","name":"aten::outer","pid":1,"tid":2,"ts":10,"dur":50,"args":{"External id":1}},
    {"ph":"X","cat":"cpu_op","name":"aten::elsewhere","pid":1,"tid":3,"ts":10,"dur":50,"args":{"External id":3}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":25,"dur":1,"args":{"External id":70,"correlation":70}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":40,"dur":1,"args":{"External id":71,"correlation":71}},
    {"ph":"X","cat":"kernel","name":"b","ts":200,"dur":1,"args":{"External id":71,"correlation":71}}]})"));
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(read.launches[0].operation, "aten::inner");
  EXPECT_EQ(read.launches[1].operation, "aten::outer");
}

TEST(KinetoReader, RefusesOtherJson) {
  const Folder folder;
  for (const char* text : {"{}", "[]", "{\"a\": [{\"ph\": \"X\"}]}", "{", "[[[[", "{\"traceEvents\"x"}) {
    const std::string path = folder.file("other.json", text);
    EXPECT_THROW(read_file(path), Error) << text;
  }
  EXPECT_THROW(read_file(folder.file("other.json.gz", gzip("words"))), Error);
}

TEST(KinetoReader, SaysThatTheDeviceWasNotRecorded) {
  const Folder folder;
  const Capture read = read_file(folder.file(
      "host.json",
      R"({"traceEvents": [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 1}]})"));
  EXPECT_TRUE(read.launches.empty());
  EXPECT_NE(read.facts.at("note kernels").find("was not recording"), std::string::npos);
}

TEST(KinetoReader, TakesNamesOfAnyEncoding) {
  const Folder folder;
  const std::string name(300, 'a');
  const Capture read =
      read_file(folder.file("latin.json", "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" +
                                              name + "\xE9\",\"ts\":1,\"dur\":2,\"args\":{}}]}"));
  EXPECT_TRUE(read.complete) << read.incomplete;
  ASSERT_EQ(read.launches.size(), 1u);
  EXPECT_EQ(read.launches[0].demangled, name + "?");
}

TEST(KinetoReader, SaysThatGzipBreaksOffBeforeTheFirstEvent) {
  const Folder folder;
  std::string padding;
  for (int i = 0; i < 20000; ++i) padding += std::to_string(i * 7919);
  const std::string path =
      folder.file("cut.json.gz", gzip("{\"about\":\"" + padding + "\",\"traceEvents\":[]}").substr(0, 20000));
  try {
    read_file(path);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no event of a trace: "), std::string::npos) << error.what();
  }
}

TEST(Readers, TakePtxAsABinary) {
  const Folder folder;
  EXPECT_EQ(
      kind_of_file(folder.file(
          "a.ptx", "//\n// Generated by a compiler\n\n.version 8.7\n.target sm_90a\n.address_size 64\n")),
      FileKind::binary);
}

TEST(NcuReader, ReadsTheDetailsPage) {
  const Folder folder;
  const Capture read =
      read_file(folder.file("details.csv",
                            "==PROF== Connected to process 77\nhello, from the program\n"
                            "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
                            "Size\",\"Grid Size\",\"Device\",\"Section "
                            "Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                            "\"0\",\"77\",\"void soft<(int)32, \"\"x\"\">(P)\",\"1\",\"7\",\"(128, 1, "
                            "1)\",\"(1,024, 2, 1)\",\"0\",\"S\",\"Duration\",\"us\",\"3.25\"\n"
                            "\"0\",\"77\",\"void soft<(int)32, \"\"x\"\">(P)\",\"1\",\"7\",\"(128, 1, "
                            "1)\",\"(64, 2, 1)\",\"0\",\"S\",\"Registers Per "
                            "Thread\",\"register/thread\",\"24\"\n"
                            "\"0\",\"77\",\"void soft<(int)32, \"\"x\"\">(P)\",\"1\",\"7\",\"(128, 1, "
                            "1)\",\"(64, 2, 1)\",\"0\",\"S\",\"Dynamic Shared Memory "
                            "Per Block\",\"Kbyte/block\",\"1.024\"\n"
                            "\"1\",\"77\",\"other\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, "
                            "1)\",\"0\",\"S\",\"Cycles\",\"cycle\",\"1,234,567\"\n"));
  EXPECT_TRUE(read.complete) << read.incomplete;
  ASSERT_EQ(read.launches.size(), 2u);
  const Launch& first = read.launches[0];
  EXPECT_EQ(first.demangled, "void soft<(int)32, \"x\">(P)");
  EXPECT_EQ(triple_text(first.block), "128x1x1");
  EXPECT_EQ(first.duration_ns, 3250.0);
  EXPECT_EQ(first.registers, 24u);
  EXPECT_EQ(first.shared_dynamic, 1024u);
  EXPECT_EQ(first.process, 77u);
  EXPECT_EQ(read.launches[1].metrics.at("Cycles [cycle]"), 1234567.0);
}

TEST(NcuReader, ReadsTheRawPageWithItsRowOfUnits) {
  const Folder folder;
  const Capture read =
      read_file(folder.file("raw.csv",
                            "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
                            "Size\",\"gpu__time_duration.sum\",\"launch__registers_per_thread\"\r\n"
                            "\"\",\"\",\"\",\"\",\"ms\",\"register/thread\"\r\n"
                            "\"0\",\"soft\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"0.5\",\"24\"\r\n"
                            "\"1\",\"soft\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"n/a\",\"24\"\r\n\"2\",\"so"));
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.incomplete, "after 2 kernels a row has 2 fields, expected 6");
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(read.launches[0].duration_ns, 500000.0);
  EXPECT_EQ(read.launches[0].registers, 24u);
  EXPECT_FALSE(read.launches[1].duration_ns);
}

TEST(FileKinds, AreToldByContent) {
  const Folder folder;
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string tensors(8, '\0');
  tensors[0] = static_cast<char>(header.size());
  EXPECT_EQ(kind_of_file(folder.file("a", tensors + header + "abcd")), FileKind::tensors);
  EXPECT_EQ(kind_of_file(folder.file("b", std::string("\x7F") + "ELF")), FileKind::binary);
  EXPECT_EQ(kind_of_file(folder.file("c", "{\"isomer_trace\":1}\n")), FileKind::capture);
  EXPECT_EQ(kind_of_file(folder.file("d", "\n {\"version\": 1, \"op\": \"sin\", \"case\": \"\"}")),
            FileKind::explain);
  EXPECT_EQ(kind_of_file(folder.file("e", kKineto)), FileKind::kineto);
  EXPECT_EQ(kind_of_file(folder.file("report.nsys-rep", "any")), FileKind::nsys_report);
  for (const char* text : {"", "words", "\x01\x02", "a,b,c\n1,2,3\n"})
    EXPECT_THROW(kind_of_file(folder.file("f", text)), Error) << text;
  EXPECT_THROW(kind_of_file(folder.path), Error);
  EXPECT_THROW(kind_of_file(folder.path / "absent"), Error);
}

TEST(Reports, AreNotReadWithoutTheirProgramAndSayWhichToRun) {
  const Folder folder;
  const std::string path = getenv("PATH");
  setenv("PATH", folder.path.c_str(), 1);
  for (const auto& [name, says] :
       {std::pair{"r.nsys-rep", "nsys export --type sqlite "}, {"r.ncu-rep", "ncu --import "}})
    try {
      read_file(folder.file(name, "report"));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  // Where the program is there it is run.
  const std::string ncu =
      folder.file("ncu", "#!/bin/sh\necho '\"ID\",\"Kernel Name\"'; echo '\"0\",\"soft\"'\n");
  std::filesystem::permissions(ncu, std::filesystem::perms::owner_all);
  const Capture read = read_file(folder.file("r.ncu-rep", "report"));
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(read.launches.size(), 1u);
  EXPECT_EQ(read.launches[0].demangled, "soft");
}

}  // namespace
}  // namespace isomer::lab
