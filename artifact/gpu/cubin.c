/*
 * A cubin: an ELF file for a GPU. Its architecture is in e_flags, in one of two
 * layouts, and since CUDA 12 with its variant in a note of the tool chain. Kernels
 * are the sections .text.NAME. Their resources are in sections .nv.*.NAME and in
 * lists of attributes: .nv.info for all kernels and .nv.info.NAME.
 */
#include <elf.h>
#include <string.h>

#include "artifact/gpu/private.h"

#define MACHINE_CUDA 190u
/* Sections of relocatable code that hold no bytes: variables in global, local and
 * shared memory. */
#define SHT_CUDA_GLOBAL 0x70000007u
#define SHT_CUDA_LOCAL 0x70000009u
#define SHT_CUDA_SHARED 0x7000000au
#define ABI_NEW 8u /* e_ident[EI_ABIVERSION]: the second layout of e_flags */
#define FLAG_VARIANT_OLD 0x800u
#define RESERVED_SHARED 1024 /* reserved by the system, included since sm_80 */

/* Attributes: u8 form, u8 which, then u16 that is the value or its bytes. */
#define FORM_SIZED 4u
#define FORM_HALF 3u
#define ATTR_MAX_THREADS 0x05u
#define ATTR_PARAM_BANK 0x0au
#define ATTR_REQUIRED_THREADS 0x10u
#define ATTR_FRAME 0x11u
#define ATTR_PARAM 0x17u
#define PARAM_SIZE_SHIFT 18 /* in the last of an ATTR_PARAM's words */
#define ATTR_PARAM_BYTES 0x19u
#define ATTR_REGISTERS 0x2fu

struct section {
	struct msd_span name;
	struct msd_span data; /* empty for sections without bytes */
	uint64_t bytes;
	uint32_t type;
	uint32_t link;
	uint32_t info;
};

struct cubin {
	struct msd_span file;
	const uint8_t *headers;
	uint16_t n;
	struct msd_span names;
	struct msd_gpu_image *image;
	bool has_reserved;
};

bool msd_cubin_is(struct msd_span code)
{
	return code.n >= 20 && memcmp(code.p, ELFMAG, SELFMAG) == 0 &&
	       msd_le16(code.p + 18) == MACHINE_CUDA;
}

static msd_err damaged(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "the cubin is cut or damaged: %s",
			    what);
}

static bool bytes_at(struct msd_span file, uint64_t offset, uint64_t n,
		     struct msd_span *ret)
{
	if (offset > file.n || n > file.n - offset)
		return false;
	*ret = (struct msd_span){file.p + offset, (size_t)n};
	return true;
}

static struct msd_span string_at(struct msd_span table, uint64_t offset)
{
	struct msd_span s = {NULL, 0};

	if (offset >= table.n)
		return s;
	s.p = table.p + offset;
	s.n = strnlen((const char *)s.p, table.n - (size_t)offset);
	return s;
}

static bool has_no_bytes(uint32_t type)
{
	return type == SHT_NOBITS || type == SHT_NULL || type == SHT_CUDA_GLOBAL ||
	       type == SHT_CUDA_LOCAL || type == SHT_CUDA_SHARED;
}

/* Read section @i, whose header is within the file. */
static msd_err section_at(const struct cubin *c, uint32_t i, struct section *ret,
			  struct msd_diag *d)
{
	const uint8_t *h = c->headers + (size_t)i * sizeof(Elf64_Shdr);

	*ret = (struct section){
		.name = string_at(c->names, msd_le32(h)),
		.bytes = msd_le64(h + offsetof(Elf64_Shdr, sh_size)),
		.type = msd_le32(h + offsetof(Elf64_Shdr, sh_type)),
		.link = msd_le32(h + offsetof(Elf64_Shdr, sh_link)),
		.info = msd_le32(h + offsetof(Elf64_Shdr, sh_info)),
	};
	if (!has_no_bytes(ret->type) &&
	    !bytes_at(c->file, msd_le64(h + offsetof(Elf64_Shdr, sh_offset)),
		      ret->bytes, &ret->data))
		return damaged(d, "a section is not in it");
	return MSD_OK;
}

static bool starts_with(struct msd_span s, const char *prefix, struct msd_span *rest)
{
	const size_t n = strlen(prefix);

	if (s.n < n || memcmp(s.p, prefix, n) != 0)
		return false;
	*rest = (struct msd_span){s.p + n, s.n - n};
	return true;
}

static struct msd_gpu_kernel *find_kernel(const struct cubin *c, struct msd_span name)
{
	for (size_t i = 0; i < c->image->n_kernels; i++) {
		if (msd_span_is(name, c->image->kernels[i].name))
			return &c->image->kernels[i];
	}
	return NULL;
}

