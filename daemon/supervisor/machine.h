#ifndef MSD_SUPERVISOR_MACHINE_H
#define MSD_SUPERVISOR_MACHINE_H
/* How much memory there is for this process: the machine's, or less, where a control
 * group (of a container, of a unit) allows less. */
#include <stdint.h>

/** @physical bytes, or what the control groups named in @root/proc/self/cgroup leave of
 * them. @root is "" but in tests. */
uint64_t msd_machine_memory(const char *root, uint64_t physical);

#endif
