#ifndef MSD_SUPERVISOR_PEER_LATENCY_H
#define MSD_SUPERVISOR_PEER_LATENCY_H

/*
 * Latency estimate for each peer of a module. The time of a call depends on its
 * arguments. Without this, the slow calls of one peer would make admission refuse the
 * fast calls of other peers with a deadline (admission.h). No entries are kept while
 * all calls take less than a millisecond, because no deadline is shorter.
 */

#include <stdint.h>

#include "daemon/supervisor/request/peer_table.h"

/*
 * Latency estimate: recent run times of a module's functions. They decide whether a
 * call may be sent to a busy worker, and whether it can finish by its deadline. Each
 * row of the module's call statistics has an entry. Functions that share the row for
 * all other functions distort each other's estimate.
 */

#define MSD_LATENCY_ESTIMATE_PLACES 256u
#define MSD_LATENCY_ESTIMATE_MOST_US 3600000000u /* limit for what a worker reports */

struct msd_latency_estimate {
	/* Moving averages; 0: never seen. A request behind n calls waits for n times
	 * the mean, so the averages rise as fast as they fall. */
	uint32_t us[MSD_LATENCY_ESTIMATE_PLACES];
	/*
	 * How many calls were seen, up to two. The first call of a function is often
	 * a hundred times slower than later ones, so a faster second one replaces it.
	 */
	uint8_t n[MSD_LATENCY_ESTIMATE_PLACES];
};

/** Return the expected microseconds; 0: never seen. */
static inline uint32_t
msd_latency_estimate_expect(const struct msd_latency_estimate *pace, uint8_t place)
{
	return pace->us[place];
}
/** Note a call that took @exec_ns. */
void msd_latency_estimate_note(struct msd_latency_estimate *pace, uint8_t place,
			       uint64_t exec_ns);

#define MSD_PEER_LATENCIES                                                             \
	32u /* maximum; the one that was quiet longest is dropped                      \
	     */
#define MSD_PEER_LATENCY_LEAST_US 1000u

struct msd_peer_latency {
	struct msd_peer_entry peer;
	struct msd_latency_estimate pace;
};

/* All zeros: no entries. */
struct msd_peer_latencies {
	struct msd_peer_latency *all; /* a peer table; its time is n_noted */
	uint32_t n;                   /* allocated entries */
	uint64_t n_noted;
};

void msd_peer_latencies_finish(struct msd_peer_latencies *ps);
/** Note a call of @who that took @exec_ns. Without memory it is dropped. */
void msd_peer_latencies_note(struct msd_peer_latencies *ps, struct msd_peer_id who,
			     uint8_t place, uint64_t exec_ns);
/** Return the expected microseconds; 0: no remembered call of @who. */
uint32_t msd_peer_latencies_expect(const struct msd_peer_latencies *ps,
				   struct msd_peer_id who, uint8_t place);

#endif
