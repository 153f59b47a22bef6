/*
 * `modser profile` reads the plan of a model and the times of its nodes from a worker's
 * answers. The input is the body of an answer to module.plan, the body of one to
 * module.profile, each behind two bytes with its length, and the payload of the second.
 * It is accepted if the times are those of the plan; then they are written in each
 * form.
 */
#include "client/cli/measure/node_times.h"
#include "client/decode.h"
#include "client/result.h"
#include "proto/base/bytes.h"
#include "proto/body.h"
#include "tests/fuzz/fuzz.h"

/* The next answer, its tensors in the rest of @in if that is its payload. NULL: it is
 * none, or the transport would refuse it. */
static modser_result *take(struct msd_cur *in, bool has_payload)
{
	const size_t wanted = msd_cur_u16(in);
	const size_t bytes = wanted < in->left ? wanted : in->left;
	const struct msd_span body = {msd_cur_read(in, bytes), bytes};
	const struct msd_span payload = {in->p, has_payload ? in->left : 0};
	struct msd_decoded decoded = {0};
	struct msd_body b;
	modser_result *r = msd_result_create(1);

	MUST(r != NULL);
	bool is_good = msd_body_read(body, NULL, &b, NULL) == MSD_OK &&
		       b.kind == MSD_RESPONSE &&
		       msd_decode(b.result, r, &decoded, NULL) == MSD_OK;
	for (size_t i = 0; is_good && i < decoded.n_tensors; i++) {
		const struct msd_inline *t = &decoded.tensors[i];
		modser_tensor *tensor = &t->value->as.tensor;

		is_good = t->segment == 0 && t->offset <= payload.n &&
			  tensor->bytes <= payload.n - t->offset;
		if (is_good)
			tensor->data = (void *)(uintptr_t)(payload.p + t->offset);
	}
	free(decoded.tensors);
	if (is_good)
		return r;
	modser_result_free(r);
	return NULL;
}

static void write(const struct msd_node_times *t)
{
	struct msd_buf out = {0};

	for (int for_people = 0; for_people < 2; for_people++)
		msd_node_times_text(&out, t, for_people != 0);
	msd_node_times_json(&out, t);
	msd_node_times_chrome(&out, t);
	MUST(!out.bad);
	for (size_t i = 0; i < out.n; i++)
		MUST(out.p[i] == '\n' || out.p[i] == '\t' || out.p[i] >= ' ');
	msd_buf_finish(&out);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_cur in = msd_cur_of((struct msd_span){data, n});
	struct msd_node_times times = {0};
	modser_result *page = take(&in, false);
	modser_result *answer = page != NULL ? take(&in, true) : NULL;
	bool is_set = false;

	if (answer != NULL) {
		msd_node_times_add(&times, modser_result_value(page));
		MUST(!times.is_bad);
		is_set = msd_node_times_set(&times, modser_result_value(answer));
	}
	if (is_set)
		write(&times);
	msd_node_times_finish(&times);
	modser_result_free(answer);
	modser_result_free(page);
	return is_set;
}
