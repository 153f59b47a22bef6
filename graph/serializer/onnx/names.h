#ifndef MSD_ONNX_NAMES_H
#define MSD_ONNX_NAMES_H
/* Objects by name: ONNX has no other identity. */
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

struct onnx_names {
	struct onnx_named {
		const char *name; /* borrowed; NULL: a free slot */
		void *thing;
	} * slots; /* a power of two, half of them free */
	size_t n_slots;
	size_t n;
};

/** NULL if absent. */
void *onnx_names_find(const struct onnx_names *names, const char *name);
/** Add @thing under @name, which is new and outlives this. False: memory is short. */
MSD_MUST_CHECK bool onnx_names_add(struct onnx_names *names, const char *name,
				   void *thing);
void onnx_names_finish(struct onnx_names *names);

#endif
