/*
 * PTX: assembler text. It is read token by token for its head and the heads of its
 * kernels. Instructions are skipped, except for names of shared arrays in them.
 * Functions that a kernel calls are not followed.
 */
#include <string.h>

#include "artifact/gpu/private.h"
#include "artifact/printable.h"

#define MAX_SHARED 64u /* maximum of recorded shared arrays outside kernels */
#define MAX_PARAMS_SAID 64
#define MAX_BYTES ((int64_t)1 << 40) /* limit for one array; more is an error */

struct array {
	struct msd_span name;
	int64_t bytes; /* -1: no extent, set at launch */
	bool is_counted;
};

struct ptx {
	const uint8_t *p;
	const uint8_t *end;
	struct msd_gpu_image *image;
	struct array shared[MAX_SHARED];
	size_t n_shared;
};

static bool is_word_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' || c == '.';
}

/* Skip blanks and comments. */
static void skip_blank(struct ptx *x)
{
	while (x->p < x->end) {
		const size_t left = (size_t)(x->end - x->p);
		const uint8_t *stop = NULL;
		if (*x->p <= ' ') {
			x->p++;
			continue;
		}
		if (left < 2 || x->p[0] != '/' || (x->p[1] != '/' && x->p[1] != '*'))
			return;
		if (x->p[1] == '/') {
			stop = memchr(x->p, '\n', left);
		} else if ((stop = memmem(x->p + 2, left - 2, "*/", 2)) != NULL) {
			stop += 2;
		}
		x->p = stop != NULL ? stop : x->end;
	}
}

/* The next word, quoted text or single sign; empty at the end. */
static struct msd_span next(struct ptx *x)
{
	skip_blank(x);
	struct msd_span s = {x->p, 0};
	if (x->p == x->end)
		return s;
	if (*x->p == '"') {
		const uint8_t *stop =
			memchr(x->p + 1, '"', (size_t)(x->end - x->p) - 1);
		x->p = stop != NULL ? stop + 1 : x->end;
	} else if (is_word_byte(*x->p)) {
		while (x->p < x->end && is_word_byte(*x->p))
			x->p++;
	} else {
		x->p++;
	}
	s.n = (size_t)(x->p - s.p);
	return s;
}

static struct msd_span peek(struct ptx *x)
{
	const uint8_t *here = x->p;
	struct msd_span s = next(x);

	x->p = here;
	return s;
}

static bool is_sign(struct msd_span s, char sign)
{
	return s.n == 1 && s.p[0] == (uint8_t)sign;
}

static bool parse_number(struct msd_span s, int64_t *ret)
{
	int64_t v = 0;

	if (s.n == 0 || s.n > 12)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = v;
	return true;
}

