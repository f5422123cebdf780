// Nothing: a library of nvJitLink's name that has none of its functions. Python packages (cuda.core, and
// Numba with it) look for the version of nvJitLink that is loaded, and link by the driver if there is none.
// nvJitLink would make machine code; the driver's linker is ours.
