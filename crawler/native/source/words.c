/* Scores of the names of elements and of the first words of blocks: the reference is
 * stages/extraction/learned/tables.py and `_name_scores` of numbers.py. Letters beyond ASCII are Python's to lower. */
#include "buffer.h"

enum { MOST_NAMES = 24, MOST_WORDS = 12, LONGEST_LINE = 60, READ = 120 };

typedef struct { /* hashes in ascending order and the score of each; starts[h]: the first one whose upper half is h */
    int64_t size;
    const uint32_t *keys;
    const int32_t *values;
    const int32_t *starts; /* 2^16 + 1 */
} Table;

static uint32_t crc32_more(uint32_t crc, const void *data, size_t size) {
    static const uint32_t NIBBLES[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    const uint8_t *at = data;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
        crc = crc >> 4 ^ NIBBLES[crc & 15];
    }
    return crc;
}

static int32_t score_of(const Table *t, const void *key, size_t size) {
    uint32_t hash = ~crc32_more(0xFFFFFFFFu, key, size);
    for (int32_t i = t->starts[hash >> 16]; i < t->starts[(hash >> 16) + 1]; i++)
        if (t->keys[i] == hash) return t->values[i];
    return 0;
}

static inline uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 32 : c; }
static inline int is_end(uint8_t c) { return c && strchr(".,:;!?()\"'", c) != NULL; }

/* text: blocks one behind the other, UTF-8; ends: of each; lengths: code points of each. The others get a value for
 * each block; is_done is 0 where a letter beyond ASCII is among those that are read. */
NATIVE_API void native_words(const Table *table, const uint8_t *text, const int32_t *ends, const int32_t *lengths,
                             int32_t blocks, double *low, double *high, double *mean, double *line, int32_t *asked,
                             int32_t *unknown, uint8_t *is_done) {
    for (int32_t block = 0, begin = 0; block < blocks; begin = ends[block++]) {
        const uint8_t *at = text + begin;
        int32_t size = ends[block] - begin, count = 0, zeros = 0;
        int64_t sum = 0, least = 0, most = 0;
        if (size > READ) size = READ;
        uint8_t beyond = 0, key[READ + 1];
        for (int32_t i = 0; i < size; i++) beyond |= at[i];
        is_done[block] = beyond < 0x80;
        low[block] = high[block] = mean[block] = line[block] = 0, asked[block] = unknown[block] = 0;
        if (beyond >= 0x80) continue;
        for (int32_t i = 0; count < MOST_WORDS;) {
            while (i < size && is_space(at[i])) i++;
            if (i >= size) break;
            int32_t first = i, last, length = 0;
            while (i < size && !is_space(at[i])) i++;
            for (last = i; first < last && is_end(at[first]);) first++;
            while (last > first && is_end(at[last - 1])) last--;
            key[length++] = 'w';
            for (int32_t j = first; j < last; j++) key[length++] = lower(at[j]);
            int32_t score = score_of(table, key, (size_t)length);
            least = !count || score < least ? score : least, most = !count || score > most ? score : most;
            sum += score, zeros += score == 0, count++;
        }
        if (count) low[block] = (double)least, high[block] = (double)most, mean[block] = (double)sum / count;
        asked[block] = count, unknown[block] = zeros;
        if (lengths[block] <= LONGEST_LINE) { /* all of it was read */
            key[0] = 'l';
            for (int32_t i = 0; i < size; i++) key[i + 1] = lower(at[i]);
            line[block] = score_of(table, key, (size_t)size + 1);
        }
    }
}

typedef struct {
    int64_t sum;
    int32_t least, most;
} Scored;

typedef struct {
    const Table *table;
    Scored scored;
    int32_t first; /* of the kind of keys that are added now, among `begins` */
    Buffer keys, begins;
} Keys;

static void start_key(Keys *k) { put_int(&k->begins, (int32_t)k->keys.used); }

/* The key that was written last is asked for, unless it was before; of names and of parts each counts once. */
static void end_key(Keys *k) {
    int32_t last = count_ints(&k->begins) - 1;
    if (k->keys.failed || k->begins.failed) return;
    const int32_t *begins = ints(&k->begins);
    size_t size = k->keys.used - (size_t)begins[last];
    for (int32_t i = k->first; i < last; i++)
        if ((size_t)(begins[i + 1] - begins[i]) == size &&
            !memcmp(k->keys.data + begins[i], k->keys.data + begins[last], size)) {
            k->keys.used = (size_t)begins[last], k->begins.used -= sizeof(int32_t);
            return;
        }
    int32_t score = score_of(k->table, k->keys.data + begins[last], size);
    Scored *s = &k->scored;
    int is_first = last == 0;
    s->least = is_first || score < s->least ? score : s->least, s->most = is_first || score > s->most ? score : s->most;
    s->sum += score;
}

