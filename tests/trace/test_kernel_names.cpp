// One kernel has one name, whoever wrote it down: mangled, as c++filt and Kineto print it, as CUPTI and
// Nsight do.
#include "lab/names/itanium.hpp"
#include "lab/names/kernel_name.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

using Named = std::map<std::string, std::string>;

Named parameters_of(const KernelName& name) { return {name.parameters.begin(), name.parameters.end()}; }
Named derived_of(const KernelName& name) { return {name.derived.begin(), name.derived.end()}; }

struct Spelling {
  std::string canonical;
  std::vector<std::string> ways;
};

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> table = {
      {"flash::prepare_varlen_num_blocks_kernel<16, false>",
       {"_ZN5flash32prepare_varlen_num_blocks_kernelILi16ELb0EEEviiiPKiS2_S2_S2_S2_S2_"
        "iiiiiN7cutlass10FastDivmodES4_PiS5_S5_S5_S5_bbbi",
        "void flash::prepare_varlen_num_blocks_kernel<16, false>(int, int, int, int const*, int const*)",
        "void flash::prepare_varlen_num_blocks_kernel<(int)16, (bool)0>(int, int, int, const int *, const "
        "int *)",
        "flash::prepare_varlen_num_blocks_kernel<16, false>"}},
      {"tiny::(anonymous namespace)::hidden(float*)",
       {"_ZN4tiny36_GLOBAL__N__98002309_4_k_cu_0f54b9f16hiddenEPf", "_ZN4tiny12_GLOBAL__N_16hiddenEPf",
        "tiny::(anonymous namespace)::hidden(float*)", "tiny::<unnamed>::hidden(float *)",
        "tiny::_GLOBAL__N__bb8bfcb2_9_family_cu::hidden(float*)"}},
      {"cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<cute::C<16>, cute::C<64>>, 4, 256, 1, "
       "false, "
       "true, cutlass::bfloat16_t, float, cutlass::arch::Sm90>>",
       {"_ZN7cutlass13device_kernelIN5flash19FlashAttnFwdCombineIN4cute5tupleIJNS3_1CILi16EEENS5_"
        "ILi64EEEEEELi4ELi256ELi"
        "1ELb0ELb1ENS_10bfloat16_tEfNS_4arch4Sm90EEEEEvNT_6ParamsE",
        "void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<cute::C<16>, cute::C<64> >, 4, "
        "256, 1, "
        "false, true, cutlass::bfloat16_t, float, cutlass::arch::Sm90> "
        ">(flash::FlashAttnFwdCombine<cute::tuple<cute::"
        "C<16>, cute::C<64> >, 4, 256, 1, false, true, cutlass::bfloat16_t, float, "
        "cutlass::arch::Sm90>::Params)",
        "void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<cute::C<(int)16>, "
        "cute::C<(int)64>>, "
        "(int)4, (int)256, (int)1, (bool)0, (bool)1, cutlass::bfloat16_t, float, "
        "cutlass::arch::Sm90>>(T1::Params)"}},
      {"at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::launch_clamp_scalar("
       "at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#2}, "
       "std::array<char*, 3ul>>",
       {"void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
        "namespace)::launch_clamp_scalar("
        "at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)#2}, "
        "std::array<char*, 3ul> >(int, std::array<char*, 3ul>)",
        "void at::native::vectorized_elementwise_kernel<(int)8, at::native::<unnamed>::launch_clamp_scalar("
        "at::TensorIteratorBase &, c10::Scalar)::[lambda() (instance 1)]::operator ()() "
        "const::[lambda(c10::BFloat16) "
        "(instance 2)], std::array<char *, (unsigned long)3>>(int, T2, T3)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
        "namespace)::launch_clamp_scalar("
        "at::TensorIteratorBase&, c10::Scalar)::'lambda'()::operator()() const::'lambda0'(c10::BFloat16), "
        "std::array<char*, 3ul>>(int, std::array<char*, 3ul>)"}},
      // What a function around a lambda returns, and a template's parameters, are no part of the name.
      {"at::native::elementwise_kernel<128, 2, "
       "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float>>::"
       "{lambda(int)#1}>",
       {"_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor_"
        "addIfEEEEvRNS_"
        "18TensorIteratorBaseERKT_EUliE_EEviT1_",
        "void at::native::elementwise_kernel<128, 2, "
        "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<"
        "float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int, "
        "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&, "
        "at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1})",
        "void at::native::elementwise_kernel<(int)128, (int)2, void "
        "at::native::gpu_kernel_impl_nocast<at::native::"
        "CUDAFunctor_add<float>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, "
        "T3)"}},
      {"k<float const*, unsigned int const&, (ns::Mode)2, 8u, -3, 'A'>",
       {"void k<float const*, unsigned int const&, (ns::Mode)2, 8u, -3, 'A'>(int)",
        "void k<const float *, const unsigned int &, (ns::Mode)2, (unsigned int)8, (int)-3, 'A'>(int)"}},
      {"ns::k<(ns::Mode)1, true, 7u, -2, 5ul>",
       {"_ZN2ns1kILNS_4ModeE1ELb1ELj7ELin2ELm5EEEvv", "void ns::k<(ns::Mode)1, true, 7u, -2, 5ul>()",
        "void ns::k<(ns::Mode)1, (bool)1, (unsigned int)7, (int)-2, (unsigned long)5>(void)"}},
      // Lambdas in lambdas of a method, and the address of a function.
      {"k<ns::f(int)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, "
       "&ns::g>",
       {"_Z1kIZZZN2ns1fEiENKUlvE_clEvENKUlvE0_clEvEUlfE_XadL_ZNS0_1gEiEEEvT_",
        "void k<ns::f(int)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() "
        "const::{lambda(float)#1}, "
        "&ns::g>(float)",
        "void k<ns::f(int)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator "
        "()() "
        "const::[lambda(float) (instance 1)], &ns::g>(T1)"}},
      {"pack<int, float, double>", {"_Z4packIJifdEEvv", "_Z4packIifdEvv", "void pack<int, float, double>()"}},
      {"empty<>", {"_Z5emptyIJEEvv", "void empty<>()"}},
      {"call<void(*)(int, float const*)>",
       {"_Z4callIPFviPKfEEvv", "void call<void (*)(int, float const*)>()",
        "void call<void (*)(int, const float *)>(void)"}},
      {"plain", {"plain", "  plain\n"}},
      {"add(int, float const*)", {"_Z3addiPKf", "add(int, float const*)", "void add(int, const float *)"}},
      {"shift<128>", {"_Z5shiftILi128EEvPfi.kd", "shift<128>(float*, int)"}},
  };
  return table;
}

