/*
 * Write an image with new bytes for a symbol. If the new bytes fit in place of the
 * old, copy the image with them.
 *
 * Otherwise make_plan() reads the program headers: a former patch to replace, the end
 * of all segments, unused pages. make_place() puts the new segment after the end of
 * the file and of all addresses. append() writes the old file, the longer table of
 * headers and the bytes, sets the symbol to them, and removes the unused pages.
 */
#include "pack/elf_patch.h"

#include <elf.h>
#include <string.h>

#include "artifact/elf/elf.h"

#define PHDR_BYTES sizeof(Elf64_Phdr)
#define SYM_BYTES sizeof(Elf64_Sym)
#define PAGE_BYTES 0x1000u
#define MAX_ALIGN (1u << 21) /* larger than the page size of any machine */
#define PHDRS_ALIGN 16u
#define CUT_MIN_BYTES 0x10000u /* smaller cuts are not worth another segment */

/* Whole unused pages of a segment, which are removed from the file. */
struct cut {
	uint64_t phdr;       /* the segment's program header */
	uint64_t begin, end; /* in the old file; equal: none */
};

/* Facts of the old file for the new segment. */
struct plan {
	struct cut cut;
	struct msd_span phdrs; /* program headers of the old file */
	uint64_t kept_bytes;   /* bytes of the old file before a former patch */
	uint64_t n_phdrs;
	uint64_t dropped; /* the former patch's program header; n_phdrs: none */
	uint64_t align;
	uint64_t end; /* end address of all segments */
};

/* Location of the new segment. */
struct place {
	uint64_t offset;
	uint64_t address;
	uint64_t table_bytes;
	uint64_t bytes; /* size of the whole segment */
};

static uint64_t round_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) / align * align;
}

static uint32_t type_of(const uint8_t *ph)
{
	return msd_le32(ph + offsetof(Elf64_Phdr, p_type));
}

/* A former patch is a read-only segment at the file's end that begins with the table
 * of program headers and contains the symbol. */
static bool is_patch(const struct msd_elf *elf, const uint8_t *ph,
		     const struct msd_elf_sym *sym)
{
	uint64_t offset = msd_le64(ph + offsetof(Elf64_Phdr, p_offset));
	uint64_t bytes = msd_le64(ph + offsetof(Elf64_Phdr, p_filesz));
	uint64_t address = msd_le64(ph + offsetof(Elf64_Phdr, p_vaddr));

	return msd_le32(ph + offsetof(Elf64_Phdr, p_flags)) == PF_R &&
	       offset == msd_le64(elf->image.p + offsetof(Elf64_Ehdr, e_phoff)) &&
	       offset + bytes == elf->image.n && sym->value >= address &&
	       sym->value - address < bytes;
}

/* The pages covered by the symbol's old bytes, if there are enough of them. */
static struct cut find_cut(const struct plan *p, const struct msd_elf_sym *sym)
{
	uint64_t first = round_up(sym->value, p->align);
	uint64_t last = (sym->value + sym->size) / p->align * p->align;

	for (uint64_t i = 0; i < p->n_phdrs; i++) {
		const uint8_t *ph = p->phdrs.p + i * PHDR_BYTES;
		uint64_t address = msd_le64(ph + offsetof(Elf64_Phdr, p_vaddr));
		uint64_t bytes = msd_le64(ph + offsetof(Elf64_Phdr, p_filesz));
		uint64_t offset = msd_le64(ph + offsetof(Elf64_Phdr, p_offset));

		if (type_of(ph) != PT_LOAD || i == p->dropped || first <= address ||
		    last <= first || last - first < CUT_MIN_BYTES ||
		    last - address >= bytes || offset > p->kept_bytes ||
		    bytes > p->kept_bytes - offset)
			continue;
		return (struct cut){i, offset + (first - address),
				    offset + (last - address)};
	}
	return (struct cut){0};
}

/* Convert @offset of the old file to the offset after the cut. */
static uint64_t shifted(const struct plan *p, uint64_t offset)
{
	return offset >= p->cut.end ? offset - (p->cut.end - p->cut.begin) : offset;
}

static msd_err make_plan(const struct msd_elf *elf, const struct msd_elf_sym *sym,
			 struct plan *ret, struct msd_diag *d)
{
	const uint8_t *eh = elf->image.p;
	uint64_t at = msd_le64(eh + offsetof(Elf64_Ehdr, e_phoff));
	struct plan p = {.n_phdrs = msd_le16(eh + offsetof(Elf64_Ehdr, e_phnum)),
			 .kept_bytes = elf->image.n,
			 .align = PAGE_BYTES};

