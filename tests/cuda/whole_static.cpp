// A program without a dynamic linker: nothing can be put under it.
int main() { return 0; }
