// Searches that the vector unit does sixteen bytes at a time. Swift 6.3 compiles comparisons of its SIMD types to
// loops over the lanes. Each returns the offset of the first byte found at or after `start`, or `count`.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// `1` for each byte that RFC 9110 section 5.6.2 allows in a token. A C table needs no lazy initialisation.
extern const unsigned char scan_token_table[256];
/// ASCII lower case of each byte; all other bytes map to themselves.
extern const unsigned char scan_lower_table[256];
static inline bool scan_is_token(uint8_t byte) { return scan_token_table[byte]; }
static inline uint8_t scan_lower(uint8_t byte) { return scan_lower_table[byte]; }

static inline bool scan_is_control(uint8_t byte) { return (byte < 0x20 && byte != '\t') || byte == 0x7F; }
static inline bool scan_is_no_token(uint8_t byte) { return !scan_token_table[byte]; }
static inline bool scan_is_no_lower_token(uint8_t byte) {
    return !scan_token_table[byte] || scan_lower_table[byte] != byte;
}
static inline bool scan_is_outside_target(uint8_t byte) { return byte <= 0x20 || byte >= 0x7F || byte == '#'; }
static inline bool scan_is_outside_host(uint8_t byte) {
    return (uint8_t)((byte | 0x20) - 'a') >= 26 && (uint8_t)(byte - '0') >= 10 && byte != '-' && byte != '.' &&
           byte != '_' && byte != '~';
}

#ifdef __SSE2__
#include <emmintrin.h>
#include <string.h>

/// 0xFF for each byte from `low` to `low + span`, compared as unsigned numbers.
static inline __m128i scan_between(__m128i bytes, char low, char span) {
    __m128i offset = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(offset, _mm_set1_epi8(span)), offset);
}

static inline __m128i scan_letters(__m128i bytes) {
    return scan_between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 25);
}

/// Controls, tab included, and all that is not ASCII: as signed numbers, one more than each is at most 0x20.
static inline __m128i scan_unusual(__m128i bytes) {
    return _mm_cmplt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(0x21));
}

/// The same and the space.
static inline __m128i scan_invisible(__m128i bytes) {
    return _mm_cmplt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8(1)), _mm_set1_epi8(0x22));
}