	p.dropped = p.n_phdrs;
	if (!msd_elf_bytes(elf->image, at, p.n_phdrs * PHDR_BYTES, &p.phdrs) ||
	    p.n_phdrs + 1 >= PN_XNUM) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no further program header fits into the library");
	}
	for (uint64_t i = 0; i < p.n_phdrs; i++) {
		const uint8_t *ph = p.phdrs.p + i * PHDR_BYTES;
		uint64_t align = msd_le64(ph + offsetof(Elf64_Phdr, p_align));
		uint64_t end = msd_le64(ph + offsetof(Elf64_Phdr, p_vaddr));

		if (type_of(ph) != PT_LOAD)
			continue;
		if (is_patch(elf, ph, sym)) {
			p.dropped = i;
			p.kept_bytes = at;
			continue;
		}
		if (__builtin_add_overflow(
			    end, msd_le64(ph + offsetof(Elf64_Phdr, p_memsz)), &end) ||
		    end > UINT64_MAX / 2) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "damaged ELF: a segment's end wraps");
		}
		if (end > p.end)
			p.end = end;
		if (align > p.align && align <= MAX_ALIGN && (align & (align - 1)) == 0)
			p.align = align;
	}
	if (sym->value + sym->size >= sym->value)
		p.cut = find_cut(&p, sym);
	*ret = p;
	return MSD_OK;
}

/* Pages are mapped as they are in the file: offset and address agree modulo the page
 * size. */
static struct place make_place(const struct plan *p, size_t n)
{
	uint64_t n_phdrs = p->n_phdrs + (p->dropped == p->n_phdrs ? 1 : 0) +
			   (p->cut.end > p->cut.begin ? 1 : 0);
	struct place at = {.offset = round_up(p->kept_bytes, PHDRS_ALIGN),
			   .table_bytes = n_phdrs * PHDR_BYTES};

	at.address = round_up(p->end, p->align) + at.offset % p->align;
	at.bytes = at.table_bytes + n;
	return at;
}

static void put_load(struct msd_buf *out, const struct plan *p, const struct place *at)
{
	msd_buf_put_u32(out, PT_LOAD);
	msd_buf_put_u32(out, PF_R);
	msd_buf_put_u64(out, shifted(p, at->offset));
	msd_buf_put_u64(out, at->address);
	msd_buf_put_u64(out, at->address);
	msd_buf_put_u64(out, at->bytes);
	msd_buf_put_u64(out, at->bytes);
	msd_buf_put_u64(out, p->align);
}

/* Write @ph without its first @skip bytes, and at most @n bytes of the rest. */
static void put_part(struct msd_buf *out, const struct plan *p, const uint8_t *ph,
		     uint64_t skip, uint64_t n)
{
	uint64_t offset = msd_le64(ph + offsetof(Elf64_Phdr, p_offset)) + skip;
	uint64_t address = msd_le64(ph + offsetof(Elf64_Phdr, p_vaddr)) + skip;
	uint64_t in_file = msd_le64(ph + offsetof(Elf64_Phdr, p_filesz)) - skip;
	uint64_t in_memory = msd_le64(ph + offsetof(Elf64_Phdr, p_memsz)) - skip;

	msd_buf_put(out, ph, offsetof(Elf64_Phdr, p_offset));
	msd_buf_put_u64(out, shifted(p, offset));
	msd_buf_put_u64(out, address);
	msd_buf_put_u64(out, address);
	msd_buf_put_u64(out, in_file < n ? in_file : n);
	msd_buf_put_u64(out, in_memory < n ? in_memory : n);
	msd_buf_put(out, ph + offsetof(Elf64_Phdr, p_align), sizeof(uint64_t));
}

