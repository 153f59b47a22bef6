#ifndef MSD_SUPERVISOR_PROBE_H
#define MSD_SUPERVISOR_PROBE_H
/*
 * Trace points (USDT) for perf, bpftrace and SystemTap: docs/how-to/slow-calls.md. An
 * unused one costs a load and a jump. Its values are computed only if a tracer is
 * attached, which the kernel counts in its semaphore. Built if <sys/sdt.h> exists.
 */
#include <stdint.h>

#ifdef MSD_USDT
extern volatile unsigned short modserd_call__done_semaphore,
	modserd_worker__lost_semaphore;
#define MSD_PROBE_IS_ON(name) __builtin_expect(modserd_##name##_semaphore != 0, 0)
#else
#define MSD_PROBE_IS_ON(name) 0
#endif

/** Call it if MSD_PROBE_IS_ON(call__done). */
void msd_probe_call_done(const char *module, const char *function, unsigned code,
			 uint64_t ns);
/** Call it if MSD_PROBE_IS_ON(worker__lost). */
void msd_probe_worker_lost(const char *module, uint32_t worker, unsigned loss,
			   const char *how);

#endif
