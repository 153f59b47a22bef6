#ifndef MSD_SUPERVISOR_PEER_PACE_H
#define MSD_SUPERVISOR_PEER_PACE_H
/*
 * How long a module's functions took lately for each of its peers: what a call takes
 * depends on what it is given, so that a peer with slow ones would have others' fast
 * ones refused, who have a deadline (admission.h). Nothing is kept while all calls take
 * less than a millisecond, for no deadline is shorter.
 */
#include "daemon/supervisor/module/pace.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/list.h"

#define MSD_PEER_PACES 32u /* at a time; who was quiet longest goes first */
#define MSD_PEER_PACE_LEAST_US 1000u

struct msd_peer_pace {
	struct msd_list link; /* msd_peer_paces.all */
	struct msd_peer_id who;
	struct msd_pace pace;
};

struct msd_peer_paces {
	struct msd_list all; /* msd_peer_pace.link: who called last is the last */
	uint32_t n;
};

void msd_peer_paces_init(struct msd_peer_paces *ps);
void msd_peer_paces_finish(struct msd_peer_paces *ps);
/** A call of @who took @exec_ns. Without memory it is not kept. */
void msd_peer_paces_note(struct msd_peer_paces *ps, struct msd_peer_id who,
			 uint8_t place, uint64_t exec_ns);
/** Microseconds to expect; 0: @who has not called it, as far as is remembered. */
uint32_t msd_peer_paces_expect(const struct msd_peer_paces *ps, struct msd_peer_id who,
			       uint8_t place);

#endif
