#ifndef MSD_WIRE_LEDGER_H
#define MSD_WIRE_LEDGER_H
/*
 * What a worker tells of the calls that clients make on channels of their own, in a
 * page that it shares with its supervisor: the worker writes, field by field, and the
 * supervisor reads when it wants to know. So a call costs neither of them a message.
 *
 * A worker runs foreign code, and any of this may be a lie, or half written. So it is
 * believed in what concerns nobody but that module: what `ls`, the metrics and the slow
 * log tell of it, and that the worker is to be ended for a call that overran.
 */
#include <stdint.h>

#include "proto/err.h"
#include "proto/limits.h"
#include "proto/spin.h"

#define MSD_MAX_GUESTS 16u /* such channels of one worker */
/* Who runs, beside a guest's number: the supervisor's own channel. */
#define MSD_LEDGER_CHANNEL (MSD_MAX_GUESTS + 1u)
#define MSD_LEDGER_ROWS 64u
#define MSD_LEDGER_OTHER 0u /* the row of functions that have none */
#define MSD_LEDGER_BINS 64u
#define MSD_LEDGER_SLOW 16u
#define MSD_LEDGER_CODES (MSD_ERR_COUNT + 1u) /* the last: nobody waited any more */

/* How long one stage took, of all calls, by the highest bit of its nanoseconds. */
struct msd_ledger_times {
	uint64_t n[MSD_LEDGER_BINS];
	uint64_t sum_ns;
};

struct msd_ledger_row {
	uint64_t n_name; /* bytes; 0: the row is free */
	char name[MSD_MAX_FUNC_NAME_BYTES];
	uint64_t ended[MSD_LEDGER_CODES]; /* calls, by what they were answered */
};

/* A call that took as long as the supervisor calls slow. */
struct msd_ledger_slow {
	uint64_t row, code, guest, wait_ns, run_ns;
};

struct msd_ledger {
	/* What runs: whose request, since when that is so, and when it is to have
	 * ended, by CLOCK_MONOTONIC. `who` is written last, and is to be read first. */
	uint64_t who; /* a guest's number, or MSD_LEDGER_CHANNEL; 0: nothing runs */
	uint64_t since_ns;
	uint64_t deadline_ns; /* of a guest's; 0: none */
	uint64_t row;         /* of a guest's: its function's */
	/* Of each guest whose channel is taken back the bit of its number: nothing more
	 * comes over it, for the supervisor has shut it down. The one field that that
	 * writes, and never reads. */
	uint64_t leaving;
	/* So far, of each guest's number: calls that came, and of them those that are
	 * over. */
	uint64_t n_came[MSD_MAX_GUESTS + 1], n_calls[MSD_MAX_GUESTS + 1];
	struct msd_ledger_times wait, run;
	struct msd_spin_count spun; /* so far: what came of looking for guests' calls */
	uint64_t n_slow; /* so far: the next one's place, modulo MSD_LEDGER_SLOW */
	struct msd_ledger_slow slow[MSD_LEDGER_SLOW];
	struct msd_ledger_row rows[MSD_LEDGER_ROWS];
};

/** The bit of guest @number. */
static inline uint64_t msd_ledger_bit(uint64_t number)
{
	return UINT64_C(1) << number;
}
/** The other side sees the new value whole. */
static inline void msd_ledger_set(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELEASE);
}
static inline void msd_ledger_add(uint64_t *field, uint64_t more)
{
	msd_ledger_set(field, *field + more);
}
/** What the other side wrote there last. */
static inline uint64_t msd_ledger_get(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

#endif