TEST(KernelNames, AreOneTextWhoeverWroteThem) {
  for (const auto& [canonical, ways] : spellings())
    for (const std::string& way : ways) {
      const KernelName name = parse_kernel_name(way);
      EXPECT_EQ(name.text, canonical) << way;
      EXPECT_EQ(parse_kernel_name(name.text).text, canonical)
          << "the canonical text is its own canonical text";
    }
}

TEST(KernelNames, OfFlashAttention3AreNamedByArity) {
  const KernelName name = parse_kernel_name(
      "_ZN7cutlass13device_kernelIN5flash20enable_sm90_or_laterINS1_16FlashAttnFwdSm90INS1_"
      "25CollectiveMainloopFwdSm90ILi2EN4cute5tupleIJNS5_1CILi1EEES8_S8_EEENS6_IJNS7_ILi192EEENS7_"
      "ILi128EEENS7_ILi96EEEEEE"
      "Li96ENS_12float_e4m3_tEfNS_4arch4Sm90ELb1ELb0ELb1ELb1ELb0ELb0ELb0ELb1ELb1ELb1ELb1ELb0EEENS1_"
      "21CollectiveEpilogueFwdINS6_IJSA_SC_SB_EEES9_NS_10bfloat16_tESG_Li384ELb1ELb1ELb1ELb1EEENS1_"
      "36VarlenDynamicPersistentTileSchedulerILi192ELi128ELi384ELi128ELb1ELb1ELb1ELb1ELb1ELb1EEEEEEEEEvNT_"
      "6ParamsE");
  EXPECT_EQ(name.family, "flash::FlashAttnFwdSm90");
  Named found = parameters_of(name);
  const Named wanted = {{"mainloop", "flash::CollectiveMainloopFwdSm90"},
                        {"mainloop.Stages", "2"},
                        {"mainloop.ClusterShape", "1x1x1"},
                        {"mainloop.TileShape_MNK", "192x128x96"},
                        {"mainloop.kHeadDimV", "96"},
                        {"mainloop.Element", "cutlass::float_e4m3_t"},
                        {"mainloop.Is_causal", "true"},
                        {"mainloop.Is_local", "false"},
                        {"mainloop.Has_softcap", "true"},
                        {"mainloop.Varlen", "true"},
                        {"mainloop.PagedKVNonTMA", "false"},
                        {"mainloop.Split", "true"},
                        {"mainloop.V_colmajor", "false"},
                        {"epilogue.NumEpilogueThreads", "384"},
                        {"epilogue.TileShape_MNK_PV", "192x96x128"},
                        {"scheduler", "flash::VarlenDynamicPersistentTileScheduler"},
                        {"scheduler.kBlockN", "128"},
                        {"scheduler.Prepared", "true"}};
  for (const auto& [key, value] : wanted) EXPECT_EQ(found[key], value) << key;
  EXPECT_EQ(name.parameters.size(), 3u + 19 + 9 + 10);
  Named derived = derived_of(name);
  EXPECT_EQ(derived["block_m"], "192");
  EXPECT_EQ(derived["block_n"], "128");
  EXPECT_EQ(derived["stages"], "2");
  EXPECT_EQ(derived["cluster"], "1x1x1");
  EXPECT_EQ(derived["scheduler"], "VarlenDynamicPersistentTileScheduler");
  EXPECT_EQ(derived["wrapper"], "cutlass::device_kernel<flash::enable_sm90_or_later");
}