/* Bytes of ".u64", ".f16x2", ".b8"; 0: not a type. */
static int64_t type_bytes(struct msd_span s)
{
	int64_t bits = 0;
	size_t i = 2;

	if (s.n < 3 || s.p[0] != '.' || strchr("usbf", s.p[1]) == NULL ||
	    s.p[1] == '\0')
		return 0;
	for (; i < s.n && i < 5 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		bits = bits * 10 + (s.p[i] - '0');
	if (i + 2 == s.n && s.p[i] == 'x' && s.p[i + 1] == '2') {
		bits *= 2;
	} else if (i != s.n) {
		return 0;
	}
	return bits / 8;
}

/* A variable of the form ".param .align 8 .b8 name[16][4]", after its first word. */
struct variable {
	struct msd_span type; /* ".u64"; empty if absent */
	struct msd_span name;
	int64_t bytes; /* total; -1 without an extent */
	bool is_array;
};

/* Read "[16]", "[]" after a name. */
static void read_extents(struct ptx *x, struct variable *v)
{
	while (is_sign(peek(x), '[')) {
		int64_t n = -1;
		(void)next(x);
		struct msd_span s = next(x);
		v->is_array = true;
		if (is_sign(s, ']')) {
			v->bytes = -1;
			continue;
		}
		if (parse_number(s, &n) && v->bytes >= 0 && n <= MAX_BYTES &&
		    (v->bytes == 0 || n <= MAX_BYTES / v->bytes)) {
			v->bytes *= n;
		} else {
			v->bytes = -1;
		}
		if (is_sign(peek(x), ']'))
			(void)next(x);
	}
}

static struct variable read_variable(struct ptx *x)
{
	struct variable v = {0};

	for (;;) {
		struct msd_span s = peek(x);
		if (s.n == 0 || !is_word_byte(s.p[0]))
			return v; /* no name */
		(void)next(x);
		if (msd_span_is(s, ".align")) {
			(void)next(x);
		} else if (type_bytes(s) > 0) {
			v.type = s;
			v.bytes = type_bytes(s) * (v.bytes > 0 ? v.bytes : 1);
		} else if (msd_span_is(s, ".v2") || msd_span_is(s, ".v4")) {
			v.bytes = s.p[2] - '0';
		} else if (s.p[0] != '.') {
			v.name = s;
			break;
		}
	}
	read_extents(x, &v);
	return v;
}

/* "(.param .u64 a, .param .align 8 .b8 b[16])" */
static msd_err read_params(struct ptx *x, struct msd_gpu_kernel *k, struct msd_diag *d)
{
	struct msd_buf text = {0};

	k->n_params = 0;
	k->param_bytes = -1; /* the assembler decides the alignment between them */
	if (is_sign(peek(x), '('))
		(void)next(x);
	while (x->p < x->end && !is_sign(peek(x), ')') && !is_sign(peek(x), '{')) {
		const uint8_t *before = x->p;
		struct variable v = read_variable(x);
		if (v.type.n > 1 && k->n_params++ < MAX_PARAMS_SAID) {
			msd_buf_put(&text, ", ", k->n_params > 1 ? 2 : 0);
			msd_printable_put(
				&text, (struct msd_span){v.type.p + 1, v.type.n - 1});
			if (v.is_array)
				msd_buf_printf(&text, "[%lld]", (long long)v.bytes);
		}
		if (is_sign(peek(x), ',') || x->p == before)
			(void)next(x);
	}
	if (k->n_params > MAX_PARAMS_SAID)
		msd_buf_printf(&text, ", ...");
	if (is_sign(peek(x), ')'))
		(void)next(x);
	msd_buf_put_u8(&text, '\0');
	if (text.bad) {
		msd_buf_finish(&text);
		return msd_diag_set(d, MSD_NOMEM, "out of memory for PTX");
	}
	k->params = (char *)text.p; /* ownership moves */
	return MSD_OK;
}

/* ".maxntid 128, 1, 1"; missing extents are 1. */
static void read_threads(struct ptx *x, struct msd_gpu_kernel *k, bool is_exact)
{
	k->is_exact = is_exact;
	for (int i = 0; i < 3; i++) {
		int64_t n = 1;
		if (i == 0 || is_sign(peek(x), ',')) {
			if (i > 0)
				(void)next(x);
			if (!parse_number(next(x), &n))
				n = 1;
		}
		k->max_threads[i] = n;
	}
}

/* Read the directives between a kernel's parameters and its body. */
static void read_bounds(struct ptx *x, struct msd_gpu_kernel *k)
{
	while (x->p < x->end && !is_sign(peek(x), '{') && !is_sign(peek(x), ';')) {
		struct msd_span s = next(x);
		if (msd_span_is(s, ".maxntid")) {
			read_threads(x, k, false);
		} else if (msd_span_is(s, ".reqntid")) {
			read_threads(x, k, true);
		}
	}
}

static void add_shared(struct msd_gpu_kernel *k, int64_t bytes)
{
	if (bytes < 0) {
		k->has_dynamic_shared = true;
	} else if (k->shared_bytes <= INT64_MAX - bytes) {
		k->shared_bytes += bytes;
	}
}

/* Check a word of a body that may name an array outside it. */
static void note_use(struct ptx *x, struct msd_gpu_kernel *k, struct msd_span word)
{
	for (size_t i = 0; i < x->n_shared; i++) {
		struct array *a = &x->shared[i];
		if (!a->is_counted && a->name.n == word.n &&
		    memcmp(a->name.p, word.p, word.n) == 0) {
			a->is_counted = true;
			add_shared(k, a->bytes);
		}
	}
}

/* False: the text ends inside the body. */
static bool read_body(struct ptx *x, struct msd_gpu_kernel *k)
{
	int64_t depth = 0;

	k->shared_bytes = 0;
	k->local_bytes = 0;
	for (size_t i = 0; i < x->n_shared; i++)
		x->shared[i].is_counted = false;
	while (x->p < x->end) {
		struct msd_span s = next(x);
		if (is_sign(s, '{')) {
			depth++;
		} else if (is_sign(s, '}')) {
			if (--depth <= 0)
				return true;
		} else if (msd_span_is(s, ".shared")) {
			add_shared(k, read_variable(x).bytes);
		} else if (msd_span_is(s, ".local")) {
			const int64_t bytes = read_variable(x).bytes;
			if (bytes > 0 && k->local_bytes <= INT64_MAX - bytes)
				k->local_bytes += bytes;
		} else if (s.n > 0 && s.p[0] != '.' && s.p[0] != '%') {
			note_use(x, k, s);
		}
	}
	return false;
}

static msd_err read_entry(struct ptx *x, struct msd_diag *d)
{
	struct msd_gpu_kernel *k;
	struct msd_span name = next(x);
	msd_err err;

	if (name.n == 0 || !is_word_byte(name.p[0])) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "PTX: a kernel without a name");
	}
	err = msd_gpu_kernel_add(x->image, name, &k, d);
	if (k == NULL)
		return err;
	err = read_params(x, k, d);
	if (err != MSD_OK)
		return err;
	read_bounds(x, k);
	if (is_sign(peek(x), '{') && !read_body(x, k)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "PTX: it ends within kernel %s", k->name);
	}
	return MSD_OK;
}

