# Candidates are compiled and called on the emulated device.
set(library isomer_lab isomer_emulator)
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}")
set(dependencies isomer-emulator-runner)
list(APPEND labels timed)
# Waits for limits of time; EndlessLoopsAreTimedOutOnDeviceAndHost shows that they end.
set(second_tier CandidateEnds.ASmallCallIsGivenUpBeforeItsLimitAndAWaitForNobodyAtOnce)
