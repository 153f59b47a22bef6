/*
 * Places the payload of a response.
 *
 * Happy path: the result is decoded and its tensors are checked against the payload.
 * Out tensors must match those of the request and get the caller's memory; all other
 * tensors share one block of the result. Then the payload is cut into chunks, one for
 * each tensor, and one for each gap. Failures: a mismatch breaks the connection. If
 * memory runs out, only this result is an error, and its payload is discarded.
 */
#include "client/transport/payload.h"

#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/decode.h"
#include "client/result.h"
#include "proto/base/grow.h"
#include "proto/limits.h"

static msd_err broken(modser_client *c, const char *how)
{
	return msd_diag_set(&c->why, MSD_PROTOCOL, "response: %s", how);
}

static bool add_piece(struct msd_receive *rx, void *to, uint64_t n)
{
	if (n == 0)
		return true;
	if (!msd_reserve(&rx->pieces, &rx->cap_pieces, rx->n_pieces + 1,
			 sizeof(*rx->pieces)))
		return false;
	rx->pieces[rx->n_pieces++] = (struct msd_piece){to, n};
	return true;
}

msd_err msd_client_skip_payload(modser_client *c)
{
	c->rx.n_pieces = 0;
	if (!add_piece(&c->rx, NULL, c->rx.frame.payload_bytes))
		return msd_diag_set(&c->why, MSD_NOMEM, "no memory for a response");
	return MSD_OK;
}

static bool same_shape(const modser_tensor *a, const struct msd_wire_tensor *b)
{
	return a->dtype.code == b->dtype.code && a->dtype.bits == b->dtype.bits &&
	       a->dtype.lanes == b->dtype.lanes && a->ndim == b->ndim &&
	       (a->ndim == 0 ||
		memcmp(a->shape, b->shape, a->ndim * sizeof(a->shape[0])) == 0);
}

/* A tensor in a client segment must be at a place that the request has named. */
static msd_err find_lent(modser_client *c, const struct msd_ticket *t,
			 const struct msd_decoded *decoded)
{
	for (size_t i = 0; i < decoded->n_tensors; i++) {
		const struct msd_inline *in = &decoded->tensors[i];
		modser_tensor *got = &in->value->as.tensor;

		for (size_t k = 0; in->segment != 0 && k < t->n_outs; k++) {
			const struct msd_ticket_out *o = &t->outs[k];
			if (o->tensor.segment == in->segment &&
			    o->tensor.offset == in->offset &&
			    same_shape(got, &o->tensor))
				got->data = o->data;
		}
		if (in->segment != 0 && got->data == NULL) {
			return broken(
				c,
				"a tensor at a location that the request did not name");
		}
	}
	return MSD_OK;
}

/*
 * A function that returns its outputs has them in segment places, not among the outs.
 */
static bool has_places_alone(const struct msd_ticket *t)
{
	for (size_t i = 0; i < t->n_outs; i++) {
		if (t->outs[i].tensor.segment == 0)
			return false;
	}
	return true;
}

/* Find the out tensors of @root. For a call they are the first item, [[out...],
 * return]; for a copy the result itself is the tensor. False: there are none. */
static bool find_outs(const modser_value *root, const modser_value **ret, size_t *ret_n)
{
	*ret = root;
	*ret_n = 1;
	if (root->kind == MODSER_TENSOR)
		return true;
	if (root->kind != MODSER_TUPLE || root->as.tuple.n != 2 ||
	    root->as.tuple.item[0].kind != MODSER_TUPLE)
		return false;
	*ret = root->as.tuple.item[0].as.tuple.item;
	*ret_n = root->as.tuple.item[0].as.tuple.n;
	return true;
}

/* Check that they match the request. Give each the caller's memory if there is some. */
static msd_err match_outs(modser_client *c, const struct msd_ticket *t,
			  struct msd_decoded *decoded)
{
	const modser_value *outs;
	size_t n;

	if (t->n_outs == 0)
		return MSD_OK;
	if (!find_outs(&t->result->root, &outs, &n))
		return broken(c, "its out tensors are not those of the request");
	if (n == 0 && has_places_alone(t))
		return MSD_OK;
	if (n != t->n_outs || decoded->n_tensors < t->n_outs)
		return broken(c, "its out tensors are not those of the request");
	for (size_t i = 0; i < t->n_outs; i++) {
		modser_value *v = decoded->tensors[i].value;

		if (v != &outs[i] || !same_shape(&v->as.tensor, &t->outs[i].tensor)) {
			return broken(c, "an out tensor has another dtype or shape "
					 "than requested");
		}
		if ((decoded->tensors[i].segment != 0) !=
		    (t->outs[i].tensor.segment != 0)) {
			return broken(
				c, "an out tensor has another location than requested");
		}
		v->as.tensor.data = t->outs[i].data;
	}
	return MSD_OK;
}

