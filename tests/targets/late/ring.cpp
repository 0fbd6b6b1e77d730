// Stands for a library whose functions are traced.
extern "C" int io_uring_submit(void*) { return 7; }