/// A main loop with these arguments behind its architecture tag.
std::string mainloop(const std::string& arguments) {
  return "void "
         "cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<"
         "2, "
         "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<176>, "
         "cute::C<128> >, 128, "
         "cutlass::half_t, float, cutlass::arch::Sm90, " +
         arguments + ">, Epilogue, flash::StaticPersistentTileScheduler<false> > > >(T1::Params)";
}

TEST(KernelNames, OfAnArityThatNoTableHasAreNumbered) {
  std::string twelve;
  for (int i = 0; i < 12; ++i) twelve += i == 0 ? "true" : ", false";
  const Named known = parameters_of(parse_kernel_name(mainloop(twelve)));
  EXPECT_EQ(known.at("mainloop.Is_causal"), "true");
  // 20 and 21 arguments are vLLM's; 23 are somebody's.
  EXPECT_EQ(
      parameters_of(parse_kernel_name(mainloop(twelve + ", cutlass::bfloat16_t, 1"))).at("mainloop.kBlockH"),
      "1");
  const Named unknown =
      parameters_of(parse_kernel_name(mainloop(twelve + ", false, cutlass::bfloat16_t, false, 1")));
  EXPECT_FALSE(unknown.contains("mainloop.Is_causal"));
  EXPECT_EQ(unknown.at("mainloop.#7"), "true");
  EXPECT_EQ(unknown.at("mainloop.#22"), "1");
  EXPECT_EQ(unknown.at("epilogue"), "Epilogue") << "what is around it keeps its names";
}

TEST(KernelNames, AreNotGivenToArgumentsOfAnotherKind) {
  // Nineteen arguments, but a type where the table has a bool.
  std::string other;
  for (int i = 0; i < 12; ++i) other += i == 0 ? "float" : ", false";
  const Named found = parameters_of(parse_kernel_name(mainloop(other)));
  EXPECT_FALSE(found.contains("mainloop.Is_causal"));
  EXPECT_EQ(found.at("mainloop.#7"), "float");
}

