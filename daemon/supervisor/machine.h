#ifndef MSD_SUPERVISOR_MACHINE_H
#define MSD_SUPERVISOR_MACHINE_H
/* The memory that this process may use: the memory of the machine, or less if a
 * control group (container, unit) sets a limit. */
#include <stdint.h>

/**
 * The smaller of @physical bytes and the limits of the control groups in
 * @root/proc/self/cgroup. @root is "" except in tests.
 */
uint64_t msd_machine_memory(const char *root, uint64_t physical);

#endif
