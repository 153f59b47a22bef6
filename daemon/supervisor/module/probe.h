#ifndef MSD_SUPERVISOR_PROBE_H
#define MSD_SUPERVISOR_PROBE_H
/*
 * Points at which perf, bpftrace and SystemTap can look in (USDT), docs/tracing.md. One
 * that nobody looks at costs a load and a jump: its values are made when its semaphore,
 * which the kernel counts up, says that somebody does. Built where <sys/sdt.h> is.
 */
#include <stdint.h>

#ifdef MSD_USDT
extern volatile unsigned short modserd_call__done_semaphore,
	modserd_worker__lost_semaphore;
#define MSD_PROBE_IS_ON(name) __builtin_expect(modserd_##name##_semaphore != 0, 0)
#else
#define MSD_PROBE_IS_ON(name) 0
#endif

/** Where MSD_PROBE_IS_ON(call__done). */
void msd_probe_call_done(const char *module, const char *function, unsigned code,
			 uint64_t ns);
/** Where MSD_PROBE_IS_ON(worker__lost). */
void msd_probe_worker_lost(const char *module, uint32_t worker, unsigned loss,
			   const char *how);

#endif
