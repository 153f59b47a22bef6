#include "daemon/limits.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

/* Clamp @bytes to the range @least to @most. */
static uint64_t within(uint64_t bytes, uint64_t least, uint64_t most)
{
	return bytes < least ? least : bytes > most ? most : bytes;
}

/*
 * Unread replies take tensor memory away from the results of other clients. Returns
 * the limit of all unread replies together: at most half of the memory that the
 * operator configured; 0 means the default.
 */
static uint64_t total_memory(uint64_t said_memory, uint64_t machine_bytes)
{
	const uint64_t part = within(machine_bytes / 16, 128 * MIB, GIB);

	return said_memory == 0 ? part : within(said_memory / 2, 4 * MIB, part);
}

/* A process has several thread pools with one thread per core: its own, the driver's,
 * a vendor library's. */
#define PROCESSES 256u
#define PROCESSES_PER_CORE 16u

void msd_limits_size(struct msd_limits *l, uint64_t machine_bytes, unsigned n_cores)
{
	if (l->max_total_memory == 0)
		l->max_total_memory = total_memory(l->max_memory, machine_bytes);
	if (l->max_memory == 0)
		l->max_memory = machine_bytes / 2;
	if (l->max_resident == 0)
		l->max_resident = l->max_memory / 8 * 3;
	if (l->max_segment_memory == 0)
		l->max_segment_memory = machine_bytes / 2;
	if (l->max_segment_bytes == 0)
		l->max_segment_bytes = l->max_segment_memory / 2;
	if (l->max_upload_memory == 0)
		l->max_upload_memory = machine_bytes / 2;
	if (l->max_worker_memory == 0)
		l->max_worker_memory = machine_bytes / 4 * 3;
	if (l->max_worker_processes == 0)
		l->max_worker_processes = PROCESSES + PROCESSES_PER_CORE * n_cores;
	if (l->max_peer_memory == 0)
		l->max_peer_memory = l->max_total_memory / 2;
	if (l->max_connection_memory == 0) {
		l->max_connection_memory =
			within(l->max_peer_memory / 4, MIB, 256 * MIB);
	}
}
