#ifndef MSD_WIRE_LEDGER_H
#define MSD_WIRE_LEDGER_H
/*
 * A page that a worker shares with its supervisor, with statistics of the calls that
 * clients make on direct channels. The worker writes it field by field, and the
 * supervisor reads it on demand. So a call costs neither of them a message.
 *
 * A worker runs foreign code, so any field may be wrong or half written. The
 * supervisor uses it only where it concerns that module alone: in `ls`, the metrics
 * and the slow log, and to end the worker for a call that overran.
 */
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/spin.h"
#include "proto/limits.h"

#define MSD_MAX_GUESTS 16u /* direct channels of one worker */
/* Value of `who` for the supervisor's own channel; the other values are numbers of
 * direct channels. */
#define MSD_LEDGER_CHANNEL (MSD_MAX_GUESTS + 1u)
#define MSD_LEDGER_ROWS 64u
#define MSD_LEDGER_OTHER 0u /* row of functions without a row of their own */
#define MSD_LEDGER_BINS 64u
#define MSD_LEDGER_SLOW 16u
#define MSD_LEDGER_CODES (MSD_ERR_COUNT + 1u) /* last code: client gone */

/* Duration of one stage for all calls, by the highest bit of its nanoseconds. */
struct msd_ledger_times {
	uint64_t n[MSD_LEDGER_BINS];
	uint64_t sum_ns;
};

struct msd_ledger_row {
	uint64_t n_name; /* bytes; 0: the row is free */
	char name[MSD_MAX_FUNC_NAME_BYTES];
	uint64_t ended[MSD_LEDGER_CODES]; /* calls by result code */
};

/* A call that exceeded the supervisor's threshold for slow calls. */
struct msd_ledger_slow {
	uint64_t row, code, guest, wait_ns, run_ns;
};

struct msd_ledger {
	/* The running request: its channel, its start and its deadline, by
	 * CLOCK_MONOTONIC. `who` is written last, and must be read first. */
	uint64_t who; /* direct channel number, or MSD_LEDGER_CHANNEL; 0: idle */
	uint64_t since_ns;
	uint64_t deadline_ns; /* direct channel only; 0: none */
	uint64_t row;         /* direct channel only: row of the function */
	/*
	 * Bit mask of direct channels that are being taken back: the supervisor has
	 * shut them down, so nothing more arrives on them. Only the supervisor writes
	 * this field, and it never reads it.
	 */
	uint64_t leaving;
	/* Totals per direct channel number: received calls, and finished calls. */
	uint64_t n_came[MSD_MAX_GUESTS + 1], n_calls[MSD_MAX_GUESTS + 1];
	struct msd_ledger_times wait, run;
	struct msd_spin_count spun; /* totals: busy polling on direct channels */
	uint64_t n_slow; /* total: index of the next entry, modulo MSD_LEDGER_SLOW */
	struct msd_ledger_slow slow[MSD_LEDGER_SLOW];
	struct msd_ledger_row rows[MSD_LEDGER_ROWS];
};

/** The bit of direct channel @number. */
static inline uint64_t msd_ledger_bit(uint64_t number)
{
	return UINT64_C(1) << number;
}
/** Store atomically: the other side sees the whole value. */
static inline void msd_ledger_set(uint64_t *field, uint64_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELEASE);
}
static inline void msd_ledger_add(uint64_t *field, uint64_t more)
{
	msd_ledger_set(field, *field + more);
}
/** Load the value that the other side wrote last. */
static inline uint64_t msd_ledger_get(const uint64_t *field)
{
	return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}

#endif
