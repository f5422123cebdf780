// Nothing: libcuda.so.1 is the name that programs look for; what they look for in it is in the runtime's
// library, which it is linked with.
