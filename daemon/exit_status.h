#ifndef MSD_DAEMON_EXIT_STATUS_H
#define MSD_DAEMON_EXIT_STATUS_H
/* What a worker's exit status tells its supervisor; CHANNEL.md. */
enum msd_exit_status {
	MSD_EXIT_DONE = 0,      /* the channel ended */
	MSD_EXIT_BROKEN = 1,    /* the contract of the channel was broken */
	MSD_EXIT_NO_START = 2,  /* it could not start */
	MSD_EXIT_REFUSED = 3,   /* the artifact was refused; the reply says why */
	MSD_EXIT_GPU_FAULT = 4, /* its device is lost to the process */
};

#endif