/* "7.0" */
static void read_version(struct ptx *x)
{
	struct msd_span s = next(x);
	const uint8_t *dot = memchr(s.p, '.', s.n);
	int64_t major, minor;

	if (dot == NULL)
		return;
	const size_t n = (size_t)(dot - s.p);
	if (parse_number((struct msd_span){s.p, n}, &major) && major <= 9999 &&
	    parse_number((struct msd_span){dot + 1, s.n - n - 1}, &minor) &&
	    minor <= 9999) {
		x->image->isa_major = (uint32_t)major;
		x->image->isa_minor = (uint32_t)minor;
	}
}

/* "sm_90a, texmode_independent" */
static void read_target(struct ptx *x)
{
	struct msd_span s = next(x);

	if (s.n > 3 && memcmp(s.p, "sm_", 3) == 0) {
		msd_gpu_arch_parse((struct msd_span){s.p + 3, s.n - 3},
				   &x->image->arch);
	}
}

static void read_shared(struct ptx *x)
{
	struct variable v = read_variable(x);

	if (x->n_shared < MAX_SHARED && v.name.n > 0) {
		x->shared[x->n_shared++] =
			(struct array){.name = v.name, .bytes = v.bytes};
	}
}

msd_err msd_ptx_read(struct msd_span text, struct msd_gpu_image *image,
		     struct msd_diag *d)
{
	struct ptx x = {.p = text.p, .end = text.p + text.n, .image = image};
	msd_err err = MSD_OK;

	image->kind = MSD_GPU_PTX;
	image->bytes = text.n;
	while (err == MSD_OK && x.p < x.end) {
		struct msd_span s = next(&x);
		int64_t bits;
		if (msd_span_is(s, ".version")) {
			read_version(&x);
		} else if (msd_span_is(s, ".target")) {
			read_target(&x);
		} else if (msd_span_is(s, ".address_size") &&
			   parse_number(next(&x), &bits) && bits <= 64) {
			image->address_bits = (uint32_t)bits;
		} else if (msd_span_is(s, ".shared")) {
			read_shared(&x);
		} else if (msd_span_is(s, ".entry")) {
			err = read_entry(&x, d);
		}
	}
	if (err == MSD_OK && image->isa_major == 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "PTX: no .version; expected one at its head");
	}
	return err;
}
