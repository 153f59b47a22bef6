#include "client/retry.h"

#include <sys/random.h>

#include "client/result.h"
#include "proto/base/clock.h"

#define FIRST_MS 50u /* bound of the first wait; it doubles each round */
#define MOST_MS 5000u

enum msd_begun msd_retry_judge(const modser_result *result)
{
	if (result == NULL)
		return MSD_NOT_BEGUN;
	const bool was_sent = result->id != 0;
	switch ((int)result->error.code) {
	case MODSER_BUSY:
		/* A BUSY about the connection does not tell whether the call ran. */
		return was_sent && !result->is_reply ? MSD_MAY_HAVE_RUN : MSD_NOT_BEGUN;
	case MODSER_DRAINING:
		/* Also for the connection: it is the daemon's last message there,
		 * after all answers to requests that it began. */
		return MSD_NOT_BEGUN;
	case MODSER_DEADLINE:
		return was_sent ? MSD_IS_ANSWERED : MSD_NOT_BEGUN;
	case MODSER_IO:
		if (result->is_reply)
			return MSD_IS_ANSWERED;
		return was_sent && !result->is_unsent ? MSD_MAY_HAVE_RUN
						      : MSD_NOT_BEGUN;
	case MODSER_WORKER_LOST:
	case MODSER_GPU_FAULT:
		return MSD_MAY_HAVE_RUN;
	default:
		return MSD_IS_ANSWERED;
	}
}

static uint32_t bound_of(uint32_t round)
{
	return round < 7 ? FIRST_MS << round : MOST_MS;
}

bool msd_retry_step(modser_retry *r, enum msd_begun how, uint32_t after_ms,
		    uint32_t elapsed_ms, uint32_t random, uint32_t *ret_wait_ms)
{
	const uint32_t daemons = r->daemons != 0 ? r->daemons : 1;
	const bool is_first = r->sent % daemons == 0;
	uint64_t wait_ms = 0;

	if (how == MSD_IS_ANSWERED || (how == MSD_MAY_HAVE_RUN && !r->idempotent))
		return false;
	if (is_first || after_ms < r->after_ms)
		r->after_ms = after_ms;
	r->sent++;
	if (r->sent % daemons == 0) {
		const uint32_t bound = bound_of(r->sent / daemons - 1);
		wait_ms = (uint64_t)r->after_ms + random % (bound + 1);
	}
	if (elapsed_ms >= r->for_ms || wait_ms >= r->for_ms - elapsed_ms)
		return false;
	*ret_wait_ms = (uint32_t)wait_ms;
	return true;
}

bool modser_retry_next(modser_retry *retry, const modser_result *result,
		       uint32_t elapsed_ms, uint32_t *ret_wait_ms)
{
	uint32_t random = 0;

	/* If the system has no random numbers yet, the clock's nanoseconds are random
	 * enough. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)msd_now_ns();
	return msd_retry_step(retry, msd_retry_judge(result),
			      result != NULL ? result->retry_after_ms : 0, elapsed_ms,
			      random, ret_wait_ms);
}
