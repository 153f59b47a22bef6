#include "tests/runtime/graph/relay_programs.h"

static const char *const one_param[] = {"x", NULL};
static const char *const addone_name[] = {"addone", NULL};

struct bw relay_addone(int minor)
{
	struct relay_code c = {0};
	struct bw b = {0};

	relay_begin(&b, minor, 2);
	relay_const_i64(&b, minor, 8);
	relay_const_i64(&b, minor, 0);
	relay_middle(&b, 2, addone_name, 1);
	if (minor >= 14) {
		/* With extents the size is a pointer of the compiler's. */
		INS(&c, ALLOC_STORAGE, 0x55d01c2a98f0, 64, 2, 32, 1, 0, 1, 2, 2);
		INS(&c, LOAD_CONST, 1, 0, 3);
	} else {
		INS(&c, LOAD_CONST, 0, 1);
		INS(&c, ALLOC_STORAGE, 1, 64, 2, 32, 1, minor == 8 ? 1 : 0, 2);
		INS(&c, LOAD_CONST, 1, 3);
	}
	INS(&c, ALLOC_TENSOR, 2, 3, 2, 32, 1, 1, 4, 2);
	if (minor >= 9)
		INS(&c, KILL, 2);
	INS(&c, INVOKE_PACKED, 0, 2, 1, 0, 4);
	INS(&c, RET, 4);
	relay_func(&b, "main", 5, one_param, &c);
	return b;
}

struct bw relay_program(struct relay_code *c, unsigned n_regs)
{
	struct bw b = {0};

	relay_begin(&b, 9, 1);
	relay_const_i64(&b, 9, 0);
	relay_middle(&b, 1, addone_name, 1);
	relay_func(&b, "main", n_regs, one_param, c);
	return b;
}