/* Find "-arch sm_90a" in the options that a note records. */
static void take_options(struct cubin *c, struct msd_span note)
{
	static const char key[] = "-arch sm_";
	const uint8_t *at = NULL;

	if (note.n > 0)
		at = memmem(note.p, note.n, key, sizeof(key) - 1);
	if (at == NULL)
		return;
	at += sizeof(key) - 1;
	msd_gpu_arch_parse((struct msd_span){at, note.n - (size_t)(at - note.p)},
			   &c->image->arch);
}

/* First pass: the kernels, and the attributes of the whole file. */
static msd_err take_kernels(struct cubin *c, const struct section *s,
			    struct msd_diag *d)
{
	struct msd_gpu_kernel *k;
	struct msd_span name;

	if (msd_span_is(s->name, ".note.nv.tkinfo"))
		take_options(c, s->data);
	c->has_reserved |= msd_span_is(s->name, ".nv.shared.reserved.0");
	if (!starts_with(s->name, ".text.", &name) || s->type != SHT_PROGBITS)
		return MSD_OK;
	msd_err err = msd_gpu_kernel_add(c->image, name, &k, d);
	if (k == NULL)
		return err;
	k->shared_bytes = 0;
	/* Newer tools store only the symbol's number; the top byte is then 0. */
	if (s->info >> 24 != 0)
		k->registers = s->info >> 24;
	return MSD_OK;
}

static uint64_t without_reserved(const struct cubin *c, const struct section *s)
{
	if (c->has_reserved && s->type == SHT_NOBITS && s->bytes >= RESERVED_SHARED)
		return s->bytes - RESERVED_SHARED;
	return s->bytes;
}

static void take_threads(struct msd_gpu_kernel *k, struct msd_span v, bool is_exact)
{
	for (size_t i = 0; i < 3 && v.n >= 12; i++)
		k->max_threads[i] = msd_le32(v.p + 4 * i);
	k->is_exact = is_exact;
}

/* Number, place and size of one parameter: (index, ordinal, offset, flags). */
static void take_param(struct msd_gpu_kernel *k, struct msd_span v)
{
	k->n_params = k->n_params < 0 ? 1 : k->n_params + 1;
	if (v.n < 12)
		return;
	const uint16_t ordinal = msd_le16(v.p + 4);
	if (ordinal < MSD_GPU_PARAM_SIZES) {
		k->param_sizes[ordinal] =
			(uint16_t)(msd_le32(v.p + 8) >> PARAM_SIZE_SHIFT);
	}
}

/* An attribute of kernel @k. */
static void take_own(struct msd_gpu_kernel *k, uint8_t which, struct msd_span v)
{
	switch (which) {
	case ATTR_MAX_THREADS:
		take_threads(k, v, false);
		break;
	case ATTR_REQUIRED_THREADS:
		take_threads(k, v, true);
		break;
	case ATTR_PARAM_BANK:
		if (v.n >= 8)
			k->param_bytes = msd_le16(v.p + 6);
		break;
	case ATTR_PARAM:
		take_param(k, v);
		break;
	default:
		break;
	}
}

/* The kernel that symbol @index names. */
static struct msd_gpu_kernel *kernel_of_symbol(const struct cubin *c,
					       const struct section *symbols,
					       struct msd_span strings, uint32_t index)
{
	const uint64_t at = (uint64_t)index * sizeof(Elf64_Sym);
	struct msd_span sym;

	if (!bytes_at(symbols->data, at, sizeof(Elf64_Sym), &sym))
		return NULL;
	return find_kernel(c, string_at(strings, msd_le32(sym.p)));
}

/* An attribute of the common list: u32 symbol, u32 value. */
static void take_common(const struct cubin *c, const struct section *symbols,
			struct msd_span strings, uint8_t which, struct msd_span v)
{
	if ((which != ATTR_REGISTERS && which != ATTR_FRAME) || v.n < 8)
		return;
	struct msd_gpu_kernel *k = kernel_of_symbol(c, symbols, strings, msd_le32(v.p));
	if (k == NULL)
		return;
	if (which == ATTR_REGISTERS) {
		k->registers = msd_le32(v.p + 4);
	} else {
		k->local_bytes = msd_le32(v.p + 4);
	}
}

/* The list in @s: of kernel @k, or of all kernels if it is NULL. */
static msd_err take_attributes(const struct cubin *c, const struct section *s,
			       struct msd_gpu_kernel *k, struct msd_diag *d)
{
	struct section symbols = {0};
	struct section strings = {0};
	struct msd_cur cur = msd_cur_of(s->data);