TEST(KernelNames, OfFlashAttention2) {
  for (const std::string space : {"flash::", "pytorch_flash::"}) {
    const KernelName name =
        parse_kernel_name("void " + space + "flash_fwd_kernel<" + space +
                          "Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::half_t, " + space +
                          "Flash_kernel_traits<128, 128, 64, 4, cutlass::half_t> >, false, true, false, "
                          "false, true, true, false, false>(" +
                          space + "Flash_fwd_params)");
    Named found = parameters_of(name), derived = derived_of(name);
    EXPECT_EQ(name.family, space + "flash_fwd_kernel");
    EXPECT_EQ(found["Is_causal"], "true");
    EXPECT_EQ(found["Is_even_MN"], "true");
    EXPECT_EQ(found["Is_softcap"], "false");
    EXPECT_EQ(found["traits.kHeadDim"], "128");
    EXPECT_EQ(derived["block_n"], "64");
    EXPECT_EQ(derived["warps"], "4");
    EXPECT_FALSE(found.contains("traits.Base")) << "it repeats the others";
  }
}

TEST(KernelNames, OfCutlass3) {
  const KernelName name = parse_kernel_name(
      "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
      "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, "
      "cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, "
      "cutlass::gemm::KernelTmaWarpSpecializedCooperative>, "
      "cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> >, A, B, C, D, E, F, G, H, I, J, K, L, M>, "
      "Epilogue, "
      "cutlass::gemm::PersistentScheduler, void> >(T1::Params)");
  Named derived = derived_of(name);
  EXPECT_EQ(name.family, "cutlass::gemm::kernel::GemmUniversal");
  EXPECT_EQ(derived["block_m"], "128");
  EXPECT_EQ(derived["block_n"], "256");
  EXPECT_EQ(derived["block_k"], "64");
  EXPECT_EQ(derived["stages"], "4");
  EXPECT_EQ(derived["cluster"], "2x1x1");
  EXPECT_EQ(derived["schedule"], "KernelTmaWarpSpecializedCooperative");
  EXPECT_EQ(parameters_of(name)["mainloop.ElementA"], "A");
}

TEST(KernelNames, ThatAreCodesAreTakenApart) {
  const auto check = [](const std::string& text, const std::string& family, const Named& wanted) {
    const KernelName name = parse_kernel_name(text);
    EXPECT_EQ(name.family, family) << text;
    Named found = parameters_of(name);
    for (const auto& [key, value] : wanted) EXPECT_EQ(found[key], value) << text << " " << key;
  };
  check(
      "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT", "nvjet",
      {{"types", "tst"}, {"tile", "256x128"}, {"k_by_stages", "64x4"}, {"cluster", "1x2"}, {"raster", "h"}});
  check("nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT", "nvjet",
        {{"arch", "sm100"}, {"pair", "2cta"}});
  check(
      "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_"
      "0",
      "cudnn_generated_fort_native_sdpa",
      {{"arch", "sm90"},
       {"pass", "fprop"},
       {"types", "wgmma_f16"},
       {"tile", "64x128x128"},
       {"cluster", "1x1x1"}});
  check(
      "void "
      "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_tn_align8>(T1::Params)",
      "cutlass", {{"arch", "80"}, {"tile", "128x128"}, {"layout", "tn"}, {"alignment", "8"}});
  check("ampere_h16816gemm_128x64_ldg8_stages_64x3_nn", "cublas_gemm",
        {{"tile", "128x64"}, {"k_by_stages", "64x3"}});
  check("triton_poi_fused_add_mul_12", "triton_inductor",
        {{"kind", "poi"}, {"operations", "add_mul"}, {"ordinal", "12"}});
  // A Triton kernel is named by its author.
  check("_attn_fwd", "_attn_fwd", {});
}

TEST(KernelNames, OfCubAreOneFamilyOfEveryVersion) {
  const KernelName name = parse_kernel_name("_ZN3cub21CUB_300001_SM_800_9006detail11EmptyKernelIvEEvv");
  EXPECT_EQ(name.family, "cub::detail::EmptyKernel");
  EXPECT_EQ(parameters_of(name)["namespace"], "CUB_300001_SM_800_900");
}

