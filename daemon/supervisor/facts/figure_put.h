#ifndef MSD_SUPERVISOR_FIGURE_PUT_H
#define MSD_SUPERVISOR_FIGURE_PUT_H
/* The values of server.info that are not numbers: functions for the rows of the
 * figure table, each appends its value. Unknown values are nil. */
#include "daemon/supervisor/facts/figures.h"

void msd_figure_put_server(struct msd_edge *e, const struct msd_figure *f,
			   struct msd_buf *b);
void msd_figure_put_version(struct msd_edge *e, const struct msd_figure *f,
			    struct msd_buf *b);
void msd_figure_put_handshakes(struct msd_edge *e, const struct msd_figure *f,
			       struct msd_buf *b);
void msd_figure_put_listeners(struct msd_edge *e, const struct msd_figure *f,
			      struct msd_buf *b);
void msd_figure_put_group(struct msd_edge *e, const struct msd_figure *f,
			  struct msd_buf *b);
void msd_figure_put_held(struct msd_edge *e, const struct msd_figure *f,
			 struct msd_buf *b);
void msd_figure_put_rpc(struct msd_edge *e, const struct msd_figure *f,
			struct msd_buf *b);
void msd_figure_put_http(struct msd_edge *e, const struct msd_figure *f,
			 struct msd_buf *b);
void msd_figure_put_limits(struct msd_edge *e, const struct msd_figure *f,
			   struct msd_buf *b);
void msd_figure_put_found(struct msd_edge *e, const struct msd_figure *f,
			  struct msd_buf *b);
void msd_figure_put_sandbox(struct msd_edge *e, const struct msd_figure *f,
			    struct msd_buf *b);

#endif