/// All but letters and the hyphen, which nearly every field name is made of: what it finds is looked at again.
static inline __m128i scan_no_tokens(__m128i bytes) {
    __m128i usual = _mm_or_si128(scan_letters(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    return _mm_xor_si128(usual, _mm_set1_epi8(-1));
}

/// All but lower-case letters and the hyphen.
static inline __m128i scan_no_lower_tokens(__m128i bytes) {
    __m128i usual = _mm_or_si128(scan_between(bytes, 'a', 25), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
    return _mm_xor_si128(usual, _mm_set1_epi8(-1));
}

static inline __m128i scan_outside_target(__m128i bytes) {
    return _mm_or_si128(scan_invisible(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#')));
}

/// `_` and `~` it finds too.
static inline __m128i scan_outside_host(__m128i bytes) {
    __m128i usual = _mm_or_si128(scan_letters(bytes), scan_between(bytes, '0', 9));
    return _mm_xor_si128(_mm_or_si128(usual, scan_between(bytes, '-', 1)), _mm_set1_epi8(-1));
}

/// Text of 4 to 7 bytes as a block of 8, whose middle bytes come twice.
static inline __m128i scan_short_block(const uint8_t *bytes, size_t start, size_t count) {
    int first, last;
    memcpy(&first, bytes + start, 4);
    memcpy(&last, bytes + count - 4, 4);
    return _mm_unpacklo_epi32(_mm_cvtsi32_si128(first), _mm_cvtsi32_si128(last));
}

// Whole blocks; then the last bytes together with some that come before them. Text of 8 to 15 bytes has blocks of 8. Shorter
// text is skipped if nothing is found in it.
#define SCAN_SKIP(bytes, start, count, search)                                                                        \
    bool done = false;                                                                                                 \
    for (; start + 16 <= count; start += 16) {                                                                         \
        unsigned mask = (unsigned)_mm_movemask_epi8(search(_mm_loadu_si128((const __m128i *)(bytes + start))));        \
        if (mask == 0) continue;                                                                                       \
        start += (unsigned)__builtin_ctz(mask);                                                                        \
        done = true;                                                                                                   \
        break;                                                                                                         \
    }                                                                                                                  \
    if (!done && start < count && count >= 16) {                                                                       \
        const __m128i *last = (const __m128i *)(bytes + count - 16);                                                   \
        unsigned mask = (unsigned)_mm_movemask_epi8(search(_mm_loadu_si128(last))) >> (16 - (count - start));          \
        start = mask == 0 ? count : start + (unsigned)__builtin_ctz(mask);                                             \
    } else if (!done && count >= 8 && start + 4 <= count) {                                                            \
        while (start < count) {                                                                                        \
            size_t from = start + 8 <= count ? start : count - 8;                                                      \
            __m128i block = _mm_loadl_epi64((const __m128i *)(bytes + from));                                          \
            unsigned mask = ((unsigned)_mm_movemask_epi8(search(block)) & 0xFF) >> (start - from);                     \
            start = mask == 0 ? from + 8 : start + (unsigned)__builtin_ctz(mask);                                      \
            if (mask != 0) break;                                                                                      \
        }                                                                                                              \
    } else if (!done && start + 4 <= count && count < 8) {                                                             \
        __m128i block = scan_short_block(bytes, start, count);                                                         \
        if (((unsigned)_mm_movemask_epi8(search(block)) & 0xFF) == 0) start = count;                                   \
    }
#else
#define SCAN_SKIP(bytes, start, count, search)
#endif

// What the blocks found is looked at again: some find too much.
#define SCAN_FIND(name, search, is)                                                                                   \
    static inline size_t name(const uint8_t *bytes, size_t start, size_t count) {                                      \
        for (;; start++) {                                                                                             \
            SCAN_SKIP(bytes, start, count, search)                                                                    \
            if (start >= count || is(bytes[start])) return start;                                                      \
        }                                                                                                              \
    }

/// A control character other than tab: 0x00–0x1F and 0x7F.
SCAN_FIND(scan_find_control, scan_unusual, scan_is_control)
/// A byte that a token may not hold.
SCAN_FIND(scan_find_token_end, scan_no_tokens, scan_is_no_token)
/// A byte that the name of a field in HTTP/2 may not hold: one that no token may, or a capital.
SCAN_FIND(scan_find_lower_token_end, scan_no_lower_tokens, scan_is_no_lower_token)
/// A byte that a request target may not hold: anything but visible ASCII, and `#`.
SCAN_FIND(scan_find_outside_target, scan_outside_target, scan_is_outside_target)
/// A byte that a host name may not hold: letters, digits, `-`, `.`, `_` and `~` it may.
SCAN_FIND(scan_find_host_end, scan_outside_host, scan_is_outside_host)

/// The text that is a part of every placeholder of a credential.
#define SCAN_MARK "attache"

/// Where the mark begins, at or after `start`; `count` if it is not there.
size_t scan_find_mark(const uint8_t *bytes, size_t start, size_t count);

/// Whether the two are the same. Takes as long wherever they differ: nobody learns from its time how much of what another has
/// sent he has guessed.
static inline bool scan_equal(const uint8_t *bytes, const uint8_t *other, size_t count) {
    size_t place = 0;
    unsigned different = 0;
#ifdef __SSE2__
    __m128i differing = _mm_setzero_si128();
    for (; place + 16 <= count; place += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(bytes + place));
        __m128i beside = _mm_loadu_si128((const __m128i *)(other + place));
        differing = _mm_or_si128(differing, _mm_xor_si128(block, beside));
    }
    different = 0xFFFF ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(differing, _mm_setzero_si128()));
#endif
    for (; place < count; place++) different |= bytes[place] ^ other[place];
    return different == 0;
}

/// Where the dotted quad ends that begins at `start`, four decimal numbers below 256 without leading zeros; `start` when
/// there is none.
size_t scan_find_quad_end(const uint8_t *bytes, size_t start, size_t count);

/// Names to be recognised in either case, in one piece: `SCAN_NAME_SLOTS` bytes, of which `scan_name_slot` tells the
/// one with a name's row, then the rows of 32 bytes each, lower case and filled with zeros. A name is letters, digits and
/// hyphens, at most 31 of them; no two have both length and first letter in common, so that one comparison decides. The
/// first row is for what has no name.
enum { SCAN_NAME_SLOTS = 1024, SCAN_NAME_ROW = 32 };

static inline size_t scan_name_slot(uint8_t first, size_t length) { return length << 5 | (first & 0x1F); }

/// The row of the name that stands from `start` to `end`, all of it token bytes, or 0.
uint8_t scan_recognise(const uint8_t *names, const uint8_t *bytes, size_t start, size_t end);

/// A field line: offsets of `name` `:` `value` CR LF, the row of the name, and a mark for the caller's use.
struct scan_line {
    uint32_t start, name_end, value_start, value_end, end;
    uint8_t row;
    bool marked;
};

/// Field lines, with room for more, and the rows of their names, one bit each: of all, and of those that come again.
struct scan_lines {
    struct scan_line *lines;
    size_t filled, room;
    uint64_t present, repeated;
};

/// Adds the field lines that stand whole and faultless one behind the other from `start`, none that ends behind `limit`,
/// until the room is filled. Returns where the last of them ends. Less than 4 GiB of bytes.
size_t scan_read_lines(
    struct scan_lines *lines, const uint8_t *names, const uint8_t *bytes, size_t start, size_t count, size_t limit);