	if (k == NULL) {
		msd_err err = MSD_OK;
		if (s->link < c->n)
			err = section_at(c, s->link, &symbols, d);
		if (err == MSD_OK && symbols.link < c->n)
			err = section_at(c, symbols.link, &strings, d);
		if (err != MSD_OK)
			return err;
	}
	while (cur.left >= 4) {
		const uint8_t form = msd_cur_u8(&cur);
		const uint8_t which = msd_cur_u8(&cur);
		const uint16_t value = msd_cur_u16(&cur);
		struct msd_span v = {NULL, 0};
		if (form == FORM_SIZED)
			v = (struct msd_span){msd_cur_read(&cur, value), value};
		if (cur.bad)
			return damaged(d, "its list of attributes");
		if (k != NULL && form == FORM_HALF && which == ATTR_PARAM_BYTES) {
			k->param_bytes = value;
		} else if (k != NULL) {
			take_own(k, which, v);
		} else {
			take_common(c, &symbols, strings.data, which, v);
		}
	}
	return MSD_OK;
}

/* Second pass: attributes of the known kernels from their sections. */
static msd_err take_facts(struct cubin *c, const struct section *s, struct msd_diag *d)
{
	struct msd_gpu_kernel *k = NULL;
	struct msd_span name;

	if (msd_span_is(s->name, ".nv.info"))
		return take_attributes(c, s, NULL, d);
	if (starts_with(s->name, ".nv.info.", &name)) {
		k = find_kernel(c, name);
		if (k != NULL && k->n_params < 0)
			k->n_params = 0;
		return k != NULL ? take_attributes(c, s, k, d) : MSD_OK;
	}
	if (starts_with(s->name, ".nv.shared.", &name)) {
		k = find_kernel(c, name);
		if (k != NULL && s->bytes <= INT64_MAX)
			k->shared_bytes = (int64_t)without_reserved(c, s);
	} else if (starts_with(s->name, ".nv.constant0.", &name)) {
		k = find_kernel(c, name);
		if (k != NULL && s->bytes <= INT64_MAX)
			k->const_bytes = (int64_t)s->bytes;
	}
	return MSD_OK;
}

static msd_err each_section(struct cubin *c,
			    msd_err (*take)(struct cubin *c, const struct section *s,
					    struct msd_diag *d),
			    struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < c->n; i++) {
		struct section s;
		err = section_at(c, i, &s, d);
		if (err == MSD_OK)
			err = take(c, &s, d);
	}
	return err;
}

static void take_flags(struct msd_gpu_image *image, const uint8_t *header)
{
	const uint32_t flags = msd_le32(header + offsetof(Elf64_Ehdr, e_flags));

	if (header[EI_ABIVERSION] >= ABI_NEW) {
		image->arch.sm = (flags >> 8) & 0xff;
		return; /* the enclosing fatbin or the note gives a variant */
	}
	image->arch.sm = flags & 0xff;
	image->arch.variant = (flags & FLAG_VARIANT_OLD) != 0 ? 'a' : 0;
}

msd_err msd_cubin_read(struct msd_span file, struct msd_gpu_image *image,
		       struct msd_diag *d)
{
	struct cubin c = {.file = file, .image = image};
	struct msd_span headers;
	struct section names;

	if (file.n < sizeof(Elf64_Ehdr))
		return damaged(d, "it is shorter than its header");
	if (file.p[EI_CLASS] != ELFCLASS64) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a 32-bit cubin; expected a 64-bit one");
	}
	image->kind = MSD_GPU_CUBIN;
	image->address_bits = 64;
	image->bytes = file.n;
	take_flags(image, file.p);
	c.n = msd_le16(file.p + offsetof(Elf64_Ehdr, e_shnum));
	const uint16_t i_names = msd_le16(file.p + offsetof(Elf64_Ehdr, e_shstrndx));
	if (!bytes_at(file, msd_le64(file.p + offsetof(Elf64_Ehdr, e_shoff)),
		      (uint64_t)c.n * sizeof(Elf64_Shdr), &headers) ||
	    (c.n > 0 && i_names >= c.n))
		return damaged(d, "its table of sections");
	c.headers = headers.p;
	if (c.n == 0)
		return MSD_OK;
	msd_err err = section_at(&c, i_names, &names, d);
	c.names = names.data;
	if (err == MSD_OK)
		err = each_section(&c, take_kernels, d);
	return err == MSD_OK ? each_section(&c, take_facts, d) : err;
}
