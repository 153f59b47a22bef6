/*
 * Happy path: a thread looks into the downloaded layer, because an archive may unpack
 * to gigabytes. A layer that is the model itself is kept by exchange of the buffers;
 * all others are discarded. Failures: a damaged archive, several models or none.
 */
#include "daemon/fetch/pick.h"

#include <stdio.h>
#include <string.h>

#include "daemon/loop/list.h"

static const char digest_mark[] = "sha256:";

/* Without a title, a layer is named by its digest. */
static void name_of(const struct msd_oci_layer *layer, char ret[static MSD_OCI_TITLE])
{
	char hex[MSD_DIGEST_TEXT];

	msd_digest_format(&layer->blob.digest, hex);
	if (layer->title[0] != '\0') {
		(void)snprintf(ret, MSD_OCI_TITLE, "%s", layer->title);
	} else {
		(void)snprintf(ret, MSD_OCI_TITLE, "%s%s", digest_mark, hex);
	}
}

static bool has_digest(const struct msd_pick *p, const struct msd_oci_layer *layer)
{
	return p->digest != NULL && msd_digest_equal(p->digest, &layer->blob.digest);
}

static bool has_name(const struct msd_pick *p, const struct msd_oci_layer *layer)
{
	char name[MSD_OCI_TITLE];

	name_of(layer, name);
	return msd_layer_is_wanted(name, p->wanted);
}

/* Advance from the current layer to one that counts. */
static void go_on(struct msd_pick *p)
{
	for (; p->at < p->manifest->n_layers; p->at++) {
		const struct msd_oci_layer *layer = &p->manifest->layers[p->at];

		if ((!p->by_digest || has_digest(p, layer)) &&
		    (!p->by_name || has_name(p, layer)))
			return;
	}
}

void msd_pick_begin(struct msd_pick *p, const struct msd_oci_manifest *m)
{
	p->manifest = m;
	p->found.fd = -1;
	p->look.wanted = p->wanted;
	for (uint32_t i = 0; i < m->n_layers; i++) {
		p->by_name |= has_name(p, &m->layers[i]);
		p->by_digest |= has_digest(p, &m->layers[i]);
	}
	p->by_digest &= !p->by_name;
	go_on(p);
}

const struct msd_oci_layer *msd_pick_layer(const struct msd_pick *p)
{
	return p->at < p->manifest->n_layers ? &p->manifest->layers[p->at] : NULL;
}

static void on_work(struct msd_work *work)
{
	struct msd_pick *p = MSD_CONTAINER_OF(work, struct msd_pick, work);

	p->err = msd_layer_look(&p->look, &p->layer, &p->d);
}

/* An empty buffer with the limits of @as. */
static msd_err open_as(const struct msd_download_buffer *as,
		       struct msd_download_buffer *ret, struct msd_diag *d)
{
	const msd_err err = msd_download_buffer_open(ret, as->max_bytes, d);

	if (err != MSD_OK)
		return err;
	ret->room = as->room;
	msd_resume_file_init(&ret->saved, as->saved.folder, as->saved.max_bytes);
	ret->saved.owner = as->saved.owner;
	return MSD_OK;
}

/* The shared limit belongs to the loop's thread: the other thread gets what is left of
 * it. */
static void lend(struct msd_pick *p)
{
	struct msd_download_buffer_room *room = p->landing->room;

	p->found.room = NULL;
	if (room == NULL)
		return;
	room->bytes -= p->found.bytes;
	const uint64_t left =
		room->max_bytes > room->bytes ? room->max_bytes - room->bytes : 0;
	if (left < p->found.max_bytes) {
		p->found.max_bytes = left;
		p->found.limit = "max-upload-memory";
	}
}

static void take_back(struct msd_pick *p)
{
	p->found.room = p->landing->room;
	if (p->found.room != NULL)
		p->found.room->bytes += p->found.bytes;
	p->found.max_bytes = p->landing->max_bytes;
	p->found.limit = p->landing->limit;
}

/* The layer in the buffer is the model. */
static void keep_whole(struct msd_pick *p)
{
	const struct msd_download_buffer layer = *p->landing;

	*p->landing = p->found;
	p->found = layer;
}

static void on_worked(struct msd_work *work)
{
	struct msd_pick *p = MSD_CONTAINER_OF(work, struct msd_pick, work);
	struct msd_diag d = p->d;
	msd_err err = p->err;

	p->d = (struct msd_diag){0};
	take_back(p);
	/* The worker tells better than this process what a single unknown file is. */
	if (err == MSD_OK && p->look.n_found == 0 && p->look.n_zstd == 0 &&
	    p->manifest->n_layers == 1 && p->wanted[0] == '\0') {
		p->look.is_whole = true;
		p->look.n_found = 1;
		(void)snprintf(p->look.name, sizeof(p->look.name), "%s", p->name);
	}
	if (err == MSD_OK && p->look.is_whole)
		keep_whole(p);
	if (err == MSD_OK)
		err = msd_download_buffer_restart(p->landing, &d);
	p->at++;
	go_on(p);
	p->on_looked(p, err, &d);
	msd_diag_finish(&d);
}

msd_err msd_pick_look(struct msd_pick *p, uv_loop_t *loop, struct msd_diag *d)
{
	const msd_err err =
		p->found.fd < 0 ? open_as(p->landing, &p->found, d) : MSD_OK;

	if (err != MSD_OK)
		return err;
	name_of(msd_pick_layer(p), p->name);
	p->layer = (struct msd_layer){p->landing->fd, p->landing->bytes, p->name};
	p->look.out = &p->found;
	p->work = (struct msd_work){
		.run = on_work, .done = on_worked, .lane = &msd_download_threads};
	lend(p);
	msd_work_begin(loop, &p->work);
	return MSD_OK;
}

msd_err msd_pick_end(struct msd_pick *p, struct msd_diag *d)
{
	const msd_err err = msd_layer_look_end(&p->look, d);

	if (err != MSD_OK)
		return err;
	msd_download_buffer_close(p->landing);
	*p->landing = p->found;
	p->found = (struct msd_download_buffer){.fd = -1};
	return MSD_OK;
}

const char *msd_pick_file(const struct msd_pick *p)
{
	const char *name = p->look.name;

	return strncmp(name, digest_mark, strlen(digest_mark)) != 0 ? name : "";
}

void msd_pick_finish(struct msd_pick *p)
{
	if (p->manifest != NULL)
		msd_download_buffer_close(&p->found);
	msd_layer_look_finish(&p->look);
	msd_diag_finish(&p->d);
}
