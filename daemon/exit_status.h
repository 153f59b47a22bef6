#ifndef MSD_DAEMON_EXIT_STATUS_H
#define MSD_DAEMON_EXIT_STATUS_H
/* Exit status of a worker, read by the supervisor; see CHANNEL.md. */
enum msd_exit_status {
	MSD_EXIT_DONE = 0,      /* the channel was closed */
	MSD_EXIT_BROKEN = 1,    /* protocol error on the channel */
	MSD_EXIT_NO_START = 2,  /* startup failed */
	MSD_EXIT_REFUSED = 3,   /* the artifact was refused; the reply has the reason */
	MSD_EXIT_GPU_FAULT = 4, /* the device is no longer usable in this process */
};

#endif
