/* The acl.* methods: which rights users have, and which requests were denied. */
#include <string.h>

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/session/request_target.h"
#include "daemon/supervisor/edge/session/session.h"
#include "proto/name.h"
#include "proto/unpack.h"

#define SECRET_DIGITS 8u /* shown digits of a token's digest */

/* Append the names of the rights in @bits, without those that cannot be granted. */
static void put_rights(struct msd_buf *b, unsigned bits)
{
	unsigned n = 0;

	for (unsigned r = 0; r < MSD_RIGHT_ANY; r++)
		n += bits >> r & 1u;
	msd_pack_cstr(b, "rights");
	msd_pack_array(b, n);
	for (unsigned r = 0; r < MSD_RIGHT_ANY; r++) {
		if ((bits >> r & 1u) != 0)
			msd_pack_cstr(b, msd_right_name((enum msd_right)r));
	}
}

static void put_text(struct msd_buf *b, struct msd_buf *text)
{
	if (text->bad)
		b->bad = true;
	msd_pack_text(b, (const char *)text->p, text->n);
	msd_buf_finish(text);
}

static void put_names(struct msd_buf *b, const struct msd_acl_line *l)
{
	msd_pack_cstr(b, "names");
	msd_pack_array(b, l->n_names);
	for (size_t i = 0; i < l->n_names; i++) {
		struct msd_buf text = {0};
		msd_buf_put(&text, l->names[i].module.p, l->names[i].module.n);
		msd_buf_put_u8(&text, '/');
		msd_buf_put(&text, l->names[i].function.p, l->names[i].function.n);
		put_text(b, &text);
	}
}

static void put_credential(struct msd_buf *b, const struct msd_acl_credential *c)
{
	struct msd_buf text = {0};
	char digits[MSD_DIGEST_TEXT];

	msd_buf_printf(&text, "%s=", msd_credential_word(c->kind));
	msd_digest_format(&c->digest, digits);
	switch (c->kind) {
	case MSD_CREDENTIAL_TOKEN: /* a short token could be found from its digest */
		msd_buf_printf(&text, "%.*s...", SECRET_DIGITS, digits);
		break;
	case MSD_CREDENTIAL_CERT_SHA256:
		msd_buf_printf(&text, "%s", digits);
		break;
	case MSD_CREDENTIAL_UID:
	case MSD_CREDENTIAL_GID:
		msd_buf_printf(&text, "%u", c->number);
		break;
	case MSD_CREDENTIAL_CERT_SAN:
	case MSD_CREDENTIAL_CERT_CN:
	case MSD_CREDENTIAL_COUNT:
	default:
		msd_buf_put(&text, c->text.p, c->text.n);
		break;
	}
	put_text(b, &text);
}

/* Format the limits as in the file, but without size suffixes. */
static void put_limits(struct msd_buf *b, const struct msd_quota *q)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MSD_QUOTA_COUNT; i++)
		n += q->of[i] > 0;
	msd_pack_cstr(b, "limits");
	msd_pack_array(b, n);
	for (unsigned i = 0; i < MSD_QUOTA_COUNT; i++) {
		struct msd_buf text = {0};

		if (q->of[i] == 0)
			continue;
		msd_buf_printf(&text, "%s=%llu%s",
			       msd_quota_word((enum msd_quota_kind)i),
			       (unsigned long long)q->of[i],
			       msd_quota_unit((enum msd_quota_kind)i));
		put_text(b, &text);
	}
}

/*
 * Append the rights of a line of the ACL file; with its identities if @for_operators.
 */
static void put_line(struct msd_buf *b, const char *kind, const struct msd_acl_line *l,
		     bool for_operators)
{
	msd_pack_map(b, for_operators ? 7 : 5);
	msd_pack_pair_str(b, "kind", kind);
	msd_pack_pair_str(b, "name", l->name);
	put_rights(b, l->rights);
	put_names(b, l);
	put_limits(b, &l->quota);
	if (!for_operators)
		return;
	msd_pack_pair_uint(b, "line", l->line);
	msd_pack_cstr(b, "identities");
	msd_pack_array(b, l->n_credentials);
	for (size_t i = 0; i < l->n_credentials; i++)
		put_credential(b, &l->credentials[i]);
}

static uint32_t count_bits(uint64_t bits)
{
	uint32_t n = 0;

	for (; bits != 0; bits &= bits - 1)
		n++;
	return n;
}

/* Append the lines that give the session its rights. */
static void put_lines(struct msd_buf *b, const struct msd_acl *a,
		      const struct msd_grant *g)
{
	msd_pack_cstr(b, "lines");
	msd_pack_array(b, (g->user != NULL ? 1u : 0u) + count_bits(g->groups));
	if (g->user != NULL)
		put_line(b, "user", g->user, false);
	for (size_t i = 0; a != NULL && i < a->groups.n; i++) {
		if ((g->groups & 1ull << i) != 0)
			put_line(b, "group", &a->groups.each[i], false);
	}
}

msd_err msd_method_whoami(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_session *s = c->session;
	char peer[MSD_PEER_TEXT_BYTES];
	unsigned bits = 0;

	(void)d;
	msd_pack_map(&c->result, 5);
	msd_pack_pair_str(&c->result, "user", msd_authorization_name(s, peer));
	msd_pack_pair_str(&c->result, "peer", msd_peer_id_text(s->peer->who, peer));
	msd_pack_cstr(&c->result, "acl");
	msd_pack_bool(&c->result, s->edge->rights.acl != NULL);
	for (unsigned r = 0; r < MSD_RIGHT_ANY; r++)
		bits |= msd_authorization_has(s, (enum msd_right)r) ? 1u << r : 0u;
	put_rights(&c->result, bits);
	put_lines(&c->result, s->edge->rights.acl, &s->authorization.grant);
	return MSD_OK;
}

