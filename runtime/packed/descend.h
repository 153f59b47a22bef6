#ifndef MSD_RUNTIME_GLOBAL_DESCEND_H
#define MSD_RUNTIME_GLOBAL_DESCEND_H
/* Candidates of a choice, sorted from the largest to the smallest. */
#include <stddef.h>
#include <stdint.h>

struct msd_candidate {
	float p; /* not NaN */
	int32_t token;
};

/**
 * Sort @n candidates. Equal ones come in the order of the C++ library that TVM's builds
 * use, because it decides which token a uniform number chooses.
 */
void msd_descend(struct msd_candidate *v, size_t n);

#endif
