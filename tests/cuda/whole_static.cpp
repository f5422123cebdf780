// A program that does nothing: what matters is how it is linked.
int main() { return 0; }
