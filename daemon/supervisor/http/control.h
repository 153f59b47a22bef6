#ifndef MSD_SUPERVISOR_CONTROL_H
#define MSD_SUPERVISOR_CONTROL_H
/*
 * The model repository of the Open Inference Protocol as far as it changes something:
 * modules that the configuration or the store knows are loaded again, and any unloaded.
 */
struct msd_asking;

/** The routes'. */
void msd_control_load(struct msd_asking *a);
void msd_control_unload(struct msd_asking *a);

#endif
