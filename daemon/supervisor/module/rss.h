#ifndef MSD_SUPERVISOR_RSS_H
#define MSD_SUPERVISOR_RSS_H
/*
 * The resident memory of a process, looked up in /proc: for lists of many processes
 * that may be asked for again and again, at most once a second each, and of all no more
 * than one list has looks. Zero is empty.
 */
#include <stdint.h>

#define MSD_RSS_LOOKS 64u /* of one list; each takes some 10 us */

struct msd_rss {
	uint64_t bytes;
	uint64_t at_ms; /* loop time, when it was looked up; 0: never */
};

/** What @pid has now, 0 when it cannot be known. */
uint64_t msd_rss_look(int pid);
/** What @pid had when it was looked up last, which is done now if that is a second ago
 * and *@looks, which counts down, is not 0. */
uint64_t msd_rss_recent(struct msd_rss *rss, int pid, uint64_t now_ms, uint32_t *looks);

#endif
