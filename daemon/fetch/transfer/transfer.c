/* The ends that all transfers share, and the back-off time before a retry. */
#include "daemon/fetch/transfer/transfer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/transfer/download_buffer.h"
#include "daemon/fetch/transfer/network_options.h"
#include "proto/base/chance.h"

static void end(struct msd_transfer *t, msd_err err, struct msd_diag *d)
{
	struct msd_diag why = *d;

	*d = (struct msd_diag){0};
	t->on_done(t, err, &why);
	msd_diag_finish(&why);
}

static void on_read(struct msd_local *l, msd_err err, struct msd_diag *d)
{
	end((void *)((char *)l - offsetof(struct msd_transfer, local)), err, d);
}

static struct msd_transfer *of_download(struct msd_download *dl)
{
	return (void *)((char *)dl - offsetof(struct msd_transfer, download));
}

static void on_downloaded(struct msd_download *dl, msd_err err, struct msd_diag *d)
{
	struct msd_transfer *t = of_download(dl);

	t->err = err;
	t->d = *d;
	*d = (struct msd_diag){0};
	t->is_known = dl->is_known;
	t->etag = dl->etag;
	dl->etag = NULL;
	t->is_closing = true;
	msd_download_close(dl);
}

static void on_closed(struct msd_download *dl)
{
	struct msd_transfer *t = of_download(dl);

	end(t, t->err, &t->d);
}

static msd_err begin_local(struct msd_transfer *t, uv_loop_t *loop, const char *path,
			   struct msd_diag *d)
{
	t->local = (struct msd_local){
		.landing = t->landing, .reach = t->how.reach, .on_done = on_read};
	t->local.path = strdup(path);
	if (t->local.path == NULL)
		return msd_diag_no_memory(d);
	msd_local_begin(&t->local, loop);
	return MSD_OK;
}

static void on_given(struct msd_origin *o, msd_err err, struct msd_diag *d)
{
	struct msd_transfer *t =
		(void *)((char *)o - offsetof(struct msd_transfer, origin));

	if (!o->wants_file)
		t->papers = o->papers;
	end(t, err, d);
}

static void begin_origin(struct msd_transfer *t, uv_loop_t *loop, struct msd_uri *uri)
{
	t->origin = (struct msd_origin){.uri = *uri,
					.landing = t->landing,
					.how = t->how,
					.wants_file = t->file != NULL,
					.on_done = on_given};
	*uri = (struct msd_uri){0};
	if (t->file != NULL) {
		t->origin.digest = *t->file;
		t->origin.file_bytes = t->file_bytes;
	}
	msd_origin_begin(&t->origin, loop);
}

msd_err msd_transfer_begin(struct msd_transfer *t, struct msd_net *net, const char *url,
			   struct msd_diag *d)
{
	struct msd_uri uri;
	msd_err err = msd_uri_read(url, t->how.reach->insecure, &uri, d);

	msd_transfer_finish(t);
	t->err = MSD_CANCELLED;
	t->is_closing = false;
	uri.is_free = err == MSD_OK && msd_network_options_is_free(t->how.reach, url);
	t->is_local = err == MSD_OK && uri.scheme == MSD_SCHEME_FILE;
	t->is_origin = err == MSD_OK && uri.scheme == MSD_SCHEME_MODSER;
	if (t->is_local && !uri.is_free) {
		err = msd_network_options_refuse(&uri, d);
	} else if (t->is_local) {
		err = begin_local(t, net->loop, uri.path, d);
	} else if (t->is_origin) {
		begin_origin(t, net->loop, &uri);
	} else if (err == MSD_OK) {
		err = msd_network_options_header(t->how.reach, uri.host, &uri,
						 &t->authorization, d);
		t->download = (struct msd_download){.net = net,
						    .sink = &t->landing->sink,
						    .how = t->how,
						    .authorization = t->authorization,
						    .known_etag = t->known_etag,
						    .on_done = on_downloaded,
						    .on_closed = on_closed};
		if (err == MSD_OK)
			err = msd_download_begin(&t->download, url, d);
	}
	msd_uri_finish(&uri);
	return err;
}

void msd_transfer_cancel(struct msd_transfer *t)
{
	if (t->is_local) {
		msd_local_cancel(&t->local);
	} else if (t->is_origin) {
		msd_origin_cancel(&t->origin);
	} else if (!t->is_closing) {
		t->is_closing = true;
		msd_download_close(&t->download);
	}
}

uint64_t msd_transfer_progress(const struct msd_transfer *t, uint64_t *ret_total)
{
	if (t->is_origin) {
		*ret_total = t->origin.file_bytes;
		return t->origin.bytes;
	}
	*ret_total = t->is_local ? t->local.total_bytes : t->download.total_bytes;
	return t->is_local ? t->local.bytes : t->landing->sink.bytes;
}

void msd_transfer_finish(struct msd_transfer *t)
{
	free(t->etag);
	free(t->authorization);
	t->etag = t->authorization = NULL;
	t->is_known = false;
}

static uint64_t at_most(uint64_t ms)
{
	return ms < MSD_BACKOFF_MOST_MS ? ms : MSD_BACKOFF_MOST_MS;
}

uint64_t msd_backoff_ms(unsigned n_failures, uint64_t first_ms, uint64_t least_ms)
{
	uint64_t most = at_most(first_ms);

	for (unsigned i = 1; i < n_failures && most < MSD_BACKOFF_MOST_MS; i++)
		most = at_most(2 * most);
	const uint64_t ms = most * msd_chance() / UINT32_MAX;
	return ms > at_most(least_ms) ? ms : at_most(least_ms);
}
