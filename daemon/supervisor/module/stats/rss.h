#ifndef MSD_SUPERVISOR_RSS_H
#define MSD_SUPERVISOR_RSS_H
/*
 * Resident memory of a process, read from /proc, for repeated listings of many
 * processes. Each process is read at most once a second, and one listing reads a
 * limited number. Zero is empty.
 */
#include <stdint.h>

#define MSD_RSS_LOOKS 64u /* reads per listing; each takes some 10 us */

struct msd_rss {
	uint64_t bytes;
	uint64_t at_ms; /* loop time of the last read; 0: never */
};

/** Read the memory of @pid in bytes; 0: unknown. */
uint64_t msd_rss_look(int pid);
/**
 * Return the last value of @pid. Reads it first if it is a second old and *@looks,
 * which counts down, is not 0.
 */
uint64_t msd_rss_recent(struct msd_rss *rss, int pid, uint64_t now_ms, uint32_t *looks);

#endif