TEST(KernelNames, ThatCannotBeTakenApartAreTheirOwnFamily) {
  for (const std::string text : {"void cutlass::device_kernel<flash::enab",
                                 "_Z",
                                 "_ZN",
                                 "_ZN7cutlass13device_kern",
                                 "_ZNSt",
                                 "a<b",
                                 "a>b",
                                 "(((",
                                 "<",
                                 ">",
                                 ",",
                                 "f(",
                                 "[lambda",
                                 "[lambda(",
                                 "{lambda(int",
                                 "'lambda",
                                 "operator",
                                 "operator<",
                                 "void ",
                                 "_ZZZZ",
                                 "_Z1fIXEEvv",
                                 "_Z1fILEEvv",
                                 "_Z1fILi",
                                 "_ZTV3foo",
                                 "_ZGV3foo",
                                 "_Z9999999999f",
                                 "_Z1fIS_EEvv",
                                 "_Z1fIT_EEvv",
                                 "Memcpy HtoD (Pageable -> Device)",
                                 "\xff\xfe<\x01>"}) {
    const KernelName name = parse_kernel_name(text);
    EXPECT_FALSE(name.text.empty()) << text;
    EXPECT_FALSE(name.family.empty()) << text;
  }
  EXPECT_EQ(parse_kernel_name("void cutlass::device_kernel<flash::enab").parameters.size(), 0u);
  EXPECT_EQ(parse_kernel_name("Memcpy HtoD (Pageable -> Device)").text, "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(parse_kernel_name("").text, "");
}

/// Of the processor.
double seconds_of(const std::string& text) {
  const std::clock_t begin = std::clock();
  const KernelName name = parse_kernel_name(text);
  EXPECT_FALSE(name.text.empty());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(KernelNames, OfAHundredKilobytesAreReadAtOnce) {
  constexpr std::size_t kLength = 100'000;
  const auto repeated = [](const std::string& part) {
    std::string text;
    while (text.size() < kLength) text += part;
    return text;
  };
  std::string wide = "void k<int", mangled_wide = "_Z1kI", nested, doubled = "_Z1kI1AIivE";
  while (wide.size() < kLength) wide += ", ns::Type<float, 3>", mangled_wide += "N2ns4TypeIfLi3EEE";
  wide += ">(int)";
  mangled_wide += "Evv";
  for (int i = 0; i < 20'000; ++i) nested += "A<";
  nested += "int" + std::string(20'000, '>');
  // Each argument stands for two of the one before it: 2^n types in 8n characters.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 0; i < 30; ++i)
    doubled += "1BIS" + std::string(1, digits[i]) + "_S" + std::string(1, digits[i]) + "_E";
  doubled += "Evv";
  for (const std::string& text : {wide,
                                  mangled_wide,
                                  nested,
                                  doubled,
                                  repeated("a"),
                                  repeated("<"),
                                  repeated("("),
                                  repeated("a<b>::"),
                                  repeated("(anonymous namespace)::"),
                                  repeated("operator<"),
                                  repeated("_Z1fI"),
                                  "_Z" + repeated("N1a"),
                                  "_Z1fI" + repeated("P"),
                                  "_Z1fI" + repeated("X"),
                                  "_Z1fIX" + repeated("ngng"),
                                  repeated("const "),
                                  repeated("void f<"),
                                  repeated("'lambda'("),
                                  repeated("[lambda("),
                                  repeated("f<int>(int)::"),
                                  "_Z" + repeated("Z1fvE")})
    EXPECT_LT(seconds_of(text), 1.0) << text.substr(0, 40);
  EXPECT_EQ(parse_kernel_name(mangled_wide).text, parse_kernel_name(mangled_wide).text);
  EXPECT_GT(parse_kernel_name(wide).parameters.size(), 5000u) << "and it is read";
  EXPECT_GT(parse_kernel_name(mangled_wide).parameters.size(), 5000u);
}

/// Runs first of all tests that add tables: what is added stays.
TEST(NameTables, OfAUserAreAskedFirst) {
  const std::string path = testing::TempDir() + "isomer_names.json";
  std::ofstream(path)
      << R"({"version":1,"templates":[{"names":["mine::kernel"],"parameters":["int kTile","bool Fast"],
    "derived":{"block_m":"kTile"}}],"namespaces":{"theirs":"mine"}})";
  EXPECT_EQ(parameters_of(parse_kernel_name("mine::kernel<64, true>")).at("#0"), "64");
  use_name_tables(path);
  const KernelName name = parse_kernel_name("mine::kernel<64, true>");
  EXPECT_EQ(parameters_of(name), (Named{{"kTile", "64"}, {"Fast", "true"}}));
  EXPECT_EQ(derived_of(name), (Named{{"block_m", "64"}}));
  const KernelName carried = parse_kernel_name("theirs::kernel<32, false>");
  EXPECT_EQ(carried.family, "theirs::kernel");
  EXPECT_EQ(parameters_of(carried).at("kTile"), "32");
}

