/* The walk over a page that lxml has written out as XML: the reference is stages/extraction/learned/walk.py, whose
 * names stand here.
 *
 * What is read is what `etree.tostring(body, encoding="utf-8")` gives: every tag is closed, every attribute is quoted
 * with ", and < > & stand in texts and attributes as entities only. Tags and names of attributes are what the HTML
 * parser took for such and may hold any other character. Whatever is otherwise, and what is left to Python, gives
 * NATIVE_UNUSUAL: sections of CDATA, unknown entities, an object of JSON as a block of text.
 */
#include "walk.h"

typedef struct {
    const uint8_t *at, *end;
} Span;

typedef struct {
    Span name, value;
} Attribute;

typedef struct { /* an element that is open */
    int32_t role, unseen, has_href, is_unknown, is_pre, is_span;
} Open;

enum { CLOSED = 1, TOOLTIP = 2, ALOUD = 3 }; /* why a reader does not see it */
enum { MOST_ATTRIBUTES = 4096 };

typedef struct {                       /* nothing but buffers */
    Buffer stack, attributes, holders; /* Open, Attribute, int32: elements that are open, attributes of this tag */
    Buffer written, begins;            /* the block that is being written: its bytes, where each piece of it begins */
    Buffer seams, neighbours, veiled, veils, scratch, name;
} Own;

typedef struct {
    const Rules *rules;
    Page *page;
    const uint8_t *at, *end; /* what is left of the page */
    int32_t answer;          /* NATIVE_OK until something is unusual */
    Own own;
    int32_t linked, links, anchors, codes, inner, touches;
} Walk;

static void unusual(Walk *w) { if (w->answer == NATIVE_OK) w->answer = NATIVE_UNUSUAL; }

static inline int equals(Span s, const char *word) {
    size_t size = strlen(word);
    return (size_t)(s.end - s.at) == size && (!size || !memcmp(s.at, word, size));
}

