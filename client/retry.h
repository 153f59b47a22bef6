#ifndef MSD_CLIENT_RETRY_H
#define MSD_CLIENT_RETRY_H
/* Decides when a call is sent again; a step function without a clock and without
 * randomness. */
#include "client/modser.h"

enum msd_begun {
	MSD_NOT_BEGUN,
	MSD_MAY_HAVE_RUN,
	MSD_IS_ANSWERED, /* another daemon would give the same answer */
};

enum msd_begun msd_retry_judge(const modser_result *result);
/**
 * modser_retry_next() for a call that ended as @how, whose daemon asks for a delay of
 * @after_ms; @random is a uniformly distributed number.
 */
bool msd_retry_step(modser_retry *r, enum msd_begun how, uint32_t after_ms,
		    uint32_t elapsed_ms, uint32_t random, uint32_t *ret_wait_ms);

#endif
