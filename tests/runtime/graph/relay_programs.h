#ifndef MSD_TEST_RELAY_PROGRAMS_H
#define MSD_TEST_RELAY_PROGRAMS_H
/* Small relay VM executables that several tests run or damage. */
#include "tests/runtime/graph/relay_writer.h"

/** main(x: float32[2]) = addone(x), as the compilers of three layouts write it: @minor
 * is 8, 9 or 14. */
struct bw relay_addone(int minor);
/** main(x) of one straight function with @n_regs registers and a constant 0 (0.9). */
struct bw relay_program(struct relay_code *c, unsigned n_regs);

#endif