static inline const uint8_t *find(const uint8_t *at, const uint8_t *end, uint8_t wanted) {
    const uint8_t *found = at < end ? memchr(at, wanted, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static inline uint8_t cases(const Walk *w, uint32_t code) {
    return code < (uint32_t)w->rules->characters ? w->rules->cases[code] : 0;
}
enum { LOWER = 1, UPPER = 2, DECIMAL = 4 };

/* --- texts --------------------------------------------------------------------------------------------------- */

/* The code point of an entity that begins at `at`, and `size` its bytes; 0 where it is none that lxml writes. */
static uint32_t entity(const uint8_t *at, const uint8_t *end, int32_t *size) {
    static const struct { const char *name; uint32_t code; } NAMED[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
    size_t left = (size_t)(end - at);
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++) {
        size_t length = strlen(NAMED[i].name);
        if (left >= length && !memcmp(at, NAMED[i].name, length)) return *size = (int32_t)length, NAMED[i].code;
    }
    if (left < 4 || at[1] != '#') return 0;
    size_t place = 2, base = 10;
    uint32_t code = 0;
    if (at[2] == 'x') place = 3, base = 16;
    for (size_t first = place; place < left && place < first + 8 && at[place] != ';'; place++) {
        uint8_t c = at[place], low = c | 32;
        uint32_t digit = c >= '0' && c <= '9' ? c - 48u : base == 16 && low >= 'a' && low <= 'f' ? low - 87u : 99u;
        if (digit == 99) return 0;
        code = code * (uint32_t)base + digit;
    }
    if (place >= left || at[place] != ';' || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
    if (code == 0xFFFD) return 0; /* stands for any character that XML has not; the true one is not escaped */
    *size = (int32_t)place + 1;
    return code;
}

/* Add what stands there, with entities as characters; answers where it begins in the buffer. */
static size_t put_text(Walk *w, Buffer *to, Span from) {
    size_t begin = to->used;
    while (from.at < from.end) {
        const uint8_t *special = find(from.at, from.end, '&');
        put(to, from.at, (size_t)(special - from.at));
        from.at = special;
        if (special >= from.end) break;
        int32_t size = 0, bytes = 0;
        uint32_t c = entity(special, from.end, &size);
        if (!c) return unusual(w), begin;
        uint8_t code[4];
        if (c < 0x80) code[bytes++] = (uint8_t)c;
        else {
            if (c < 0x800) code[bytes++] = (uint8_t)(0xC0 | c >> 6);
            else {
                if (c < 0x10000) code[bytes++] = (uint8_t)(0xE0 | c >> 12);
                else {
                    code[bytes++] = (uint8_t)(0xF0 | c >> 18);
                    code[bytes++] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
                }
                code[bytes++] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
            }
            code[bytes++] = (uint8_t)(0x80 | (c & 0x3F));
        }
        put(to, code, (size_t)bytes);
        from.at += size;
    }
    return begin;
}

static Span stripped(Span s) {
    int32_t size;
    const uint8_t *begins;
    while (s.at < s.end && is_space(decoded(s.at, s.end, &size))) s.at += size;
    while (s.at < s.end && is_space(decoded_last(s.at, s.end, &begins))) s.end = begins;
    return s;
}

static inline int32_t pieces(const Walk *w) { return count_ints(&w->own.begins); }

static inline Span last_piece(const Walk *w) {
    const uint8_t *all = (const uint8_t *)w->own.written.data;
    return (Span){all + ints(&w->own.begins)[pieces(w) - 1], all + w->own.written.used};
}

static inline int has_no_width(uint32_t c) { return (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF; }

/* `are_apart` of shown.py: these two texts touch without being one word. Both have a character. */
static int are_apart(const Walk *w, Span before, Span behind) {
    const uint8_t *begins;
    int32_t size;
    uint32_t last = decoded_last(before.at, before.end, &begins), first = decoded(behind.at, behind.end, &size);
    if (has_no_width(last) || has_no_width(first)) {
        for (last = 0; before.at < before.end; before.end = begins)
            if (!has_no_width(last = decoded_last(before.at, before.end, &begins))) break;
            else last = 0;
        for (first = 0; behind.at < behind.end; behind.at += size)
            if (!has_no_width(first = decoded(behind.at, behind.end, &size))) break;
            else first = 0;
    }
    int small = cases(w, last) & LOWER;
    if (cases(w, first) & UPPER)
        return small || cases(w, last) & DECIMAL || last == '!' || last == '?' || last == ')' || last == '%';
    return small && cases(w, first) & DECIMAL;
}

/* `_write`: one more piece of the block. */
static void write_piece(Walk *w, Span text) {
    if (text.at >= text.end) return;
    size_t begin = put_text(w, &w->own.written, text);
    if (w->own.written.failed || w->answer != NATIVE_OK) return;
    Span piece = {(uint8_t *)w->own.written.data + begin, (uint8_t *)w->own.written.data + w->own.written.used};
    if (w->touches) {
        int32_t many = pieces(w);
        if (many && !w->codes && !w->inner) {
            Span before = {(uint8_t *)w->own.written.data + ints(&w->own.begins)[many - 1], piece.at};
            if (are_apart(w, before, piece)) put_int(&w->own.seams, many);
        }
        w->touches = 0;
    }
    put_int(&w->own.begins, (int32_t)begin);
    if (w->anchors) {
        Span bare = stripped(piece);
        w->linked += code_points(bare.at, bare.end);
    }
}

/* `_note_neighbours`: a text that begins an element, behind what was written last. */
static void note_neighbours(Walk *w, Span text) {
    if (w->codes || w->inner) return;
    const uint8_t *begins;
    int32_t size;
    Span before = last_piece(w);
    uint32_t first = *text.at == '&' ? entity(text.at, text.end, &size) : decoded(text.at, text.end, &size);
    if (cases(w, first) & LOWER && cases(w, decoded_last(before.at, before.end, &begins)) & LOWER)
        put_int(&w->own.neighbours, pieces(w));
}

static void write_sign(Walk *w, char sign) {
    put_int(&w->own.begins, (int32_t)w->own.written.used);
    put(&w->own.written, &sign, 1);
}

/* --- blocks -------------------------------------------------------------------------------------------------- */

/* Add the written text with its white space collapsed; `seen` gets 1 for a line break in the source and 2 for a
 * character that is written without blanks, between which a line break is none (`_FOLD` of shown.py). */
static void put_collapsed(Buffer *to, Span from, int32_t *seen) {
    char *start = reserve(to, (size_t)(from.end - from.at));
    if (!start) return;
    char *out = start;
    int blank = 0;
    while (from.at < from.end) {
        int32_t size;
        uint32_t c = decoded(from.at, from.end, &size);
        if (is_space(c)) {
            blank = out > start;
            if (c == '\n') *seen |= 1;
        } else {
            if (blank) *out++ = ' '; /* stands for white space of one byte or more: there is room */
            blank = 0;
            if (c >= 0x3000 && c < 0x10000) *seen |= 2;
            for (int32_t i = 0; i < size; i++) *out++ = (char)from.at[i];
        }
        from.at += size;
    }
    to->used += (size_t)(out - start);
}

/* `_code`: lines without white space at their ends, and no empty ones around them. */
static void put_code(Buffer *to, Span from) {
    char *start = reserve(to, (size_t)(from.end - from.at));
    if (!start) return;
    char *out = start;
    size_t empty = 0;
    for (int is_first = 1; from.at < from.end;) {
        const uint8_t *end = find(from.at, from.end, '\n'), *begins;
        Span line = {from.at, end};
        while (line.at < line.end && is_space(decoded_last(line.at, line.end, &begins))) line.end = begins;
        if (line.at < line.end) {
            if (!is_first)
                for (size_t i = 0; i <= empty; i++) *out++ = '\n';
            is_first = 0, empty = 0;
            for (; line.at < line.end; line.at++)
                if (*line.at != '\r') *out++ = (char)*line.at;
        } else if (!is_first)
            empty++;
        from.at = end + 1;
    }
    to->used += (size_t)(out - start);
}

/* What Python needs to write a block as its reader sees it: the block, how many pieces, seams, neighbours and veiled
 * runs, whether seams and veils count, then where the pieces begin among all of `pieces`, where the last one ends, the
 * seams, the neighbours, and of each veiled run its first piece, the one behind it and why. */
static void note_shown(Walk *w, int32_t block, int is_shown) {
    Page *p = w->page;
    int32_t many = pieces(w), before = (int32_t)p->pieces.used;
    put_int(&p->shown, block), put_int(&p->shown, many), put_int(&p->shown, count_ints(&w->own.seams));
    put_int(&p->shown, count_ints(&w->own.neighbours)), put_int(&p->shown, count_ints(&w->own.veiled) / 3);
    put_int(&p->shown, is_shown);
    for (int32_t i = 0; i < many; i++) put_int(&p->shown, before + ints(&w->own.begins)[i]);
    put_int(&p->shown, before + (int32_t)w->own.written.used);
    put(&p->shown, w->own.seams.data, w->own.seams.used);
    put(&p->shown, w->own.neighbours.data, w->own.neighbours.used);
    put(&p->shown, w->own.veiled.data, w->own.veiled.used);
    put(&p->pieces, w->own.written.data, w->own.written.used);
}

/* `_end_block`: what was written becomes a block, if there is anything. */
static void end_block(Walk *w, int32_t holder, int in_code) {
    if (!pieces(w)) return;
    Page *p = w->page;
    const Rules *rules = w->rules;
    Span written = {(uint8_t *)w->own.written.data, (uint8_t *)w->own.written.data + w->own.written.used};
    size_t begin = p->text.used;
    int32_t seen = 0, tag = ints(&p->tag)[holder];
    int32_t kind = in_code ? rules->kind_code : tag < rules->tags ? rules->traits[tag * 4 + 1] : rules->kind_text;
    if (in_code) put_code(&p->text, written);
    else put_collapsed(&p->text, written, &seen);
    if (p->text.used > begin && !p->text.failed) {
        const uint8_t *text = (uint8_t *)p->text.data + begin, *end = (uint8_t *)p->text.data + p->text.used;
        int32_t length = code_points(text, end), block = count_ints(&p->kinds);
        if (kind == rules->kind_text && length >= rules->least_data && text[0] == '{' && text[1] == '"') unusual(w);
        if (block >= rules->most_blocks) p->text.used = begin;
        else {
            put_int(&p->text_ends, (int32_t)p->text.used), put_int(&p->lengths, length);
            put_int(&p->kinds, kind), put_int(&p->holders, holder), put_int(&p->links, w->links);
            put_int(&p->linked, w->linked < length ? w->linked : length);
            int is_shown = w->own.seams.used || w->own.veiled.used || seen == 3;
            if (!in_code && (is_shown || w->own.neighbours.used)) note_shown(w, block, is_shown);
        }
    }
    w->own.written.used = w->own.begins.used = w->own.seams.used = w->own.neighbours.used = w->own.veiled.used = 0;
    if (w->own.veils.used) memset(w->own.veils.data, 0, w->own.veils.used);
    w->linked = w->links = 0;
}

/* --- tags ---------------------------------------------------------------------------------------------------- */

static inline int ends_name(uint8_t c) {
    return c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The tag that begins at w->at: its name, its attributes, whether it closes itself; w->at stands behind it. */
static Span read_tag(Walk *w, int *is_closed) {
    const uint8_t *at = w->at + 1, *end = w->end;
    Span name = {at, at};
    while (at < end && !ends_name(*at)) at++;
    name.end = at;
    w->own.attributes.used = 0;
    *is_closed = 0;
    for (int32_t many = 0;; many++) {
        while (at < end && *at == ' ') at++;
        if (at < end && *at == '/' && at + 1 < end && at[1] == '>') *is_closed = 1, at++;
        if (at < end && *at == '>') break;
        const uint8_t *sign = at < end ? find(at + 1, end, '=') : end; /* a name may begin with one */
        if (sign + 1 >= end || sign[1] != '"' || many >= MOST_ATTRIBUTES) return unusual(w), w->at = end, name;
        Attribute one = {{at, sign}, {sign + 2, find(sign + 2, end, '"')}};
        if (one.value.end >= end) return unusual(w), w->at = end, name;
        put(&w->own.attributes, &one, sizeof one);
        at = one.value.end + 1;
    }
    w->at = at + 1;
    return name;
}

static const Attribute *attribute(const Walk *w, const char *name) {
    const Attribute *all = (const Attribute *)(const void *)w->own.attributes.data;
    size_t many = w->own.attributes.used / sizeof *all;
    for (size_t i = 0; i < many; i++)
        if (equals(all[i].name, name)) return all + i;
    return NULL;
}

/* `is_closed` of hidden.py. */
static int is_closed(Walk *w, const Attribute *hidden, const Attribute *style) {
    if (hidden) {
        static const char OPEN[] = "until-found";
        Span value = hidden->value;
        size_t size = (size_t)(value.end - value.at);
        if (size != sizeof OPEN - 1) return 1;
        for (size_t i = 0; i < size; i++) {
            uint8_t c = value.at[i];
            if ((c >= 'A' && c <= 'Z' ? c | 32 : c) != (uint8_t)OPEN[i]) return 1;
        }
    }
    if (!style) return 0;
    static const char *const WORDS[] = {"display:none", "visibility:hidden", "visibility:collapse"};
    w->own.scratch.used = 0;
    put_text(w, &w->own.scratch, style->value);
    if (w->own.scratch.failed || w->answer != NATIVE_OK) return 0;
    uint8_t *plain = (uint8_t *)w->own.scratch.data;
    size_t size = 0;
    for (size_t i = 0; i < w->own.scratch.used; i++) {
        uint8_t c = plain[i];
        if (c == ' ' || c == '\n' || c == '\t') continue;
        plain[size++] = c >= 'A' && c <= 'Z' ? c | 32 : c;
    }
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(WORDS[i]);
        for (size_t at = 0; at + length <= size; at++) {
            if (plain[at] != (uint8_t)WORDS[i][0] || memcmp(plain + at, WORDS[i], length)) continue;
            if (at + length == size) return 1;
            uint8_t next = plain[at + length];
            if (next >= 0x80) return unusual(w), 0; /* is it a letter? Python knows */
            if (!((next >= 'a' && next <= 'z') || (next >= '0' && next <= '9') || next == '_' || next == '-')) return 1;
        }
    }
    return 0;
}

static void note(Walk *w, int32_t element, int32_t which, const Attribute *one) {
    if (!one) return;
    put_text(w, &w->page->note_text, one->value);
    put_int(&w->page->notes, element), put_int(&w->page->notes, which);
    put_int(&w->page->notes, (int32_t)w->page->note_text.used);
}

/* `_open`: one more element, with the attributes of the tag that was read last; answers its number. */
static int32_t open_element(Walk *w, Span tag, int32_t parent) {
    Page *p = w->page;
    const Rules *rules = w->rules;
    int32_t element = count_ints(&p->parents), number = number_of(&p->tags, tag.at, (size_t)(tag.end - tag.at));
    const int32_t *traits = number >= 0 && number < rules->tags ? rules->traits + number * 4 : NULL;
    int32_t marks = traits ? traits[2] : 0, name = -1, asked = traits ? traits[3] : 0;
    if (w->own.attributes.used) {
        enum { NAMED = 5 };
        static const char *const NAMES[] = {"class",    "id",     "role",        "itemprop",
                                            "itemtype", "hidden", "aria-hidden", "style"};
        const Attribute *found[8] = {0}, *all = (const Attribute *)(const void *)w->own.attributes.data;
        for (size_t i = 0; i < w->own.attributes.used / sizeof *all; i++)
            for (size_t j = 0; j < 8; j++)
                if (all[i].name.at[0] == (uint8_t)NAMES[j][0] && equals(all[i].name, NAMES[j])) found[j] = all + i;
        w->own.name.used = 0;
        reserve(&w->own.name, 1);
        for (size_t j = 0; j < NAMED; j++)
            if (found[j] && found[j]->value.end > found[j]->value.at) {
                if (w->own.name.used) put(&w->own.name, " ", 1);
                put_text(w, &w->own.name, found[j]->value);
            }
        const uint8_t *begin = (uint8_t *)w->own.name.data, *cut = begin, *end = begin + w->own.name.used;
        if (w->own.name.used > (size_t)rules->most_name) {
            int32_t size;
            for (int32_t i = 0; i < rules->most_name && cut < end; i++) decoded(cut, end, &size), cut += size;
            w->own.name.used = (size_t)(cut - begin);
        }
        if (w->own.name.used) name = number_of(&p->names, w->own.name.data, w->own.name.used);
        if (found[2]) {
            const char *one = rules->role_names;
            for (int32_t i = 0; i < rules->roles; i++, one += strlen(one) + 1)
                if (equals(found[2]->value, one)) marks |= rules->role_marks[i];
        }
        if (found[5] || (found[6] && equals(found[6]->value, "true")) || is_closed(w, found[5], found[7]))
            marks |= rules->mark_hidden;
        if (asked & IS_ITEM) note(w, element, 0, attribute(w, rules->number_name));
        if (asked & IS_PRE) note(w, element, 1, attribute(w, rules->language_name));
        if (asked & IS_CELL) note(w, element, 2, attribute(w, "colspan")), note(w, element, 3, attribute(w, "rowspan"));
    }
    int32_t depth = 0;
    if (parent >= 0) marks |= ints(&p->marks)[parent], depth = ints(&p->depths)[parent] + 1;
    put_int(&p->parents, parent), put_int(&p->tag, number), put_int(&p->name, name), put_int(&p->marks, marks);
    put_int(&p->depths, depth), put_int(&p->starts, count_ints(&p->kinds)), put_int(&p->ends, count_ints(&p->kinds));
    return element;
}

/* Behind a comment or an instruction, which both end with `ending`. */
static void pass(Walk *w, const char *ending) {
    size_t size = strlen(ending);
    for (const uint8_t *at = w->at; (at = find(at, w->end, (uint8_t)ending[0])) < w->end; at++)
        if ((size_t)(w->end - at) >= size && !memcmp(at, ending, size)) {
            w->at = at + size;
            return;
        }
    unusual(w), w->at = w->end;
}

/* Behind what begins with "<!" or "<?": a comment or an instruction. */
static void pass_note(Walk *w) {
    if (w->at[1] == '?') pass(w, "?>");
    else if (w->end - w->at >= 4 && w->at[2] == '-' && w->at[3] == '-') w->at += 4, pass(w, "-->");
    else unusual(w), w->at = w->end;
}

/* Behind the end of the element whose start tag was just read; with `to`, its texts go there, and w->at stands anywhere
 * once these are `most` bytes. */
static void pass_element(Walk *w, Buffer *to, size_t most) {
    for (int64_t depth = 1; depth && w->answer == NATIVE_OK;) {
        const uint8_t *tag = find(w->at, w->end, '<');
        if (to) {
            put_text(w, to, (Span){w->at, tag});
            if (to->used >= most) return;
        }
        w->at = tag;
        if (w->end - tag < 2) return unusual(w);
        if (tag[1] == '!' || tag[1] == '?') pass_note(w);
        else {
            const uint8_t *close = find(tag, w->end, '>');
            if (close >= w->end) return unusual(w);
            if (tag[1] == '/') depth--;
            else if (close[-1] != '/') depth++;
            w->at = close + 1;
        }
    }
}

/* `leads_to_itself` of anchors.py, of a link to a place on its page whose start tag was just read. */
static int shows_a_sign(Walk *w, int is_closed_tag) {
    static const char *const SIGNS[] = {"", "\xC2\xB6", "#", "\xC2\xA7", "\xF0\x9F\x94\x97", "\xEF\x83\x81", "[link]",
                                        "Permalink"};
    if (is_closed_tag) return 1;
    const uint8_t *back = w->at;
    enum { MOST = 512, LONGEST = 9 }; /* bytes: with white space around it; the longest sign */
    w->own.scratch.used = 0;
    reserve(&w->own.scratch, MOST);
    pass_element(w, &w->own.scratch, MOST);
    w->at = back;
    if (w->own.scratch.failed || w->answer != NATIVE_OK) return 0;
    Span text = stripped((Span){(uint8_t *)w->own.scratch.data, (uint8_t *)w->own.scratch.data + w->own.scratch.used});
    if (text.end - text.at > LONGEST) return 0;
    if (w->own.scratch.used >= MOST) return unusual(w), 0; /* there may be more behind all that white space */
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (equals(text, SIGNS[i])) return 1;
    return 0;
}

static inline int32_t top(const Walk *w) { return ints(&w->own.holders)[count_ints(&w->own.holders) - 1]; }
static inline int32_t traits_of(const Walk *w, int32_t element, int which) {
    int32_t tag = ints(&w->page->tag)[element];
    return tag >= 0 && tag < w->rules->tags ? w->rules->traits[tag * 4 + which] : 0;
}

/* `_why` of unseen.py. */
static int32_t why_unseen(Walk *w, int is_span) {
    const Attribute *hidden = attribute(w, "hidden"), *style = attribute(w, "style");
    const Attribute *aloud = attribute(w, "aria-hidden"), *role = attribute(w, "role");
    if (!hidden && !style && !aloud && !(is_span && role)) return 0;
    if (role && equals(role->value, "tooltip")) return TOOLTIP;
    if (is_closed(w, hidden, style)) return CLOSED;
    return aloud && equals(aloud->value, "true") ? ALOUD : 0;
}

static void start(Walk *w, Open *one, Span tag) {
    if (one->unseen) put_int(&w->own.veils, pieces(w));
    switch (one->role) {
        case LINES:
            if ((find(tag.at, tag.end, '-') < tag.end || find(tag.at, tag.end, ':') < tag.end) &&
                traits_of(w, top(w), 3) & IS_PARAGRAPH) {
                one->is_unknown = 1; /* within a sentence */
                return;
            }
            end_block(w, top(w), w->codes > 0);
            put_int(&w->own.holders, open_element(w, tag, top(w)));
            w->codes += one->is_pre;
            return;
        case LINK:
            w->anchors += one->has_href, w->links += one->has_href;
            return;
        case CODE: w->inner++; return;
        case JOINT: w->touches = 0; return;
        case BREAK:
            if (w->codes) write_sign(w, '\n');
            else if (traits_of(w, top(w), 1) == w->rules->kind_heading) write_sign(w, ' ');
            else end_block(w, top(w), 0);
    }
}

static void end(Walk *w, const Open *one) {
    if (one->unseen && w->own.veils.used) {
        w->own.veils.used -= sizeof(int32_t);
        int32_t first = ints(&w->own.veils)[count_ints(&w->own.veils)];
        if (first < pieces(w)) {
            put_int(&w->own.veiled, first), put_int(&w->own.veiled, pieces(w));
            put_int(&w->own.veiled, one->unseen);
        }
    }
    switch (one->role) {
        case LINES:
            if (one->is_unknown) return;
            end_block(w, top(w), w->codes > 0);
            ints(&w->page->ends)[top(w)] = count_ints(&w->page->kinds);
            w->own.holders.used -= sizeof(int32_t);
            w->codes -= one->is_pre;
            return;
        case LINK: w->anchors -= one->has_href; return;
        case CODE: w->inner--;
    }
}

/* The text up to the next tag. */
static Span read_text(Walk *w) {
    Span text = {w->at, find(w->at, w->end, '<')};
    w->at = text.end;
    return text;
}

static void ended(Walk *w, int32_t role, int was_skipped) {
    w->touches = was_skipped;
    Span tail = read_text(w);
    if (tail.at < tail.end) write_piece(w, tail);
    else w->touches = role != JOINT;
}

/* A start tag stands at w->at. */
static void read_element(Walk *w) {
    int is_closed_tag;
    Span tag = read_tag(w, &is_closed_tag);
    if (w->answer != NATIVE_OK) return;
    const Rules *rules = w->rules;
    int32_t number = number_of(&w->page->tags, tag.at, (size_t)(tag.end - tag.at));
    const int32_t *traits = number >= 0 && number < rules->tags ? rules->traits + number * 4 : NULL;
    Open one = {.role = traits ? traits[0] : LINES};
    one.is_span = traits && traits[3] & IS_SPAN;
    one.is_pre = traits && traits[3] & IS_PRE;
    if (one.role == LINK) {
        const Attribute *href = attribute(w, "href");
        one.has_href = href && href->value.at < href->value.end;
        if (one.has_href && href->value.at[0] == '#' && shows_a_sign(w, is_closed_tag)) {
            if (!is_closed_tag) pass_element(w, NULL, 0);
            return ended(w, LINK, 1);
        }
    }
    if (one.role == SKIP) {
        if (!is_closed_tag) pass_element(w, NULL, 0);
        return ended(w, SKIP, 1);
    }
    if (one.role == LINK || one.is_span) one.unseen = why_unseen(w, one.is_span);
    if (one.role == INLINE_ && one.unseen) one.role = VEIL;
    if (one.role != INLINE_) start(w, &one, tag);
    if (is_closed_tag) {
        if (one.role != INLINE_) end(w, &one);
        return ended(w, one.role, 0);
    }
    put(&w->own.stack, &one, sizeof one);
    Span text = read_text(w);
    if (text.at >= text.end) return;
    if (w->touches && pieces(w)) note_neighbours(w, text);
    write_piece(w, text);
}

/* An end tag stands at w->at; 0 where it is that of the whole. */
static int read_end(Walk *w) {
    const uint8_t *close = find(w->at, w->end, '>');
    if (close >= w->end) return unusual(w), 0;
    w->at = close + 1;
    if (!w->own.stack.used) return 0;
    w->own.stack.used -= sizeof(Open);
    Open one;
    memcpy(&one, w->own.stack.data + w->own.stack.used, sizeof one);
    if (one.role != INLINE_) end(w, &one);
    ended(w, one.role, 0);
    return 1;
}

static int any_failed(const Buffer *all, size_t many) {
    uint64_t failed = 0;
    for (size_t i = 0; i < many; i++) failed |= all[i].failed;
    return failed != 0;
}

enum { PAGE_BUFFERS = sizeof(Page) / sizeof(Buffer), OWN_BUFFERS = sizeof(Own) / sizeof(Buffer) };

static int lacks_memory(const Walk *w) {
    return any_failed((const Buffer *)w->page, PAGE_BUFFERS) || any_failed((const Buffer *)&w->own, OWN_BUFFERS);
}

static void over(Walk *w) {
    const char *tag_name = w->rules->names;
    for (int32_t i = 0; i < w->rules->tags; i++, tag_name += strlen(tag_name) + 1)
        if (number_of(&w->page->tags, tag_name, strlen(tag_name)) != i) return unusual(w);
    if (w->end - w->at < 2 || *w->at != '<') return unusual(w);
    int is_closed_tag;
    Span tag = read_tag(w, &is_closed_tag);
    if (w->answer != NATIVE_OK) return;
    put_int(&w->own.holders, open_element(w, tag, -1));
    if (lacks_memory(w)) return;
    if (!is_closed_tag) {
        write_piece(w, read_text(w));
        while (w->answer == NATIVE_OK) {
            if (w->end - w->at < 2) return unusual(w);
            if (w->at[1] == '/') {
                if (!read_end(w)) break;
            } else if (w->at[1] == '!' || w->at[1] == '?') {
                pass_note(w);
                read_text(w); /* lxml's walk does not see what stands behind a comment */
            } else
                read_element(w);
            if (lacks_memory(w)) return; /* what was added last may be missing */
        }
    }
    if (w->answer != NATIVE_OK) return;
    end_block(w, 0, 0);
    ints(&w->page->ends)[0] = count_ints(&w->page->kinds);
}

int32_t native_walk(const Rules *rules, const char *xml, int64_t size, Page *page) {
    Walk w = {.rules = rules, .page = page, .at = (const uint8_t *)xml, .end = (const uint8_t *)xml + size};
    memset(page, 0, sizeof *page);
    if (size < 0 || size > INT32_MAX / 4) return NATIVE_UNUSUAL; /* numbers of bytes stay numbers of 32 bits */
    over(&w);
    if (lacks_memory(&w)) w.answer = NATIVE_NO_MEMORY;
    Buffer *own = (Buffer *)&w.own;
    for (size_t i = 0; i < OWN_BUFFERS; i++) release(own + i);
    return w.answer;
}

void native_walk_marks(Page *page, const int32_t *said) {
    int32_t *marks = ints(&page->marks), *parents = ints(&page->parents), *name = ints(&page->name);
    for (int32_t i = 0; i < count_ints(&page->marks); i++) {
        if (name[i] >= 0) marks[i] |= said[name[i]];
        if (parents[i] >= 0) marks[i] |= marks[parents[i]];
    }
}

void native_walk_free(Page *page) {
    Buffer *all = (Buffer *)page;
    for (size_t i = 0; i < PAGE_BUFFERS; i++) release(all + i);
}