TEST(NameTables, ThatAreBrokenAreRefusedWithASentence) {
  const std::string path = testing::TempDir() + "broken_names.json";
  const auto refusal = [&](const std::string& text) -> std::string {
    std::ofstream(path) << text;
    try {
      use_name_tables(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("{").find("not a table of kernel names"), std::string::npos);
  EXPECT_NE(refusal("").find("cannot read"), std::string::npos);
  EXPECT_NE(refusal(R"({"version":2})").find("expected version 1, got 2"), std::string::npos);
  EXPECT_NE(
      refusal(R"({"version":1,"templates":[{"names":["a"],"parameters":["int"]}]})").find("'kind name'"),
      std::string::npos);
  EXPECT_NE(refusal(R"j({"version":1,"codes":[{"pattern":"(a)(b)","family":"f","parameters":["x"]
}]
})").find("2 groups"),
            std::string::npos);
EXPECT_NE(refusal(R"j({"version":1,"codes":[{"pattern":"(","family":"f","parameters":[]}]})j")
                .find("not a table"),
            std::string::npos);
}

TEST(KernelNames, HoldNeitherFolderNorInternalScope) {
  EXPECT_EQ(parse_kernel_name("__nv_static_25__6b2efe6b_4_k_cu_acc5a52f__Z5shiftPf").text, "shift(float*)");
  EXPECT_EQ(parse_kernel_name("__nv_static_25__6b2efe6b_4_k_cu_acc5a52f__Z6unrollILi4EEvPf").text,
            "unroll<4>");
  EXPECT_EQ(parse_kernel_name("_ZN29_INTERNAL_6b2efe6b_4_k_cu_xyz5tools5shiftILi3EEEvPf").text,
            "tools::shift<3>");
  EXPECT_EQ(parse_kernel_name("void _INTERNAL_6b2efe6b_4_k_cu_xyz::tools::shift<(int)3>(float*)").text,
            "tools::shift<3>");
  EXPECT_EQ(source_in_name("__nv_static_25__6b2efe6b_4_k_cu_acc5a52f__Z5shiftPf"), "k_cu");
  EXPECT_EQ(source_in_name("_ZN36_GLOBAL__N__6b2efe6b_4_k_cu_acc5a52f5scaleEPff"), "k_cu");
  EXPECT_EQ(source_in_name("_Z5shiftPf"), "");
  // What only begins like one keeps its name.
  for (const char* name : {"__nv_static_", "__nv_static_99_x", "__nv_static_3_x_cu"})
    EXPECT_EQ(parse_kernel_name(name).text, name);
}

TEST(KernelNames, NumbersOfClosuresAreTold) {
  const KernelName name = parse_kernel_name("_Z4eachIZ3runPfEUlfE0_EvS0_T_");
  EXPECT_EQ(name.text, "each<run(float*)::{lambda(float)#2}>");
  EXPECT_EQ(name.plain, "each<run(float*)::{lambda(float)}>");
}

}  // namespace
}  // namespace isomer::lab
