#ifndef MSD_CLIENT_RETRY_H
#define MSD_CLIENT_RETRY_H
/* When a call is sent again, as a step without a clock and without chance. */
#include "client/modser.h"

enum msd_begun {
	MSD_NOT_BEGUN,
	MSD_MAY_HAVE_RUN,
	MSD_IS_ANSWERED, /* another daemon would say the same */
};

enum msd_begun msd_retry_judge(const modser_result *result);
/** modser_retry_next() of a call that ended as @how, whose daemon wants @after_ms to
 * pass; @random is any number, each as likely as the others. */
bool msd_retry_step(modser_retry *r, enum msd_begun how, uint32_t after_ms,
		    uint32_t elapsed_ms, uint32_t random, uint32_t *ret_wait_ms);

#endif