static void put_phdr(struct msd_buf *out, const struct plan *p, uint64_t i,
		     const struct place *at)
{
	const uint8_t *ph = p->phdrs.p + i * PHDR_BYTES;
	uint64_t offset = msd_le64(ph + offsetof(Elf64_Phdr, p_offset));

	if (type_of(ph) == PT_PHDR) {
		msd_buf_put(out, ph, offsetof(Elf64_Phdr, p_offset));
		msd_buf_put_u64(out, shifted(p, at->offset));
		msd_buf_put_u64(out, at->address);
		msd_buf_put_u64(out, at->address);
		msd_buf_put_u64(out, at->table_bytes);
		msd_buf_put_u64(out, at->table_bytes);
		msd_buf_put_u64(out, 8);
	} else if (p->cut.end > p->cut.begin && i == p->cut.phdr) {
		put_part(out, p, ph, 0, p->cut.begin - offset);
		put_part(out, p, ph, p->cut.end - offset, UINT64_MAX);
	} else {
		msd_buf_put(out, ph, offsetof(Elf64_Phdr, p_offset));
		msd_buf_put_u64(out, shifted(p, offset));
		msd_buf_put(out, ph + offsetof(Elf64_Phdr, p_vaddr),
			    PHDR_BYTES - offsetof(Elf64_Phdr, p_vaddr));
	}
}

/* The old headers with the new one after the last loadable one: loaders require these
 * sorted by address. */
static void put_table(struct msd_buf *out, const struct plan *p, const struct place *at)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < p->n_phdrs; i++) {
		if (i != p->dropped && type_of(p->phdrs.p + i * PHDR_BYTES) == PT_LOAD)
			last = i;
	}
	for (uint64_t i = 0; i < p->n_phdrs; i++) {
		if (i != p->dropped)
			put_phdr(out, p, i, at);
		if (i == last)
			put_load(out, p, at);
	}
}

static void point(uint8_t *sym, uint64_t address, uint64_t bytes)
{
	msd_put_le64(sym + offsetof(Elf64_Sym, st_value), address);
	msd_put_le64(sym + offsetof(Elf64_Sym, st_size), bytes);
}

/* Update the symbols of that name in one section, as `nm` without -D shows them. */
static void point_in_section(struct msd_buf *file, const uint8_t *sh,
			     struct msd_span sections, const char *name,
			     const struct msd_elf_sym *old, uint64_t address,
			     uint64_t bytes)
{
	struct msd_span image = {file->p, file->n};
	uint32_t link = msd_le32(sh + offsetof(Elf64_Shdr, sh_link));
	struct msd_span syms;
	struct msd_span strings;

	if (link >= sections.n / sizeof(Elf64_Shdr))
		return;
	const uint8_t *str = sections.p + link * sizeof(Elf64_Shdr);
	if (!msd_elf_bytes(image, msd_le64(sh + offsetof(Elf64_Shdr, sh_offset)),
			   msd_le64(sh + offsetof(Elf64_Shdr, sh_size)), &syms) ||
	    !msd_elf_bytes(image, msd_le64(str + offsetof(Elf64_Shdr, sh_offset)),
			   msd_le64(str + offsetof(Elf64_Shdr, sh_size)), &strings))
		return;
	for (size_t i = 0; i < syms.n / SYM_BYTES; i++) {
		uint8_t *sym = file->p + (syms.p - image.p) + i * SYM_BYTES;
		uint32_t text = msd_le32(sym);

		if (text < strings.n && strlen(name) < strings.n - text &&
		    memcmp(strings.p + text, name, strlen(name) + 1) == 0 &&
		    msd_le64(sym + offsetof(Elf64_Sym, st_value)) == old->value)
			point(sym, address, bytes);
	}
}

static void point_static(struct msd_buf *file, const char *name,
			 const struct msd_elf_sym *old, uint64_t address,
			 uint64_t bytes)
{
	uint64_t at = msd_le64(file->p + offsetof(Elf64_Ehdr, e_shoff));
	uint64_t n = msd_le16(file->p + offsetof(Elf64_Ehdr, e_shnum));
	struct msd_span sections;

	if (at == 0 ||
	    msd_le16(file->p + offsetof(Elf64_Ehdr, e_shentsize)) !=
		    sizeof(Elf64_Shdr) ||
	    !msd_elf_bytes((struct msd_span){file->p, file->n}, at,
			   n * sizeof(Elf64_Shdr), &sections))
		return;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *sh = sections.p + i * sizeof(Elf64_Shdr);

		if (msd_le32(sh + offsetof(Elf64_Shdr, sh_type)) == SHT_SYMTAB)
			point_in_section(file, sh, sections, name, old, address, bytes);
	}
}

