#ifndef MSD_SUPERVISOR_CONTROL_H
#define MSD_SUPERVISOR_CONTROL_H
/* The model repository extension of the Open Inference Protocol: load modules that
 * the configuration or the store knows again, and unload any module. */
struct msd_asking;

/** Route handlers. */
void msd_control_load(struct msd_asking *a);
void msd_control_unload(struct msd_asking *a);

#endif
