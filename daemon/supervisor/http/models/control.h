#ifndef MSD_SUPERVISOR_CONTROL_H
#define MSD_SUPERVISOR_CONTROL_H
/* The model repository extension of the Open Inference Protocol: load modules that
 * the configuration or the store knows again, and unload any module. */
struct msd_http_exchange;

/** Route handlers. */
void msd_control_load(struct msd_http_exchange *a);
void msd_control_unload(struct msd_http_exchange *a);

#endif
