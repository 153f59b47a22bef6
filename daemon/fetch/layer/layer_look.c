/*
 * Happy path: the first bytes say that the layer is a model or an archive. An archive
 * is read twice: the first time to find the model, the second time to copy it. So an
 * archive without a model, or with several, costs no memory. Failures: a damaged
 * archive, or too many bytes.
 */
#include "daemon/fetch/layer/layer_look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/layer/model_head.h"
#include "daemon/fetch/transfer/download_buffer.h"
#include "proto/base/errno_text.h"

#define STEP_BYTES ((size_t)64 * 1024)

bool msd_layer_is_wanted(const char *path, const char *wanted)
{
	const size_t n = strlen(path), n_wanted = strlen(wanted);

	return n_wanted > 0 && n >= n_wanted &&
	       strcmp(path + n - n_wanted, wanted) == 0 &&
	       (n == n_wanted || path[n - n_wanted - 1] == '/');
}

/* Symbols that a compiler of TVM writes; libraries of other programs lack them. */
static bool has_tvm(const uint8_t *p, size_t n)
{
	return memmem(p, n, "__tvm_", 6) != NULL || memmem(p, n, "__TVM", 5) != NULL;
}

/* Search the rest of a library, of which the buffer has the first @n bytes. */
static msd_err search_tvm(struct msd_tar_reader *t, uint8_t *buffer, size_t n,
			  bool *ret, struct msd_diag *d)
{
	const size_t overlap = 8;
	msd_err err = MSD_OK;

	*ret = has_tvm(buffer, n);
	while (!*ret) {
		const size_t kept = n < overlap ? n : overlap;

		memmove(buffer, buffer + n - kept, kept);
		err = msd_tar_read(t, buffer + kept, STEP_BYTES - kept, &n, d);
		if (err != MSD_OK || n == 0)
			return err;
		n += kept;
		*ret = has_tvm(buffer, n);
	}
	return err;
}

static msd_err is_model(struct msd_tar_reader *t, uint8_t *buffer, bool *ret,
			struct msd_diag *d)
{
	size_t n;
	const msd_err err = msd_tar_read(t, buffer, MSD_MODEL_HEAD_BYTES, &n, d);

	*ret = false;
	if (err != MSD_OK)
		return err;
	switch (msd_model_head_of((struct msd_span){buffer, n}, t->bytes)) {
	case MSD_HEAD_LIBRARY:
		return search_tvm(t, buffer, n, ret, d);
	case MSD_HEAD_MODEL:
		*ret = true;
		return MSD_OK;
	case MSD_HEAD_OTHER:
	default:
		return MSD_OK;
	}
}

/* Count a file with the name @name; true if it is the one to take. A file with the
 * exact path replaces those that only end in it. */
static bool note(struct msd_layer_look *l, const char *name)
{
	if (l->n_found > 0 && strcmp(l->name, name) == 0)
		return true;
	if (l->n_found > 0 && strcmp(l->name, l->wanted) == 0)
		return false;
	if (strcmp(name, l->wanted) == 0) {
		l->n_found = 0;
		l->names.n = 0;
	}
	const bool is_first = l->n_found == 0;
	if (is_first)
		(void)snprintf(l->name, sizeof(l->name), "%s", name);
	if (l->n_found < MSD_FOUND_NAMES) {
		msd_buf_printf(&l->names, "%s%s", is_first ? "" : ", ", name);
	} else if (l->n_found == MSD_FOUND_NAMES) {
		msd_buf_printf(&l->names, ", ...");
	}
	l->n_found++;
	return is_first;
}

/* Read all headers. *@ret_has: the found model is in this archive, at l->name. */
static msd_err find(struct msd_layer_look *l, struct msd_tar_reader *t, uint8_t *buffer,
		    bool *ret_has, struct msd_diag *d)
{
	bool more, is_it;

	*ret_has = false;
	for (;;) {
		msd_err err = msd_tar_next(t, &more, d);

		if (err != MSD_OK || !more)
			return err;
		is_it = msd_layer_is_wanted(t->path, l->wanted);
		if (l->wanted[0] == '\0')
			err = is_model(t, buffer, &is_it, d);
		if (err != MSD_OK)
			return err;
		if (is_it && note(l, t->path))
			*ret_has = true;
	}
}