static msd_err need_file(const struct msd_method_call *c, struct msd_diag *d)
{
	if (c->session->edge->rights.acl != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "%s: this daemon has no file of rights; start it with "
			    "--acl FILE",
			    msd_method_row(c->method)->name);
}

msd_err msd_method_acl_list(struct msd_method_call *c, struct msd_diag *d)
{
	const struct msd_acl *a = c->session->edge->rights.acl;
	msd_err err = need_file(c, d);

	if (err != MSD_OK)
		return err;
	msd_pack_array(&c->result, a->users.n + a->groups.n);
	for (size_t i = 0; i < a->users.n; i++)
		put_line(&c->result, "user", &a->users.each[i], true);
	for (size_t i = 0; i < a->groups.n; i++)
		put_line(&c->result, "group", &a->groups.each[i], true);
	return MSD_OK;
}

msd_err msd_method_acl_log(struct msd_method_call *c, struct msd_diag *d)
{
	const struct msd_denials *all = &c->session->edge->rights.denials;
	const struct msd_denial *it;
	msd_err err = need_file(c, d);

	if (err != MSD_OK)
		return err;
	msd_pack_array(&c->result, all->n);
	for (uint32_t i = 0; (it = msd_denials_at(all, i)) != NULL; i++) {
		msd_pack_map(&c->result, 8);
		msd_pack_pair_uint(&c->result, "first", it->first_s);
		msd_pack_pair_uint(&c->result, "last", it->last_s);
		msd_pack_pair_uint(&c->result, "times", it->times);
		msd_pack_pair_uint(&c->result, "connection", it->connection);
		msd_pack_pair_str(&c->result, "user", it->user);
		msd_pack_pair_str(&c->result, "peer", it->peer);
		msd_pack_pair_str(&c->result, "method",
				  msd_method_row(it->method)->name);
		msd_pack_cstr(&c->result, "name");
		msd_pack_text(&c->result, it->name, strlen(it->name));
	}
	return MSD_OK;
}

/* Return the right that @word needs. @word is a method or a right. */
static msd_err read_right(struct msd_span word, enum msd_right *ret, struct msd_diag *d)
{
	const struct msd_method_row *row = msd_method_row(msd_method_find(word));

	if (row != NULL) {
		*ret = row->right;
		return MSD_OK;
	}
	if (word.n > 0 && word.p[0] == '@')
		word = (struct msd_span){word.p + 1, word.n - 1};
	for (unsigned r = 0; r < MSD_RIGHT_ANY; r++) {
		if (msd_span_is(word, msd_right_name((enum msd_right)r))) {
			*ret = (enum msd_right)r;
			return MSD_OK;
		}
	}
	return msd_diag_set(d, MSD_NOT_FOUND,
			    "acl.dry_run: %.*s is neither a method nor lookup, call, "
			    "load, read or admin",
			    (int)(word.n < 80 ? word.n : 80), (const char *)word.p);
}

/* "module" or "module:function". */
static msd_err read_name(const struct msd_method_call *c, struct msd_acl_target *ret,
			 struct msd_diag *d)
{
	struct msd_span text = {0};

	if (c->params->via.array.size < 3)
		return MSD_OK;
	msd_err err = msd_object_str(&c->params->via.array.ptr[2], "name", &text, d);
	if (err != MSD_OK || msd_target_split(text, &ret->module, &ret->function))
		return err;
	*ret = (struct msd_acl_target){.module = text};
	return msd_name_check(text, d);
}

msd_err msd_method_dry_run(struct msd_method_call *c, struct msd_diag *d)
{
	const struct msd_acl *a = c->session->edge->rights.acl;
	struct msd_span user, word;
	struct msd_acl_target target = {0};
	struct msd_grant g;
	enum msd_right right = MSD_RIGHT_NONE;
	msd_err err = need_file(c, d);

	if (err == MSD_OK)
		err = msd_object_str(&c->params->via.array.ptr[0], "user", &user, d);
	if (err == MSD_OK)
		err = msd_object_str(&c->params->via.array.ptr[1], "method", &word, d);
	if (err == MSD_OK)
		err = read_right(word, &right, d);
	if (err == MSD_OK)
		err = read_name(c, &target, d);
	if (err == MSD_OK && !msd_acl_grant_of(a, user, &g)) {
		err = msd_diag_set(d, MSD_NOT_FOUND, "%s has no line for %.*s", a->file,
				   (int)(user.n < 64 ? user.n : 64),
				   (const char *)user.p);
	}
	if (err != MSD_OK)
		return err;
	/* The target counts only if the method has one. */
	const enum msd_method method = msd_method_find(word);
	if (method != MSD_M_COUNT && !msd_request_target_has_name(method))
		target = (struct msd_acl_target){0};
	const struct msd_acl_line *why = msd_acl_why(a, &g, right, &target);
	msd_pack_map(&c->result, 3);
	msd_pack_cstr(&c->result, "allowed");
	msd_pack_bool(&c->result, msd_acl_allows(a, &g, right, &target));
	msd_pack_pair_str(&c->result, "needs", msd_right_name(right));
	msd_pack_cstr(&c->result, "line");
	if (why != NULL) {
		msd_pack_uint(&c->result, why->line);
	} else {
		msd_pack_nil(&c->result);
	}
	return MSD_OK;
}
