#ifndef MSD_SUPERVISOR_MODULE_TRIAL_CASE_H
#define MSD_SUPERVISOR_MODULE_TRIAL_CASE_H
/*
 * A self-test of a module: a function, what it gets, and what it must answer within a
 * tolerance. Tests come as msgpack, and stay it:
 *
 *   [{"function": str, "inputs": [T...], "outputs": [T...], "rtol"?: float,
 *     "atol"?: float}...]
 *   T: {"dtype": str, "shape": [int...], "data": bin}, row-major, little-endian
 */
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/value.h"

#define MSD_TRIAL_BYTES (1u << 20) /* of all tests of a module */
#define MSD_TRIAL_CASES 64u
#define MSD_TRIAL_WARMUP 1000u
#define MSD_TRIAL_TENSORS 64u /* inputs, and outputs, of one */

struct msd_trial_value {
	struct msd_wire_tensor tensor; /* its offset is into a payload of its own */
	const uint8_t *data;           /* tensor.bytes, borrowed */
};

struct msd_trial_case {
	struct msd_span function; /* borrowed */
	struct msd_trial_value inputs[MSD_TRIAL_TENSORS], outputs[MSD_TRIAL_TENSORS];
	uint32_t n_inputs, n_outputs;
	double rtol, atol;
};

/** How many tests @tests has, each of which can be read. Errors: MSD_BAD_REQUEST,
 * naming the test; MSD_TOO_LARGE. */
MSD_MUST_CHECK msd_err msd_trial_check(struct msd_span tests, uint32_t *ret_n,
				       struct msd_diag *d);
/** Read test @i of those. The same errors. */
MSD_MUST_CHECK msd_err msd_trial_case_read(struct msd_span tests, uint32_t i,
					   struct msd_trial_case *ret,
					   struct msd_diag *d);
/** That @data, of the tensor @got, is what @wanted says: |got - wanted| <= atol + rtol
 * * |wanted| for floats of 32 and 64 bits, equal bytes for all else. MSD_MODULE_FAILED
 * says where they differ. */
MSD_MUST_CHECK msd_err msd_trial_compare(const struct msd_trial_case *c,
					 const struct msd_trial_value *wanted,
					 const struct msd_wire_tensor *got,
					 const uint8_t *data, struct msd_diag *d);

#endif
