#ifndef MSD_SUPERVISOR_MODULE_SELF_TEST_CASE_H
#define MSD_SUPERVISOR_MODULE_SELF_TEST_CASE_H
/*
 * A self-test of a module: a function, its inputs, and its expected outputs within a
 * tolerance. Tests are kept as msgpack:
 *
 *   [{"function": str, "inputs": [T...], "outputs": [T...], "rtol"?: float,
 *     "atol"?: float}...]
 *   T: {"dtype": str, "shape": [int...], "data": bin}, row-major, little-endian
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/value.h"

#define MSD_SELF_TEST_BYTES (1u << 20) /* for all tests of a module */
#define MSD_SELF_TEST_CASES 64u
#define MSD_SELF_TEST_WARMUP 1000u
#define MSD_SELF_TEST_TENSORS 64u /* inputs, and outputs, of one test */

struct msd_self_test_value {
	struct msd_wire_tensor tensor; /* its offset is into a payload of its own */
	const uint8_t *data;           /* tensor.bytes, borrowed */
};

struct msd_self_test_case {
	struct msd_span function; /* borrowed */
	struct msd_self_test_value inputs[MSD_SELF_TEST_TENSORS],
		outputs[MSD_SELF_TEST_TENSORS];
	uint32_t n_inputs, n_outputs;
	double rtol, atol;
};

/**
 * Store the number of tests in @tests, and check that each can be read. Errors:
 * MSD_BAD_REQUEST, naming the test; MSD_TOO_LARGE.
 */
MSD_MUST_CHECK msd_err msd_self_test_check(struct msd_span tests, uint32_t *ret_n,
					   struct msd_diag *d);
/** Read test @i of @tests. The same errors. */
MSD_MUST_CHECK msd_err msd_self_test_case_read(struct msd_span tests, uint32_t i,
					       struct msd_self_test_case *ret,
					       struct msd_diag *d);
/**
 * Check that @data, of the tensor @got, equals @wanted. For floats of 32 and 64 bits
 * that means |got - wanted| <= atol + rtol * |wanted|; for all other types, equal
 * bytes. Errors: MSD_MODULE_FAILED, with the place of the difference.
 */
MSD_MUST_CHECK msd_err msd_self_test_compare(const struct msd_self_test_case *c,
					     const struct msd_self_test_value *wanted,
					     const struct msd_wire_tensor *got,
					     const uint8_t *data, struct msd_diag *d);

#endif
