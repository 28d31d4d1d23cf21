/* Runs of tokens that repeat: the reference is stages/quality/ngrams.py with `_duplicate_chars` of the repetition
 * rules. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

static const uint64_t BASE = 0x9E3779B97F4A7C15ull;

static inline uint64_t mixed(uint64_t number) { /* the finaliser of MurmurHash3's 64 bits */
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCDull;
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53ull;
    return number ^ number >> 33;
}

typedef struct { /* what stands where: of each slot the place of a run and one more, 0 where there is none */
    uint64_t mask;
    int32_t *places;
    uint64_t *hashes; /* of the runs, by place */
} Slots;

/* The most frequent run of n tokens, to `first` and `times`; of several the one that stands first. */
static void top(const int64_t *tokens, int64_t runs, int64_t n, Slots s, int32_t *counts, int64_t *first,
                int64_t *times) {
    memset(s.places, 0, sizeof *s.places * (s.mask + 1));
    for (int64_t i = 0; i < runs; i++) {
        uint64_t hash = 0;
        for (int64_t j = i; j < i + n; j++) hash = hash * BASE + (uint64_t)tokens[j];
        s.hashes[i] = hash = mixed(hash);
        counts[i] = 0;
        for (uint64_t slot = hash & s.mask;; slot = (slot + 1) & s.mask) {
            int64_t before = s.places[slot] - 1;
            if (before < 0) {
                s.places[slot] = (int32_t)i + 1, counts[i] = 1;
                break;
            }
            if (s.hashes[before] == hash && !memcmp(tokens + before, tokens + i, sizeof *tokens * (size_t)n)) {
                counts[before]++;
                break;
            }
        }
    }
    *first = *times = 0;
    for (int64_t i = 0; i < runs; i++)
        if (counts[i] > *times) *times = counts[i], *first = i;
}

/* Characters of the runs of n tokens that stood before, none of which begins within another one. */
static int64_t repeated(const uint32_t *codes, const int64_t *ends, int64_t runs, int64_t n, const uint64_t *sums,
                        const uint64_t *powers, Slots s) {
    int64_t chars = 0;
    memset(s.places, 0, sizeof *s.places * (s.mask + 1));
    for (int64_t i = 0; i < runs;) {
        int64_t begin = ends[i], size = ends[i + n] - begin, is_new = 0;
        uint64_t hash = mixed(sums[i + n] - sums[i] * powers[size]);
        s.hashes[i] = hash;
        for (uint64_t slot = hash & s.mask;; slot = (slot + 1) & s.mask) {
            int64_t before = s.places[slot] - 1;
            if (before < 0) {
                s.places[slot] = (int32_t)i + 1, is_new = 1;
                break;
            }
            if (s.hashes[before] == hash && ends[before + n] - ends[before] == size &&
                !memcmp(codes + ends[before], codes + begin, sizeof *codes * (size_t)size))
                break;
        }
        if (is_new)
            i++;
        else
            chars += size, i += n;
    }
    return chars;
}

/* tokens: numbers, equal for equal tokens; ends: many + 1, where each begins in `codes`, and where the last one ends.
 * top_sizes, sizes: tokens of a run, at least 1. first, times: of each of `top_sizes` up to `many` tokens; chars: of
 * each of `sizes`. */
NATIVE_API int32_t native_repetition(const int64_t *tokens, int64_t many, const uint32_t *codes, const int64_t *ends,
                                     const int32_t *top_sizes, int32_t tops, int64_t *first, int64_t *times,
                                     const int32_t *sizes, int32_t others, int64_t *chars) {
    uint64_t slots = 64;
    int64_t longest = 0;
    while (slots < (uint64_t)many * 2) slots *= 2;
    for (int32_t which = 0; which < others; which++)
        for (int64_t i = 0; i + sizes[which] <= many; i++)
            if (ends[i + sizes[which]] - ends[i] > longest) longest = ends[i + sizes[which]] - ends[i];
    Slots s = {slots - 1, malloc(sizeof *s.places * slots), malloc(sizeof *s.hashes * (size_t)(many + 1))};
    int32_t *counts = malloc(sizeof *counts * (size_t)(many + 1));
    uint64_t *sums = malloc(sizeof *sums * (size_t)(many + 1)), *powers = malloc(sizeof *powers * (size_t)(longest + 1));
    int32_t result = NATIVE_NO_MEMORY;
    if (s.places && s.hashes && counts && sums && powers) {
        result = NATIVE_OK;
        for (int32_t which = 0; which < tops; which++)
            if (top_sizes[which] <= many)
                top(tokens, many - top_sizes[which] + 1, top_sizes[which], s, counts, first + which, times + which);
        powers[0] = 1, sums[0] = 0;
        for (int64_t i = 0; i < longest; i++) powers[i + 1] = powers[i] * BASE;
        for (int64_t i = 0; i < many; i++) {
            sums[i + 1] = sums[i];
            for (int64_t j = ends[i]; j < ends[i + 1]; j++) sums[i + 1] = sums[i + 1] * BASE + codes[j] + 1;
        }
        for (int32_t which = 0; which < others; which++)
            chars[which] = repeated(codes, ends, many - sizes[which] + 1, sizes[which], sums, powers, s);
    }
    free(s.places), free(s.hashes), free(counts), free(sums), free(powers);
    return result;
}