/* If an archive has the path twice, the last one counts, as when it is unpacked. */
static msd_err copy(const struct msd_layer_look *l, struct msd_tar_reader *t,
		    uint8_t *buffer, struct msd_diag *d)
{
	msd_err err;
	bool more;

	while ((err = msd_tar_next(t, &more, d)) == MSD_OK && more) {
		size_t n = 1;

		if (strcmp(t->path, l->name) != 0)
			continue;
		err = msd_download_buffer_restart(l->out, d);
		if (err == MSD_OK)
			err = msd_download_buffer_expect(l->out, t->bytes, d);
		while (err == MSD_OK && n > 0) {
			err = msd_tar_read(t, buffer, STEP_BYTES, &n, d);
			if (err == MSD_OK && n > 0) {
				err = msd_download_buffer_append(
					l->out, (struct msd_span){buffer, n}, d);
			}
		}
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "%s", l->name);
	}
	return err;
}

static msd_err look_inside(struct msd_layer_look *l, const struct msd_layer *layer,
			   uint8_t *buffer, struct msd_diag *d)
{
	struct msd_tar_reader *t = malloc(sizeof(*t));
	bool has = false;

	if (t == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_tar_open(t, layer->fd, layer->bytes, d);
	if (err == MSD_OK)
		err = find(l, t, buffer, &has, d);
	msd_tar_close(t);
	if (err == MSD_OK && has) {
		l->is_whole = false;
		err = msd_tar_open(t, layer->fd, layer->bytes, d);
		if (err == MSD_OK)
			err = copy(l, t, buffer, d);
		msd_tar_close(t);
	}
	free(t);
	return err;
}

msd_err msd_layer_look(struct msd_layer_look *l, const struct msd_layer *layer,
		       struct msd_diag *d)
{
	uint8_t *buffer = malloc(STEP_BYTES);
	msd_err err = MSD_OK;

	if (buffer == NULL)
		return msd_diag_no_memory(d);
	l->is_whole = false;
	const ssize_t n = pread(layer->fd, buffer, MSD_MODEL_HEAD_BYTES, 0);
	const struct msd_span head = {buffer, n > 0 ? (size_t)n : 0};
	if (n < 0) {
		char text[MSD_ERRNO_TEXT_BYTES];

		err = msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	} else if (msd_layer_is_wanted(layer->name, l->wanted) ||
		   (l->wanted[0] == '\0' &&
		    msd_model_head_of(head, layer->bytes) != MSD_HEAD_OTHER)) {
		l->is_whole = note(l, layer->name);
	} else if (msd_span_begins(head, "\x28\xb5\x2f\xfd")) {
		l->n_zstd++;
	} else if (msd_tar_is(head)) {
		err = look_inside(l, layer, buffer, d);
	}
	free(buffer);
	return err == MSD_OK && l->names.bad ? msd_diag_no_memory(d) : err;
}

static msd_err refuse_none(const struct msd_layer_look *l, struct msd_diag *d)
{
	if (l->n_zstd > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%u of its layers are compressed by zstd, expected "
				    "gzip or none: push it again without zstd",
				    l->n_zstd);
	}
	if (l->wanted[0] != '\0') {
		return msd_diag_set(d, MSD_NOT_FOUND, "none of its layers has %.200s",
				    l->wanted);
	}
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "none of its layers is or has a model: a library of TVM, "
			    "ONNX, TensorFlow, TensorFlow Lite, tmfile");
}

msd_err msd_layer_look_end(const struct msd_layer_look *l, struct msd_diag *d)
{
	if (l->n_found == 1)
		return MSD_OK;
	if (l->n_found > 1) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"it has several %s: %.*s; name one: --file NAME, or #NAME "
			"behind the URI",
			l->wanted[0] == '\0' ? "models" : "files of that name",
			(int)l->names.n, (const char *)l->names.p);
	}
	return refuse_none(l, d);
}

void msd_layer_look_finish(struct msd_layer_look *l)
{
	msd_buf_finish(&l->names);
}
