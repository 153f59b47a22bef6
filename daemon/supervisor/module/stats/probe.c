#include "daemon/supervisor/module/stats/probe.h"

#ifdef MSD_USDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/* Section in which tracers look for them. */
#define SEMAPHORE __attribute__((used, section(".probes")))
volatile unsigned short SEMAPHORE modserd_call__done_semaphore;
volatile unsigned short SEMAPHORE modserd_worker__lost_semaphore;
#else
#define STAP_PROBE4(provider, name, a, b, c, d)                                        \
	(void)(a), (void)(b), (void)(c), (void)(d)
#endif

/* The system's macros cause the complexity. NOLINTNEXTLINE */
void msd_probe_call_done(const char *module, const char *function, unsigned code,
			 uint64_t ns)
{
	STAP_PROBE4(modserd, call__done, module, function, code, ns);
}

/* The system's macros cause the complexity. NOLINTNEXTLINE */
void msd_probe_worker_lost(const char *module, uint32_t worker, unsigned loss,
			   const char *how)
{
	STAP_PROBE4(modserd, worker__lost, module, worker, loss, how);
}
