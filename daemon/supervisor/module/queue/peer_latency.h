#ifndef MSD_SUPERVISOR_PEER_LATENCY_H
#define MSD_SUPERVISOR_PEER_LATENCY_H
/*
 * Latency estimate for each peer of a module. The time of a call depends on its
 * arguments. Without this, the slow calls of one peer would make admission refuse the
 * fast calls of other peers with a deadline (admission.h). No entries are kept while
 * all calls take less than a millisecond, because no deadline is shorter.
 */
#include "daemon/loop/list.h"
#include "daemon/supervisor/module/queue/latency_estimate.h"
#include "daemon/supervisor/request/peer_id.h"

#define MSD_PEER_LATENCIES                                                             \
	32u /* maximum; the one that was quiet longest is dropped                      \
	     */
#define MSD_PEER_LATENCY_LEAST_US 1000u

struct msd_peer_latency {
	struct msd_list link; /* msd_peer_latencies.all */
	struct msd_peer_id who;
	struct msd_latency_estimate pace;
};

struct msd_peer_latencies {
	struct msd_list all; /* msd_peer_latency.link, the latest caller last */
	uint32_t n;
};

void msd_peer_latencies_init(struct msd_peer_latencies *ps);
void msd_peer_latencies_finish(struct msd_peer_latencies *ps);
/** Note a call of @who that took @exec_ns. Without memory it is dropped. */
void msd_peer_latencies_note(struct msd_peer_latencies *ps, struct msd_peer_id who,
			     uint8_t place, uint64_t exec_ns);
/** Return the expected microseconds; 0: no remembered call of @who. */
uint32_t msd_peer_latencies_expect(const struct msd_peer_latencies *ps,
				   struct msd_peer_id who, uint8_t place);

#endif