/* Sections, and their table, move with the bytes after the cut. */
static void shift_sections(struct msd_buf *file, const struct plan *p)
{
	uint64_t at = msd_le64(file->p + offsetof(Elf64_Ehdr, e_shoff));
	uint64_t n = msd_le16(file->p + offsetof(Elf64_Ehdr, e_shnum));
	struct msd_span sections;

	if (at == 0 || !msd_elf_bytes((struct msd_span){file->p, p->kept_bytes}, at,
				      n * sizeof(Elf64_Shdr), &sections))
		return;
	for (size_t i = 0; i < n; i++) {
		uint8_t *offset = file->p + at + i * sizeof(Elf64_Shdr) +
				  offsetof(Elf64_Shdr, sh_offset);

		msd_put_le64(offset, shifted(p, msd_le64(offset)));
	}
	msd_put_le64(file->p + offsetof(Elf64_Ehdr, e_shoff), shifted(p, at));
}

static void take_out(struct msd_buf *file, const struct plan *p)
{
	if (p->cut.end == p->cut.begin)
		return;
	shift_sections(file, p);
	memmove(file->p + p->cut.begin, file->p + p->cut.end, file->n - p->cut.end);
	file->n -= p->cut.end - p->cut.begin;
}

static msd_err append(const struct msd_elf *elf, const struct msd_elf_sym *sym,
		      const struct plan *plan, struct msd_span bytes,
		      struct msd_buf *out, struct msd_diag *d)
{
	struct msd_span entry;
	struct place at = make_place(plan, bytes.n);

	if (!msd_elf_at(elf, elf->symtab + sym->index * SYM_BYTES, SYM_BYTES, &entry) ||
	    (size_t)(entry.p - elf->image.p) + SYM_BYTES > plan->kept_bytes) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "damaged ELF: its symbol table is not in the file");
	}
	if (msd_buf_reserve(out, at.offset + at.bytes)) {
		msd_buf_put(out, elf->image.p, plan->kept_bytes);
		while (out->n < at.offset)
			msd_buf_put_u8(out, 0);
		put_table(out, plan, &at);
		msd_buf_put(out, bytes.p, bytes.n);
	}
	if (out->bad)
		return msd_diag_set(d, MSD_NOMEM, "out of memory for the library");
	uint64_t address = at.address + at.table_bytes;
	msd_put_le64(out->p + offsetof(Elf64_Ehdr, e_phoff), shifted(plan, at.offset));
	msd_put_le16(out->p + offsetof(Elf64_Ehdr, e_phnum),
		     (uint16_t)(at.table_bytes / PHDR_BYTES));
	point(out->p + (entry.p - elf->image.p), address, bytes.n);
	point_static(out, sym->name, sym, address, bytes.n);
	take_out(out, plan);
	return MSD_OK;
}

static msd_err patch(const struct msd_elf *elf, const char *name, struct msd_span bytes,
		     struct msd_buf *ret, struct msd_diag *d)
{
	const struct msd_elf_sym *sym = msd_elf_find(elf, name);
	struct msd_span old;
	struct plan plan = {0};

	if (sym == NULL || sym->type == MSD_SYM_FUNC) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "the library has no data symbol %s; link it anew "
				    "from its objects to give it one",
				    name);
	}
	bool fits =
		bytes.n <= sym->size && msd_elf_at(elf, sym->value, sym->size, &old);
	if (!fits || sym->size - bytes.n >= CUT_MIN_BYTES) {
		msd_err err = make_plan(elf, sym, &plan, d);
		bool frees =
			plan.cut.end > plan.cut.begin || plan.dropped < plan.n_phdrs;

		if (err != MSD_OK)
			return err;
		if (!fits || frees)
			return append(elf, sym, &plan, bytes, ret, d);
	}
	msd_buf_put(ret, elf->image.p, elf->image.n);
	if (ret->bad)
		return msd_diag_set(d, MSD_NOMEM, "out of memory for the library");
	uint8_t *at = ret->p + (old.p - elf->image.p);
	memset(at, 0, old.n);
	if (bytes.n > 0)
		memcpy(at, bytes.p, bytes.n);
	return MSD_OK;
}

msd_err msd_elf_patch(struct msd_span image, const char *name, struct msd_span bytes,
		      struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_elf elf = {0};
	msd_err err = msd_elf_read(image, &elf, d);

	if (err == MSD_OK)
		err = patch(&elf, name, bytes, ret, d);
	msd_elf_finish(&elf);
	return err;
}
