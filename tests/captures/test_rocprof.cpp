// rocprofv3's three formats: each gives the same launches, whose grids are counted in blocks.
#include "lab/capture/read_capture.hpp"
#include "tests/captures/launches.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>

namespace isomer::lab {
namespace {

constexpr const char* kJson = R"JSON({"rocprofiler-sdk-tool": [{
 "metadata": {"node": {"id": 0}, "pid": 908, "command": ["./model", "--layers", "2"]},
 "agents": [{"id": {"handle": 5}, "type": 1, "name": "a host's processor", "cu_count": 64},
            {"id": {"handle": 7}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X",
             "cu_count": 304, "logical_node_type_id": 0}],
 "counters": [{"id": {"handle": 40}, "name": "SQ_INSTS_VALU"}],
 "strings": {"marker_api": [], "text": "a \"brace } and ] in a string"},
 "code_objects": [],
 "kernel_symbols": [
  {"kernel_id": 3, "kernel_name": "_Z4softILi32EEvPf.kd", "formatted_kernel_name": "void soft<32>(float*)",
   "group_segment_size": 16, "sgpr_count": 32, "arch_vgpr_count": 24},
  {"kernel_id": 4, "kernel_name": "Cijk_Ailk_Bljk_HHS.kd", "formatted_kernel_name": "Cijk_Ailk_Bljk_HHS.kd"}],
 "callback_records": {"counter_collection": [
  {"thread_id": 9, "dispatch_data": {"start_timestamp": 1000, "end_timestamp": 9000, "dispatch_info":
    {"agent_id": {"handle": 7}, "queue_id": {"handle": 1}, "kernel_id": 3, "dispatch_id": 1,
     "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 1024, "y": 2, "z": 1}}},
   "records": [{"counter_id": {"handle": 40}, "value": 100.0}, {"counter_id": {"handle": 40}, "value": 28.0}]}]},
 "buffer_records": {"hip_api": [], "kernel_dispatch": [
  {"kind": 11, "thread_id": 9, "start_timestamp": 9819330200118679, "end_timestamp": 9819330200119680,
   "dispatch_info": {"agent_id": {"handle": 7}, "queue_id": {"handle": 1}, "kernel_id": 4, "dispatch_id": 2,
     "group_segment_size": 65536, "workgroup_size": {"x": 64, "y": 4, "z": 1},
     "grid_size": {"x": 100, "y": 8, "z": 1}}, "stream_id": {"handle": 2}},
  {"kind": 11, "thread_id": 9, "start_timestamp": 9819330200117677, "end_timestamp": 9819330200118178,
   "dispatch_info": {"agent_id": {"handle": 7}, "queue_id": {"handle": 1}, "kernel_id": 3, "dispatch_id": 1,
     "group_segment_size": 4112, "workgroup_size": {"x": 256, "y": 1, "z": 1},
     "grid_size": {"x": 1024, "y": 2, "z": 1}}, "stream_id": {"handle": 2}}]}}]})JSON";

Capture profile_of(const std::string& path) {
  return collected([&](const LaunchSink& sink) { return read_capture(path, sink); });
}