/* Allocate one block for all tensors without memory. */
static msd_err place_rest(modser_client *c, modser_result *r,
			  struct msd_decoded *decoded)
{
	uint64_t bytes = 0; /* at most the payload's bytes and 128 for each tensor */
	void *block;

	for (size_t i = 0; i < decoded->n_tensors; i++) {
		const modser_tensor *t = &decoded->tensors[i].value->as.tensor;

		if (t->data == NULL) {
			bytes += (t->bytes + MSD_TENSOR_ALIGN - 1) / MSD_TENSOR_ALIGN *
				 MSD_TENSOR_ALIGN;
		}
	}
	if (bytes == 0)
		return MSD_OK;
	if (bytes > SIZE_MAX ||
	    posix_memalign(&block, MSD_TENSOR_ALIGN, (size_t)bytes) != 0) {
		return msd_diag_set(&c->why, MSD_NOMEM,
				    "no memory for a response of %llu bytes",
				    (unsigned long long)bytes);
	}
	r->block = block;
	uint8_t *at = block;
	for (size_t i = 0; i < decoded->n_tensors; i++) {
		modser_tensor *t = &decoded->tensors[i].value->as.tensor;

		if (t->data != NULL)
			continue;
		t->data = at;
		at += (t->bytes + MSD_TENSOR_ALIGN - 1) / MSD_TENSOR_ALIGN *
		      MSD_TENSOR_ALIGN;
	}
	return MSD_OK;
}

/*
 * Cut the payload into chunks: tensors in ascending order, and the gaps between them.
 */
static msd_err cut_payload(modser_client *c, const struct msd_decoded *decoded)
{
	uint64_t at = 0;
	uint64_t end = c->rx.frame.payload_bytes;

	for (size_t i = 0; i < decoded->n_tensors; i++) {
		const struct msd_inline *in = &decoded->tensors[i];
		const modser_tensor *t = &in->value->as.tensor;

		if (t->bytes == 0 ||
		    in->segment != 0) /* its offset is not in the payload */
			continue;
		if (in->offset < at || in->offset > end || t->bytes > end - in->offset)
			return broken(c, "a tensor lies outside the payload");
		if (!add_piece(&c->rx, NULL, in->offset - at) ||
		    !add_piece(&c->rx, t->data, t->bytes)) {
			return msd_diag_set(&c->why, MSD_NOMEM,
					    "no memory for a response");
		}
		at = in->offset + t->bytes;
	}
	if (!add_piece(&c->rx, NULL, end - at))
		return msd_diag_set(&c->why, MSD_NOMEM, "no memory for a response");
	return MSD_OK;
}

/* Check the place of every tensor before any allocation. */
static msd_err check_sizes(modser_client *c, const struct msd_decoded *decoded)
{
	uint64_t left = c->rx.frame.payload_bytes;

	for (size_t i = 0; i < decoded->n_tensors; i++) {
		uint64_t bytes = decoded->tensors[i].value->as.tensor.bytes;

		if (decoded->tensors[i].segment != 0)
			continue;
		if (bytes > left)
			return broken(c, "its tensors are larger than the payload");
		left -= bytes;
	}
	return MSD_OK;
}

msd_err msd_client_read_result(modser_client *c, struct msd_ticket *t,
			       struct msd_span object)
{
	struct msd_decoded decoded = {0};
	msd_err err = msd_decode(object, t->result, &decoded, &c->why);

	if (err == MSD_OK)
		err = check_sizes(c, &decoded);
	if (err == MSD_OK)
		err = find_lent(c, t, &decoded);
	if (err == MSD_OK)
		err = match_outs(c, t, &decoded);
	if (err == MSD_OK)
		err = place_rest(c, t->result, &decoded);
	if (err == MSD_OK)
		err = cut_payload(c, &decoded);
	free(decoded.tensors);
	if (err != MSD_NOMEM)
		return err;
	/* This answer is lost; the connection stays. */
	msd_result_fail(t->result, err, msd_diag_text(&c->why));
	return msd_client_skip_payload(c);
}
