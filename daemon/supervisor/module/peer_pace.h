#ifndef MSD_SUPERVISOR_PEER_PACE_H
#define MSD_SUPERVISOR_PEER_PACE_H
/*
 * Latency estimate for each peer of a module. The time of a call depends on its
 * arguments. Without this, the slow calls of one peer would make admission refuse the
 * fast calls of other peers with a deadline (admission.h). No entries are kept while
 * all calls take less than a millisecond, because no deadline is shorter.
 */
#include "daemon/supervisor/module/pace.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/list.h"

#define MSD_PEER_PACES 32u /* maximum; the one that was quiet longest is dropped */
#define MSD_PEER_PACE_LEAST_US 1000u

struct msd_peer_pace {
	struct msd_list link; /* msd_peer_paces.all */
	struct msd_peer_id who;
	struct msd_pace pace;
};

struct msd_peer_paces {
	struct msd_list all; /* msd_peer_pace.link, the latest caller last */
	uint32_t n;
};

void msd_peer_paces_init(struct msd_peer_paces *ps);
void msd_peer_paces_finish(struct msd_peer_paces *ps);
/** Note a call of @who that took @exec_ns. Without memory it is dropped. */
void msd_peer_paces_note(struct msd_peer_paces *ps, struct msd_peer_id who,
			 uint8_t place, uint64_t exec_ns);
/** Return the expected microseconds; 0: no remembered call of @who. */
uint32_t msd_peer_paces_expect(const struct msd_peer_paces *ps, struct msd_peer_id who,
			       uint8_t place);

#endif