std::string why_not(const std::string& path) {
  try {
    profile_of(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Rocprof, JsonHasLaunchesInTheOrderOfTheirStart) {
  const Folder folder;
  const Capture read = profile_of(folder.file("908_results.json", kJson));
  EXPECT_EQ(read.kind, "rocprofv3");
  EXPECT_TRUE(read.complete) << read.incomplete;
  EXPECT_EQ(read.command, "./model --layers 2");
  EXPECT_EQ(read.facts.at("arch"), "gfx942");
  EXPECT_EQ(read.facts.at("device"), "AMD Instinct MI300X");
  EXPECT_EQ(read.facts.at("multiprocessors"), "304");
  ASSERT_EQ(read.launches.size(), 2u);
  const Launch& first = read.launches[0];
  EXPECT_EQ(first.name, "_Z4softILi32EEvPf");
  EXPECT_EQ(triple_text(first.grid), "4x2x1");
  EXPECT_EQ(triple_text(first.block), "256x1x1");
  EXPECT_EQ(first.registers, 24u);
  EXPECT_EQ(first.scalar_registers, 32u);
  EXPECT_EQ(first.shared_static, 16u);
  EXPECT_EQ(first.shared_dynamic, 4096u);
  EXPECT_EQ(first.duration_ns, 501.0) << "times of more than 2^53 ns are subtracted as whole numbers";
  EXPECT_EQ(first.process, 908u);
  EXPECT_EQ(first.metrics.at("SQ_INSTS_VALU"), 128.0) << "the sum of a counter's instances";
  const Launch& second = read.launches[1];
  EXPECT_EQ(second.demangled, "Cijk_Ailk_Bljk_HHS");
  EXPECT_EQ(triple_text(second.grid), "2x2x1") << "a grid that its blocks do not divide";
  EXPECT_EQ(second.shared_dynamic, 65536u);
  EXPECT_TRUE(second.metrics.empty());
}

TEST(Rocprof, JsonOfCountersAloneHasLaunchesToo) {
  const Folder folder;
  std::string text = kJson;
  text.replace(text.find("\"kernel_dispatch\""), 17, "\"other_dispatch\"");
  const Capture read = profile_of(folder.file("a.json", text));
  ASSERT_EQ(read.launches.size(), 1u);
  EXPECT_EQ(read.launches[0].metrics.at("SQ_INSTS_VALU"), 128.0);
}

TEST(Rocprof, JsonThatBreaksOffKeepsWhatItHas) {
  const Folder folder;
  const std::string text = kJson;
  const Capture read = profile_of(folder.file("a.json", text.substr(0, text.rfind("{\"kind\""))));
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.launches.size(), 2u) << "one that was dispatched, and one that was counted";
  const Capture empty = profile_of(folder.file("b.json", R"({"rocprofiler-sdk-tool": []})"));
  EXPECT_TRUE(empty.complete);
  EXPECT_NE(empty.facts.at("note kernels").find("without --kernel-trace"), std::string::npos);
}

TEST(Rocprof, CsvOfKernelsAndOfCounters) {
  const Folder folder;
  const Capture kernels = profile_of(folder.file(
      "a_kernel_trace.csv",
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\","
      "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Lds_Block_Size\",\"Scratch_Size\",\"Vgpr_"
      "Count\","
      "\"Sgpr_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_"
      "Size_Y\","
      "\"Grid_Size_Z\"\n"
      "\"KERNEL_DISPATCH\",\"Agent 7\",1,69,2,16,\"void soft<32>(float*, "
      "int)\",9,1784,1984,0,0,24,32,64,1,1,1024,8,1\n"
      "\"KERNEL_DISPATCH\",\"Agent "
      "7\",1,69,1,16,\"_Z4softILi64EEvPf.kd\",8,1000,1500,512,0,24,32,64,1,1,1000,8,1\n"));
  ASSERT_EQ(kernels.launches.size(), 2u);
  EXPECT_EQ(kernels.launches[0].name, "_Z4softILi64EEvPf");
  EXPECT_EQ(triple_text(kernels.launches[0].grid), "16x8x1");
  EXPECT_EQ(kernels.launches[0].shared_dynamic, 512u);
  EXPECT_EQ(kernels.launches[0].duration_ns, 500.0);
  EXPECT_EQ(kernels.launches[1].demangled, "void soft<32>(float*, int)");
  EXPECT_EQ(kernels.launches[1].registers, 24u);

  const std::string columns =
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_"
      "Size\","
      "\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
      "\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\"\n";
  const Capture counters = profile_of(folder.file(
      "b_counter_collection.csv", columns + "1,1,1,1,7,7,4096,16,\"soft\",64,0,0,8,16,\"SQ_WAVES\",64\n"
                                            "2,2,1,1,7,7,4096,16,\"soft\",64,0,0,8,16,\"SQ_WAVES\",64\n"
                                            "1,1,1,1,7,7,4096,16,\"soft\",64,0,0,8,16,\"FETCH_SIZE\",1.5\n"));
  ASSERT_EQ(counters.launches.size(), 2u);
  EXPECT_EQ(counters.launches[0].metrics.at("SQ_WAVES"), 64.0);
  EXPECT_EQ(counters.launches[0].metrics.at("FETCH_SIZE"), 1.5);
  EXPECT_EQ(counters.launches[0].parameters.at("grid_size"), "4096");
  EXPECT_FALSE(profile_of(folder.file("cut.csv", columns + "1,1,1,1")).complete);
  EXPECT_NE(why_not(folder.file("stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"a\",1,2\n"))
                .find("expected a kernel_trace.csv"),
            std::string::npos);
}

std::string rocpd_database(const Folder& folder, const std::string& name, const std::string& sql) {
  const std::string path = folder.path / name;
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* why = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
  sqlite3_close(handle);
  return path;
}

TEST(Rocprof, DatabaseHasTablesOfEachProcess) {
  const std::string others =
      "CREATE TABLE rocpd_string_1f(id INTEGER, string TEXT); INSERT INTO rocpd_string_1f VALUES(1,'a "
      "layer');"
      "CREATE TABLE rocpd_info_process_1f(id INTEGER, pid INTEGER); INSERT INTO rocpd_info_process_1f "
      "VALUES(1,908);"
      "CREATE TABLE rocpd_info_agent_1f(id INTEGER, type TEXT, type_index INTEGER, name TEXT, product_name "
      "TEXT,"
      " extdata TEXT); INSERT INTO rocpd_info_agent_1f VALUES(1,'CPU',0,'host','host','{}'),"
      "(2,'GPU',0,'gfx942','AMD Instinct MI300X','{\"cu_count\": 304}');"
      "CREATE TABLE rocpd_info_kernel_symbol_1f(id INTEGER, kernel_name TEXT, display_name TEXT,"
      " group_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER);"
      "INSERT INTO rocpd_info_kernel_symbol_1f VALUES(3,'_Z4softILi32EEvPf.kd','void "
      "soft<32>(float*)',16,32,24);"
      "CREATE TABLE rocpd_info_pmc_1f(id INTEGER, name TEXT); INSERT INTO rocpd_info_pmc_1f "
      "VALUES(1,'SQ_WAVES');"
      "CREATE TABLE rocpd_pmc_event_1f(event_id INTEGER, pmc_id INTEGER, value REAL);"
      "INSERT INTO rocpd_pmc_event_1f VALUES(50,1,32.0),(50,1,32.0);";
  const Folder folder;
  const Capture read = profile_of(rocpd_database(
      folder, "908_results.db",
      others + "CREATE TABLE rocpd_kernel_dispatch_1f(id INTEGER, pid INTEGER, agent_id INTEGER, kernel_id "
               "INTEGER,"
               " queue_id INTEGER, start BIGINT, \"end\" BIGINT, private_segment_size INTEGER, "
               "group_segment_size INTEGER,"
               " workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x "
               "INTEGER,"
               " grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER);"
               "INSERT INTO rocpd_kernel_dispatch_1f "
               "VALUES(2,1,2,3,1,2000,2600,0,4112,256,1,1,1024,2,1,NULL,NULL),"
               "(1,1,2,3,1,1000,1500,0,16,256,1,1,512,2,1,1,50);"));
  EXPECT_EQ(read.facts.at("multiprocessors"), "304");
  ASSERT_EQ(read.launches.size(), 2u);
  EXPECT_EQ(triple_text(read.launches[0].grid), "2x2x1");
  EXPECT_EQ(read.launches[0].operation, "a layer");
  EXPECT_EQ(read.launches[0].metrics.at("SQ_WAVES"), 64.0);
  EXPECT_EQ(read.launches[0].shared_dynamic, 0u);
  EXPECT_EQ(read.launches[0].device, 0u);
  EXPECT_EQ(read.launches[1].name, "_Z4softILi32EEvPf");
  EXPECT_EQ(read.launches[1].shared_dynamic, 4096u);
  EXPECT_EQ(read.launches[1].duration_ns, 600.0);
  EXPECT_EQ(read.launches[1].process, 908u);

  EXPECT_NE(
      why_not(rocpd_database(folder, "other.db",
                             others + "CREATE TABLE rocpd_kernel_dispatch_1f(id INTEGER, kernel_id INTEGER,"
                                      " start_id INTEGER);"))
          .find("has no column 'start': schema 3 is read"),
      std::string::npos);
}

}  // namespace
}  // namespace isomer::lab