static inline int is_small(uint8_t c) { return c >= 'a' && c <= 'z'; }
static inline int is_capital(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static void put_lower(Buffer *to, uint8_t c) { c = lower(c), put(to, &c, 1); }

/* `name_keys`: names whole and in parts ("[A-Z]?[a-z]+|[A-Z]+"), and the tag with that around it. */
static void score_names(Keys *k, const uint8_t *at, size_t size, const char *tag, size_t tag_size, const char *around,
                        size_t around_size) {
    k->keys.used = k->begins.used = 0;
    k->scored = (Scored){0, 0, 0};
    start_key(k);
    put(&k->keys, "<", 1), put(&k->keys, around, around_size), put(&k->keys, ">", 1), put(&k->keys, tag, tag_size);
    end_key(k);
    size_t i = 0, end = 0;
    k->first = count_ints(&k->begins);
    for (int32_t many = 0; many < MOST_NAMES; many++) {
        while (i < size && is_space(at[i])) i++;
        if (i >= size) break;
        start_key(k);
        put(&k->keys, "=", 1);
        for (; i < size && !is_space(at[i]); i++) put_lower(&k->keys, at[i]);
        end_key(k);
        end = i; /* parts are those of these names */
    }
    k->first = count_ints(&k->begins), i = 0;
    for (int32_t many = 0; many < MOST_NAMES; many++) {
        while (i < end && !is_small(at[i]) && !is_capital(at[i])) i++;
        if (i >= end) break;
        start_key(k);
        int32_t capitals = 0;
        for (; i < end && is_capital(at[i]); i++, capitals++) put_lower(&k->keys, at[i]);
        if (capitals < 2)
            for (; i < end && is_small(at[i]); i++) put_lower(&k->keys, at[i]);
        end_key(k);
    }
}

typedef struct { /* strings one behind the other, and where each one ends */
    const char *text;
    const int32_t *ends;
} Texts;

static const char *text_of(const Texts *t, int32_t number, size_t *size) {
    *size = 0;
    if (number < 0) return "";
    int32_t begin = number ? t->ends[number - 1] : 0;
    *size = (size_t)(t->ends[number] - begin);
    return t->text + begin;
}

/* For each element: score of its own names, lowest, highest and sum over it and all above. parents: −1 or an element
 * before it; tag, name: numbers of strings, a name may be −1. They are those of a walk, and names are ASCII. */
NATIVE_API int32_t native_names(const Table *table, const int32_t *parents, const int32_t *tag, const int32_t *name,
                                int32_t elements, const Texts *tags, const Texts *names, double *own, double *low,
                                double *high, double *total) {
    size_t slots = 64;
    while (slots < (size_t)elements * 2) slots *= 2;
    int32_t *known = calloc(slots, sizeof *known); /* an element of the same tag, names and tag around it, + 1 */
    Scored *scored = malloc(sizeof *scored * (size_t)(elements + 1));
    Keys keys = {.table = table};
    int32_t answer = known && scored ? NATIVE_OK : NATIVE_NO_MEMORY;
    for (int32_t i = 0; i < elements && answer == NATIVE_OK; i++) {
        int32_t up = parents[i], triple[3] = {tag[i], name[i], up >= 0 ? tag[up] : -1};
        size_t slot = hash_bytes(triple, sizeof triple) & (slots - 1);
        for (; known[slot]; slot = (slot + 1) & (slots - 1)) {
            int32_t other = known[slot] - 1, above = parents[other];
            if (tag[other] == triple[0] && name[other] == triple[1] && (above >= 0 ? tag[above] : -1) == triple[2])
                break;
        }
        if (known[slot]) scored[i] = scored[known[slot] - 1];
        else {
            size_t size, tag_size, around_size;
            const char *one = text_of(names, name[i], &size), *of_tag = text_of(tags, tag[i], &tag_size);
            const char *around = text_of(tags, triple[2], &around_size);
            score_names(&keys, (const uint8_t *)one, size, of_tag, tag_size, around, around_size);
            if (keys.keys.failed || keys.begins.failed) answer = NATIVE_NO_MEMORY;
            scored[i] = keys.scored, known[slot] = i + 1;
        }
        const Scored *s = scored + i;
        own[i] = (double)s->sum, low[i] = s->least, high[i] = s->most, total[i] = (double)s->sum;
        if (up < 0) continue;
        low[i] = low[i] < low[up] ? low[i] : low[up], high[i] = high[i] > high[up] ? high[i] : high[up];
        total[i] += total[up];
    }
    free(known), free(scored);
    release(&keys.keys), release(&keys.begins);
    return answer;
}
