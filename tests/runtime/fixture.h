#ifndef MSD_TESTS_RUNTIME_FIXTURE_H
#define MSD_TESTS_RUNTIME_FIXTURE_H
/*
 * What the fixture libraries share: values and tensors as compiled code sees them,
 * written down once more so that the fixtures depend on nothing of the runtime. The
 * fixtures behave like code that TVM generates; none of it is TVM's.
 */
#include <stdint.h>

struct tensor {
	void *data;
	int32_t device_type;
	int32_t device_id;
	int32_t ndim;
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
};

/* tvm-ffi's value */
struct any {
	int32_t type;
	uint32_t small;
	union {
		int64_t i;
		double f;
		void *p;
		char bytes[8];
	} v;
};

/* the classic value; its type code stands in another array */
union value {
	int64_t i;
	double f;
	void *p;
};

struct parallel_env {
	void *sync;
	int32_t num_task;
};

enum { T_NONE = 0, T_INT = 1, T_BOOL = 2, T_FLOAT = 3, T_DLTENSOR = 7, T_RAW_STR = 8 };
enum { T_SMALL_STR = 11, T_STR = 65, T_TENSOR = 70 };

#define WEAK_SLOT __attribute__((weak))

/* The tensor in a value of 0.22 or later. */
static inline struct tensor *tensor_of(const struct any *v)
{
	return v->type == T_TENSOR ? (struct tensor *)((char *)v->v.p + 24) : v->v.p;
}

#endif
