# One architecture of each vendor's compiler is asked by threads in the first tier.
set(second_tier Of/Compilers.MakeInThreadsAtOnceWhatTheyMakeAlone/cuda_sm_80
  Of/Compilers.MakeInThreadsAtOnceWhatTheyMakeAlone/hip_gfx90a)
