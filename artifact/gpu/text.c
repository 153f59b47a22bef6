/* CUDA code as people read it, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "artifact/gpu/code.h"
#include "proto/json.h"

static const char *kind_name(const struct msd_gpu_image *image)
{
	switch (image->kind) {
	case MSD_GPU_PTX:
		return "PTX";
	case MSD_GPU_CUBIN:
		return "cubin";
	case MSD_GPU_OTHER:
		break;
	}
	return "something else";
}

static void put_number(struct msd_buf *out, int64_t n, const char *what)
{
	if (n >= 0)
		msd_buf_printf(out, ", %" PRId64 " %s", n, what);
}

static void put_kernel(struct msd_buf *out, const struct msd_gpu_kernel *k)
{
	const int64_t *t = k->max_threads;
	size_t start;

	msd_buf_printf(out, "%s:", k->name);
	start = out->n;
	if (k->params != NULL)
		msd_buf_printf(out, ", (%s)", k->params);
	put_number(out, k->registers, "registers");
	put_number(out, k->shared_bytes, "B shared");
	if (k->has_dynamic_shared)
		msd_buf_printf(out, ", dynamic shared");
	put_number(out, k->local_bytes > 0 ? k->local_bytes : -1, "B local");
	put_number(out, k->const_bytes, "B constant");
	put_number(out, k->param_bytes, "B parameters");
	if (t[0] > 0)
		msd_buf_printf(out, ", %s %" PRId64 "x%" PRId64 "x%" PRId64 " threads",
			       k->is_exact ? "exactly" : "at most", t[0], t[1], t[2]);
	if (!out->bad && out->n > start) /* the first comma */
		memmove(out->p + start, out->p + start + 1, --out->n - start);
	msd_buf_printf(out, "\n");
}

static void put_image(struct msd_buf *out, const struct msd_gpu_image *image,
		      int indent)
{
	char arch[MSD_GPU_ARCH_MAX];

	msd_gpu_arch_format(image, arch);
	msd_buf_printf(out, "%*s%s", indent, "", kind_name(image));
	if (image->isa_major != 0)
		msd_buf_printf(out, " %" PRIu32 ".%" PRIu32, image->isa_major,
			       image->isa_minor);
	msd_buf_printf(out, " for %s", arch[0] != '\0' ? arch : "an unknown device");
	if (image->address_bits != 0)
		msd_buf_printf(out, ", %" PRIu32 "-bit", image->address_bits);
	msd_buf_printf(out, ", %" PRIu64 " bytes", image->bytes);
	if (image->compression != NULL)
		msd_buf_printf(out, ", compressed (%s)", image->compression);
	msd_buf_printf(out, "\n");
	for (size_t i = 0; i < image->n_kernels; i++) {
		msd_buf_printf(out, "%*s", indent + 2, "");
		put_kernel(out, &image->kernels[i]);
	}
	if (image->n_more > 0)
		msd_buf_printf(out, "%*s%zu more kernels\n", indent + 2, "",
			       image->n_more);
}

void msd_gpu_code_text(const struct msd_gpu_code *code, int indent, struct msd_buf *out)
{
	for (size_t i = 0; i < code->n_images; i++)
		put_image(out, &code->images[i], indent);
}

static void json_number(struct msd_buf *out, const char *key, int64_t n)
{
	if (n >= 0)
		msd_buf_printf(out, ",\"%s\":%" PRId64, key, n);
}

static void json_kernel(struct msd_buf *out, const struct msd_gpu_kernel *k)
{
	const int64_t *t = k->max_threads;

	msd_buf_printf(out, "{\"name\":");
	msd_json_cstr(out, k->name);
	if (k->params != NULL) {
		msd_buf_printf(out, ",\"params\":");
		msd_json_cstr(out, k->params);
	}
	json_number(out, "n_params", k->n_params);
	json_number(out, "param_bytes", k->param_bytes);
	json_number(out, "registers", k->registers);
	json_number(out, "shared_bytes", k->shared_bytes);
	json_number(out, "local_bytes", k->local_bytes);
	json_number(out, "const_bytes", k->const_bytes);
	if (t[0] > 0)
		msd_buf_printf(out,
			       ",\"max_threads\":[%" PRId64 ",%" PRId64 ",%" PRId64
			       "],\"exact_threads\":%s",
			       t[0], t[1], t[2], k->is_exact ? "true" : "false");
	if (k->has_dynamic_shared)
		msd_buf_printf(out, ",\"dynamic_shared\":true");
	msd_buf_printf(out, "}");
}

static void json_image(struct msd_buf *out, const struct msd_gpu_image *image)
{
	static const char *const kinds[] = {"ptx", "cubin", "other"};
	char arch[MSD_GPU_ARCH_MAX];

	msd_buf_printf(out, "{\"kind\":\"%s\",\"arch\":\"%s\",\"bytes\":%" PRIu64,
		       kinds[image->kind], msd_gpu_arch_format(image, arch),
		       image->bytes);
	if (image->isa_major != 0)
		msd_buf_printf(out, ",\"ptx_version\":\"%" PRIu32 ".%" PRIu32 "\"",
			       image->isa_major, image->isa_minor);
	if (image->address_bits != 0)
		msd_buf_printf(out, ",\"address_bits\":%" PRIu32, image->address_bits);
	if (image->compression != NULL)
		msd_buf_printf(out, ",\"compression\":\"%s\"", image->compression);
	msd_buf_printf(out, ",\"kernels\":[");
	for (size_t i = 0; i < image->n_kernels; i++) {
		msd_buf_put(out, ",", i > 0 ? 1 : 0);
		json_kernel(out, &image->kernels[i]);
	}
	msd_buf_printf(out, "]");
	if (image->n_more > 0)
		msd_buf_printf(out, ",\"more_kernels\":%zu", image->n_more);
	msd_buf_printf(out, "}");
}

void msd_gpu_code_json(const struct msd_gpu_code *code, struct msd_buf *out)
{
	msd_buf_printf(out, "[");
	for (size_t i = 0; i < code->n_images; i++) {
		msd_buf_put(out, ",", i > 0 ? 1 : 0);
		json_image(out, &code->images[i]);
	}
	msd_buf_printf(out, "]");
}
