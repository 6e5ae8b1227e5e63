# Candidates are compiled and called on the emulated device.
set(library isomer_lab isomer_emulator)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR})
set(definitions ISOMER_CANDIDATE_CACHE="${test_cache}"
  ISOMER_CANDIDATES="${CMAKE_CURRENT_SOURCE_DIR}/replayed/candidates")
set(dependencies isomer-emulator-runner)
list(APPEND labels timed)
set(single replayed/)
# What takes builds of its own, and every candidate, of which the first tier asks every third.
add_test(NAME Replayed.More COMMAND test_replayed --gtest_filter=More/*:Candidates/EveryCandidate.*:Candidates/Reduction.*:Candidates/SeveralFaults.*:Of/Parts.*)
set_tests_properties(Replayed.More PROPERTIES LABELS tier2 ENVIRONMENT ISOMER_EVERY_CASE=1)
# Each is a search among a hundred edits, of which others of their kind show the same: what is told where an edit is right
# (sign_of_a_term, barrier, OfTheLabelIsWhatAPortDoes), and that nothing is where none is (DoesNotMendTwoFaults).
set(second_tier OneEdit.OfTheLabelIsNotToldWhereAnswersAreNone Of/OneEdit.IsFoundAndMends/place_of_another
  Of/OneEditOfRows.IsFoundAndMends/clamp)
